// The door of a run, for people: its policy, its seats, and the keys that ask to come in.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/wire/block.h"

namespace ostraka::host {

// Which moderator's invite let a key in, as far as this node saw it.
using Vouchers = std::map<base::PeerId, base::PeerId>;

struct DoorReport {
  protocol::JoinPolicy policy = protocol::JoinPolicy::kClosed;
  std::size_t seats = 0;
  std::size_t members = 0;
  std::size_t kept = 0;     // seats of keys that are no members now and may return
  std::uint32_t bears = 0;  // faulty members among those of now

  struct Moderator {
    base::PeerId peer;
    std::uint32_t admitted = 0;  // keys that its invites let in, and unused ones revoked
    std::uint32_t quota = 0;
    bool revoked = false;  // it took all of its invites back
  };
  std::vector<Moderator> moderators;  // those of the manifest, in its order

  struct Asking {
    base::PeerId peer;
    std::uint64_t blocks = 0;  // in a row, that have confirmed it
    std::uint64_t needed = 0;
    std::optional<base::PeerId> moderator = {};  // who vouches; none: it needs no voucher
  };
  std::vector<Asking> asking;  // by key: candidates, of members that return too
  Vouchers vouched;            // of members
};

// As of `head`, for the step after it.
DoorReport DoorOf(const protocol::Manifest& manifest, const wire::Block& head,
                  const Vouchers& vouched);

}  // namespace ostraka::host

// What a member declares of itself in each COMMIT: whoever drives the machine answers.
//
// Thread safety: the functions are called on the machine's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "node/wire/block.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

struct Declarations {
  // It cannot be dialed from outside; the run says `so_far` (node/protocol/ground/reach.h). Empty:
  // the same.
  std::function<bool(bool so_far)> only_dials = {};
  // It leaves the run (node/protocol/rules/leaving.h), asked for the COMMIT of `step`. Empty:
  // never.
  std::function<bool(std::uint64_t step)> leaving = {};

  // The moderator's word to pass on in the COMMIT of the step after `head`; nullopt: none. Empty:
  // never.
  std::function<std::optional<wire::Revocation>(const wire::Block& head)> revokes = {};

  bool OnlyDials(bool so_far) const { return only_dials ? only_dials(so_far) : so_far; }
  bool Leaving(std::uint64_t step) const { return leaving && leaving(step); }
  std::optional<wire::Revocation> Revokes(const wire::Block& head) const {
    return revokes ? revokes(head) : std::nullopt;
  }
};

}  // namespace ostraka::protocol

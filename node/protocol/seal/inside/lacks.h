// What a seal lacks, and which members have shown that they hold it (docs/seal.md, 5).
//
// Everything is asked for by its receiver. A lack names one thing; its sources are the members
// whose messages show that they hold it. Nothing is remembered here: the lacks follow from what the
// parts of the Seal hold.
//
// Memory: one lack for each entry of the vectors known, and for each frame of a claimed
// certificate.
//
// What an attacker can do here: show bits or claim locks that do not exist. Each costs a few
// requests to the attacker itself, and none of them keeps a request to an honest member from being
// made: the sources of all that show a thing are joined.
//
// Thread safety: pure functions and plain values.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/time.h"
#include "node/protocol/seal/inside/view.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

struct SealLack {
  wire::PullKind kind = wire::PullKind::kMessages;
  wire::MessageType type = wire::MessageType::kBoot;
  std::size_t member = 0;  // kMessages: index among the members
  Digest digest;  // kDigests, kVector: what is asked for; kMessages of ballots: their value
  auto operator<=>(const SealLack&) const = default;
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, kind, type, member, digest); }
};

struct SealLacks {
  std::map<SealLack, std::vector<PeerId>> sources;
  std::optional<base::Time> later;  // when something is due that is too young to ask for now
};

SealLacks FindLacks(const SealView& seal, base::Time now);

}  // namespace ostraka::protocol

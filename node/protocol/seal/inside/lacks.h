// What a seal lacks, and which members have shown that they hold it (docs/seal.md, 5).
//
// Everything is asked for by its receiver. A lack names one thing; its sources are the members
// whose messages show that they hold it. Nothing is remembered here: the lacks follow from what the
// parts of the Seal hold.
//
// Promises
//   K1  The sources of a thing are all members that show it, in whatever way they do. Attack: with
//       the sources of one vector only, a liar's vector hid those of an honest member, which was
//       then never asked for its message and was named as unshown. Attack: a liar that leads
//       proposed the lock that an honest member claims, and was asked in its place.
//   K2  What a decision names is asked of the signers of its certificate, and from the first repeat
//       on of all unmuted members. Attack: of three members (t_s 1, t_a 0) one lied. The member
//       that decided with its signature alone was stuck, though the third held everything.
//
// Memory: one lack for each entry of the vectors known, and for each frame of a claimed
// certificate.
//
// What an attacker can do here: show bits or claim locks that do not exist. Each costs a few
// requests to the attacker itself, and none of them keeps a request to an honest member from being
// made (K1).
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
  // kDigests, kVector: what is asked for. kMessages of VOTEs, or of ECHOs of a lock: the value; of
  // STATUSes of a proposal: its root; else zero.
  Digest digest;
  auto operator<=>(const SealLack&) const = default;
  void HashInto(crypto::Hasher& hasher) const;
};

struct SealLacks {
  std::map<SealLack, std::vector<PeerId>> sources;
  std::optional<base::Time> later;  // when to look again for what is too recent to request now
};

SealLacks FindLacks(const SealView& seal, base::Time now);

}  // namespace ostraka::protocol

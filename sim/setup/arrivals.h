// Who comes into a simulated run from outside: keys, what lets them in, and when.
//
//   index                      who                what it shows
//   [peers, + comes)           honest             every other one is in the manifest's list; the
//                                                 rest have an invite of one use each
//   [.., + intruders)          attackers          one public invite of as many uses (of keys that
//                                                 take turns, IntrudersLetIn)
//   [.., + forgers)            honest code        in turn: an invite that no moderator signed, the
//                              with a credential  use of another key, an invite that has ended,
//                              that is not good   one use for two keys, an invite that the
//                                                 moderator took back, and one to follow the run
//   [.., + turnover)           honest             an invite of one use each (turnover.h)
//
// Thread safety: pure functions; plain values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "crypto/sign.h"
#include "node/base/rng.h"
#include "node/protocol/ground/manifest.h"
#include "sim/check/arrival_checker.h"
#include "sim/engine/simulator.h"
#include "sim/setup/options.h"

namespace ostraka::sim {

using Keys = std::vector<std::shared_ptr<const crypto::SigningKey>>;

crypto::SigningKey DrawKey(base::Rng rng);

enum class Pass : std::uint8_t {
  kListed,     // in the manifest's list
  kInvite,     // an invite of one use
  kPublic,     // the public invite
  kForged,     // an invite that no moderator signed
  kCopied,     // the credential of another key
  kEnded,      // an invite that has ended
  kContested,  // one use of an invite, which another key has too
  kRevoked,    // an invite of one use that the moderator took back before anybody came
  kObserve     // an invite to follow the run
};

class Gatehouse {
 public:
  // `guests`: the keys of those that come, in the order above.
  Gatehouse(const base::Rng& rng, const SimOptions& options, const Keys& guests);

  // The manifest's rules for who may come. Its run id need not be set.
  protocol::JoinPlan Plan() const;
  // What the guest of that index in `guests` shows; nullopt if it is in the list.
  std::optional<wire::Credential> CredentialOf(const base::Digest& run_id, std::size_t guest) const;
  // What the moderator took back: every honest member has it from the start.
  std::vector<wire::Revocation> Revocations(const base::Digest& run_id) const;
  // What attackers say in its name: all good invites are taken back, and all of the moderator's.
  std::vector<wire::Revocation> ForgedRevocations(const base::Digest& run_id) const;
  std::vector<Entitlement> Entitlements() const;
  // From which step on members take such a key as a guest no more, as its invite has ended.
  std::map<base::PeerId, std::uint64_t> EndsOfInvites() const;
  // When each guest starts but those of a turnover, from the first third of the run's expected
  // length.
  const std::vector<base::Time>& starts() const { return starts_; }

 private:
  std::uint32_t UsesOf(Pass pass) const;  // how many keys may come in by it
  std::size_t GroupOf(std::size_t guest) const;
  const crypto::SigningKey& HolderOf(std::size_t guest) const;
  std::uint64_t EndsOf(Pass pass) const;
  wire::Invite InviteOf(std::size_t guest) const;

  std::vector<base::PeerId> guests_;
  std::vector<Pass> passes_;
  std::vector<base::Time> starts_;
  std::shared_ptr<const crypto::SigningKey> moderator_;
  std::shared_ptr<const crypto::SigningKey> stranger_;  // is no moderator
  std::vector<std::shared_ptr<const crypto::SigningKey>> holders_;
  std::uint32_t public_uses_ = 0;
  std::uint64_t public_ends_ = 0;
};

}  // namespace ostraka::sim

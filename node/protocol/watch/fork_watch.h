// ForkWatch finds out whether the run has split: it remembers what the seals of the last steps
// decided, and collects frames that prove another decision of one of them
// (docs/protocol/network.md).
//
// A decision is proven by equal ECHOs of all members unmuted in its seal, or by LOCKs of a quorum
// in one iteration. With at most t_s faulty members (t_a if the network is not timely) no seal has
// two such proofs, so two proofs show people that there were more. fork_trial.h finds out which
// members these were; for it the messages of a seal are kept beside its proof.
//
// How both branches of a fork find it: after the split the messages of each branch name parents
// that the other does not know. That alone proves nothing, since a cheat may name anything. It
// makes this member ask for the proofs of the step before, and of the one before that, down to the
// seal whose parent both branches share.
//
// Promises [C: CHECKed by CheckInvariants]:
//   F1  A rival names another value than the decided one. Its signer was unmuted in the seal. [C]
//   F2  Of each signer at most kRivalsOfOne rivals are kept in a seal; its first four are never
//       displaced, and a rival displaces only rivals of its signer. [C: the number]
//   F3  message_bytes() is the size of the messages kept of all seals: kMessageBytes at most. [C]
//
// May not know: links, keys, the inbox. The caller verifies signatures and asks other members.
//
// Memory: the certificates of the seals of kWatchedSteps steps, kRivalsOfOne frames of each member
// unmuted in them, and kMessageBytes of messages of slow seals, the newest ones.
//
// What an attacker can do here: nothing with its own frames alone, since a proof needs the frames
// of a quorum of the members that sealed the step. By filling SealTranscript it shortens the time
// in which a culprit can be named, but not the time in which a fork is found.
//
// Thread safety: none; one owner.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/ids.h"
#include "node/protocol/seal/seal_ballots.h"
#include "node/protocol/seal/seal_transcript.h"
#include "node/protocol/seal/seal_vector.h"
#include "node/wire/codec.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

struct SealKey {
  std::uint64_t step = 0;
  wire::Phase phase = wire::Phase::kA;
  std::uint32_t draw = 0;
  auto operator<=>(const SealKey&) const = default;
  void HashInto(crypto::Hasher& hasher) const;
};
inline SealKey SealKeyOf(const wire::Slot& slot) { return {slot.step, slot.phase, slot.draw}; }

inline constexpr std::uint64_t kWatchedSteps = 64;
inline constexpr std::uint64_t kAskAgainAfter = 4;  // steps
// Of all seals together. A message has about 300 bytes; an honest member sends four an iteration.
inline constexpr std::size_t kMessageBytes = 32 << 20;

struct Decision {
  Digest parent;  // the decision that opened the seal
  Digest value;   // of its vector, as ECHO and LOCK name it
  std::set<PeerId> unmuted;
  std::size_t quorum = 0;
  std::vector<base::SharedBytes> certificate;  // Seal::Certificate
  SealTranscript messages = {};                // the messages of the seal, if it was slow
  void HashInto(crypto::Hasher& hasher) const;
};

// Two decisions of one seal.
struct Fork {
  SealKey seal;
  Digest parent;             // the parent that both decisions share
  std::set<PeerId> unmuted;  // members unmuted in the seal
  std::vector<base::SharedBytes> ours, theirs;
  std::vector<base::SharedBytes> others;  // other messages of the seal that are held
  void HashInto(crypto::Hasher& hasher) const;
};

class ForkWatch {
 public:
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // A seal was decided here. Forgets steps before the last kWatchedSteps.
  void Remember(const SealKey& seal, Decision decision);

  // True for an ECHO or LOCK for another value than the decided one, of a member that was unmuted
  // in that seal, naming the seal's parent. Does not check the signature.
  bool IsRival(const wire::SignedEnvelope& message) const;
  // Keeps a rival. Returns the fork once the rivals prove one. REQUIRES: IsRival, and the signature
  // verified.
  std::optional<Fork> Note(const wire::SignedEnvelope& message);

  // The parent of the seal; null if it is not watched.
  const Digest* ParentOf(const SealKey& seal) const;
  // True if `member` may be asked now for the proofs of `step`, and notes that it is: the step is
  // watched, and the member was not asked for it in the last kAskAgainAfter steps (an answer may be
  // lost).
  bool MayAsk(const PeerId& member, std::uint64_t step);
  // The answer to a member that asks: frames that prove the decisions of `step`, seal by seal, then
  // the messages kept of it. Empty if the step is not watched.
  std::vector<base::SharedBytes> ProofsOf(std::uint64_t step) const;

  std::size_t rival_count() const;  // frames kept
  std::size_t message_bytes() const { return message_bytes_; }
  void CheckInvariants() const;  // aborts if one of F1 to F3 is broken

 private:
  // ECHO or LOCK, its iteration, its value.
  struct Group {
    wire::MessageType type = wire::MessageType::kEcho;
    std::uint32_t iteration = 0;
    Digest value;
    auto operator<=>(const Group&) const = default;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, type, iteration, value); }
  };
  struct Watched {
    Decision decision;
    std::map<Group, Signers> rivals;
    std::map<PeerId, std::vector<Group>> said;  // groups with a rival of a signer, as they came
    Digest decided;  // of the decision: it is fed once, as its frames are many
    void HashInto(crypto::Hasher& hasher) const {
      crypto::Feed(hasher, decided, decision.messages.bytes(), rivals, said);
    }
  };
  static std::optional<Group> GroupOf(const wire::SignedEnvelope& message);
  static void CheckRivals(const Watched& watched);
  static const Signers& KeepRival(Watched& watched, const wire::SignedEnvelope& message);
  void ForgetBefore(std::uint64_t step);
  void ForgetMessages();  // of the oldest seals, down to kMessageBytes

  std::map<SealKey, Watched> seals_;
  // member -> step that it was asked for -> newest step when it was asked.
  std::map<PeerId, std::map<std::uint64_t, std::uint64_t>> asked_;
  std::size_t message_bytes_ = 0;
};

}  // namespace ostraka::protocol

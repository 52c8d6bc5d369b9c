// Has the run split? Remembers what the seals of the last steps decided, and finds frames that
// prove another decision of one of them (docs/protocol.md, 8).
//
// A decision is proven by the equal ECHOs of all that were awake in its seal, or by the LOCKs of a
// quorum in one iteration. While at most t_s members are at fault (t_a, if the network is not
// timely) no seal has two such proofs: with them people can see that there were more. Who they were
// is another question (fork_trial.h), for which the words said in a seal are kept beside its proof.
//
// How both sides of a split find it. After it each side's messages name entries that the other
// does not know, which alone means nothing: a cheat may write what it likes. It only makes this
// member ask for the proofs of the step before, and of the one before that, down to the seal in
// which both sides still had the same entry.
//
// What an attacker can do to it: nothing with frames of its own alone, since a proof needs the
// frames of a quorum of the view that sealed the step. Of each member kRivalsOfOne frames a seal
// are kept, so that nobody's many keep out those that count; kWatchedSteps steps are. Words of slow
// seals are kept up to kWordBytes, those of the newest seals: who fills them (SealWords) shortens
// the time in which a culprit can be named, and not that in which a fork is found.
//
// Thread safety: none; one owner.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "node/base/ids.h"
#include "node/protocol/seal/seal_ballots.h"
#include "node/protocol/seal/seal_vector.h"
#include "node/protocol/seal/seal_words.h"
#include "node/wire/codec.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

struct SealKey {
  std::uint64_t step = 0;
  wire::Phase phase = wire::Phase::kA;
  std::uint32_t draw = 0;
  auto operator<=>(const SealKey&) const = default;
};
inline SealKey SealKeyOf(const wire::Slot& slot) { return {slot.step, slot.phase, slot.draw}; }

inline constexpr std::uint64_t kWatchedSteps = 64;
inline constexpr std::uint64_t kAskAgainAfter = 4;  // steps
// Of all seals together. A word has some 300 bytes, and an honest member says four in an iteration.
inline constexpr std::size_t kWordBytes = 32 << 20;

struct Decision {
  Digest entry;  // what opened the seal
  Digest value;  // of its vector, as ECHO and LOCK name it
  std::set<PeerId> awake;
  std::size_t quorum = 0;
  std::vector<base::SharedBytes> certificate;  // Seal::Certificate
  SealWords words = {};                        // said in it, if it was slow
};

// Two decisions of one seal.
struct Fork {
  SealKey seal;
  Digest entry;            // what opened it, for both
  std::set<PeerId> awake;  // in it
  std::vector<base::SharedBytes> ours, theirs;
  std::vector<base::SharedBytes> others;  // words of the seal that are at hand besides
};

class ForkWatch {
 public:
  // What this member saw decided; forgets steps before the last kWatchedSteps.
  void Remember(const SealKey& seal, Decision decision);

  // An ECHO or LOCK for another value than the one that was decided, of a member that was awake in
  // that seal, with the seal's entry. Its signature is not looked at.
  bool IsRival(const wire::Envelope& envelope) const;
  // REQUIRES: IsRival, and the signature verified. The fork, once the rivals prove one.
  std::optional<Fork> Note(const wire::SignedEnvelope& message);

  // What opened the seal; null if it is not watched.
  const Digest* EntryOf(const SealKey& seal) const;
  // True, and it is noted, if `member` may be asked for the proofs of `step`: one that is watched,
  // and was not asked of it in the last kAskAgainAfter steps (an answer may be lost).
  bool MayAsk(const PeerId& member, std::uint64_t step);
  // Frames that prove what was decided in `step`, seal by seal, then the words that are kept of it:
  // for one who asks. Empty if it is not watched.
  std::vector<base::SharedBytes> ProofsOf(std::uint64_t step) const;

  std::size_t rival_count() const;  // frames kept
  std::size_t word_bytes() const { return word_bytes_; }

 private:
  // ECHO or LOCK, its iteration, its value.
  struct Group {
    wire::MessageType type = wire::MessageType::kEcho;
    std::uint32_t iteration = 0;
    Digest value;
    auto operator<=>(const Group&) const = default;
  };
  struct Watched {
    Decision decision;
    std::map<Group, Signers> rivals;
    std::map<PeerId, std::vector<Group>> said;  // by signer, in the order they came
  };
  static std::optional<Group> GroupOf(const wire::Envelope& envelope);
  static const Signers& KeepRival(Watched& watched, const wire::SignedEnvelope& message);
  void ForgetBefore(std::uint64_t step);
  void ForgetWords();  // of the oldest seals, down to kWordBytes

  std::map<SealKey, Watched> seals_;
  // By step that was asked for: the newest step then.
  std::map<PeerId, std::map<std::uint64_t, std::uint64_t>> asked_;
  std::size_t word_bytes_ = 0;
};

}  // namespace ostraka::protocol

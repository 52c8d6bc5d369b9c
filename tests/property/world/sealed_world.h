// A world that seals whatever its members like to sign: it draws the sealed messages of one step
// after the other, and follows the blocks that come of them.
//
// Promises:
//   W1  Equal arguments give equal messages, if the blocks that it follows are equal.
//   W2  Members do their work, except that each kind of mischief that is switched on happens in
//   some
//       steps, to about as many members as decide: F and a few more or less.
//   W3  Every message is one that a seal can decide: of its sender's slot, signed by its key.
//
// May not know: what the rules make of a message. It includes nothing of node/protocol/rules.
//
// Memory: the messages of one step and one block.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "node/base/rng.h"
#include "node/protocol/ground/roles.h"
#include "tests/property/naive_rules.h"
#include "tests/property/world/door.h"

namespace ostraka::protocol {

enum class Mischief : std::uint8_t {
  kAbsent,       // COMMIT, AGG, REVEAL, PROOF
  kTwice,        // two of them
  kMalformed,    // bodies that nobody reads, of the wrong number of coins, columns, another column
  kFalseReveal,  // a coin that the COMMIT does not have
  kSenders,      // AGGs that include members that do not work, or have sent no COMMIT; false roots
  kLeaveOut,     // AGGs without some workers, or without their owner; AGGs without a result
  kMissing,      // workers that miss an aggregate
  kNumbers,      // impossible ones, and nearly impossible ones
  kSums,         // V2
  kSizes,        // the size check, and blind columns
  kNorms,        // V3 and tau
  kAccuse,       // by validators, and by others
  kName,         // by owners, in order or not
  kVote,         // on what is open, and on what is not
  kHeld,         // what others held of disputed pairs
  kEchoes,       // silent, hasty, unshown
  kLate,         // late_ms and `slowest`
  kJoin,         // REJOINs of whoever is away
  kEvidence,     // files that prove something, and files that do not
  kStateRoots,
  kLag,
  kMass,        // more members than can be at fault are absent at once
  kTime,        // steps go by until something is forgotten
  kCrowd,       // as many open cases as there may be
  kParameters,  // profile exact/1: COMMITs that name other parameters, and AGGs that include them
  kLeave,       // members say that they leave
  kCome,        // keys that are away or of nobody ask to come in, with all kinds of vouchers
};
inline constexpr std::uint8_t kMischiefCount = 27;

class SealedWorld {
 public:
  // REQUIRES: n is at least 3.
  SealedWorld(std::uint64_t seed, std::uint32_t n, Mode mode, std::set<Mischief> mischief);

  // The sealed messages of the step after head(), which may end without a coin.
  naive::Sealed Draw();
  // REQUIRES: `block` has a member.
  void Follow(const wire::Block& block) { head_ = block; }

  const wire::Block& head() const { return head_; }
  const Manifest& manifest() const { return manifest_; }
  std::uint64_t dimension() const { return dimension_; }

 private:
  using Key = std::shared_ptr<const crypto::SigningKey>;

  // --- chance ---
  bool Luck(std::uint64_t percent) { return rng_.Chance(percent, 100); }
  // The mischief is switched on and happens in this step.
  bool Happens(Mischief mischief, std::uint64_t percent = 30);
  template <typename T>
  const T& AnyOf(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(rng_.Below(list.size()))];
  }
  std::vector<PeerId> Some(std::vector<PeerId> of, std::size_t count);
  // About as many as decide: F - 1 to F + 2 members, and now and then all of them.
  std::vector<PeerId> AroundTheBound();
  PeerId Anybody();  // a key of the manifest, of one that may come in, or of nobody

  // --- before the step (sealed_world.cpp) ---
  void DrawManifest(std::uint32_t n, Mode mode);
  void DrawCounts(base::Rng rng);
  void LetTimePass();
  void OpenCrowd();

  // --- seals A and B (sealed_world.cpp) ---
  naive::Entry Signed(const PeerId& sender, wire::Phase phase, wire::MessageType type,
                      base::Bytes body, std::uint32_t draw = 0);
  void DrawCommits(naive::Sealed& sealed);
  Digest ParametersOf(const PeerId& member, const std::vector<PeerId>& others);
  void DrawAggregates(naive::Sealed& sealed);
  wire::Aggregate AggregateOf(std::size_t column, const PeerId& owner);
  void DrawReveals(naive::Sealed& sealed);
  wire::Reveal RevealOf(const PeerId& member, std::uint32_t draw) const;
  std::vector<Digest> CoinsOf(const PeerId& member) const;

  // --- seal C (sealed_proofs.cpp) ---
  void DrawProofs(naive::Sealed& sealed);
  void DrawNumbers(naive::Sealed& sealed);
  void DrawColumn(std::size_t column, ResultSize& result);
  double NormForSizes(std::size_t column, std::vector<double>& sizes);
  void SpoilNumbers();
  void Miss(const PeerId& worker, std::size_t column);
  void DrawMissing();
  void DrawAccusations();
  void DrawNamings();
  std::vector<PeerId> VotersOn(const wire::Case& open);
  void DrawVotes();
  void DrawWitnesses();
  void DrawLateness();
  void DrawJoins();
  void DrawEvidence();
  base::Bytes EvidenceFile();
  void DrawReports();

  base::Rng rng_;
  std::set<Mischief> mischief_;
  std::map<PeerId, Key> keys_;  // of the members of the genesis, strangers and guests
  std::vector<PeerId> strangers_;
  Door door_;
  Manifest manifest_;
  std::uint64_t dimension_ = 0;
  wire::Block head_;

  // --- of the present step ---
  std::uint64_t step_ = 0;
  std::uint32_t bound_ = 0;  // F
  Roles roles_;
  std::set<Mischief> today_;
  bool quarantined_away_ = false;         // one of them, in seal A: it must not count for b twice
  std::map<PeerId, Digest> commits_;      // sealed present
  std::set<PeerId> elsewhere_;            // they name other parameters than most
  std::set<PeerId> reveal_;               // members that owe the next REVEAL
  std::vector<wire::Aggregate> agreed_;   // by column: what its owner signs if it is well
  std::map<PeerId, wire::Proof> proofs_;  // before they are signed
};

}  // namespace ostraka::protocol

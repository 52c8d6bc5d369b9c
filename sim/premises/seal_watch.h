// The events of each seal, seen from outside: when honest members opened it and echoed, who gave
// which ballot, who locked what. The checkers of seal.md's premises read it, and so does the search
// for scripts (sim/search/search.h).
//
// Promises:
//   W1  A message counts for its signer when the signer itself sends it; forwarding counts for
//       nobody.
//   W2  Messages far ahead of the newest step are ignored, so a Byzantine peer cannot grow the
//       stories.
//
// May not know: the protocol's own rules.
//
// Memory: the seals of the newest few steps.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "node/base/time.h"
#include "sim/check/speech.h"
#include "sim/engine/checker.h"
#include "sim/script/events.h"
#include "sim/setup/options.h"

namespace ostraka::sim {

// The story of one seal. Peers are indices of the roster.
struct SealStory {
  base::Duration delta;  // of the parent at the first honest opening
  std::size_t quorum = 0;
  std::map<std::uint32_t, base::Time> opened;  // honest members
  std::map<std::uint32_t, base::Time> echoed;
  std::map<std::uint32_t, base::Time> closed;  // first CLOSE of each, if the protocol has CLOSE
  // Ballots that were sent to anybody: iteration (0: ECHOs) and value -> signers.
  std::map<std::pair<std::uint32_t, base::Digest>, std::set<std::uint32_t>> ballots;
  // Honest LOCKs: iteration -> value.
  std::map<std::uint32_t, base::Digest> locks;
  std::map<std::uint32_t, std::uint32_t> reached;  // honest member -> iteration
  std::map<std::uint32_t, std::uint32_t> ranks;    // honest member -> rank of its last STATUS

  // The time between the first and the last; zero for fewer than two.
  static base::Duration Spread(const std::map<std::uint32_t, base::Time>& times);
  // The number of values with a quorum of ECHOs, of VOTEs of one iteration, or of either.
  std::size_t EchoedValues() const { return Certified(true, false); }
  std::size_t VotedValues() const { return Certified(false, true); }
  std::size_t CertifiedValues() const { return Certified(true, true); }
  std::size_t LockedValues() const;  // of honest members

 private:
  std::size_t Certified(bool by_echoes, bool by_votes) const;
};

// The membership at the start of a step.
struct StepView {
  std::vector<base::PeerId> members;  // sorted by key
  std::size_t quorum = 0;
  std::size_t bound = 0;  // fault bound: more names than this remove a member
  base::Duration delta;
};
// The membership of step 0.
StepView GenesisView(const SimOptions& options, const Roster& roster);

class SealWatch final : public StepObserver {
 public:
  SealWatch(const Roster& roster, StepView genesis, std::shared_ptr<wire::Opener> opener);

  void OnStep(const StepRecord& record) override;

  // Null for a seal that nobody opened, or that is forgotten.
  const SealStory* StoryOf(const SealName& seal) const;
  const std::map<SealName, SealStory>& stories() const { return stories_; }
  // As the first honest member accepted the block before; of the newest known step if none has.
  const StepView& ViewOf(std::uint64_t step) const;
  // A message that a peer sent for the first time in the last OnStep.
  struct Said {
    std::uint32_t peer = 0;
    SealName seal;
    wire::SharedMessage message;
  };
  const std::vector<Said>& said() const { return said_; }
  base::Time now() const { return now_; }
  // The times at which honest members began step 0.
  const std::map<std::uint32_t, base::Time>& begun() const { return begun_; }

 private:
  SealStory& At(const SealName& seal);
  void OnObserved(std::uint32_t peer, const protocol::Observe& observe);
  void OnWord(std::uint32_t peer, const wire::SharedMessage& message);

  Roster roster_;
  std::map<std::uint64_t, StepView> views_;  // by step; never empty
  Speech speech_;
  base::Time now_;
  std::vector<Said> said_;
  std::map<SealName, SealStory> stories_;
  std::map<std::uint32_t, base::Time> begun_;
};

}  // namespace ostraka::sim

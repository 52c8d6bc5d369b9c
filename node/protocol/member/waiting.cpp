#include "node/protocol/member/waiting.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

// What the step in progress waits for.
class StepWaits {
 public:
  StepWaits(const WaitingView& member, Phase phase)
      : facts_(member.step.step().facts()),
        inbox_(member.core.inbox),
        members_(member.core.chain.head().members),
        phase_(phase),
        // What a phase needs is complete, or late, once it was echoed.
        echoed_(member.step.step().sealing().open() &&
                member.step.step().sealing().seal().wait_ended()) {}

  bool echoed() const { return echoed_; }
  void For(MessageType type) { ForOf(type, members_); }
  void ForOf(MessageType type, const std::vector<PeerId>& senders) {
    const std::uint32_t draw = phase_ == Phase::kB ? facts_.reading.draw : 0;
    for (const PeerId& sender : senders) {
      if (facts_.reading.absent.contains(sender)) continue;
      const Inbox::Place place = facts_.PlaceOf(phase_, type, draw);
      if (Usable(inbox_, facts_, place, sender) == nullptr) awaited_.push_back({sender, type});
    }
  }
  void ForParts(const OwnColumn& column) {
    if (!column.owned() || column.closed()) return;
    for (const PeerId& worker : facts_.roles().workers) {
      if (!column.IsJudged(worker)) awaited_.push_back({worker, MessageType::kPart});
    }
  }
  void ForResults(const Results& results) {
    for (std::size_t j = 0; j < results.all().size(); ++j) {
      if (!results.IsMissing(j)) continue;
      awaited_.push_back({facts_.roles().owners[j], MessageType::kResult});
    }
  }
  std::vector<Awaited> Take() { return std::move(awaited_); }

 private:
  const StepFacts& facts_;
  const Inbox& inbox_;
  const std::vector<PeerId>& members_;
  Phase phase_;
  bool echoed_;
  std::vector<Awaited> awaited_;
};

std::vector<Awaited> AwaitedInCollect(const WaitingView& member) {
  StepWaits waits(member, Phase::kA);
  if (waits.echoed()) {
    waits.For(MessageType::kEcho);
  } else {
    waits.For(MessageType::kCommit);
    waits.ForParts(member.step.step().column());
    waits.ForOf(MessageType::kAggregate, member.step.step().facts().roles().owners);
  }
  return waits.Take();
}

std::vector<Awaited> AwaitedInReveal(const WaitingView& member) {
  StepWaits waits(member, Phase::kB);
  waits.For(waits.echoed() ? MessageType::kEcho : MessageType::kReveal);
  return waits.Take();
}

std::vector<Awaited> AwaitedInProve(const WaitingView& member) {
  StepWaits waits(member, Phase::kC);
  const Results& results = member.step.step().results();
  if (!waits.echoed() && !results.closed()) waits.ForResults(results);
  waits.For(waits.echoed() ? MessageType::kEcho : MessageType::kProof);
  return waits.Take();
}

std::vector<Awaited> AwaitedInSettle(const WaitingView& member) {
  StepWaits waits(member, Phase::kA);  // RESULTs belong to it
  waits.ForResults(member.step.step().results());
  return waits.Take();
}

std::vector<Awaited> AwaitedInGenesis(const WaitingView& member) {
  std::vector<Awaited> awaited;
  for (const GenesisSeal::Missing& missing : member.genesis.MissingNow()) {
    awaited.push_back({missing.sender, missing.type});
  }
  return awaited;
}

std::vector<Awaited> AwaitedAtTheEnd(const WaitingView& member) {
  std::vector<Awaited> awaited;
  for (const PeerId& peer : member.ending.Others()) {
    awaited.push_back({peer, MessageType::kCommit});
  }
  return awaited;
}

}  // namespace

std::vector<Awaited> AwaitedBy(const WaitingView& member) {
  switch (member.stage) {
    case Stage::kGenesis:
      return AwaitedInGenesis(member);
    case Stage::kCollect:
      return AwaitedInCollect(member);
    case Stage::kReveal:
      return AwaitedInReveal(member);
    case Stage::kProve:
      return AwaitedInProve(member);
    case Stage::kSettle:
      return AwaitedInSettle(member);
    case Stage::kLinger:
      return AwaitedAtTheEnd(member);
    case Stage::kUnstarted:
    case Stage::kRestore:
    case Stage::kUpdate:
    case Stage::kFollow:
    case Stage::kFrozen:
    case Stage::kHalted:
      return {};
  }
  return {};
}

}  // namespace ostraka::protocol

// What a member waits for, and from whom: for people.
#include "node/protocol/member/peer_machine.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

Phase PeerMachine::PhaseNow() const {
  switch (stage_) {
    case Stage::kUnstarted:
    case Stage::kRestore:
    case Stage::kGenesis:
      return Phase::kGenesis;
    case Stage::kReveal:
      return Phase::kB;
    case Stage::kProve:
      return Phase::kC;
    case Stage::kCollect:
    case Stage::kSettle:  // RESULTs belong to it
    case Stage::kUpdate:
    case Stage::kFollow:
    case Stage::kLinger:
    case Stage::kFrozen:
    case Stage::kHalted:
      break;
  }
  return round_ ? Phase::kA : Phase::kGenesis;
}

std::vector<PeerMachine::Awaited> PeerMachine::AwaitedMessages() const {
  const Phase phase = PhaseNow();
  std::vector<Awaited> awaited;
  const auto want = [&](MessageType type, const std::vector<PeerId>& senders) {
    const std::uint32_t draw = phase == Phase::kB ? round_->reading.draw : 0;
    for (const PeerId& sender : senders) {
      if (round_ && round_->reading.absent.contains(sender)) continue;
      if (Usable({CurrentStep(), phase, type, draw, 0}, sender) != nullptr) continue;
      awaited.push_back({sender, type});
    }
  };
  const auto want_results = [&] {
    for (std::size_t j = 0; j < round_->results.size(); ++j) {
      if (!ResultWanted(j) || round_->results[j] != nullptr) continue;
      awaited.push_back({round_->reading.sealed.roles.owners[j], MessageType::kResult});
    }
  };
  // What a phase needs is complete, or late, once it was echoed.
  const bool sealing = seal_ && seal_->echoed();
  switch (stage_) {
    case Stage::kGenesis:
      for (const GenesisSeal::Missing& missing : genesis_.MissingNow()) {
        awaited.push_back({missing.sender, missing.type});
      }
      break;
    case Stage::kCollect:
      if (sealing) {
        want(MessageType::kEcho, chain_.head().members);
        break;
      }
      want(MessageType::kCommit, chain_.head().members);
      if (round_->my_part && !round_->parts_closed) {
        for (const PeerId& worker : round_->reading.sealed.roles.workers) {
          const bool settled = round_->held.contains(worker) || round_->refused.contains(worker);
          if (!settled) awaited.push_back({worker, MessageType::kPart});
        }
      }
      want(MessageType::kAggregate, round_->reading.sealed.roles.owners);
      break;
    case Stage::kReveal:
      want(sealing ? MessageType::kEcho : MessageType::kReveal, chain_.head().members);
      break;
    case Stage::kProve:
      if (!sealing && !round_->results_closed) want_results();
      want(sealing ? MessageType::kEcho : MessageType::kProof, chain_.head().members);
      break;
    case Stage::kSettle:
      want_results();
      break;
    case Stage::kLinger:
      for (const PeerId& peer : stay_.Others()) awaited.push_back({peer, MessageType::kCommit});
      break;
    case Stage::kUnstarted:
    case Stage::kRestore:
    case Stage::kUpdate:
    case Stage::kFollow:
    case Stage::kFrozen:
    case Stage::kHalted:
      break;
  }
  return awaited;
}

Progress PeerMachine::progress() const {
  Progress progress;
  progress.step = ExpectedStep();
  progress.phase = NameOf(stage_);
  for (const Awaited& awaited : AwaitedMessages()) {
    if (awaited.sender == self_) continue;
    progress.missing.push_back({awaited.sender, wire::MessageTypeName(awaited.type)});
  }
  return progress;
}

}  // namespace ostraka::protocol

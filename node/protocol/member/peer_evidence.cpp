// The frames of sealed messages from which charges are made (node/protocol/parts/charges.h).
#include "node/protocol/member/peer_machine.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

void PeerMachine::ProveFalseReveal(const PeerId& member, const SealEntry& reveal) {
  const auto* commit = inbox_.Find({CurrentStep(), Phase::kA, MessageType::kCommit, 0, 0}, member,
                                   round_->sealed.commit_digests.at(member));
  if (commit == nullptr) return;
  const auto& shown = SealedMessage(
      {CurrentStep(), Phase::kB, MessageType::kReveal, round_->draw, 0}, member, reveal);
  charges_.Keep(evidence::MakeFalseReveal(*commit->frame, *shown.frame));
}

// Members that seal A has shown to build on the last block.
std::vector<SharedBytes> PeerMachine::SealedCommits() const {
  std::vector<SharedBytes> frames;
  for (const auto& [member, digest] : round_->sealed.commit_digests) {
    const auto* message =
        inbox_.Find({CurrentStep(), Phase::kA, MessageType::kCommit, 0, 0}, member, digest);
    if (message != nullptr) frames.push_back(message->frame);
  }
  return frames;
}

}  // namespace ostraka::protocol

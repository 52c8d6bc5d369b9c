// The frames of sealed messages from which charges are made (node/protocol/parts/charges.h).
#include <utility>

#include "node/protocol/member/peer_machine.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

void PeerMachine::ProveFalseReveals() {
  for (const auto& reveal : std::exchange(round_->reading.false_reveals, {})) {
    const PeerId& member = reveal->envelope.sender;
    const auto* commit = inbox_.Find({CurrentStep(), Phase::kA, MessageType::kCommit, 0, 0}, member,
                                     round_->reading.sealed.commit_digests.at(member));
    if (commit != nullptr) charges_.Keep(evidence::MakeFalseReveal(*commit->frame, *reveal->frame));
  }
}

// Members that seal A has shown to build on the last block.
std::vector<SharedBytes> PeerMachine::SealedCommits() const {
  std::vector<SharedBytes> frames;
  for (const auto& [member, digest] : round_->reading.sealed.commit_digests) {
    const auto* message =
        inbox_.Find({CurrentStep(), Phase::kA, MessageType::kCommit, 0, 0}, member, digest);
    if (message != nullptr) frames.push_back(message->frame);
  }
  return frames;
}

}  // namespace ostraka::protocol

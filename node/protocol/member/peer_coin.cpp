// Phase B: the coin of the step by commit and reveal, over seal B (MPRNG).
//
// Seal A has fixed every gradient, aggregate and coin commitment before any coin is shown. A
// missing or false revealer is left out and the next coin is revealed by all, so an abort buys one
// redraw and costs an identity; mixing only what came would give an attacker a choice among 2^f
// coins.
#include <algorithm>
#include <string>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/member/peer_machine.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

crypto::Coin PeerMachine::CoinOf(std::uint32_t draw) const {
  return crypto::DeriveCoin(private_seed_.view(), CurrentStep(), draw);
}

std::vector<Digest> PeerMachine::CoinCommitments() const {
  std::vector<Digest> commitments;
  for (std::uint32_t draw = 0; draw < round_->reading.coin_count; ++draw) {
    commitments.push_back(crypto::CommitCoin(self_, CurrentStep(), draw, CoinOf(draw)));
  }
  return commitments;
}

void PeerMachine::PrepareReveal() {
  wire::Reveal reveal;
  reveal.opening.coin = CoinOf(round_->reading.draw);
  reveal.opening.path = crypto::MerklePath(CoinCommitments(), round_->reading.draw);
  Prepare({MakeDraft(SlotOf(Phase::kB, MessageType::kReveal, round_->reading.draw),
                     wire::Encode(reveal), chain_.head().members)});
}

// A draw that needs the only member left waits for it, and looks whether others do not: to give up
// on it too would end the run. While messages are timely at least a quorum is left after the
// faulty have spoilt a draw each. While they are not, honest members spoil draws as well [with a
// draw for each faulty member and one more, the last one waited for ever: for one that lost its
// disk after a cut had spoilt a draw (swarm seed 40183), or for a cheat that kept quiet then].
bool PeerMachine::WaitsForLastCoin() const {
  return seal_ != nullptr && seal_slot_.phase == Phase::kB &&
         round_->reading.RevealersLeft(chain_.head()) == 1 && !seal_->echoed();
}

// Three Delta: what one honest member has got 3/2 Delta after it began, all have got by then, so
// who sends its REVEAL later than that to some is late (node/protocol/watch/late_watch.h).
void PeerMachine::OpenSealB() {
  OpenSeal(Phase::kB, round_->reading.draw, chain_.delta() * 3);
  WatchSealB();
  if (round_->reading.MustReveal(self_)) PrepareReveal();
}

bool PeerMachine::TrySealB() {
  UpdateLateWatch();
  if (!DriveSeal(EntriesComplete())) return false;
  const SealVector vector = *seal_->decision();
  TakeWatches(vector);
  const bool all_good = round_->reading.ReadSealB(chain_.head(), *manifest_, MessagesOf(vector));
  ProveFalseReveals();
  round_->entry_b = CloseSeal();
  PutAbsentToSleep();
  if (round_->asleep.contains(self_)) {
    Leave("this node's REVEAL came too late");
    return true;
  }
  if (all_good) {
    round_->entry_c = round_->entry_b;
    BeginProve();
    return true;
  }
  if (round_->reading.RevealersLeft(chain_.head()) == 0) {
    Halt(Halted::Why::kStalled, "step " + std::to_string(CurrentStep()) +
                                    ": every coin was spoilt: no member's REVEAL came in time");
    return false;
  }
  // Each spoilt draw leaves a member out, so the coins last as long as the members.
  OSTRAKA_CHECK(round_->reading.draw < round_->reading.coin_count);
  OpenSealB();
  return true;
}

}  // namespace ostraka::protocol

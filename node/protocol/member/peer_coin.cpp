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
  for (std::uint32_t draw = 0; draw < round_->coin_count; ++draw) {
    commitments.push_back(crypto::CommitCoin(self_, CurrentStep(), draw, CoinOf(draw)));
  }
  return commitments;
}

// Members whose COMMIT is sealed with as many coins as the view asks for, less those already
// caught.
bool PeerMachine::MustReveal(const PeerId& peer) const {
  const auto commit = round_->sealed.commits.find(peer);
  return commit != round_->sealed.commits.end() &&
         commit->second.coin_count == round_->coin_count &&
         !round_->false_revealers.contains(peer) && !round_->absent.contains(peer);
}

void PeerMachine::PrepareReveal() {
  wire::Reveal reveal;
  reveal.opening.coin = CoinOf(round_->draw);
  reveal.opening.path = crypto::MerklePath(CoinCommitments(), round_->draw);
  Prepare({MakeDraft(SlotOf(Phase::kB, MessageType::kReveal, round_->draw), wire::Encode(reveal),
                     chain_.head().members)});
}

std::size_t PeerMachine::RevealersLeft() const {
  return static_cast<std::size_t>(
      std::count_if(chain_.head().members.begin(), chain_.head().members.end(),
                    [&](const PeerId& member) { return MustReveal(member); }));
}

// A draw that needs the only member left waits for it, and looks whether others do not: to give up
// on it too would end the run. While messages are timely at least a quorum is left after the
// faulty have spoilt a draw each. While they are not, honest members spoil draws as well [with a
// draw for each faulty member and one more, the last one waited for ever: for one that lost its
// disk after a cut had spoilt a draw (swarm seed 40183), or for a cheat that kept quiet then].
bool PeerMachine::WaitsForLastCoin() const {
  return seal_ != nullptr && seal_slot_.phase == Phase::kB && RevealersLeft() == 1 &&
         !seal_->echoed();
}

// Three Delta: what one honest member has got 3/2 Delta after it began, all have got by then, so
// who sends its REVEAL later than that to some is late (node/protocol/watch/late_watch.h).
void PeerMachine::OpenSealB() {
  OpenSeal(Phase::kB, round_->draw, chain_.delta() * 3);
  WatchSealB();
  if (MustReveal(self_)) PrepareReveal();
}

bool PeerMachine::TrySealB() {
  UpdateLateWatch();
  if (!DriveSeal(EntriesComplete())) return false;
  const SealVector vector = *seal_->decision();
  TakeWatches(vector);
  const bool all_good = OpenReveals(vector);
  round_->entry_b = CloseSeal();
  PutAbsentToSleep();
  if (round_->asleep.contains(self_)) {
    Leave("this node's REVEAL came too late");
    return true;
  }
  if (all_good) {
    MixCoins();
    round_->entry_c = round_->entry_b;
    BeginProve();
    return true;
  }
  ++round_->draw;
  if (RevealersLeft() == 0) {
    Halt(Halted::Why::kStalled, "step " + std::to_string(CurrentStep()) +
                                    ": every coin was spoilt: no member's REVEAL came in time");
    return false;
  }
  // Each spoilt draw leaves a member out, so the coins last as long as the members.
  OSTRAKA_CHECK(round_->draw < round_->coin_count);
  OpenSealB();
  return true;
}

bool PeerMachine::OpenReveals(const SealVector& vector) {
  round_->coins.clear();
  bool all_good = true;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const PeerId& member = chain_.head().members[i];
    if (!MustReveal(member)) continue;
    if (vector[i].state == SealEntry::State::kPresent) {
      if (RevealIsGood(member, vector[i])) continue;
      NoteFault(round_->faults, member, FaultKind::kBan, "its REVEAL does not open its COMMIT");
      ProveFalseReveal(member, vector[i]);
    }
    all_good = false;
    round_->false_revealers.insert(member);
    NoteEntry(member, vector[i], "REVEAL");
  }
  // Everybody knows the mix of no coins in advance.
  return all_good && !round_->coins.empty();
}

bool PeerMachine::RevealIsGood(const PeerId& peer, const SealEntry& entry) {
  const auto& message =
      SealedMessage({CurrentStep(), Phase::kB, MessageType::kReveal, round_->draw, 0}, peer, entry);
  const auto reveal = wire::DecodeReveal(message.envelope.body);
  if (!reveal.ok()) return false;
  const wire::Commit& commit = round_->sealed.commits.at(peer);
  if (!crypto::VerifyOpening(peer, CurrentStep(), round_->draw, commit.coin_count,
                             commit.coins_root, reveal->opening)) {
    return false;
  }
  round_->coins[peer] = reveal->opening.coin.value;
  return true;
}

// r^t, and what it draws: the validators of the next step, from the view before this coin.
void PeerMachine::MixCoins() {
  round_->randomness = RandomnessOf(manifest_->run_id, CurrentStep(), round_->coins);
  round_->next_drawn = DrawValidators(round_->randomness, chain_.head(), chain_.head().proven,
                                      CurrentStep() + 1, manifest_->validators);
}

}  // namespace ostraka::protocol

// The run is over for this member, and it stays for those for whom it is not.
//
// A member that finishes cannot know that the others have: colluders may have spoken in the last
// seal to some honest members alone. These decide it, and the others need their certificate. So
// each member says one COMMIT more, which names the last block, and stays until every other member
// has said its own, or has said that it follows and lacks nothing.
//
// What an attacker can do here: keep its COMMIT back, which costs each run LingerFor once, and no
// more. It ends no wait of anybody: nothing is decided in this stage, only passed on.
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/schedule.h"
#include "node/protocol/member/peer_machine.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

// Long enough for one that is stuck in the last seal to say so (1 Delta), to be helped in all three
// seals of the step, and to fetch what the block applies; 20 s besides for one that catches up.
base::Duration LingerFor(base::Duration delta) { return base::Seconds(20) + delta * 8; }

}  // namespace

bool PeerMachine::RunIsOver(const Block& block) const {
  return !block.genesis && RunEndsWith(manifest_->training, block.step, block.last_removal_step,
                                       !block.cases.empty());
}

// The last block has no next step whose COMMITs attest to it; so each member says one more.
void PeerMachine::Finish() {
  stage_ = Stage::kLinger;
  if (IsMember(view_->members, self_)) {
    round_.emplace();
    round_->sealed.step = HeightOf(*view_);
    round_->entry_a = wire::BlockDigest(*view_);
    wire::Commit last;
    last.coin_count = 1;
    Prepare({MakeDraft(SlotOf(Phase::kA, MessageType::kCommit), wire::Encode(last), Audience())});
    for (const PeerId& member : view_->members) {
      if (member == self_ || HasFinished(member)) continue;
      if (!base::Planted(base::Bug::kLeavesAtTheEnd)) unfinished_.insert(member);
    }
  }
  for (const auto& [follower, since] : followers_) unfinished_.insert(follower);
  linger_until_ = now_ + LingerFor(delta());
  out_->Add(SetTimer{kFollowTimer, now_ + delta() * 2});
  HaltIfAllFinished();
}

// People are told once, when it takes longer than messages do.
void PeerMachine::OnLingerTimer() {
  OSTRAKA_CHECK(!unfinished_.empty());
  if (now_ >= linger_until_) return Halt(Halted::Why::kFinished, kAllDone);
  out_->Add(Observe{
      Staying{view_->step, {unfinished_.begin(), unfinished_.end()}, linger_until_ - now_}});
  out_->Add(SetTimer{kFollowTimer, linger_until_});
}

bool PeerMachine::HasFinished(const PeerId& member) const {
  return Usable({HeightOf(*view_), Phase::kA, MessageType::kCommit, 0, 0}, member) != nullptr;
}

void PeerMachine::NoteFinished(const PeerId& peer) {
  OSTRAKA_CHECK(stage_ == Stage::kLinger);
  unfinished_.erase(peer);
  HaltIfAllFinished();
}

void PeerMachine::HaltIfAllFinished() {
  if (unfinished_.empty()) Halt(Halted::Why::kFinished, kAllDone);
}

// Of what is signed only two things matter now: who has finished, and who is stuck in a seal that
// is decided here.
void PeerMachine::OnSignedAfterEnd(const wire::SharedMessage& shared, const PeerId& from) {
  const wire::Envelope& envelope = shared->envelope;
  if (!IsMember(view_->members, envelope.sender)) return;
  if (IsSealMessage(envelope.slot.type)) {
    const SealKey key = SealKeyOf(envelope.slot);
    if (past_seals_.contains(key)) OnPastSealMessage(key, *shared, from);
    return;
  }
  const Inbox::Place commit{HeightOf(*view_), Phase::kA, MessageType::kCommit, 0, 0};
  if (!round_ || Inbox::PlaceOf(envelope.slot) != commit) return;
  if (inbox_.Probe(*shared) == Inbox::Outcome::kDuplicate || !Verified(*shared, from)) return;
  Accept(shared, nullptr);
  if (stage_ == Stage::kLinger && HasFinished(envelope.sender)) NoteFinished(envelope.sender);
}

}  // namespace ostraka::protocol

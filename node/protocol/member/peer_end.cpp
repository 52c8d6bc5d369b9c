// The run is over for this member, and it stays for those for whom it is not.
//
// A member that finishes cannot know that the others have: colluders may have spoken in the last
// seal to some honest members alone. These decide it, and the others need their certificate. So
// each member says one COMMIT more, which names the last block, and stays until every other member
// has said its own, or has said that it follows and lacks nothing.
//
// It ends no wait of anybody: nothing is decided in this stage, only passed on (stay.h: how long).
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/schedule.h"
#include "node/protocol/member/peer_machine.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

bool PeerMachine::RunIsOver(const Block& block) const {
  return !block.genesis && RunEndsWith(manifest_->training, block.step, block.last_removal_step,
                                       !block.cases.empty());
}

// The last block has no next step whose COMMITs attest to it; so each member says one more.
void PeerMachine::Finish() {
  Enter(Stage::kLinger);
  stay_.Begin(turn_.now(), chain_.delta());
  if (IsMember(chain_.head().members, self_)) {
    round_.emplace(StepReading(chain_.head(), *manifest_, chain_.state().parameters->size()));
    round_->entry_a = wire::BlockDigest(chain_.head());
    wire::Commit last;
    last.coin_count = 1;
    Prepare({MakeDraft(SlotOf(Phase::kA, MessageType::kCommit), wire::Encode(last),
                       followers_.Audience(chain_.head().members))});
    for (const PeerId& member : chain_.head().members) {
      if (member == self_ || HasFinished(member)) continue;
      if (!base::Planted(base::Bug::kLeavesAtTheEnd)) stay_.For(turn_.now(), member);
    }
  }
  for (const PeerId& follower : followers_.all()) stay_.For(turn_.now(), follower);
  turn_.Do(SetTimer{kFollowTimer, turn_.now() + chain_.delta() * 2});
  HaltIfAllFinished();
}

// People are told when it takes longer than messages do.
void PeerMachine::OnLingerTimer() {
  const Time until = stay_.Until();
  if (turn_.now() >= until) return Halt(Halted::Why::kFinished, kAllDone);
  turn_.Do(Observe{Staying{chain_.head().step, stay_.Others(), until - turn_.now()}});
  turn_.Do(SetTimer{kFollowTimer, until});
}

bool PeerMachine::HasFinished(const PeerId& member) const {
  return Usable({HeightOf(chain_.head()), Phase::kA, MessageType::kCommit, 0, 0}, member) !=
         nullptr;
}

void PeerMachine::NoteFinished(const PeerId& peer) {
  OSTRAKA_CHECK(stage_ == Stage::kLinger);
  stay_.OnFinished(peer);
  HaltIfAllFinished();
}

void PeerMachine::HaltIfAllFinished() {
  if (stay_.AllFinished()) Halt(Halted::Why::kFinished, kAllDone);
}

// Of what is signed only two things matter now: who has finished, and who is stuck in a seal that
// is decided here.
void PeerMachine::OnSignedAfterEnd(const wire::SharedMessage& shared, const PeerId& from) {
  const wire::Envelope& envelope = shared->envelope;
  if (!IsMember(chain_.head().members, envelope.sender)) return;
  if (IsSealMessage(envelope.slot.type)) {
    const SealKey key = SealKeyOf(envelope.slot);
    if (past_seals_.contains(key)) OnPastSealMessage(key, *shared, from);
    return;
  }
  const Inbox::Place commit{HeightOf(chain_.head()), Phase::kA, MessageType::kCommit, 0, 0};
  if (!round_ || Inbox::PlaceOf(envelope.slot) != commit) return;
  const Inbox::Outcome outcome = inbox_.Probe(*shared);
  const bool known = outcome == Inbox::Outcome::kDuplicate || outcome == Inbox::Outcome::kMore;
  if (known || !Verified(*shared, from)) return;
  Accept(shared, nullptr);
  if (stage_ == Stage::kLinger && HasFinished(envelope.sender)) NoteFinished(envelope.sender);
}

}  // namespace ostraka::protocol

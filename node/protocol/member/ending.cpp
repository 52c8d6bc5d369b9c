#include "node/protocol/member/ending.h"

#include <string>

#include "node/base/planted.h"
#include "node/protocol/mail/timers.h"
#include "node/protocol/rules/standing.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

Outcome Ending::Rearm(const PeerId& peer) {
  if (stay_.AllFinished()) return End();
  if (stay_.IsFor(peer)) core_.turn.Do(SetTimer{kFollowTimer, stay_.Until()});
  return Outcome::Wait();
}

void Ending::StayFor(const PeerId& peer) {
  if (!wire::RunIsOver(core_.chain.head())) return;
  if (followers_.IsGuest(peer)) {
    stay_.ForGuest(core_.turn.now(), peer);
  } else {
    stay_.For(core_.turn.now(), peer);
  }
}

Outcome Ending::Begin() {
  const Block& head = core_.chain.head();
  stay_.Begin(core_.turn.now(), core_.chain.delta());
  last_block_ = wire::BlockDigest(head);
  if (wire::RunIsOver(head)) {
    StayForFollowers();
    if (IsMember(head.members, core_.self)) {
      SayLastCommit();
      StayForMembers();
    }
  } else {
    StayForMembers();
  }
  core_.turn.Do(SetTimer{kFollowTimer, core_.turn.now() + core_.chain.delta() * 2});
  ProveBlock(false);
  return HaltIfAllFinished();
}

void Ending::StayForMembers() {
  if (base::Planted(base::Bug::kLeavesAtTheEnd)) return;
  for (const PeerId& member : core_.chain.head().members) {
    if (member != core_.self && !HasFinished(member)) stay_.For(core_.turn.now(), member);
  }
}

void Ending::StayForFollowers() {
  const std::uint64_t height = HeightOf(core_.chain.head());
  for (const PeerId& follower : followers_.all()) {
    if (HasFinished(follower) || followers_.Has(follower, height)) continue;
    StayFor(follower);
  }
}

// The last block has no next step whose COMMITs attest to it; so each member says one more.
void Ending::SayLastCommit() {
  const Block& head = core_.chain.head();
  wire::Commit last;
  last.coin_count = 1;
  core_.voice.Prepare(
      core_.voice.MakeDraft(core_.voice.SlotOf(HeightOf(head), Phase::kA, MessageType::kCommit),
                            *last_block_, wire::Encode(last), followers_.Audience(head)));
}

// Once, when there is enough to prove all of it, or at the end with what there is.
void Ending::ProveBlock(bool at_the_end) {
  if (is_proven_) return;
  const Block& head = core_.chain.head();
  const Inbox::Place place = {HeightOf(head), Phase::kA, MessageType::kCommit, 0, 0};
  std::vector<base::SharedBytes> commits;
  std::vector<PeerId> signers;
  for (const PeerId& member : head.members) {
    if (!HasFinished(member)) continue;
    commits.push_back(core_.inbox.Find(place, member)->message->frame);
    signers.push_back(member);
  }
  if (!at_the_end && !charges_.AreEnough(head, signers)) return;
  charges_.ProveBlock(head, commits);
  is_proven_ = true;
}

// People are told when it takes longer than messages do.
Outcome Ending::OnTimer() {
  const Time until = stay_.Until();
  if (core_.turn.now() >= until) return End();
  core_.turn.Do(
      Observe{Staying{core_.chain.head().step, stay_.Others(), until - core_.turn.now()}});
  core_.turn.Do(SetTimer{kFollowTimer, until});
  return Outcome::Wait();
}

bool Ending::HasFinished(const PeerId& member) const {
  const Inbox::Item* commit = core_.inbox.Find(
      {HeightOf(core_.chain.head()), Phase::kA, MessageType::kCommit, 0, 0}, member);
  return commit != nullptr && last_block_ == commit->message->envelope.entry;
}

Outcome Ending::OnCommit(const PeerId& sender) {
  ProveBlock(false);
  return HasFinished(sender) ? OnFinished(sender) : Outcome::Wait();
}

Outcome Ending::OnFinished(const PeerId& peer) {
  stay_.OnFinished(peer);
  return HaltIfAllFinished();
}

Outcome Ending::HaltIfAllFinished() { return stay_.AllFinished() ? End() : Outcome::Wait(); }

// For `ostraka leave` and the ledger, too, which know no more than steps.
std::string LeftText(const Block& head, const PeerId& self) {
  const Standing& standing = *StandingOf(head.standings, self);
  std::string text = "left the run with the block of step " + std::to_string(head.step) +
                     "; start the node again to come back";
  const std::uint64_t from = standing.barred_until;
  if (from > HeightOf(head)) text += " from step " + std::to_string(from) + " on";
  return text + ": its seat is kept until step " + std::to_string(SeatIsKeptUntil(standing));
}

Outcome Ending::End() {
  ProveBlock(true);
  const Block& head = core_.chain.head();
  if (wire::RunIsOver(head)) return Outcome::Halt(Halted::Why::kFinished, kAllDone);
  // Perhaps since its COMMIT. [It came back, left again, and was barred.]
  if (!core_.voice.wishes().WasToldToLeave(HeightOf(head))) {
    stay_.Break();
    last_block_.reset();
    is_proven_ = false;
    return Outcome::Leave("it left the run, as it had said before it was started again");
  }
  return Outcome::Halt(Halted::Why::kLeft, LeftText(head, core_.self));
}

void Ending::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, stay_, last_block_, is_proven_);
}

}  // namespace ostraka::protocol

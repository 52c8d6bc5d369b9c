#include "node/protocol/member/forks.h"

#include <utility>

#include "node/base/check.h"
#include "node/protocol/mail/timers.h"
#include "node/protocol/rules/standing.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

// After a fork is found, for what the other branch holds. No rule rests on it: a culprit whose
// message comes later is named by fewer members.
constexpr base::Duration kTrialLasts = base::Seconds(5);

}  // namespace

// --- while the run is one -----------------------------------------------------------------------

Forks::Finding Forks::Watch(const wire::SignedEnvelope& message, const PeerId& from) {
  const wire::Envelope& envelope = message.envelope;
  // COMMIT, AGG and what seals them name the block that their sender's step began with.
  const bool parted =
      envelope.slot.phase == Phase::kA && IsOtherHistory(envelope.slot.step, envelope.entry);
  const bool rival = watch_.IsRival(message);
  if (!parted && !rival) return Finding::kNone;
  if (!check_.VerifiedOdd(message, from)) return Finding::kForged;
  if (parted) Trace(from, envelope.slot.step);
  if (!rival) return Finding::kNone;
  found_ = watch_.Note(message);
  return found_ ? Finding::kSplit : Finding::kNone;
}

// A step of which this member knows with what block it began, and it was not `parent`.
bool Forks::IsOtherHistory(std::uint64_t step, const Digest& parent) const {
  if (step == 0) return false;
  if (step_.in(step)) return parent != step_.step().facts().parent_a;
  const Digest* own = watch_.ParentOf({step, Phase::kA, 0});
  return own != nullptr && *own != parent;
}

// `from` has, or passes on, a message of `step` that began with another block: what made that
// block?
void Forks::Trace(const PeerId& from, std::uint64_t step) {
  if (!watch_.MayAsk(from, step - 1)) return;
  core_.voice.Ask(from, ServiceSlot(step - 1, Phase::kC, MessageType::kPull),
                  {.kind = wire::PullKind::kProofs});
}

void Forks::OnBlock(const PeerId& from, const Block& block) {
  if (block.genesis || !IsOtherHistory(HeightOf(block), wire::BlockDigest(block))) return;
  Trace(from, HeightOf(block));
}

void Forks::AskHeadsOfDropped() const {
  const Block& head = core_.chain.head();
  for (const PeerId& key : KeysOf(head)) {
    const Standing* standing = StandingOf(head.standings, key);
    const bool banned = standing != nullptr && standing->banned;
    if (banned || IsMember(head.members, key) || followers_.Contains(key)) continue;
    core_.voice.Ask(key, ServiceSlot(core_.voice.step(), Phase::kC, MessageType::kPull),
                    {.kind = wire::PullKind::kHead});
  }
}

void Forks::Answer(const PeerId& from, std::uint64_t step) const {
  const bool of_fork = trial_ && trial_->seal().step == step;
  const auto frames = of_fork ? trial_->Frames() : watch_.ProofsOf(step);
  if (!server_.TakeLooks(from, frames.size())) return;
  for (const SharedBytes& frame : frames) {
    if (!server_.SendFrame(from, frame)) return;
  }
}

// --- after the split ----------------------------------------------------------------------------

void Forks::Freeze() {
  OSTRAKA_CHECK(found_ && !trial_);
  trial_.emplace(*std::move(found_), core_.self);
  found_.reset();
  core_.turn.Do(SetTimer{kFollowTimer, core_.turn.now() + kTrialLasts});
  for (const auto& [peer, culprit] : trial_->culprits()) charges_.Keep(culprit.file);
  StoreLine(false);
  for (const PeerId& key : KeysOf(core_.chain.head())) {
    if (key != core_.self) Show(key);
  }
}

void Forks::Show(const PeerId& to) const {
  for (const SharedBytes& frame : trial_->Frames()) core_.turn.Do(Send{to, frame, nullptr});
  core_.voice.Ask(to, ServiceSlot(trial_->seal().step, Phase::kC, MessageType::kPull),
                  {.kind = wire::PullKind::kProofs});
}

void Forks::Hear(const wire::SignedEnvelope& message, const PeerId& from) {
  if (!trial_->IsNews(message)) return;
  if (!check_.VerifiedOdd(message, from)) return;
  const Culprit* culprit = trial_->Hear(message);
  if (culprit != nullptr) charges_.Keep(culprit->file);
}

void Forks::StoreLine(bool last) {
  core_.journal.StoreForkLine(trial_->seal().step, trial_->Line(), last);
}

std::string Forks::End() {
  StoreLine(true);
  return trial_->Line();
}

void Forks::CheckInvariants() const {
  OSTRAKA_CHECK(!found_);  // what Watch finds, Freeze takes in the same call
  if (trial_) trial_->CheckInvariants();
}

void Forks::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, found_, trial_); }

}  // namespace ostraka::protocol

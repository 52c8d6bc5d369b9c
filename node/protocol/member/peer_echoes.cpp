// Which ECHOs of others no honest member can have sent (node/protocol/watch/echo_watch.h).
#include <algorithm>

#include "node/protocol/member/peer_machine.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

// The seal that is just opened, whose deadline is `deadline` from now.
void PeerMachine::WatchEchoes(base::Duration deadline) {
  EchoWatch::Options options;
  options.delta = delta();
  if (!WaitsForLastCoin()) options.deadline = now_ + deadline;
  // Honest members open seal A when they have settled the step before and updated the model, which
  // takes some longer than others [one that had to look for a result opened 1.3 Delta late, and
  // the deadlines of the others seemed hasty to it]. None opens it sooner than a Delta before the
  // decision here that ended that step. Who saw none says nothing.
  if (seal_slot_.phase == Phase::kA) {
    options.deadline = decided_c_ ? *decided_c_ + deadline : base::Time{};
  }
  const std::size_t n = view_->members.size();
  for (std::size_t i = 0; i < EntryCount(); ++i) {
    if (!PlaceOfEntry(i)) continue;
    EchoWatch::DueEntry due{i, std::nullopt};
    if (i >= n) due.excused_by = i - n;  // nobody waits for the AGG of one with two COMMITs
    options.due.push_back(due);
  }
  echo_watch_.emplace(std::move(options));
}

void PeerMachine::NoteEcho(const wire::SignedEnvelope& message) {
  if (!echo_watch_) return;
  const auto echo = wire::DecodeEcho(message.envelope.body);
  if (!echo.ok()) return;
  if (message.envelope.sender == self_) return echo_watch_->OnOwnEcho(*echo, now_);
  echo_watch_->OnEcho(message.envelope.sender, *echo, now_);
}

// The seal is decided. Before anything else is made of that: who is absent has no place among the
// entries any more, and a vector that names it would count as never shown [each honest member that
// had echoed such an entry was dropped].
void PeerMachine::TakeWatches(const SealVector& decided) {
  TakeEchoWatch(EchoOf(decided).vector);
  TakeLateness();
}

// `decided` is the hash of the vector.
void PeerMachine::TakeEchoWatch(const Digest& decided) {
  if (!echo_watch_) return;
  hasty_.merge(echo_watch_->Hasty(now_));
  for (const auto& [member, late] : echo_watch_->Tardy()) {
    late_[member].own += static_cast<std::uint64_t>(late.ns / 1'000'000);
  }
  unshown_.merge(
      echo_watch_->Unshown(decided, now_, [this](const Digest& value) { return IsShown(value); }));
  echo_watch_.reset();
}

// The vector of that hash is known here, and every message that it names is held.
bool PeerMachine::IsShown(const Digest& value) const {
  const auto known = seal_->VectorFor(value);
  const auto vector = known ? VectorOf(*known) : std::nullopt;
  if (!vector) return false;
  for (std::size_t i = 0; i < vector->size(); ++i) {
    const SealEntry& entry = (*vector)[i];
    if (entry.state == SealEntry::State::kPresent && !Holds(i, entry.digest)) return false;
    if (entry.state == SealEntry::State::kEquivocated &&
        EntryNow(i).state != SealEntry::State::kEquivocated) {
      return false;
    }
  }
  return true;
}

// Those of `named` that are members, as PROOF states them.
base::Bytes PeerMachine::BitmapOfMembers(const std::set<PeerId>& named) const {
  std::vector<PeerId> members;
  for (const PeerId& member : named) {
    if (IsMember(view_->members, member)) members.push_back(member);
  }
  return wire::BitmapOf(members, view_->members);
}

}  // namespace ostraka::protocol

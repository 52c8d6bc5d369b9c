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
  options.delta = chain_.delta();
  if (!WaitsForLastCoin()) options.deadline = turn_.now() + deadline;
  // Honest members open seal A when they have settled the step before and updated the model, which
  // takes some longer than others [one that had to look for a result opened 1.3 Delta late, and
  // the deadlines of the others seemed hasty to it]. None opens it sooner than a Delta before the
  // decision here that ended that step. Who saw none says nothing.
  if (seal_slot_.phase == Phase::kA) {
    options.deadline = decided_c_ ? *decided_c_ + deadline : base::Time{};
  }
  const std::size_t n = chain_.head().members.size();
  for (std::size_t i = 0; i < EntryCount(); ++i) {
    if (!PlaceOfEntry(i)) continue;
    EchoWatch::DueEntry due{i, std::nullopt};
    if (i >= n) due.excused_by = i - n;  // nobody waits for the AGG of one with two COMMITs
    options.due.push_back(due);
  }
  reports_.WatchEchoes(std::move(options));
}

void PeerMachine::NoteEcho(const wire::SignedEnvelope& message) {
  const auto echo = wire::DecodeEcho(message.envelope.body);
  if (echo.ok()) reports_.OnEcho(message.envelope.sender, *echo, turn_.now());
}

// The seal is decided. Before anything else is made of that: who is absent has no place among the
// entries any more, and a vector that names it would count as never shown [each honest member that
// had echoed such an entry was dropped].
void PeerMachine::TakeWatches(const SealVector& decided) {
  reports_.TakeSeal(chain_.head().members, EchoOf(decided).vector, seal_->iteration() > 0,
                    turn_.now(), [this](const Digest& value) { return IsShown(value); });
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

}  // namespace ostraka::protocol

#include "node/protocol/step/due_watch.h"

#include <algorithm>
#include <vector>

#include "node/base/check.h"
#include "node/protocol/ground/deadlines.h"
#include "node/protocol/rules/recomputing.h"

namespace ostraka::protocol {
namespace {

std::size_t IndexIn(const std::vector<PeerId>& members, const PeerId& member) {
  const auto at = std::lower_bound(members.begin(), members.end(), member);
  OSTRAKA_CHECK(at != members.end() && *at == member);
  return static_cast<std::size_t>(at - members.begin());
}

}  // namespace

LateWatch::Options DueWatch::Options() const {
  const Block& head = uses_.chain->head();
  LateWatch::Options options;
  options.opened = uses_.turn->now();
  options.delta = uses_.chain->delta();
  options.patience = uses_.manifest->patience;
  options.deadline = SealDeadlineAfter(head, *uses_.manifest);
  options.members = SealersOf(head).size();
  options.quorum = head.thresholds.quorum();
  options.fault_bound = FaultBound(head.thresholds);
  return options;
}

void DueWatch::BeginA() {
  const Roles& roles = facts_->roles();
  const std::vector<PeerId>& members = SealersOf(uses_.chain->head());
  const bool owner = facts_->my_part.has_value();
  LateWatch::Options options = Options();
  options.owns_column = owner;
  LateWatch& watch = uses_.reports->WatchLateness(options);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const bool works = roles.IsWorker(members[i]);
    watch.Expect({works ? DueMessage::kCommit : DueMessage::kIdleCommit, i}, i);
    if (roles.PartOwnedBy(members[i])) watch.Expect({DueMessage::kAggregate, i}, i);
    if (owner && works) watch.Expect({DueMessage::kPart, i}, i);
  }
  for (const LivePair& pair : holdings_.pairs->all()) {
    if (pair.worker == uses_.self || pair.aggregator == uses_.self) continue;
    watch.Expect({DueMessage::kDisputedPart, pair.index}, IndexIn(members, pair.worker));
  }
}

void DueWatch::BeginB() {
  const Entries& entries = holdings_.sealing->entries();
  LateWatch& watch = uses_.reports->WatchLateness(Options());
  for (std::size_t i = 0; i < SealersOf(uses_.chain->head()).size(); ++i) {
    if (entries.PlaceOf(entries.EntryOf(i))) watch.Expect({DueMessage::kReveal, i}, i);
  }
}

void DueWatch::BeginC() {
  const std::vector<PeerId>& members = SealersOf(uses_.chain->head());
  const Entries& entries = holdings_.sealing->entries();
  const Block& head = uses_.chain->head();
  LateWatch::Options options = Options();
  options.deadline = ProofDeadlineAfter(head, *uses_.manifest);
  LateWatch& watch = uses_.reports->WatchLateness(options);
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!entries.PlaceOf(entries.EntryOf(i))) continue;
    watch.Expect({DueMessage::kProof, i}, i,
                 ProofExtraFor(members[i], head, facts_->roles(), *uses_.manifest));
  }
  for (std::size_t j = 0; j < holdings_.results->all().size(); ++j) {
    if (!holdings_.results->IsWanted(j)) continue;
    watch.Expect({DueMessage::kResult, j}, IndexIn(members, facts_->roles().owners[j]));
  }
}

bool DueWatch::IsHeld(const LateWatch::Message& due) const {
  const std::vector<PeerId>& members = SealersOf(uses_.chain->head());
  const Entries& entries = holdings_.sealing->entries();
  switch (due.kind) {
    case DueMessage::kCommit:
    case DueMessage::kIdleCommit:
    case DueMessage::kReveal:
    case DueMessage::kProof:
      return entries.EntryNow(entries.EntryOf(due.index)).state != SealEntry::State::kAbsent;
    case DueMessage::kAggregate:
      return entries.EntryNow(entries.AggEntryOf(due.index)).state != SealEntry::State::kAbsent;
    case DueMessage::kPart:
      return holdings_.column->IsJudged(members[due.index]);
    case DueMessage::kDisputedPart:
      return holdings_.pairs->HoldsGoodPart(due.index);  // L2
    case DueMessage::kResult:
      return holdings_.results->all()[due.index] != nullptr;
  }
  return true;
}

void DueWatch::Update() {
  LateWatch* const watch = uses_.reports->lateness();
  if (watch == nullptr) return;
  for (auto next = watch->lacking().begin(); next != watch->lacking().end();) {
    const LateWatch::Message due = *next++;  // Held removes it
    if (IsHeld(due)) watch->Held(due, uses_.turn->now());
  }
  if (holdings_.results->expired()) watch->EndResults(uses_.turn->now());
  if (holdings_.sealing->seal().wait_ended()) return watch->Stop(uses_.turn->now());
  if (const auto ask = uses_.reports->AskAt(uses_.chain->delta())) {
    uses_.pull->Arm(std::max(*ask - uses_.turn->now(), Duration{}));
  }
}

}  // namespace ostraka::protocol

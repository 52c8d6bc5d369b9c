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
  const Block& head = core_.chain.head();
  LateWatch::Options options;
  options.opened = core_.turn.now();
  options.delta = core_.chain.delta();
  options.patience = core_.manifest->patience;
  options.deadline = SealDeadlineAfter(head, *core_.manifest);
  options.members = SealersOf(head).size();
  options.quorum = head.thresholds.quorum();
  options.fault_bound = FaultBound(head.thresholds);
  return options;
}

void DueWatch::BeginA() {
  const Roles& roles = facts_.roles();
  const std::vector<PeerId>& members = SealersOf(core_.chain.head());
  const bool owner = facts_.my_column.has_value();
  LateWatch::Options options = Options();
  options.owns_column = owner;
  LateWatch& watch = reports_.WatchLateness(options);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const bool works = roles.IsWorker(members[i]);
    watch.Expect({works ? DueMessage::kCommit : DueMessage::kIdleCommit, i}, i);
    if (roles.PartOwnedBy(members[i])) watch.Expect({DueMessage::kAggregate, i}, i);
    if (owner && works) watch.Expect({DueMessage::kPart, i}, i);
  }
  for (const LivePair& pair : pairs_.all()) {
    if (pair.worker == core_.self || pair.aggregator == core_.self) continue;
    watch.Expect({DueMessage::kDisputedPart, pair.index}, IndexIn(members, pair.worker));
  }
}

void DueWatch::BeginB() {
  const Entries& entries = sealing_.entries();
  LateWatch& watch = reports_.WatchLateness(Options());
  for (std::size_t i = 0; i < SealersOf(core_.chain.head()).size(); ++i) {
    if (entries.PlaceOf(entries.EntryOf(i))) watch.Expect({DueMessage::kReveal, i}, i);
  }
}

void DueWatch::BeginC() {
  const std::vector<PeerId>& members = SealersOf(core_.chain.head());
  const Entries& entries = sealing_.entries();
  const Block& head = core_.chain.head();
  LateWatch::Options options = Options();
  options.deadline = ProofDeadlineAfter(head, *core_.manifest);
  LateWatch& watch = reports_.WatchLateness(options);
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!entries.PlaceOf(entries.EntryOf(i))) continue;
    watch.Expect({DueMessage::kProof, i}, i,
                 ProofExtraFor(members[i], head, facts_.roles(), *core_.manifest));
  }
  for (std::size_t j = 0; j < results_.all().size(); ++j) {
    if (!results_.IsWanted(j)) continue;
    watch.Expect({DueMessage::kResult, j}, IndexIn(members, facts_.roles().owners[j]));
  }
}

bool DueWatch::IsHeld(const LateWatch::Message& due) const {
  const std::vector<PeerId>& members = SealersOf(core_.chain.head());
  const Entries& entries = sealing_.entries();
  switch (due.kind) {
    case DueMessage::kCommit:
    case DueMessage::kIdleCommit:
    case DueMessage::kReveal:
    case DueMessage::kProof:
      return entries.EntryNow(entries.EntryOf(due.index)).state != SealEntry::State::kAbsent;
    case DueMessage::kAggregate:
      return entries.EntryNow(entries.AggEntryOf(due.index)).state != SealEntry::State::kAbsent;
    case DueMessage::kPart:
      return column_.IsJudged(members[due.index]);
    case DueMessage::kDisputedPart:
      return pairs_.HoldsGoodPart(due.index);  // L2
    case DueMessage::kResult:
      return results_.all()[due.index] != nullptr;
  }
  return true;
}

void DueWatch::Update() {
  LateWatch* const watch = reports_.lateness();
  if (watch == nullptr) return;
  for (auto next = watch->lacking().begin(); next != watch->lacking().end();) {
    const LateWatch::Message due = *next++;  // Held removes it
    if (IsHeld(due)) watch->Held(due, core_.turn.now());
  }
  if (results_.expired()) watch->EndResults(core_.turn.now());
  if (sealing_.seal().wait_ended()) return watch->Stop(core_.turn.now());
  if (const auto ask = reports_.AskAt(core_.chain.delta())) {
    pull_.Arm(std::max(*ask - core_.turn.now(), Duration{}));
  }
}

}  // namespace ostraka::protocol

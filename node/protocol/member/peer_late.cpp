// How late the words of others come here (node/protocol/watch/late_watch.h), and asking all for
// them.
#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/member/peer_machine.h"
#include "node/protocol/rules/lateness.h"
#include "node/wire/bitmap.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

std::size_t IndexIn(const std::vector<PeerId>& members, const PeerId& member) {
  const auto at = std::lower_bound(members.begin(), members.end(), member);
  OSTRAKA_CHECK(at != members.end() && *at == member);
  return static_cast<std::size_t>(at - members.begin());
}

// Nullopt for bulk, which is not asked for here.
std::optional<MessageType> TypeOf(DueWord kind) {
  switch (kind) {
    case DueWord::kCommit:
      return MessageType::kCommit;
    case DueWord::kAggregate:
      return MessageType::kAggregate;
    case DueWord::kReveal:
      return MessageType::kReveal;
    case DueWord::kProof:
      return MessageType::kProof;
    case DueWord::kPart:
    case DueWord::kDisputedPart:
    case DueWord::kResult:
      break;
  }
  return std::nullopt;
}

}  // namespace

LateWatch::Options PeerMachine::LateWatchOptions() const {
  LateWatch::Options options;
  options.opened = turn_.now();
  options.delta = chain_.delta();
  options.patience = manifest_->patience;
  options.deadline = manifest_->part_timeout * 2 + chain_.delta() * 2;
  options.members = chain_.head().members.size();
  options.quorum = chain_.head().thresholds.quorum();
  options.fault_bound = FaultBound(chain_.head().thresholds);
  return options;
}

void PeerMachine::WatchSealA() {
  const Roles& roles = round_->reading.sealed.roles;
  const std::vector<PeerId>& members = chain_.head().members;
  LateWatch::Options options = LateWatchOptions();
  options.owns_column = round_->my_part.has_value();
  LateWatch& watch = reports_.WatchLateness(options);
  for (std::size_t i = 0; i < members.size(); ++i) {
    watch.Expect({DueWord::kCommit, i}, i);
    if (roles.PartOwnedBy(members[i])) watch.Expect({DueWord::kAggregate, i}, i);
    if (round_->my_part && roles.IsWorker(members[i])) watch.Expect({DueWord::kPart, i}, i);
  }
  for (const LivePair& pair : round_->pairs) {
    if (pair.worker == self_ || pair.aggregator == self_) continue;
    watch.Expect({DueWord::kDisputedPart, pair.index}, IndexIn(members, pair.worker));
  }
}

void PeerMachine::WatchSealB() {
  LateWatch& watch = reports_.WatchLateness(LateWatchOptions());
  for (std::size_t i = 0; i < chain_.head().members.size(); ++i) {
    if (PlaceOfEntry(i)) watch.Expect({DueWord::kReveal, i}, i);
  }
}

void PeerMachine::WatchSealC() {
  const std::vector<PeerId>& members = chain_.head().members;
  LateWatch& watch = reports_.WatchLateness(LateWatchOptions());
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (PlaceOfEntry(i)) watch.Expect({DueWord::kProof, i}, i);
  }
  for (std::size_t j = 0; j < round_->results.size(); ++j) {
    if (!ResultWanted(j)) continue;
    watch.Expect({DueWord::kResult, j}, IndexIn(members, round_->reading.sealed.roles.owners[j]));
  }
}

bool PeerMachine::IsHere(const LateWatch::Word& word) {
  const std::vector<PeerId>& members = chain_.head().members;
  switch (word.kind) {
    case DueWord::kCommit:
    case DueWord::kReveal:
    case DueWord::kProof:
      return EntryNow(word.index).state != SealEntry::State::kAbsent;
    case DueWord::kAggregate:
      return EntryNow(members.size() + word.index).state != SealEntry::State::kAbsent;
    case DueWord::kPart:
      return round_->held.contains(members[word.index]) ||
             round_->refused.contains(members[word.index]);
    case DueWord::kDisputedPart: {
      const auto pair = std::find_if(round_->pairs.begin(), round_->pairs.end(),
                                     [&](const LivePair& p) { return p.index == word.index; });
      // Else a copy with a false header, in time, makes the owner pay for what came to it late.
      return round_->forwarded_parts.contains(word.index) || CanPassOn(*pair);
    }
    case DueWord::kResult:
      return round_->results[word.index] != nullptr;
  }
  return true;
}

// Called wherever something may have come.
void PeerMachine::UpdateLateWatch() {
  LateWatch* const watch = reports_.lateness();
  if (watch == nullptr) return;
  const std::set<LateWatch::Word>& lacking = watch->lacking();
  for (const LateWatch::Word& word : std::vector<LateWatch::Word>(lacking.begin(), lacking.end())) {
    if (IsHere(word)) watch->Held(word, turn_.now());
  }
  if (stage_ == Stage::kProve && round_->bulk_expired) watch->EndResults(turn_.now());
  if (seal_->echoed()) return watch->Stop(turn_.now());
  if (const auto ask = reports_.AskAt(chain_.delta()))
    ArmPull(std::max(*ask - turn_.now(), base::Duration{}));
}

// What one honest member holds all hold a Delta later: else who sends to some alone would have
// members disagree on how late it was, and the others would wait for it.
void PeerMachine::PullLate() {
  if (seal_->echoed()) return;
  std::map<MessageType, std::vector<PeerId>> late;
  for (const LateWatch::Word& word : reports_.TakeOverdue(turn_.now(), chain_.delta())) {
    if (const auto type = TypeOf(word.kind))
      late[*type].push_back(chain_.head().members[word.index]);
  }
  for (const auto& [type, authors] : late) {
    for (const PeerId& member : chain_.head().members) {
      if (round_->asleep.contains(member)) continue;
      Ask(member, seal_slot_,
          {.kind = wire::PullKind::kMessages,
           .type = type,
           .members = wire::BitmapOf(authors, chain_.head().members),
           .digests = {},
           .index = 0});
    }
  }
}

std::optional<PeerId> PeerMachine::SlowestSender() const {
  const auto slowest = reports_.SlowestSender();
  if (!slowest || chain_.head().members[*slowest] == self_) return std::nullopt;
  return chain_.head().members[*slowest];
}

// An honest machine that is too slow is not dropped without a word.
void PeerMachine::TellOwnLateness() {
  Slow slow;
  slow.step = chain_.head().step;
  slow.used_ms = LatenessOf(chain_.head(), self_);
  slow.allowed_ms = AllowanceMs(chain_.head(), *manifest_);
  if (slow.Lasts() || told_slow_) turn_.Do(Observe{slow});
  told_slow_ = slow.Lasts();
}

}  // namespace ostraka::protocol

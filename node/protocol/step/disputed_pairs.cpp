#include "node/protocol/step/disputed_pairs.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/step/part_check.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

DisputedPairs::DisputedPairs(Uses uses, const StepFacts* facts)
    : uses_(std::move(uses)),
      facts_(facts),
      pairs_(LivePairsOf(uses_.chain->head(), facts->roles())) {}

bool DisputedPairs::IsPublic(const PeerId& worker, std::uint32_t column) const {
  return std::any_of(pairs_.begin(), pairs_.end(), [&](const LivePair& pair) {
    return pair.worker == worker && pair.column == column;
  });
}

bool DisputedPairs::Owes(const PeerId& asker, const PeerId& worker, std::uint32_t column) const {
  return std::any_of(pairs_.begin(), pairs_.end(), [&](const LivePair& pair) {
    return pair.worker == worker && pair.column == column && pair.aggregator == asker &&
           parts_.contains(pair.index);
  });
}

const Inbox::Item* DisputedPairs::Commit(const LivePair& pair) const {
  return Usable(*uses_.inbox, *facts_, facts_->PlaceOf(Phase::kA, MessageType::kCommit),
                pair.worker);
}

const Inbox::Item* DisputedPairs::Part(const LivePair& pair) const {
  return Usable(*uses_.inbox, *facts_,
                facts_->PlaceOf(Phase::kA, MessageType::kPart, 0, pair.column), pair.worker);
}

// Spoilt parts are the worker's fault, and looked at once.
bool DisputedPairs::CanPassOn(const LivePair& pair) {
  if (spoilt_.contains(pair.index)) return false;
  const Inbox::Item* commit = Commit(pair);
  const Inbox::Item* part = Part(pair);
  if (commit == nullptr || part == nullptr) return false;
  if (!PartFault(*commit, *part, pair.column, facts_->roles().parts)) return true;
  spoilt_.insert(pair.index);
  return false;
}

void DisputedPairs::ForwardParts() {
  if (uses_.turn->now() > forward_until_) return;
  for (const LivePair& pair : pairs_) {
    if (IsParty(pair) || parts_.contains(pair.index) || !CanPassOn(pair)) continue;
    parts_.insert(pair.index);
    // With the COMMIT, without which no part counts: the worker may have kept it from its owner.
    const Inbox::Item* part = Part(pair);
    uses_.turn->Do(Send{pair.aggregator, Commit(pair)->message->frame, nullptr});
    uses_.turn->Do(Send{pair.aggregator, part->message->frame, part->blob});
  }
}

void DisputedPairs::ForwardResults(const std::vector<SharedBlob>& results) {
  if (uses_.turn->now() > forward_until_) return;
  for (const LivePair& pair : pairs_) {
    if (IsParty(pair) || results_.contains(pair.index)) continue;
    const bool wanted = facts_->reading.sealed.GivesResult(pair.column);
    if (!wanted || results[pair.column] == nullptr) continue;
    results_.insert(pair.index);
    uses_.server->AnswerResult(pair.worker, facts_->number(), pair.column);
  }
}

bool DisputedPairs::HasPart(std::size_t index) {
  if (parts_.contains(index)) return true;
  const auto pair = std::find_if(pairs_.begin(), pairs_.end(),
                                 [&](const LivePair& p) { return p.index == index; });
  OSTRAKA_CHECK(pair != pairs_.end());
  return CanPassOn(*pair);
}

void DisputedPairs::CheckInvariants() const {
  std::size_t parts = 0;
  std::size_t results = 0;
  for (const LivePair& pair : pairs_) {
    const bool part = parts_.contains(pair.index);
    const bool result = results_.contains(pair.index);
    OSTRAKA_CHECK(!IsParty(pair) || (!part && !result));
    OSTRAKA_CHECK(!part || !spoilt_.contains(pair.index));  // D2
    parts += part;
    results += result;
  }
  OSTRAKA_CHECK(parts == parts_.size() && results == results_.size());
}

}  // namespace ostraka::protocol

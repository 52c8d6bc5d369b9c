#include "node/protocol/step/disputed_pairs.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/ground/reach.h"
#include "node/protocol/step/part_check.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

DisputedPairs::DisputedPairs(const Core& core, ChainServer& server, const StepFacts& facts)
    : core_(core),
      server_(server),
      facts_(facts),
      pairs_(LivePairsOf(core_.chain.head(), facts.roles())) {}

bool DisputedPairs::IsPublic(const PeerId& worker, std::uint32_t column) const {
  return std::any_of(pairs_.begin(), pairs_.end(), [&](const LivePair& pair) {
    return pair.worker == worker && pair.column == column;
  });
}

bool DisputedPairs::MustResend(const PeerId& asker, const PeerId& worker,
                               std::uint32_t column) const {
  return std::any_of(pairs_.begin(), pairs_.end(), [&](const LivePair& pair) {
    return pair.worker == worker && pair.column == column && pair.aggregator == asker &&
           forwarded_parts_.contains(pair.index);
  });
}

const Inbox::Version* DisputedPairs::Commit(const LivePair& pair) const {
  return Usable(core_.inbox, facts_, facts_.PlaceOf(Phase::kA, MessageType::kCommit), pair.worker);
}

const Inbox::Version* DisputedPairs::Part(const LivePair& pair) const {
  return Usable(core_.inbox, facts_, facts_.PlaceOf(Phase::kA, MessageType::kPart, 0, pair.column),
                pair.worker);
}

// Once for each part: the attacker chooses it, and hashing it again at each message would cost.
void DisputedPairs::JudgeParts() {
  for (const LivePair& pair : pairs_) {
    const bool judged = good_.contains(pair.index) || spoilt_.contains(pair.index);
    if (judged || IsParty(pair)) continue;  // D3
    const Inbox::Version* commit = Commit(pair);
    const Inbox::Version* part = Part(pair);
    if (commit == nullptr || part == nullptr) continue;
    const bool good =
        !PartFault(*commit, *part, pair.column, facts_.roles().parts, core_.manifest->codecs.parts);
    (good ? good_ : spoilt_).insert(pair.index);
  }
}

bool DisputedPairs::IsCarrierOf(const PeerId& a, const PeerId& b) const {
  const std::vector<PeerId> carriers = CarriersOf(core_.chain.head(), a, b);
  const std::size_t count = std::min(carriers.size(), CarriersNeeded(core_.chain.head()));
  const auto end = carriers.begin() + static_cast<std::ptrdiff_t>(count);
  return std::find(carriers.begin(), end, core_.self) != end;
}

std::vector<PeerId> DisputedPairs::PartGoesTo(const LivePair& pair) const {
  const Block& head = core_.chain.head();
  std::vector<PeerId> to = {pair.aggregator};
  for (const PeerId& member : head.members) {
    const bool party = member == pair.aggregator || member == pair.worker;
    if (party || !Apart(head, pair.worker, member)) continue;
    if (IsCarrierOf(pair.worker, member)) to.push_back(member);
  }
  return to;
}

// Attack: an aggregator that gives its result only to members that the worker cannot be linked with
// would have all of them say that they passed it on.
bool DisputedPairs::ForwardResult(const LivePair& pair) {
  const Block& head = core_.chain.head();
  if (!Apart(head, core_.self, pair.worker)) {
    return server_.AnswerResult(pair.worker, facts_.number(), pair.column);
  }
  bool any = false;  // a carrier that used up its own ration keeps the others from nothing
  for (const PeerId& carrier : ReachableIn(head)) {
    if (carrier == pair.aggregator) continue;
    any |= server_.AnswerResult(carrier, facts_.number(), pair.column);
  }
  return any;
}

void DisputedPairs::ForwardParts() {
  if (core_.turn.now() > forward_until_) return;
  for (const LivePair& pair : pairs_) {
    if (!good_.contains(pair.index) || !forwarded_parts_.insert(pair.index).second) continue;
    // With the COMMIT, without which no part counts: the worker may have kept it from its owner.
    const Inbox::Version* part = Part(pair);
    for (const PeerId& to : PartGoesTo(pair)) {
      core_.turn.Do(Send{to, Commit(pair)->message->frame, nullptr});
      core_.turn.Do(Send{to, part->message->frame, part->blob});
    }
  }
}

void DisputedPairs::ForwardResults(const std::vector<SharedBlob>& results) {
  if (core_.turn.now() > forward_until_) return;
  for (const LivePair& pair : pairs_) {
    if (IsParty(pair) || forwarded_results_.contains(pair.index)) continue;
    const bool wanted = facts_.reading.sealed.GivesResult(pair.column);
    if (!wanted || results[pair.column] == nullptr) continue;
    const bool apart = Apart(core_.chain.head(), core_.self, pair.worker);
    if (apart && core_.turn.now() + core_.chain.delta() * 2 > forward_until_) continue;
    if (ForwardResult(pair)) forwarded_results_.insert(pair.index);
  }
}

void DisputedPairs::CheckInvariants() const {
  std::size_t parts = 0;
  std::size_t results = 0;
  for (const LivePair& pair : pairs_) {
    const bool good = good_.contains(pair.index);
    const bool spoilt = spoilt_.contains(pair.index);
    const bool part = forwarded_parts_.contains(pair.index);
    const bool result = forwarded_results_.contains(pair.index);
    OSTRAKA_CHECK(!(good && spoilt) && (!part || good));             // D2
    OSTRAKA_CHECK(!IsParty(pair) || (!good && !spoilt && !result));  // D3
    parts += part;
    results += result;
  }
  OSTRAKA_CHECK(parts == forwarded_parts_.size() && results == forwarded_results_.size());
}

void DisputedPairs::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, pairs_, forward_until_, forwarded_parts_, forwarded_results_, spoilt_);
}

}  // namespace ostraka::protocol

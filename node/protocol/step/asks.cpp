#include "node/protocol/step/asks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "node/protocol/ground/reach.h"
#include "node/protocol/sync/widening.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;
using wire::PullKind;

namespace {

// Members that are asked in one round for missing ECHOs.
constexpr std::size_t kEchoSources = 8;

// Nullopt for bulk data, which ForLate does not request.
std::optional<MessageType> TypeOf(DueMessage kind) {
  switch (kind) {
    case DueMessage::kCommit:
    case DueMessage::kIdleCommit:
      return MessageType::kCommit;
    case DueMessage::kAggregate:
      return MessageType::kAggregate;
    case DueMessage::kReveal:
      return MessageType::kReveal;
    case DueMessage::kProof:
      return MessageType::kProof;
    case DueMessage::kPart:
    case DueMessage::kDisputedPart:
    case DueMessage::kResult:
      break;
  }
  return std::nullopt;
}

}  // namespace

void Asks::AskMessages(const PeerId& whom, const wire::Slot& slot, MessageType type,
                       const std::vector<PeerId>& authors) const {
  core_.voice.Ask(whom, slot,
                  {.kind = PullKind::kMessages,
                   .type = type,
                   .members = wire::BitmapOf(authors, SealersOf(core_.chain.head())),
                   .digests = {},
                   .index = 0});
}

bool Asks::ForEntries(const Sealing& sealing) const {
  std::vector<std::pair<PeerId, wire::Echo>> shown;
  for (const auto& [sender, item] : core_.inbox.At(Inbox::PlaceOf(sealing.slot()))) {
    const auto* echo = item.message->As<wire::Echo>();
    if (echo != nullptr && sender != core_.self) shown.emplace_back(sender, *echo);
  }
  if (shown.empty()) return false;
  std::map<std::pair<PeerId, MessageType>, std::vector<PeerId>> wanted;
  const Entries& entries = sealing.entries();
  const std::size_t count = entries.Count();
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = entries.PlaceOf(i);
    if (!place || entries.EntryNow(i).state != SealEntry::State::kAbsent) continue;
    // One more than can lie, and others each time: else each liar among them costs half a Delta.
    std::size_t room = FaultBound(core_.chain.head().thresholds) + 1;
    for (std::size_t k = 0; k < shown.size() && room > 0; ++k) {
      const auto& [sender, echo] = shown[(i + pull_.attempts() + k) % shown.size()];
      if (StateIn(echo, i) == SealEntry::State::kAbsent) continue;
      wanted[{sender, place->first.type}].push_back(place->second);
      --room;
    }
  }
  for (const auto& [whom, senders] : wanted) {
    AskMessages(whom.first, sealing.slot(), whom.second, senders);
  }
  return !wanted.empty();
}

// ECHOs that are missing half a Delta after this member's own: a two-faced member may have shown
// them to others. While more than t_s are missing, honest members have yet to send theirs, and will
// send them to all: asking all for all made a quarter of a million messages of each slow seal of
// 64. (The seal asks again, and more members, half a Delta after its own ECHO: docs/seal.md, 5.)
bool Asks::ForEchoes(const Sealing& sealing) const {
  if (!sealing.seal().wait_ended() || sealing.seal().decision()) return false;
  const std::vector<PeerId>& members = SealersOf(core_.chain.head());
  std::vector<PeerId> lacking;
  const auto& echoes = core_.inbox.At(Inbox::PlaceOf(sealing.slot()));
  for (const PeerId& member : members) {
    if (!echoes.contains(member) && !facts_.muted.contains(member)) lacking.push_back(member);
  }
  if (lacking.empty() || lacking.size() > core_.chain.head().thresholds.t_s) return true;
  // Other sources each time, and other ones for each member that asks (K1).
  const auto self = std::lower_bound(members.begin(), members.end(), core_.self);
  const auto first = static_cast<std::size_t>(self - members.begin()) + 1 +
                     std::size_t{pull_.attempts()} * kEchoSources;
  for (std::size_t k = 0; k < std::min(kEchoSources, members.size() - 1); ++k) {
    AskMessages(members[(first + k) % members.size()], sealing.slot(), MessageType::kEcho, lacking);
  }
  return true;
}

// Three times as many members each time, so that an owner that gives its result to a few costs no
// more than some Deltas; and then less and less often, as all have been asked and bulk takes its
// time.
bool Asks::ForResults(const Results& results) const {
  bool missing = false;
  const std::vector<PeerId> members = LinkableIn(core_.chain.head(), core_.self);
  const std::size_t n = members.size();
  for (std::size_t j = 0; j < results.all().size(); ++j) {
    if (!results.IsMissing(j)) continue;
    missing = true;
    const auto [first, count] = WideningAt(pull_.attempts(), n);
    for (std::size_t k = first; k < first + count; ++k) {
      core_.voice.Ask(
          members[(j + k) % n], ServiceSlot(facts_.number(), Phase::kA, MessageType::kPull),
          {.kind = PullKind::kResult, .type = {}, .members = {}, .digests = {}, .index = j});
    }
  }
  return missing;
}

bool Asks::ForExhibits() const {
  const std::vector<Duties::Ask> asks = duties_.AskForExhibits();
  for (const Duties::Ask& one : asks) {
    const auto& members = core_.chain.Past(one.step)->members;
    for (const PeerId& whom : one.sources) {
      core_.voice.Ask(whom, ServiceSlot(one.step, Phase::kA, MessageType::kPull),
                      {.kind = PullKind::kPart,
                       .type = MessageType::kPart,
                       .members = wire::BitmapOf({one.exhibit.author}, members),
                       .digests = {},
                       .index = one.exhibit.column});
    }
  }
  return !asks.empty();
}

void Asks::ForLate(const Sealing& sealing) const {
  if (sealing.seal().wait_ended()) return;
  const std::vector<PeerId>& members = SealersOf(core_.chain.head());
  std::map<MessageType, std::vector<PeerId>> late;
  for (const LateWatch::Message& due :
       reports_.TakeOverdue(core_.turn.now(), core_.chain.delta())) {
    if (const auto type = TypeOf(due.kind)) late[*type].push_back(members[due.index]);
  }
  for (const auto& [type, authors] : late) {
    for (const PeerId& member : members) {
      if (!facts_.muted.contains(member)) AskMessages(member, sealing.slot(), type, authors);
    }
  }
}

void Asks::ForRefusedPart(const PeerId& whom, const PeerId& worker, std::uint32_t column) const {
  const Inbox::Place place = facts_.PlaceOf(Phase::kA, MessageType::kPart, 0, column);
  if (Usable(core_.inbox, facts_, place, worker) != nullptr) return;
  core_.voice.Ask(whom, ServiceSlot(facts_.number(), Phase::kA, MessageType::kPull),
                  {.kind = PullKind::kPart,
                   .type = {},
                   .members = wire::BitmapOf({worker}, SealersOf(core_.chain.head())),
                   .digests = {},
                   .index = column});
}

void Asks::ForRefusedParts(const std::set<PeerId>& links, const DisputedPairs& pairs) const {
  for (const PeerId& whom : links) {
    if (!IsMember(SealersOf(core_.chain.head()), whom)) continue;
    if (facts_.my_column && facts_.roles().IsWorker(whom)) {
      ForRefusedPart(whom, whom, *facts_.my_column);
    }
    for (const LivePair& pair : pairs.all()) {
      const bool own = pair.worker == whom && pair.aggregator != core_.self;
      const bool forwarded = pair.aggregator == core_.self && pair.worker != whom;
      if (own || forwarded) ForRefusedPart(whom, pair.worker, pair.column);
    }
  }
}

}  // namespace ostraka::protocol

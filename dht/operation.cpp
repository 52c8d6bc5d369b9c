#include "dht/operation.h"

#include <utility>

#include "crypto/hash_into.h"
#include "node/base/check.h"

namespace ostraka::dht {

Operation::Operation(base::Time now, Search search, Goal goal, std::optional<std::uint64_t> ask)
    : search_(std::move(search)), goal_(std::move(goal)), ask_(ask), until_(now + kSearchTime) {}

void Operation::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, search_, goal_.index(), ask_, stage_, until_, waiting_, finishing_queries_);
  if (const auto* read = std::get_if<ReadGoal>(&goal_)) {
    crypto::Feed(hasher, read->reading, read->start);
  } else if (const auto* write = std::get_if<WriteGoal>(&goal_)) {
    crypto::Feed(hasher, write->record, write->stored, write->refused);
  }
}

Operation::Errand Operation::SearchErrand(const Search::Question& question) const {
  Errand errand = {question.node, {}, Purpose::kSearch, question.lookup};
  errand.query.kind = QueryKind::kFind;
  errand.query.target = question.target;
  // The probes of a survey go elsewhere than the key, so they only find nodes.
  if (const auto* read = std::get_if<ReadGoal>(&goal_); read != nullptr && question.lookup == 0) {
    errand.query.kind = QueryKind::kGet;
    errand.query.start = read->start;
  }
  return errand;
}

std::vector<Operation::Errand> Operation::Next(base::Time now, const RoutingTable& table,
                                               const NetworkSize& size) {
  std::vector<Errand> errands;
  if (stage_ == Stage::kSearching) {
    const bool matters =
        std::holds_alternative<ReadGoal>(goal_) || std::holds_alternative<WriteGoal>(goal_);
    const std::size_t lookups = search_.lookups();
    if (now < until_) {
      for (const Search::Question& question : search_.Next(table, size, matters)) {
        errands.push_back(SearchErrand(question));
      }
    }
    if (search_.lookups() > lookups) until_ = now + kSearchTime;
    const bool over = now >= until_ || (errands.empty() && search_.done());
    if (!over) return errands;
    OSTRAKA_CHECK(stage_ == Stage::kSearching);
    stage_ = Stage::kFinishing;
    for (Errand& errand : Finish()) errands.push_back(std::move(errand));
  }
  if (stage_ == Stage::kFinishing && waiting_ == 0) stage_ = Stage::kDone;
  return errands;
}

std::vector<Operation::Errand> Operation::Finish() {
  std::vector<Errand> errands;
  if (const auto* write = std::get_if<WriteGoal>(&goal_)) {
    for (const Found& found : search_.Result()) {
      Errand errand = {found.node, {}, Purpose::kWrite, 0};
      errand.query.kind = QueryKind::kPut;
      errand.query.target = search_.key();
      errand.query.token = found.token;
      errand.query.record = write->record;
      errands.push_back(std::move(errand));
    }
  } else if (const auto* read = std::get_if<ReadGoal>(&goal_);
             read != nullptr && search_.surveyed()) {
    for (const Found& found : search_.Result()) {
      Errand errand = {found.node, {}, Purpose::kRead, 0};
      errand.query.kind = QueryKind::kGet;
      errand.query.target = search_.key();
      errand.query.start = read->start;
      errands.push_back(std::move(errand));
    }
  }
  waiting_ = static_cast<std::uint32_t>(errands.size());
  finishing_queries_ = waiting_;
  return errands;
}

void Operation::OnReply(std::uint64_t wall_s, const Request& request, const Reply& reply,
                        const std::vector<KnownNode>& nodes, crypto::Verifier& verifier) {
  OSTRAKA_CHECK(request.node.has_value());
  if (auto* read = std::get_if<ReadGoal>(&goal_)) {
    read->reading.Add(wall_s, reply.records, verifier);
  }
  if (request.purpose == Purpose::kSearch) {
    return search_.OnAnswer(request.lookup, request.node->contact, nodes, reply.token);
  }
  OSTRAKA_CHECK(waiting_ > 0);
  --waiting_;
  if (auto* write = std::get_if<WriteGoal>(&goal_)) {
    ++(reply.verdict == Verdict::kDone ? write->stored : write->refused);
  }
}

void Operation::OnFate(Requests::Fate fate, const Request& request) {
  OSTRAKA_CHECK(request.node.has_value());
  const Contact& asked = request.node->contact;
  if (request.purpose != Purpose::kSearch) {
    if (fate == Requests::Fate::kSlow) return;
    OSTRAKA_CHECK(waiting_ > 0);
    --waiting_;
  } else if (fate == Requests::Fate::kSlow) {
    search_.OnSlow(request.lookup, asked);
  } else {
    search_.OnSilence(request.lookup, asked);
  }
}

std::optional<base::Time> Operation::deadline() const {
  if (stage_ != Stage::kSearching) return std::nullopt;
  return until_;
}

Effort Operation::effort() const {
  return {static_cast<std::uint32_t>(search_.queries()) + finishing_queries_,
          static_cast<std::uint32_t>(search_.answers()), search_.surveyed()};
}

void Operation::CheckInvariants() const {
  search_.CheckInvariants();
  OSTRAKA_CHECK(waiting_ <= finishing_queries_ && waiting_ <= Search::kMaxInRegion);
  if (const auto* read = std::get_if<ReadGoal>(&goal_)) read->reading.CheckInvariants();
}

}  // namespace ostraka::dht

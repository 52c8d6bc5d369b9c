#include "dht/lookup/lookup.h"

#include <algorithm>

#include "crypto/hash_into.h"
#include "node/base/check.h"
#include "node/base/planted.h"

namespace ostraka::dht {
namespace {

// Candidates that a path keeps: more would only be asked after kMaxQueries others.
constexpr std::size_t kPathLength = 2 * Lookup::kMaxQueries;

}  // namespace

void Found::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, node, token); }

void Lookup::Candidate::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, node, state, path, token);
}

void Lookup::Path::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, nearest, waiting);
}

// places_ follows from candidates_, the counts from their states.
void Lookup::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, target_, candidates_, paths_, queries_);
}

Lookup::Lookup(const Digest& target, const Digest& self, const Shape& shape,
               const std::vector<KnownNode>& start)
    : target_(target), self_(self), alpha_(shape.alpha), paths_(shape.paths) {
  OSTRAKA_CHECK(shape.paths > 0 && shape.alpha > 0);
  for (std::size_t i = 0; i < start.size(); ++i) Learn(paths_[i % paths_.size()], start[i]);
}

void Lookup::Learn(Path& path, const KnownNode& node) {
  if (node.id == self_) return;
  const auto [at, is_new] = places_.try_emplace(node.contact, candidates_.size());
  const std::size_t place = at->second;
  if (is_new) candidates_.push_back({node, State::kKnown, 0, {}});
  // By distance, and contacts of one node by address, so that the order is total.
  const auto nearer = [this](std::size_t a, std::size_t b) {
    const KnownNode& first = candidates_[a].node;
    const KnownNode& second = candidates_[b].node;
    if (first.id != second.id) return IsNearer(target_, first.id, second.id);
    return first.contact < second.contact;
  };
  const auto where = std::lower_bound(path.nearest.begin(), path.nearest.end(), place, nearer);
  if (where != path.nearest.end() && *where == place) return;
  path.nearest.insert(where, place);
  if (path.nearest.size() > kPathLength) path.nearest.pop_back();
}

Lookup::Candidate* Lookup::PickFor(const Path& path) {
  PrefixRule rule(kOneAPrefix);
  std::size_t seen = 0;
  for (const std::size_t place : path.nearest) {
    Candidate& candidate = candidates_[place];
    if (candidate.state == State::kFailed) continue;
    if (!rule.Admit(candidate.node.contact.endpoint)) continue;
    if (++seen > kNearest) break;
    if (candidate.state == State::kKnown) return &candidate;
  }
  return nullptr;
}

std::vector<KnownNode> Lookup::Next() {
  std::vector<KnownNode> next;
  if (base::Planted(base::Bug::kDhtEarlyStop) && answers_ >= 4) return next;
  // One for each path in turn, so that no path takes the nodes that others would ask first.
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      Path& path = paths_[i];
      if (path.waiting >= alpha_ || queries_ >= kMaxQueries) continue;
      Candidate* pick = PickFor(path);
      if (pick == nullptr) continue;
      pick->state = State::kAsked;
      pick->path = i;
      ++path.waiting;
      ++waiting_;
      ++queries_;
      next.push_back(pick->node);
      more = true;
    }
  }
  return next;
}

Lookup::Candidate* Lookup::FindAsked(const Contact& contact) {
  const auto at = places_.find(contact);
  if (at == places_.end()) return nullptr;
  Candidate& candidate = candidates_[at->second];
  const bool open = candidate.state == State::kAsked || candidate.state == State::kSlow;
  return open ? &candidate : nullptr;
}

void Lookup::StopWaiting(Candidate& candidate) {
  if (candidate.state != State::kAsked) return;
  --paths_[candidate.path].waiting;
  --waiting_;
}

void Lookup::OnAnswer(const Contact& from, const std::vector<KnownNode>& nodes,
                      const Token& token) {
  Candidate* const asked = FindAsked(from);
  if (asked == nullptr) return;
  StopWaiting(*asked);
  asked->state = State::kAnswered;
  asked->token = token;
  ++answers_;
  Path& path = paths_[asked->path];
  for (const KnownNode& node : nodes) Learn(path, node);
}

void Lookup::OnSlow(const Contact& asked) {
  Candidate* const candidate = FindAsked(asked);
  if (candidate == nullptr) return;
  StopWaiting(*candidate);
  candidate->state = State::kSlow;
}

void Lookup::OnSilence(const Contact& asked) {
  Candidate* const candidate = FindAsked(asked);
  if (candidate == nullptr) return;
  StopWaiting(*candidate);
  candidate->state = State::kFailed;
}

std::vector<Found> Lookup::Answered() const {
  std::vector<Found> found;
  for (const Candidate& candidate : candidates_) {
    if (candidate.state == State::kAnswered) found.push_back({candidate.node, candidate.token});
  }
  std::sort(found.begin(), found.end(), [this](const Found& a, const Found& b) {
    return IsNearer(target_, a.node.id, b.node.id);
  });
  return found;
}

std::vector<Found> Lookup::Nearest(std::size_t count) const {
  std::vector<Found> nearest;
  PrefixRule rule(kOneAPrefix);
  for (const Found& found : Answered()) {
    if (nearest.size() == count) break;
    if (rule.Admit(found.node.contact.endpoint)) nearest.push_back(found);
  }
  return nearest;
}

void Lookup::CheckInvariants() const {
  std::size_t waiting = 0;
  std::size_t asked = 0;
  std::size_t answered = 0;
  std::vector<std::size_t> of_path(paths_.size());
  for (const Candidate& candidate : candidates_) {
    asked += candidate.state == State::kKnown ? 0 : 1;
    answered += candidate.state == State::kAnswered ? 1 : 0;
    if (candidate.state != State::kAsked) continue;
    ++waiting;
    ++of_path[candidate.path];
  }
  OSTRAKA_CHECK(waiting == waiting_ && asked == queries_ && answered == answers_);
  OSTRAKA_CHECK(queries_ <= kMaxQueries && places_.size() == candidates_.size());
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    OSTRAKA_CHECK(paths_[i].waiting == of_path[i] && of_path[i] <= alpha_);
    OSTRAKA_CHECK(paths_[i].nearest.size() <= kPathLength);
  }
}

}  // namespace ostraka::dht

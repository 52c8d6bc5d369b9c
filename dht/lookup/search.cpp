#include "dht/lookup/search.h"

#include <algorithm>

#include "crypto/hash_into.h"
#include "node/base/check.h"

namespace ostraka::dht {
namespace {

// Enough for each path to begin with several nodes.
std::vector<KnownNode> StartOf(const Digest& target, const Lookup::Shape& shape,
                               const RoutingTable& table, Scope scope) {
  const std::size_t count = std::max(Lookup::kNearest, 4 * shape.paths);
  return table.Nearest(target, count, scope, /*even_doubtful=*/true);
}

// `key` moved by `distance` in its top 64 bits, and elsewhere in the bits below those of a distance
// that small: a point that no id was made for.
Digest PointAt(const Digest& key, std::uint64_t distance) {
  Digest point = key;
  for (std::size_t i = 0; i < 8; ++i) {
    point.bytes[i] ^= static_cast<std::uint8_t>(distance >> (56 - 8 * i));
  }
  for (std::size_t i = 8; i < Digest::kSize; ++i) point.bytes[i] ^= 0x5a;
  return point;
}

}  // namespace

Search::Search(const Digest& key, const Digest& random, const Lookup::Shape& shape,
               const RoutingTable& table, Scope scope)
    : random_(random), shape_(shape), scope_(scope) {
  lookups_.reserve(2 + kProbes);
  lookups_.emplace_back(key, table.self(), shape, StartOf(key, shape, table, scope));
}

void Search::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, random_, shape_.paths, shape_.alpha, scope_, lookups_, stage_, radius_);
}

std::vector<Search::Question> Search::Next(const RoutingTable& table, const NetworkSize& size,
                                           bool may_survey) {
  std::vector<Question> questions;
  while (true) {
    bool waits = false;
    for (std::uint32_t i = 0; i < lookups_.size(); ++i) {
      for (const KnownNode& node : lookups_[i].Next()) {
        questions.push_back({i, lookups_[i].target(), node});
      }
      waits = waits || lookups_[i].waits();
    }
    if (waits || stage_ == Stage::kSurvey || stage_ == Stage::kEnd) return questions;
    const Stage next = NextStage(table, size, may_survey);
    OSTRAKA_CHECK(next > stage_);  // so the loop ends
    stage_ = next;
  }
}

std::vector<Digest> Search::NearestIds(const Lookup& lookup) const {
  std::vector<Digest> ids;
  for (const Found& found : lookup.Nearest(Lookup::kNearest)) ids.push_back(found.node.id);
  return ids;
}

Search::Stage Search::NextStage(const RoutingTable& table, const NetworkSize& size,
                                bool may_survey) {
  const std::vector<Digest> nearest = NearestIds(lookups_.front());
  if (stage_ == Stage::kLookup) {
    if (!may_survey || !size.IsTooDense(key(), nearest)) return Stage::kEnd;
    // Over as many paths: colluders on a lookup of few make the network look smaller than it is.
    lookups_.emplace_back(random_, table.self(), shape_, StartOf(random_, shape_, table, scope_));
    return Stage::kMeasure;
  }
  NetworkSize measured;
  measured.SetFloor(table.size());
  measured.Add(random_, NearestIds(lookups_.back()));
  if (!measured.IsTooDense(key(), nearest)) return Stage::kEnd;
  BeginSurvey(table, measured);
  return Stage::kSurvey;
}

void Search::BeginSurvey(const RoutingTable& table, const NetworkSize& size) {
  radius_ = size.Radius();
  const std::vector<Found> known = lookups_.front().Answered();
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    // The middles of four equal parts of the region.
    const Digest point = PointAt(key(), radius_ / (2 * kProbes) * (2 * probe + 1));
    std::vector<KnownNode> start = StartOf(point, kProbeShape, table, scope_);
    for (const Found& found : known) start.push_back(found.node);
    lookups_.emplace_back(point, table.self(), kProbeShape, start);
  }
}

void Search::OnAnswer(std::uint32_t lookup, const Contact& from,
                      const std::vector<KnownNode>& nodes, const Token& token) {
  OSTRAKA_CHECK(lookup < lookups_.size());
  lookups_[lookup].OnAnswer(from, nodes, token);
}

void Search::OnSlow(std::uint32_t lookup, const Contact& asked) {
  OSTRAKA_CHECK(lookup < lookups_.size());
  lookups_[lookup].OnSlow(asked);
}

void Search::OnSilence(std::uint32_t lookup, const Contact& asked) {
  OSTRAKA_CHECK(lookup < lookups_.size());
  lookups_[lookup].OnSilence(asked);
}

bool Search::done() const {
  const bool last = stage_ == Stage::kSurvey || stage_ == Stage::kEnd;
  return last && std::none_of(lookups_.begin(), lookups_.end(),
                              [](const Lookup& lookup) { return lookup.waits(); });
}

std::size_t Search::queries() const {
  std::size_t sum = 0;
  for (const Lookup& lookup : lookups_) sum += lookup.queries();
  return sum;
}

std::size_t Search::answers() const {
  std::size_t sum = 0;
  for (const Lookup& lookup : lookups_) sum += lookup.answers();
  return sum;
}

std::vector<Found> Search::Result() const {
  const std::vector<Found> nearest = lookups_.front().Nearest(Lookup::kNearest);
  if (!surveyed()) return nearest;
  // The region may be estimated too small, so it never replaces the nearest.
  std::uint64_t radius = radius_;
  if (!nearest.empty()) {
    radius = std::max(radius, TopDistance(key(), nearest.back().node.id));
  }
  std::vector<Found> all;
  for (const Lookup& lookup : lookups_) {
    for (const Found& found : lookup.Answered()) {
      if (TopDistance(key(), found.node.id) <= radius) all.push_back(found);
    }
  }
  std::sort(all.begin(), all.end(), [this](const Found& a, const Found& b) {
    return IsNearer(key(), a.node.id, b.node.id);
  });
  std::vector<Found> result;
  PrefixRule rule(kOneAPrefix);
  for (const Found& found : all) {
    if (result.size() == kMaxInRegion) break;
    // Several probes may have met it.
    if (!result.empty() && result.back().node == found.node) continue;
    if (rule.Admit(found.node.contact.endpoint)) result.push_back(found);
  }
  return result;
}

void Search::CheckInvariants() const {
  OSTRAKA_CHECK(lookups_.size() <= 2 + kProbes);
  OSTRAKA_CHECK(surveyed() == (lookups_.size() == 2 + kProbes));
  for (const Lookup& lookup : lookups_) lookup.CheckInvariants();
}

}  // namespace ostraka::dht

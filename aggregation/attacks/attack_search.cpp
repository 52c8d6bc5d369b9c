#include "aggregation/attacks/attack_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "aggregation/attacks/attack_vectors.h"
#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

constexpr int kGeometric = 60;      // samples per side, ratio 10^(5/60) = 1.21
constexpr double kSmallest = 1e-5;  // as a share of the way to the end
constexpr int kEven = 60;           // further samples per side, evenly spaced
constexpr int kPeaks = 6;           // best samples that are refined
constexpr int kRounds = 3;
constexpr int kCloser = 4;  // samples between two neighbours in each round

struct Sample {
  double t = 0;
  double damage = 0;
};

class Search {
 public:
  Search(const Line& line, const Rows& honest, std::size_t byzantine_count, const Victim& victim)
      : line_(line),
        honest_count_(honest.count()),
        victim_(victim),
        mean_(MeanOf(honest)),
        rows_(honest),
        out_(honest.dimension) {
    rows_.row.resize(honest.count() + byzantine_count);
  }

  base::Status Try(double t) {
    const std::vector<float> vector = line_.At(t);
    std::fill(rows_.row.begin() + static_cast<std::ptrdiff_t>(honest_count_), rows_.row.end(),
              vector.data());
    RETURN_IF_ERROR(victim_(rows_, out_));
    double squares = 0;
    for (std::size_t c = 0; c < out_.size(); ++c) {
      const double difference = static_cast<double>(out_[c]) - mean_[c];
      squares += difference * difference;
    }
    samples_.push_back({t, std::sqrt(squares)});
    return base::OkStatus();
  }

  base::Status TryBothSides() {
    RETURN_IF_ERROR(Try(0));
    // 10^(5/60) as a constant, because pow may differ in the last bit.
    constexpr double kRatio = 1.2115276586285884;
    for (const double end : {line_.high, line_.low}) {
      if (end == 0) continue;
      double share = kSmallest;
      for (int k = 0; k < kGeometric; ++k, share *= kRatio) RETURN_IF_ERROR(Try(end * share));
      for (int k = 1; k <= kEven; ++k) RETURN_IF_ERROR(Try(end * k / kEven));
    }
    return base::OkStatus();
  }

  // Samples between the best few samples and their neighbours.
  base::Status LookCloser() {
    std::vector<Sample> sorted = samples_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Sample& a, const Sample& b) { return a.t < b.t; });
    std::vector<std::size_t> order(sorted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&sorted](std::size_t a, std::size_t b) {
      return sorted[a].damage > sorted[b].damage;
    });
    order.resize(std::min<std::size_t>(order.size(), kPeaks));
    std::set<std::size_t> gaps;  // by the sample to their left
    for (const std::size_t peak : order) {
      if (peak > 0) gaps.insert(peak - 1);
      if (peak + 1 < sorted.size()) gaps.insert(peak);
    }
    for (const std::size_t gap : gaps) RETURN_IF_ERROR(Between(sorted[gap].t, sorted[gap + 1].t));
    return base::OkStatus();
  }

  Found Best() const {
    const auto best =
        std::max_element(samples_.begin(), samples_.end(),
                         [](const Sample& a, const Sample& b) { return a.damage < b.damage; });
    return {best->t, best->damage, line_.At(best->t)};
  }

 private:
  base::Status Between(double low, double high) {
    for (int k = 1; k <= kCloser; ++k) {
      RETURN_IF_ERROR(Try(low + (high - low) * k / (kCloser + 1)));
    }
    return base::OkStatus();
  }

  const Line& line_;
  const std::size_t honest_count_;
  const Victim& victim_;
  const std::vector<double> mean_;
  Rows rows_;
  std::vector<float> out_;
  std::vector<Sample> samples_;
};

}  // namespace

base::StatusOr<Found> MostDamaging(const Line& line, const Rows& honest,
                                   std::size_t byzantine_count, const Victim& victim) {
  OSTRAKA_CHECK(byzantine_count > 0);
  OSTRAKA_CHECK(std::isfinite(line.low) && std::isfinite(line.high));
  OSTRAKA_CHECK(line.low <= 0 && line.high >= 0);
  Search search(line, honest, byzantine_count, victim);
  RETURN_IF_ERROR(search.TryBothSides());
  for (int round = 0; round < kRounds; ++round) RETURN_IF_ERROR(search.LookCloser());
  return search.Best();
}

}  // namespace ostraka::aggregation

#include "aggregation/attacks/attack_lines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "aggregation/attacks/attack_vectors.h"
#include "aggregation/kernels/passes.h"
#include "aggregation/shared/clusters.h"
#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

double Sign(double value) { return value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0; }

double Dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}

// The position of a row relative to a line through `base` along `direction`.
struct Place {
  double squared_distance = 0;  // |base - row|^2
  double along = 0;             // <direction, base - row>
};
double SquaredDistance(const float* a, const float* b, std::size_t dimension) {
  double sum = 0;
  for (std::size_t c = 0; c < dimension; ++c) {
    const double difference = static_cast<double>(a[c]) - static_cast<double>(b[c]);
    sum += difference * difference;
  }
  return sum;
}

Place PlaceOf(const float* row, std::span<const double> base, std::span<const double> direction) {
  Place place;
  for (std::size_t c = 0; c < base.size(); ++c) {
    const double difference = base[c] - static_cast<double>(row[c]);
    place.squared_distance += difference * difference;
    place.along += direction[c] * difference;
  }
  return place;
}

// The largest t >= 0 with a t^2 + 2 b t + c <= 0, for a > 0 and c <= 0, without cancellation.
double LargestRoot(double a, double b, double c) {
  const double discriminant = std::sqrt(std::max(0.0, b * b - a * c));
  return b > 0 ? -c / (b + discriminant) : (discriminant - b) / a;
}

// In each coordinate, the honest value farthest against the sign of the mean (`against`), or with
// it.
std::vector<double> Extremes(const Rows& honest, std::span<const double> mean, bool against) {
  std::vector<double> extremes(honest.dimension);
  for (std::size_t c = 0; c < extremes.size(); ++c) {
    double low = static_cast<double>(honest.row[0][c]);
    double high = low;
    for (const float* row : honest.row) {
      low = std::min(low, static_cast<double>(row[c]));
      high = std::max(high, static_cast<double>(row[c]));
    }
    extremes[c] = (mean[c] > 0) == against ? low : high;
  }
  return extremes;
}

std::vector<double> Minus(std::vector<double> a, std::span<const double> b) {
  for (std::size_t c = 0; c < a.size(); ++c) a[c] -= b[c];
  return a;
}

// The sum of the `count` smallest values.
double SumOfSmallest(std::vector<double> values, std::size_t count) {
  std::sort(values.begin(), values.end());
  return std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
}

// The power of two that is at most twice the largest value, and more than it; 1 for zeros.
double UnitOf(const Rows& rows) {
  double largest = 0;
  for (const float* row : rows.row) {
    for (std::size_t c = 0; c < rows.dimension; ++c) {
      largest = std::max(largest, std::abs(static_cast<double>(row[c])));
    }
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0, exponent);
}

// Krum among h honest rows and m copies of one vector, from squared distances alone.
class KrumGame {
 public:
  KrumGame(const Rows& honest, std::size_t byzantine_count, std::span<const double> direction)
      : honest_count_(honest.count()),
        byzantine_count_(byzantine_count),
        // the n - f - 2 nearest, or all if there are fewer, and at least one
        neighbours_(std::max<std::size_t>(3, honest_count_) - 2),
        distances_(SquaredDistances(honest)),
        squared_direction_(Dot(direction, direction)) {
    const std::vector<double> zero(honest.dimension, 0.0);
    for (const float* row : honest.row) places_.push_back(PlaceOf(row, zero, direction));
  }

  // True if Krum selects a copy of t direction.
  bool Selects(double t) const {
    std::vector<double> to_honest;
    for (const Place& place : places_) {
      to_honest.push_back(
          std::max(0.0, place.squared_distance + t * (2 * place.along + t * squared_direction_)));
    }
    std::vector<double> of_copy(byzantine_count_ - 1, 0.0);
    of_copy.insert(of_copy.end(), to_honest.begin(), to_honest.end());
    const double score = SumOfSmallest(of_copy, std::min(neighbours_, of_copy.size()));
    for (std::size_t i = 0; i < honest_count_; ++i) {
      std::vector<double> of_row(byzantine_count_, to_honest[i]);
      for (std::size_t j = 0; j < honest_count_; ++j) {
        if (j != i) of_row.push_back(distances_[i * honest_count_ + j]);
      }
      if (SumOfSmallest(of_row, std::min(neighbours_, of_row.size())) <= score) return false;
    }
    return true;
  }

 private:
  std::size_t honest_count_;
  std::size_t byzantine_count_;
  std::size_t neighbours_;
  std::vector<double> distances_;
  double squared_direction_;
  std::vector<Place> places_;
};

}  // namespace

std::vector<float> Line::At(double t) const {
  return t < 0 && !backward.empty() ? Along(base, -t, backward) : Along(base, t, forward);
}

std::vector<double> SquaredDistances(const Rows& rows) {
  const SerialExecutor executor;
  const std::vector<double> gram =
      Passes(rows, executor, simd::BestKernels()).Gram(rows.row.front());
  const std::size_t n = rows.count();
  std::vector<double> distances(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double squares = gram[simd::TriangleIndex(i, i)] + gram[simd::TriangleIndex(j, j)];
      double distance = squares - 2 * gram[simd::TriangleIndex(i, j)];
      // Two rows far from the first, such as twins: their squares hide their distance.
      constexpr double kTelling = 0x1p-20;
      if (distance < kTelling * squares) {
        distance = SquaredDistance(rows.row[i], rows.row[j], rows.dimension);
      }
      distances[i * n + j] = distance;
      distances[j * n + i] = distance;
    }
  }
  return distances;
}

std::vector<double> Perturbation(const Rows& honest, std::string_view kind) {
  if (kind == "std") return MomentsOf(honest).deviation;
  std::vector<double> mean = MeanOf(honest);
  if (kind == "sign") {
    for (double& value : mean) value = Sign(value);
    return mean;
  }
  OSTRAKA_CHECK(kind == "unit");
  const double length = std::sqrt(Dot(mean, mean));
  for (double& value : mean) value = length > 0 ? value / length : 0.0;
  return mean;
}

Line MinMaxLine(const Rows& honest, std::string_view perturbation) {
  Line line{MeanOf(honest), Perturbation(honest, perturbation), {}, 0, 0};
  const double squared = Dot(line.forward, line.forward);
  if (!(squared > 0)) return line;
  const std::vector<double> distances = SquaredDistances(honest);
  const double widest = *std::max_element(distances.begin(), distances.end());
  line.low = -std::numeric_limits<double>::infinity();
  line.high = std::numeric_limits<double>::infinity();
  for (const float* row : honest.row) {
    const Place place = PlaceOf(row, line.base, line.forward);
    const double slack = std::min(0.0, place.squared_distance - widest);
    line.high = std::min(line.high, LargestRoot(squared, place.along, slack));
    line.low = std::max(line.low, -LargestRoot(squared, -place.along, slack));
  }
  return line;
}

Line MinSumLine(const Rows& honest, std::string_view perturbation) {
  Line line{MeanOf(honest), Perturbation(honest, perturbation), {}, 0, 0};
  const double squared = Dot(line.forward, line.forward);
  if (!(squared > 0)) return line;
  const std::size_t n = honest.count();
  const std::vector<double> distances = SquaredDistances(honest);
  double bound = std::numeric_limits<double>::infinity();
  double from_mean = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = distances.begin() + static_cast<std::ptrdiff_t>(i * n);
    bound = std::min(bound, std::accumulate(row, row + static_cast<std::ptrdiff_t>(n), 0.0));
    from_mean += PlaceOf(honest.row[i], line.base, line.forward).squared_distance;
  }
  // The differences of the rows from their mean sum to zero, so the linear term vanishes.
  line.high = std::sqrt(std::max(0.0, bound - from_mean) / (static_cast<double>(n) * squared));
  line.low = -line.high;
  return line;
}

Line FangLine(const Rows& honest) {
  Line line;
  line.base = MeanOf(honest);
  line.forward = Minus(Extremes(honest, line.base, true), line.base);
  line.backward = Minus(Extremes(honest, line.base, false), line.base);
  return line;
}

std::vector<float> FangBeyondExtremes(const Rows& honest, double factor, base::Rng rng) {
  const std::vector<double> mean = MeanOf(honest);
  const std::vector<double> extremes = Extremes(honest, mean, true);
  std::vector<float> sent(honest.dimension);
  for (std::size_t c = 0; c < sent.size(); ++c) {
    // Away from the honest values; towards zero where the extreme lies on the other side of zero.
    const bool downwards = mean[c] > 0;
    const bool outwards = downwards ? extremes[c] < 0 : extremes[c] > 0;
    const double end = outwards ? factor * extremes[c] : extremes[c] / factor;
    sent[c] = Saturate(extremes[c] + (end - extremes[c]) * rng.Unit());
  }
  return sent;
}

std::vector<float> FangKrum(const Rows& honest, std::size_t byzantine_count) {
  OSTRAKA_CHECK(byzantine_count > 0);
  std::vector<double> direction = MeanOf(honest);
  for (double& value : direction) value = -Sign(value);
  const KrumGame game(honest, byzantine_count, direction);
  // As shares of a power of two near the largest value, so that the scale of the rows does not
  // matter.
  constexpr double kSmallest = 1e-5;
  constexpr double kLargest = 1e30;
  constexpr double kStep = 1.25;
  const double unit = UnitOf(honest);
  double selected = 0;
  for (double share = kSmallest; share < kLargest; share *= kStep) {
    if (game.Selects(unit * share)) selected = unit * share;
  }
  double refused = selected * kStep;
  while (refused - selected > 1e-6 * selected) {
    const double middle = selected + (refused - selected) / 2;
    (game.Selects(middle) ? selected : refused) = middle;
  }
  const std::vector<double> zero(honest.dimension, 0.0);
  return Along(zero, std::max(selected, unit * kSmallest), direction);
}

std::vector<float> AntiCge(const Rows& honest, std::size_t byzantine_count) {
  const std::vector<double> zero(honest.dimension, 0.0);
  std::vector<std::pair<double, std::size_t>> norms;  // by norm, then by number
  for (std::size_t i = 0; i < honest.count(); ++i) {
    norms.emplace_back(std::sqrt(PlaceOf(honest.row[i], zero, zero).squared_distance), i);
  }
  std::sort(norms.begin(), norms.end());
  // The rule keeps as many rows as there are honest ones; m of the kept rows shall be the
  // attackers'.
  const std::size_t kept = honest.count() - std::min(byzantine_count, honest.count());
  std::vector<double> sum(honest.dimension, 0.0);
  double lengths = 0;
  for (std::size_t k = 0; k < kept; ++k) {
    lengths += norms[k].first;
    const float* row = honest.row[norms[k].second];
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += static_cast<double>(row[c]);
  }
  const double length = std::sqrt(Dot(sum, sum));
  const double cut = norms[std::min(kept, honest.count() - 1)].first;
  // Rounding to float32 must not make it longer than the row.
  constexpr double kLess = 1 - 1e-6;
  // Rows that cancel leave no direction, but noise.
  return Along(zero, length > kHiddenShare * lengths ? -kLess * cut / length : 0.0, sum);
}

std::vector<float> RelocatedOrthogonal(const Rows& honest, std::span<const float> reference,
                                       double z, double lambda, double cosine) {
  OSTRAKA_CHECK(reference.empty() || reference.size() == honest.dimension);
  const std::vector<double> mean = MeanOf(honest);
  std::vector<double> from(mean.size(), 0.0);
  std::copy(reference.begin(), reference.end(), from.begin());
  const double squared = Dot(from, from);
  const double along = squared > 0 ? Dot(mean, from) / squared : 0.0;
  std::vector<double> orthogonal(mean.size());
  for (std::size_t c = 0; c < mean.size(); ++c) orthogonal[c] = mean[c] - along * from[c];
  const double length = std::sqrt(Dot(orthogonal, orthogonal));
  const bool turns = length > kHiddenShare * std::sqrt(Dot(mean, mean));
  const double turn = turns ? -std::sqrt(std::max(0.0, 1 - cosine * cosine)) / length : 0.0;
  const double towards = squared > 0 ? cosine / std::sqrt(squared) : 0.0;
  std::vector<float> sent(mean.size());
  for (std::size_t c = 0; c < sent.size(); ++c) {
    const double start = lambda * mean[c] + (1 - lambda) * from[c];
    sent[c] = Saturate(start + z * (turn * orthogonal[c] + towards * from[c]));
  }
  return sent;
}

}  // namespace ostraka::aggregation

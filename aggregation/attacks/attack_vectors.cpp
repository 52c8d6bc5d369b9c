#include "aggregation/attacks/attack_vectors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "aggregation/kernels/normal_quantile.h"
#include "aggregation/kernels/projection.h"
#include "node/base/check.h"

namespace ostraka::aggregation {

float Saturate(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kLargest, kLargest));
}

std::vector<double> MeanOf(const Rows& honest) {
  std::vector<double> mean(honest.dimension, 0.0);
  for (const float* row : honest.row) {
    for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += static_cast<double>(row[c]);
  }
  for (double& value : mean) value /= static_cast<double>(honest.count());
  return mean;
}

Moments MomentsOf(const Rows& honest, std::size_t ddof) {
  OSTRAKA_CHECK(ddof <= honest.count());
  Moments moments{MeanOf(honest), std::vector<double>(honest.dimension, 0.0)};
  std::vector<double>& squares = moments.deviation;
  for (const float* row : honest.row) {
    for (std::size_t c = 0; c < squares.size(); ++c) {
      const double difference = static_cast<double>(row[c]) - moments.mean[c];
      squares[c] += difference * difference;
    }
  }
  const auto freedom = static_cast<double>(honest.count() - ddof);
  for (double& value : squares) value = freedom > 0 ? std::sqrt(value / freedom) : 0.0;
  return moments;
}

std::vector<float> Along(std::span<const double> base, double t,
                         std::span<const double> direction) {
  std::vector<float> sent(base.size());
  for (std::size_t c = 0; c < sent.size(); ++c) sent[c] = Saturate(base[c] + t * direction[c]);
  return sent;
}

std::vector<float> SignFlip(std::span<const float> own, double lambda) {
  std::vector<float> sent;
  sent.reserve(own.size());
  for (const float value : own) sent.push_back(Saturate(-lambda * static_cast<double>(value)));
  return sent;
}

std::vector<float> RandomDirection(std::span<const float> own, const base::TensorLayout& layout,
                                   double lambda, std::uint64_t seed) {
  OSTRAKA_CHECK(base::ElementCount(layout) == own.size());
  const base::Rng root(seed);
  std::vector<float> sent(own.size());
  std::size_t offset = 0;
  for (std::size_t k = 0; k < layout.size(); ++k) {
    const std::size_t length = layout[k].element_count();
    const std::span<float> tensor(sent.data() + offset, length);
    base::Rng rng = root.Fork("random_direction", k);
    for (float& value : tensor) value = static_cast<float>(rng.Normal());
    const double drawn = Norm(tensor);
    const double scale = drawn > 0 ? lambda * Norm(own.subspan(offset, length)) / drawn : 0.0;
    for (float& value : tensor) value = Saturate(scale * static_cast<double>(value));
    offset += length;
  }
  return sent;
}

std::vector<float> Alie(const Rows& honest, double z, std::size_t ddof) {
  const Moments moments = MomentsOf(honest, ddof);
  return Along(moments.mean, -z, moments.deviation);
}

double AlieZ(std::size_t n, std::size_t m) {
  OSTRAKA_CHECK(n > m);
  const double honest = static_cast<double>(n - m);
  const double supporters = static_cast<double>(n / 2 + 1) - static_cast<double>(m);
  const double margin = 0.5 / honest;
  return NormalQuantile(std::clamp((honest - supporters) / honest, margin, 1 - margin));
}

std::vector<float> InnerProductManipulation(const Rows& honest, double eps) {
  std::vector<float> sent;
  sent.reserve(honest.dimension);
  for (const double value : MeanOf(honest)) sent.push_back(Saturate(-eps * value));
  return sent;
}

std::vector<float> GaussianAround(std::span<const float> center, std::size_t dimension, double mean,
                                  double sigma, base::Rng rng) {
  OSTRAKA_CHECK(center.empty() || center.size() == dimension);
  std::vector<float> sent(dimension);
  for (std::size_t c = 0; c < dimension; ++c) {
    const double about = center.empty() ? 0.0 : static_cast<double>(center[c]);
    sent[c] = Saturate(about + (mean + sigma * rng.Normal()));
  }
  return sent;
}

std::vector<float> Uniform(std::size_t dimension, double low, double high, base::Rng rng) {
  std::vector<float> sent(dimension);
  for (float& value : sent) value = Saturate(low + (high - low) * rng.Unit());
  return sent;
}

std::vector<float> FlipBits(std::span<const float> own, std::size_t coordinates, std::size_t bit) {
  constexpr std::uint32_t kFour = 1U << 21 | 1U << 29 | 1U << 30 | 1U << 31;
  const std::uint32_t mask = bit == 0 ? kFour : 1U << (bit - 1);
  std::vector<float> sent(own.begin(), own.end());
  for (std::size_t c = 0; c < std::min(coordinates, sent.size()); ++c) {
    const float flipped = std::bit_cast<float>(std::bit_cast<std::uint32_t>(sent[c]) ^ mask);
    sent[c] = std::isfinite(flipped) ? flipped
                                     : std::copysign(std::numeric_limits<float>::max(), flipped);
  }
  return sent;
}

std::vector<float> SignHistogram(std::span<const double> mean, base::Rng rng) {
  std::vector<float> sent;
  sent.reserve(mean.size());
  for (const double value : mean) {
    const auto magnitude = static_cast<float>(1 - rng.Unit());
    sent.push_back(value > 0 ? magnitude : value < 0 ? -magnitude : 0.0F);
  }
  for (std::size_t left = sent.size(); left > 1; --left) {
    std::swap(sent[left - 1], sent[rng.Below(left)]);
  }
  return sent;
}

}  // namespace ostraka::aggregation

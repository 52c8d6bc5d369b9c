#include "sim/adversary/coven.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace ostraka::sim {
namespace {

constexpr std::size_t kRemembered = 4;  // colluders are at most a step apart

}  // namespace

Coven::Coven(std::vector<base::PeerId> members, std::uint64_t seed)
    : members_(std::move(members)), seed_(seed) {
  std::sort(members_.begin(), members_.end());
}

bool Coven::Contains(const base::PeerId& peer) const {
  return std::binary_search(members_.begin(), members_.end(), peer);
}

protocol::SharedVector Coven::Agree(std::uint64_t step, const protocol::SharedVector& parameters,
                                    const std::function<std::vector<float>()>& make) {
  for (const Agreed& known : agreed_) {
    if (known.step == step && *known.parameters == *parameters) return known.vector;
  }
  auto vector = std::make_shared<const std::vector<float>>(make());
  agreed_.push_front({step, parameters, vector});
  if (agreed_.size() > kRemembered) agreed_.pop_back();
  return vector;
}

Coven::Whispers& Coven::whispers(std::uint64_t step) {
  Whispers& known = whispers_[step];
  while (whispers_.size() > kRemembered) whispers_.erase(whispers_.begin());
  return known;
}

void Coven::Confess(const base::PeerId& peer, std::uint64_t step) {
  const auto [place, first_time] = deeds_.try_emplace(peer, Deeds{step, step, 0});
  place->second.last_step = step;
  ++place->second.count;
}

}  // namespace ostraka::sim

#include "sim/adversary/coven.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace ostraka::sim {
namespace {

constexpr std::size_t kRemembered = 4;  // colluders are at most a step apart
constexpr std::size_t kRememberedWords = 8'192;

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

void Coven::NoteSaid(const base::Digest& message, std::uint8_t machine) {
  const auto [place, is_new] = said_.try_emplace(message, std::uint8_t{0});
  place->second |= machine;
  if (!is_new) return;
  said_order_.push_back(message);
  if (said_order_.size() <= kRememberedWords) return;
  said_.erase(said_order_.front());
  said_order_.pop_front();
}

std::uint8_t Coven::SaidBy(const base::Digest& message) const {
  const auto known = said_.find(message);
  return known == said_.end() ? 0 : known->second;
}

void Coven::Confess(const base::PeerId& peer, std::uint64_t step) {
  const auto [place, first_time] = deeds_.try_emplace(peer, Deeds{step, step, 0});
  place->second.last_step = step;
  ++place->second.count;
}

}  // namespace ostraka::sim

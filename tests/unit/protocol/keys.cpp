#include "tests/unit/protocol/keys.h"

#include <algorithm>

namespace ostraka::protocol::scene {

std::shared_ptr<const crypto::SigningKey> KeyNumber(std::uint32_t number) {
  base::Bytes seed(crypto::SigningKey::kSeedSize, 0x5e);
  for (int i = 0; i < 4; ++i) seed[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return std::make_shared<const crypto::SigningKey>(crypto::SigningKey::FromSeed(seed));
}

std::vector<std::shared_ptr<const crypto::SigningKey>> SortedKeys(std::uint32_t count) {
  std::vector<std::shared_ptr<const crypto::SigningKey>> keys;
  for (std::uint32_t i = 0; i < count; ++i) keys.push_back(KeyNumber(i));
  std::sort(keys.begin(), keys.end(),
            [](const auto& a, const auto& b) { return a->id() < b->id(); });
  return keys;
}

}  // namespace ostraka::protocol::scene

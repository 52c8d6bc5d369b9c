// Keys and signed frames for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "crypto/sign.h"
#include "node/wire/codec.h"

namespace ostraka::protocol::scene {

// A key that is the same in every run.
std::shared_ptr<const crypto::SigningKey> KeyNumber(std::uint32_t number);
// `count` keys in ascending order of their ids.
std::vector<std::shared_ptr<const crypto::SigningKey>> SortedKeys(std::uint32_t count);

}  // namespace ostraka::protocol::scene

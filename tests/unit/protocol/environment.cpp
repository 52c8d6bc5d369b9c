#include <gtest/gtest.h>

#include "crypto/sign.h"

namespace ostraka::protocol {
namespace {

class CryptoEnvironment : public testing::Environment {
 public:
  void SetUp() override { ASSERT_TRUE(crypto::Initialize().ok()); }
};

// gtest takes the ownership.
const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new CryptoEnvironment);

}  // namespace
}  // namespace ostraka::protocol

#include <gtest/gtest.h>

#include "crypto/sign.h"

namespace ostraka::sim {
namespace {

class SimEnvironment : public testing::Environment {
 public:
  void SetUp() override { ASSERT_TRUE(crypto::Initialize().ok()); }
};

// gtest takes the ownership.
const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new SimEnvironment);

}  // namespace
}  // namespace ostraka::sim

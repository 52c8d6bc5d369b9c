#include <gtest/gtest.h>

#include "crypto/sign.h"

namespace ostraka::cli {
namespace {

class CliEnvironment : public testing::Environment {
 public:
  void SetUp() override { ASSERT_TRUE(crypto::Initialize().ok()); }
};

// gtest takes the ownership.
const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new CliEnvironment);

}  // namespace
}  // namespace ostraka::cli

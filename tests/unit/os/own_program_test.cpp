#include "node/os/own_program.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace ostraka::os::own_program_test {
namespace {

TEST(OwnProgram, IsThisFile) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::canonical(OwnProgram(), error);
  ASSERT_FALSE(error) << error.message();
  EXPECT_EQ(program.filename(), "os_test");
}

}  // namespace
}  // namespace ostraka::os::own_program_test

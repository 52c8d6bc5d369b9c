#include "node/config/stream_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::config::stream_access_test {
namespace {

TEST(StreamAccess, OpensAddressesByItsSettings) {
  const auto access =
      StreamAccessOf({.cache_root = "/somewhere", .cache_bytes = 7, .allow_private = false});
  EXPECT_EQ(access->cache_root, "/somewhere");
  EXPECT_EQ(access->cache_bytes, 7u);
  EXPECT_EQ(access->open("http://127.0.0.1:80/a/").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(access->open("https://me:secret@example.org/").status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ostraka::config::stream_access_test

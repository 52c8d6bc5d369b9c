#include "crypto/set_root.h"

#include <gtest/gtest.h>

namespace ostraka::crypto::set_root_test {
namespace {

TEST(SetRootTest, DependsOnOrderAndCount) {
  base::Digest a;
  base::Digest b;
  a.bytes[0] = 1;
  b.bytes[0] = 2;
  EXPECT_NE(SetRoot({a, b}), SetRoot({b, a}));
  EXPECT_NE(SetRoot({a}), SetRoot({a, a}));
  EXPECT_NE(SetRoot({}), SetRoot({base::Digest{}}));
  EXPECT_EQ(SetRoot({a, b}), SetRoot({a, b}));
}

}  // namespace
}  // namespace ostraka::crypto::set_root_test

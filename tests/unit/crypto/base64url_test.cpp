#include "crypto/base64url.h"

#include <gtest/gtest.h>

#include <string>

namespace ostraka::crypto::base64url_test {
namespace {

base::Bytes Of(std::string_view text) { return {text.begin(), text.end()}; }

TEST(Base64Url, WritesWhatTheStandardLists) {
  EXPECT_EQ(ToBase64Url({}), "");
  EXPECT_EQ(ToBase64Url(Of("f")), "Zg");
  EXPECT_EQ(ToBase64Url(Of("fo")), "Zm8");
  EXPECT_EQ(ToBase64Url(Of("foobar")), "Zm9vYmFy");
  EXPECT_EQ(ToBase64Url(base::Bytes{0xfb, 0xff, 0xbf}), "-_-_");
}

TEST(Base64Url, ReadsBackWhatItWrites) {
  base::Bytes bytes;
  for (int size = 0; size < 300; ++size) {
    const auto read = FromBase64Url(ToBase64Url(bytes));
    ASSERT_TRUE(read.ok()) << size;
    EXPECT_EQ(*read, bytes);
    bytes.push_back(static_cast<std::uint8_t>(size * 37));
  }
}

TEST(Base64Url, RefusesEveryOtherSpelling) {
  for (const char* text : {"Zg==", "Zg=", "Z", "Zh", "Zm9", "Zg\n", " Zg", "Z g", "+/+/", "Zm8A-",
                           "\xff\xff", "Zm9vYmF"}) {
    EXPECT_FALSE(FromBase64Url(text).ok()) << text;
  }
  EXPECT_FALSE(FromBase64Url(std::string_view("Zm8\0", 4)).ok());
}

}  // namespace
}  // namespace ostraka::crypto::base64url_test

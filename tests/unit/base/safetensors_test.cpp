#include "node/base/safetensors.h"

#include <gtest/gtest.h>

namespace ostraka::base::safetensors_test {
namespace {

// The format itself, byte by byte; in tests/e2e/export_test.py a reader in another language reads
// whole files.
TEST(Safetensors, HeaderFollowsTheFormat) {
  const TensorLayout layout = {{"a.weight", {2, 3}}, {"a.bias", {2}}};
  const std::string json = R"({"__metadata__":{"format":"pt","step":"7"},)"
                           R"("a.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                           R"("a.bias":{"dtype":"F32","shape":[2],"data_offsets":[24,32]}})";
  const std::string header = SafetensorsHeader(layout, {{"step", "7"}, {"format", "pt"}});
  const std::size_t padded = (json.size() + 7) / 8 * 8;
  ASSERT_EQ(header.size(), 8 + padded);
  EXPECT_EQ(static_cast<unsigned char>(header[0]), padded & 0xff);
  EXPECT_EQ(static_cast<unsigned char>(header[1]), padded >> 8);
  EXPECT_EQ(header.substr(2, 6), std::string(6, '\0'));
  EXPECT_EQ(header.substr(8), json + std::string(padded - json.size(), ' '));
}

TEST(Safetensors, DataIsAlignedWhateverTheHeader) {
  for (std::size_t length = 0; length < 20; ++length) {
    const std::string header = SafetensorsHeader({{std::string(length, 'x'), {1}}}, {});
    EXPECT_EQ(header.size() % 8, 0u);
  }
}

TEST(Safetensors, AnEmptyLayoutAndAScalarAreFiles) {
  EXPECT_EQ(SafetensorsHeader({}, {}).substr(8), "{\"__metadata__\":{}}     ");
  EXPECT_EQ(SafetensorsHeader({{"x", {}}}, {}).substr(8),
            R"({"__metadata__":{},"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]}} )");
}

TEST(Safetensors, TextIsEscaped) {
  const std::string header = SafetensorsHeader({}, {{"k\"\\", "\n\x1f\x7f\xc3\xa9"}});
  EXPECT_NE(header.find(R"({"k\"\\":"\u000a\u001f)"
                        "\x7f\xc3\xa9\"}"),
            std::string::npos);
}

TEST(SafetensorsDeathTest, RefusesTwoTensorsOfOneName) {
  EXPECT_DEATH(SafetensorsHeader({{"x", {1}}, {"x", {2}}}, {}), "CHECK failed");
  EXPECT_DEATH(SafetensorsHeader({{"__metadata__", {1}}}, {}), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::base::safetensors_test

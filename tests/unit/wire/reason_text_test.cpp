#include <gtest/gtest.h>

#include <set>
#include <string>

#include "node/wire/block.h"
#include "node/wire/limits.h"

namespace ostraka::wire::reason_text_test {
namespace {

// A word and a line of its own for each cause; an evidence kind is named.
TEST(ReasonTextTest, EachCauseHasWords) {
  std::set<std::string> names;
  std::set<std::string> texts;
  for (std::uint8_t i = 1; i < kCauseCount; ++i) {
    Reason reason{.cause = static_cast<Cause>(i),
                  .entry = MessageType::kCommit,
                  .other = PeerId{},
                  .step = ~std::uint64_t{0},
                  .part = ~std::uint32_t{0},
                  .count = ~std::uint64_t{0},
                  .of = ~std::uint32_t{0}};
    names.insert(CauseName(reason.cause));
    const std::string text = TextOf(reason);
    EXPECT_LE(text.size(), kMaxReasonBytes) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    texts.insert(text);
    reason.first_fault = true;
    EXPECT_EQ(TextOf(reason), text + ": a first fault");
  }
  EXPECT_EQ(names.size(), kCauseCount - 1);
  EXPECT_EQ(texts.size(), kCauseCount - 1);
  EXPECT_EQ(TextOf({.cause = Cause::kEvidence, .count = 1}),
            "its REVEAL does not open its COMMIT, proven by evidence");
  EXPECT_EQ(TextOf({.old_text = "it lied"}), "it lied");
}

}  // namespace
}  // namespace ostraka::wire::reason_text_test

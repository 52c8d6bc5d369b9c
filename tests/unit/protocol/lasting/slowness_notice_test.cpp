#include "node/protocol/lasting/slowness_notice.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::slowness_notice_test {
namespace {

using scene::PeerNumber;

class SlownessNoticeTest : public testing::Test {
 protected:
  SlownessNoticeTest() { turn_.Begin(Time{}, out_); }

  // What people are told with a block that says that peer 1 has used so much.
  std::optional<Slow> Told(std::uint64_t used_ms, std::uint64_t step = 4) {
    wire::Block head = scene::ViewBefore(manifest_, step + 1);
    head.delta_us = 1'000'000;
    if (used_ms > 0) head.lateness = {{PeerNumber(1), used_ms}};
    out_.actions().clear();
    pace_.Tell(turn_, head, manifest_, PeerNumber(1));
    if (out_.actions().empty()) return std::nullopt;
    return std::get<Slow>(std::get<Observe>(out_.actions().at(0)).what);
  }
  std::uint64_t Half() {
    wire::Block head = scene::ViewBefore(manifest_, 5);
    head.delta_us = 1'000'000;
    return AllowanceMs(head, manifest_) / 2;
  }

  Manifest manifest_ = scene::ManifestOf(4);
  Outbox out_;
  Turn turn_;
  SlownessNotice pace_;
};

TEST_F(SlownessNoticeTest, MemberThatUsedHalfItsAllowanceIsNotWarned) {
  EXPECT_FALSE(Told(0));
  EXPECT_FALSE(Told(Half()));
}

TEST_F(SlownessNoticeTest, WarningIsRepeatedWhileItLastsAndTakenBackOnce) {
  for (const std::uint64_t step : {4u, 5u}) {
    const auto slow = Told(Half() + 1, step);
    ASSERT_TRUE(slow);
    EXPECT_TRUE(slow->Lasts());
    EXPECT_EQ(slow->step, step);
    EXPECT_EQ(slow->used_ms, Half() + 1);
  }
  const auto over = Told(Half(), 6);
  ASSERT_TRUE(over);
  EXPECT_FALSE(over->Lasts());
  EXPECT_FALSE(Told(Half(), 7));
}

TEST_F(SlownessNoticeTest, LatenessOfOthersIsNoWarning) {
  wire::Block head = scene::ViewBefore(manifest_, 5);
  head.lateness = {{PeerNumber(2), UINT64_MAX}};
  pace_.Tell(turn_, head, manifest_, PeerNumber(1));
  EXPECT_TRUE(out_.actions().empty());
}

}  // namespace
}  // namespace ostraka::protocol::slowness_notice_test

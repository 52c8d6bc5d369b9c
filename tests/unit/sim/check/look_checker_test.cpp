#include "sim/check/look_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/engine/counting_opener.h"
#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::look_checker_test {
namespace {

using testing::HasSubstr;

class LooksTest : public testing::Test {
 protected:
  LooksTest()
      : opened_(std::make_shared<std::vector<std::uint64_t>>(3, 0)),
        opener_(std::make_shared<wire::PlainOpener>(), &(*opened_)[0]),
        checker_(ThreePeers(), opened_) {}
  // Peer 0 decodes so many frames on that input, and sends so many.
  void Takes(const protocol::Input& input, int decoded, int sent) {
    const base::SharedBytes frame = Reveal(1, 1, 1).frame;
    for (int i = 0; i < decoded; ++i) EXPECT_TRUE(opener_.Open(frame).ok());
    const std::vector<protocol::Action> actions(
        static_cast<std::size_t>(sent), protocol::Send{ThreePeers().ids[2], frame, nullptr});
    checker_.OnStep({base::Time{1}, 1, 0, input, actions});
  }
  protocol::MessageReceived Question() const {
    return {ThreePeers().ids[2], Reveal(2, 1, 1).frame, nullptr};
  }
  base::Status Verdict() { return checker_.OnAction(1, protocol::CancelTimer{1}); }

  std::shared_ptr<std::vector<std::uint64_t>> opened_;
  CountingOpener opener_;
  Looks checker_;
};

TEST_F(LooksTest, AMessageMayHaveDecodedWhatItCarriesAndIsAnsweredWith) {
  Takes(Question(), Looks::kOwn, 0);
  Takes(Question(), Looks::kOwn + 3, 3);
  EXPECT_TRUE(Verdict().ok());
  EXPECT_TRUE(checker_.AtEnd().ok());
}

TEST_F(LooksTest, FramesThatAreDecodedForNothingAreFound) {
  Takes(Question(), Looks::kOwn + 3, 2);
  EXPECT_THAT(Fault(Verdict()), HasSubstr("decoded 7 frames for one message of"));
  EXPECT_FALSE(checker_.AtEnd().ok());
}

TEST_F(LooksTest, WhatATimerHasDecodedIsNobodysDoing) {
  Takes(protocol::TimerFired{1}, 50, 0);
  Takes(Question(), 1, 0);
  EXPECT_TRUE(Verdict().ok());
}

}  // namespace
}  // namespace ostraka::sim::look_checker_test

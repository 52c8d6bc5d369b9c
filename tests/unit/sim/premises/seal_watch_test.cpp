// The facts of a seal that checkers of premises read, and the figures of a run that a search reads.
#include "sim/premises/seal_watch.h"

#include <gtest/gtest.h>

#include "sim/search/distance_watch.h"
#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::seal_watch_test {
namespace {

using wire::MessageType;

base::Digest Value(std::uint8_t fill) {
  base::Digest digest;
  digest.bytes.fill(fill);
  return digest;
}

class SealWatchTest : public testing::Test {
 protected:
  void At(std::int64_t ms, std::uint32_t peer, const std::vector<protocol::Action>& actions) {
    const protocol::Input input = protocol::TimerFired{1};
    watch_.OnStep({base::Time{} + base::Milliseconds(ms), ++sequence_, peer, input, actions});
  }
  static protocol::Action Say(std::uint32_t author, MessageType type, base::Bytes body,
                              std::uint32_t iteration = 0) {
    wire::Slot slot;
    slot.phase = wire::Phase::kA;
    slot.type = type;
    slot.iteration = iteration;
    return SendOf(wire::Seal({slot, {}, Key(author)->id(), std::move(body)}, *Key(author)));
  }
  static protocol::Action Echo(std::uint32_t author, std::uint8_t value) {
    return Say(author, MessageType::kEcho, wire::Encode(wire::Echo{Value(value), {}, {}}));
  }
  const SealStory& Story() const { return watch_.stories().begin()->second; }

  Roster roster_ = ThreePeers();
  SealWatch watch_{roster_, StepView{roster_.ids, 2, 1, base::Milliseconds(100)},
                   std::make_shared<wire::PlainOpener>()};
  std::uint64_t sequence_ = 0;
};

TEST_F(SealWatchTest, RecordsWhenHonestMembersEchoedAndClosed) {
  At(100, 0, {Echo(0, 1)});
  At(180, 1, {Echo(1, 1), Echo(0, 1)});
  At(300, 0, {Say(0, MessageType::kClose, wire::Encode(wire::Close{}))});
  ASSERT_EQ(watch_.stories().size(), 1U);
  EXPECT_EQ(SealStory::Spread(Story().echoed), base::Milliseconds(80));
  ASSERT_TRUE(Story().closed.contains(0));
  EXPECT_EQ(Story().closed.at(0), base::Time{} + base::Milliseconds(300));
}

TEST_F(SealWatchTest, CountsValuesThatAQuorumGaveBallotsFor) {
  At(100, 0, {Echo(0, 1)});
  EXPECT_EQ(Story().CertifiedValues(), 0U);
  At(110, 1, {Echo(1, 1)});
  EXPECT_EQ(Story().CertifiedValues(), 1U);
}

TEST_F(SealWatchTest, ReachMeasuresTheSkewOfEchoes) {
  DistanceWatch reach(roster_, &watch_);
  const auto step = [&](std::int64_t ms, std::uint32_t peer,
                        const std::vector<protocol::Action>& actions) {
    const protocol::Input input = protocol::TimerFired{1};
    const StepRecord record{base::Time{} + base::Milliseconds(ms), ++sequence_, peer, input,
                            actions};
    watch_.OnStep(record);
    reach.OnStep(record);
  };
  step(100, 0, {Echo(0, 1)});
  step(250, 1, {Echo(1, 1)});
  EXPECT_DOUBLE_EQ(reach.distances().echo_skew, 1.5);
  EXPECT_FALSE(reach.Marks().empty());
}

}  // namespace
}  // namespace ostraka::sim::seal_watch_test

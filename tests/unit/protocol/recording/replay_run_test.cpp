// A member is a function of its inputs: a recording of what it was given and what it said replays
// to equal outputs, without its key and its seed.
#include "node/protocol/recording/replay_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/protocol/member/whole/cluster.h"
#include "tests/unit/protocol/member/whole/four_peers.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::replay_run_test {
namespace {

using scene::Cluster;
using scene::ClusterOptions;

ClusterOptions Recorded(std::uint32_t n, std::uint64_t steps) {
  ClusterOptions options;
  options.n = n;
  options.steps = steps;
  options.records = true;
  return options;
}

TEST(ReplayTest, OfARunInWhichOneLiesAndIsBanned) {
  Cluster cluster(Recorded(4, 30));
  cluster.on_job = [](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node != scene::kCheat || !std::holds_alternative<GradientSpec>(spec)) return;
    auto flipped = *std::get<GradientResult>(result).gradient;
    for (float& value : flipped) value *= -3;
    result = GradientResult{std::make_shared<const std::vector<float>>(std::move(flipped))};
  };
  cluster.Start();
  cluster.RunToEnd();
  ASSERT_EQ(scene::RemovalsOf(cluster).size(), 1u);
  cluster.ExpectReplays();
}

TEST(ReplayTest, OfAMemberThatDiesAndStartsAgain) {
  Cluster cluster(Recorded(4, 20));
  cluster.Start();
  cluster.RunUntil([&] { return cluster.node(1).blocks.size() == 5; });
  cluster.Kill(1);
  cluster.Restart(1);
  cluster.RunToEnd();
  EXPECT_EQ(cluster.node(1).lives.recorded.size(), 2u);
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectReplays();
}

// A slot that was stored and not signed before the crash is signed at the start.
TEST(ReplayTest, OfAMemberThatDiesBeforeItSends) {
  Cluster cluster(Recorded(4, 20));
  cluster.Start();
  cluster.RunUntil([&] { return cluster.node(1).blocks.size() == 5; });
  cluster.disk_hangs = [](std::size_t node) { return node == 1; };
  cluster.RunSome(40);
  cluster.Kill(1);
  cluster.disk_hangs = nullptr;
  cluster.Restart(1);
  cluster.RunToEnd();
  cluster.ExpectReplays();
}

// Told while it runs, and as it starts.
TEST(ReplayTest, OfMembersThatAreToldToLeave) {
  Cluster cluster(Recorded(8, 30));
  cluster.wishes[5].leave = {.from = 3};
  cluster.Start();
  cluster.RunUntil([&] { return cluster.node(2).blocks.size() == 4; });
  cluster.Feed(2, Told{.leave = Told::Leave{}});
  cluster.RunToEnd();
  for (const std::size_t leaver : {2, 5}) {
    ASSERT_TRUE(cluster.node(leaver).halted);
    EXPECT_EQ(cluster.node(leaver).halted->why, Halted::Why::kLeft);
  }
  cluster.ExpectReplays();
}

// --- replays of what is no longer the recording -------------------------------------------------

class AlteredReplay : public testing::Test {
 protected:
  static constexpr std::uint64_t kSteps = 4;
  static ClusterOptions OfFourSteps() {
    ClusterOptions options = Recorded(4, kSteps + scene::kSettleSteps);
    return options;
  }
  AlteredReplay() : cluster_(OfFourSteps()) {
    cluster_.Start();
    cluster_.RunToEnd();
    const auto& recorded = *cluster_.node(0).lives.recorded.at(0);
    head_ = wire::DecodeRecordingHead(recorded.head).value();
    calls_ = recorded.Calls();
  }
  base::StatusOr<Replayed> Replay() const {
    return ReplayRecording(head_, std::make_shared<const Manifest>(cluster_.manifest()), calls_,
                           {});
  }
  std::vector<wire::RecordedCall>::iterator First(std::size_t input) {
    return std::find_if(calls_.begin() + 40, calls_.end(),
                        [&](const wire::RecordedCall& call) { return call.given.input == input; });
  }

  Cluster cluster_;
  wire::RecordingHead head_;
  std::vector<wire::RecordedCall> calls_;
};

TEST_F(AlteredReplay, SaysWhatItSaw) {
  const auto replayed = Replay();
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_EQ(replayed->difference, std::nullopt);
  EXPECT_EQ(replayed->first_step, 0u);
  EXPECT_EQ(replayed->last_step, cluster_.node(0).blocks.back()->step);
  ASSERT_TRUE(replayed->halted);
  EXPECT_EQ(replayed->halted->why, Halted::Why::kFinished);
  EXPECT_GT(replayed->jobs_again, 0u);
}

TEST_F(AlteredReplay, AMessageThatDidNotComeIsADifference) {
  calls_.erase(First(Input(MessageReceived{}).index()));
  const auto replayed = Replay();
  if (!replayed.ok()) return;  // what followed from the message is an input that nothing asked for
  EXPECT_TRUE(replayed->difference);
}

TEST_F(AlteredReplay, AnotherGradientIsADifference) {
  const auto call = std::find_if(calls_.begin(), calls_.end(), [](const auto& each) {
    return each.given.result && !each.given.result->gradient.empty();
  });
  ASSERT_NE(call, calls_.end());
  call->given.result->gradient[0] ^= 1;
  const auto replayed = Replay();
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  ASSERT_TRUE(replayed->difference);
  EXPECT_NE(replayed->difference->find("another result here"), std::string::npos)
      << *replayed->difference;
}

TEST_F(AlteredReplay, InputsThatBreakTheContractAreRefused) {
  const auto refused = [&](auto spoil) {
    const std::vector<wire::RecordedCall> kept = calls_;
    spoil();
    const auto replayed = Replay();
    calls_ = kept;
    return !replayed.ok();
  };
  EXPECT_TRUE(refused([&] { calls_.erase(calls_.begin()); }));              // no start
  EXPECT_TRUE(refused([&] { calls_.insert(calls_.begin(), calls_[0]); }));  // two
  EXPECT_TRUE(refused([&] { calls_[50].given.at = 0; }) || calls_[49].given.at == 0);
  EXPECT_TRUE(refused([&] { First(Input(JobDone{}).index())->given.id = 999'999; }));
  EXPECT_TRUE(refused([&] { First(Input(Stored{}).index())->given.id = 999'999; }));
  EXPECT_TRUE(refused([&] { First(Input(JobDone{}).index())->given.result->kind = 77; }));
  EXPECT_TRUE(refused([&] { calls_[50].given.input = 200; }));
  EXPECT_TRUE(refused([&] { calls_[50].outcome->said.push_back({1, 2, 3}); }));
  EXPECT_TRUE(refused([&] { calls_[50].given.at = std::uint64_t{1} << 62; }));
  EXPECT_TRUE(refused([&] { head_.layout[0].shape[0] = std::uint64_t{1} << 40; }));
}

// A call that ended the process has no outcome: the replay runs it, so that the bug shows again.
TEST_F(AlteredReplay, ACallWithinWhichTheProcessEndedIsRunToo) {
  calls_.erase(calls_.begin() + 60, calls_.end());
  calls_.back().outcome.reset();
  std::vector<std::string> lines;
  const auto replayed =
      ReplayRecording(head_, std::make_shared<const Manifest>(cluster_.manifest()), calls_,
                      [&](Time, const std::string& line) { lines.push_back(line); });
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_EQ(replayed->difference, std::nullopt);
  EXPECT_TRUE(replayed->ended_within_call);
  EXPECT_EQ(replayed->turns, 59u);
  ASSERT_EQ(lines.size(), 61u);  // one before the last call, and one after it
  EXPECT_TRUE(lines[59].starts_with("the process ended within this call: ")) << lines[59];
}

// A tail that rests on a message that was never sent has sent none itself.
TEST_F(AlteredReplay, ALackingSignatureBeforeOneThatIsThereIsADifference) {
  std::size_t dropped = 0;
  for (wire::RecordedCall& call : calls_) {
    if (call.outcome->said.empty()) continue;
    if (++dropped > 3) break;
    call.outcome->said.clear();
  }
  const auto replayed = Replay();
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_FALSE(replayed->ends_unsent);
  EXPECT_TRUE(replayed->difference);
}

// A store whose keys no ledger would hold.
TEST_F(AlteredReplay, KeysOfAnyLengthAreRefusedByTheMachine) {
  wire::RecordedRow row;
  row.kind = static_cast<std::uint8_t>(RecordKind::kBlock);
  row.key = {1};
  wire::RecordedStore& store = calls_[0].given.store.emplace();
  store.blocks = {row};
  store.slots = {row};
  (void)Replay();
}

// Any bytes are safe: a mutation that still decodes replays, differs or is refused.
TEST_F(AlteredReplay, MutatedEntriesNeverEndTheProcess) {
  base::Rng rng(17);
  const auto& recorded = *cluster_.node(0).lives.recorded.at(0);
  std::size_t ran = 0;
  for (int i = 0; i < 400; ++i) {
    const std::size_t at = rng.Below(calls_.size());
    base::Bytes bytes = recorded.turns[at];
    bytes[rng.Below(bytes.size())] ^= static_cast<std::uint8_t>(1 + rng.Below(255));
    auto turn = wire::DecodeRecordedInput(bytes);
    if (!turn.ok()) continue;
    std::swap(calls_[at].given, *turn);
    (void)Replay();
    std::swap(calls_[at].given, *turn);
    if (++ran == 12) break;
  }
  EXPECT_EQ(ran, 12u);
}

}  // namespace
}  // namespace ostraka::protocol::replay_run_test

// What a machine that has finished still owes a peer whose link was down at that moment.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/protocol/member/whole/cluster.h"

namespace ostraka::protocol::last_words_test {
namespace {

using scene::Cluster;
using scene::ClusterOptions;

constexpr std::size_t kLate = 1;  // whose link with node 0 is cut at the end

struct LastWordsTest : testing::TestWithParam<bool> {
  ClusterOptions Options() const {
    return {.n = 4, .dimension = 64, .steps = 6, .plain = GetParam()};
  }
};

std::vector<base::Bytes> FramesOf(const std::vector<Action>& actions) {
  std::vector<base::Bytes> frames;
  for (const Action& action : actions) {
    if (std::holds_alternative<SetTimer>(action)) continue;  // of how long it stays
    const auto* send = std::get_if<Send>(&action);
    EXPECT_NE(send, nullptr) << "something else than a Send";
    if (send != nullptr) frames.push_back(*send->frame);
  }
  return frames;
}

// True of the last frame without which the receiver cannot finish.
bool Decides(const base::Bytes& frame, bool plain) {
  if (plain) return true;
  const auto opened = wire::Open(std::make_shared<const base::Bytes>(frame));
  return opened.ok() && opened->envelope.slot.type == wire::MessageType::kEcho;
}

TEST_P(LastWordsTest, AFinishedMachineSaysThemAgainToALateOne) {
  Cluster reference(Options());
  std::vector<base::Bytes> sent;
  reference.on_send = [&](std::size_t from, const Send& send) {
    if (from == 0 && reference.IndexOf(send.to) == kLate) sent.push_back(*send.frame);
    return true;
  };
  reference.Start();
  reference.RunToEnd();
  ASSERT_EQ(reference.NotHaltedAs(Halted::Why::kFinished), "");
  std::size_t cut = sent.size();
  while (cut > 0 && !Decides(sent[cut - 1], GetParam())) --cut;
  ASSERT_GT(cut, 0u);

  Cluster cluster(Options());
  std::size_t passed = 0;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    return from != 0 || cluster.IndexOf(send.to) != kLate || ++passed < cut;
  };
  cluster.Start();
  cluster.Run();
  ASSERT_EQ(cluster.node(0).halted.has_value(), GetParam()) << "a protected one stays for a while";
  ASSERT_FALSE(cluster.node(kLate).halted) << "the last message did not matter";

  cluster.on_send = nullptr;
  const PeerId late = cluster.node(kLate).id();
  EXPECT_TRUE(FramesOf(cluster.Feed(0, LinkChanged{late, false})).empty());
  const std::vector<base::Bytes> again = FramesOf(cluster.Feed(0, LinkChanged{late, true}));
  EXPECT_FALSE(again.empty());
  for (const base::Bytes& frame : again) {
    EXPECT_EQ(std::count(sent.begin(), sent.end(), frame), 1) << "it had not said that before";
  }
  cluster.Run();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
}

TEST_P(LastWordsTest, AMachineThatFailedSaysNothingMore) {
  Cluster cluster(Options());
  cluster.on_job = [](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node == 0 && std::holds_alternative<UpdateSpec>(spec)) result = JobFailed{"no memory"};
  };
  cluster.Start();
  cluster.Run();
  ASSERT_TRUE(cluster.node(0).halted);
  ASSERT_EQ(cluster.node(0).halted->why, Halted::Why::kFailed);
  EXPECT_TRUE(cluster.Feed(0, LinkChanged{cluster.node(kLate).id(), true}).empty());
}

INSTANTIATE_TEST_SUITE_P(Protected, LastWordsTest, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Plain, LastWordsTest, testing::Values(true));

}  // namespace
}  // namespace ostraka::protocol::last_words_test

// Four members under virtual time, one of which is asked to stop at every moment of a run: it ends
// where the driver would end it, and never costs itself more than a first drop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "node/host/driver/pledge.h"
#include "node/protocol/rules/standing.h"
#include "tests/unit/protocol/member/whole/cluster.h"
#include "tests/unit/protocol/member/whole/four_peers.h"

namespace ostraka::host::stops_test {
namespace {

using protocol::Input;
using protocol::Outbox;
using protocol::scene::Cluster;
using protocol::scene::Steps;
using wire::MessageType;

constexpr std::size_t kVictim = 2;

// Tells a pledge what NodeDriver tells it.
class Watched final : public protocol::Machine {
 public:
  explicit Watched(std::unique_ptr<protocol::Machine> inside) : inside_(std::move(inside)) {}
  void Step(base::Time now, const Input& input, Outbox& out) override {
    if (const auto* started = std::get_if<protocol::Started>(&input)) {
      if (started->restored != nullptr) pledge_.Restore(*started->restored);
    }
    if (const auto* stored = std::get_if<protocol::Stored>(&input)) pledge_.Stored(stored->id);
    inside_->Step(now, input, out);
    for (const protocol::Action& action : out.actions()) {
      if (const auto* store = std::get_if<protocol::Store>(&action)) pledge_.Asked(*store);
    }
  }
  void CheckInvariants() const override { inside_->CheckInvariants(); }
  base::Digest Fingerprint() const override { return inside_->Fingerprint(); }
  protocol::Progress progress() const override { return inside_->progress(); }
  Owed owed() const { return pledge_.OwedIn(inside_->progress()); }

 private:
  const std::unique_ptr<protocol::Machine> inside_;
  Pledge pledge_;
};

// A run, and the member that stops.
class Story {
 public:
  explicit Story(std::uint64_t steps = 8) : cluster(Steps(steps)) {
    Watch();
    cluster.on_send = [this](std::size_t from, const protocol::Send& send) {
      const wire::Slot slot = protocol::scene::SlotOf(send);
      if (from == kVictim && slot.type == MessageType::kCommit) last_commit = slot.step;
      return true;
    };
  }
  void Watch() {
    auto watched = std::make_unique<Watched>(std::move(cluster.node(kVictim).machine));
    victim = watched.get();
    cluster.node(kVictim).machine = std::move(watched);
  }
  // A driver links when the machine has read its store.
  void LinkAgain() {
    cluster.Run();
    for (const bool up : {false, true}) {
      for (std::size_t other = 0; other < cluster.size(); ++other) {
        if (other == kVictim) continue;
        cluster.Feed(kVictim, protocol::LinkChanged{cluster.node(other).id(), up});
        cluster.Feed(other, protocol::LinkChanged{cluster.node(kVictim).id(), up});
      }
    }
  }
  // Ends it as a driver that was told to stop now, or at once.
  void Stop(bool safely) {
    asked_in = victim->progress();
    owed = victim->owed();
    if (safely) {
      cluster.RunUntil([this] { return victim->owed() == Owed::kNothing; });
      EXPECT_EQ(victim->owed(), Owed::kNothing) << "it never ends";
    }
    victim = nullptr;
    cluster.Kill(kVictim);
  }
  // The others go on until they have dropped it, or all is over.
  void OthersGoOn() {
    cluster.RunUntil([this] { return Standing() != nullptr; });
  }
  const wire::Standing* Standing() {
    const auto& blocks = cluster.node(0).blocks;
    return blocks.empty()
               ? nullptr
               : protocol::StandingOf(blocks.back()->standings, cluster.node(kVictim).id());
  }

  Cluster cluster;
  Watched* victim = nullptr;  // null: ended
  protocol::Progress asked_in;
  Owed owed = Owed::kNothing;
  std::optional<std::uint64_t> last_commit;
};

constexpr std::size_t kMoments = 900;  // of a run of eight steps
constexpr std::size_t kStride = 13;

TEST(StopsTest, NoMomentBarsAMemberThatStopsSafely) {
  std::set<std::string> phases;
  std::set<Owed> owed;
  for (std::size_t moment = 1; moment < kMoments; moment += kStride) {
    SCOPED_TRACE(moment);
    Story story;
    story.cluster.Start();
    story.cluster.RunSome(moment);
    const std::uint64_t step = story.victim->progress().step;
    story.Stop(/*safely=*/true);
    phases.insert(story.asked_in.phase);
    owed.insert(story.owed);
    if (story.asked_in.at_work) {
      EXPECT_LE(story.last_commit.value_or(0), step) << "it has begun another step";
    }
    story.OthersGoOn();
    const wire::Standing* standing = story.Standing();
    if (standing != nullptr) EXPECT_EQ(standing->barred_until, 0U);
    EXPECT_EQ(protocol::scene::RemovalsOf(story.cluster).size(), standing == nullptr ? 0U : 1U);
  }
  EXPECT_THAT(phases, ::testing::IsSupersetOf({"genesis", "collect", "reveal", "prove", "update"}));
  EXPECT_THAT(owed, ::testing::ElementsAre(Owed::kNothing, Owed::kCoin, Owed::kProof, Owed::kEcho));
}

// What the test above would find without the wait.
TEST(StopsTest, EndingAtOnceBarsInSomeMoments) {
  std::size_t barred = 0;
  for (std::size_t moment = 1; moment < kMoments; moment += kStride) {
    Story story;
    story.cluster.Start();
    story.cluster.RunSome(moment);
    story.Stop(/*safely=*/false);
    story.OthersGoOn();
    const wire::Standing* standing = story.Standing();
    const bool bars = standing != nullptr && standing->barred_until > 0;
    if (bars) EXPECT_EQ(story.owed, Owed::kCoin) << moment;
    barred += bars ? 1 : 0;
  }
  EXPECT_GT(barred, 10U);
}

TEST(StopsTest, WhoIsBackInTimeHasLostNothing) {
  for (std::size_t moment = 1; moment < kMoments; moment += 10 * kStride) {
    SCOPED_TRACE(moment);
    Story story;
    story.cluster.Start();
    story.cluster.RunSome(moment);
    story.Stop(/*safely=*/true);
    story.cluster.Run();  // until the others wait for it
    story.cluster.Restart(kVictim);
    story.LinkAgain();
    story.cluster.RunToEnd();
    EXPECT_EQ(story.cluster.NotHaltedAs(protocol::Halted::Why::kFinished), "");
    for (const wire::Removal& removal : protocol::scene::RemovalsOf(story.cluster)) {
      ADD_FAILURE() << "step " << removal.step << ": " << wire::TextOf(removal.reason);
    }
  }
}

// The work of a step in which it has said nothing yet is dropped.
TEST(StopsTest, AGradientThatIsComputedIsNotWaitedForAndAnAggregateIs) {
  for (const bool gradient : {true, false}) {
    Story story;
    story.cluster.job_hangs = [&](std::size_t node, const protocol::JobSpec& spec) {
      return node == kVictim && (gradient ? std::holds_alternative<protocol::GradientSpec>(spec)
                                          : std::holds_alternative<protocol::AggregateSpec>(spec));
    };
    story.cluster.Start();
    story.cluster.RunUntil([&] { return !story.cluster.node(kVictim).hanging.empty(); });
    ASSERT_FALSE(story.cluster.node(kVictim).hanging.empty());
    EXPECT_EQ(story.victim->progress().phase, "collect");
    EXPECT_EQ(story.victim->owed(), gradient ? Owed::kNothing : Owed::kCoin);
  }
}

TEST(StopsTest, OneThatFollowsOwesNothingAndOneThatIsBackDoes) {
  Story story(30);
  story.cluster.Start();
  story.cluster.RunUntil([&] { return story.cluster.node(kVictim).blocks.size() == 3; });
  story.Stop(/*safely=*/true);
  story.OthersGoOn();
  story.cluster.Restart(kVictim);
  story.Watch();
  story.cluster.RunUntil([&] { return story.victim->progress().phase == "follow"; });
  EXPECT_EQ(story.victim->owed(), Owed::kNothing);
  story.cluster.RunUntil([&] { return story.victim->owed() == Owed::kCoin; });
  EXPECT_TRUE(story.victim->progress().at_work);
}

TEST(StopsTest, OneThatHasFinishedOwesNothing) {
  Story story;
  // It hears nobody finish, and stays.
  story.cluster.on_send = [](std::size_t from, const protocol::Send& send) {
    const wire::Slot slot = protocol::scene::SlotOf(send);
    return from == kVictim || slot.type != MessageType::kCommit || slot.step < 9;
  };
  story.cluster.Start();
  story.cluster.RunUntil([&] { return story.victim->progress().phase == "linger"; });
  ASSERT_EQ(story.victim->progress().phase, "linger");
  EXPECT_EQ(story.victim->owed(), Owed::kNothing);
}

}  // namespace
}  // namespace ostraka::host::stops_test

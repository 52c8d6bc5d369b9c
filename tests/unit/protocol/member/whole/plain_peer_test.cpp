// The unprotected baseline: correct among the honest, and defenceless by design.
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/protocol/member/whole/cluster.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::plain_peer_test {
namespace {

using scene::Cluster;
using scene::ClusterOptions;

ClusterOptions Plain(std::uint64_t steps) {
  return {.n = 3, .dimension = 30, .steps = steps + scene::kSettleSteps, .plain = true};
}

TEST(PlainPeerTest, AveragesAndAgrees) {
  Cluster cluster(Plain(5));
  cluster.Start();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    ASSERT_EQ(cluster.node(i).states.size(), 5u + scene::kSettleSteps);
    EXPECT_EQ(*cluster.node(i).states.back().parameters, *cluster.node(0).states.back().parameters);
    EXPECT_TRUE(cluster.node(i).durable.empty()) << "an unsigned run has nothing to store";
  }
  for (const float x : *cluster.node(0).states.back().parameters) EXPECT_NEAR(x, 1.0, 0.75);
}

// As a protected member does: else a run and its unprotected twin begin at different states.
TEST(PlainPeerTest, BeginsWithTheVelocityThatItIsGiven) {
  Cluster cluster(Plain(1));
  PeerOptions options{std::make_shared<const Manifest>(cluster.manifest()),
                      cluster.node(0).key,
                      std::make_shared<crypto::PlainVerifier>(),
                      {{"w", {30}}},
                      std::make_shared<const std::vector<float>>(30, 0.0F),
                      {{"velocity", std::make_shared<const std::vector<float>>(30, 0.5F)}}};
  const SharedVector velocity = options.initial_slots.at(0).values;
  const auto peer = MakePlainPeer(std::move(options));
  Outbox out;
  peer->Step(base::Time{}, Started{}, out);
  for (std::size_t i = 1; i < cluster.size(); ++i) {
    const wire::Envelope boot{{.run_id = cluster.manifest().run_id,
                               .phase = wire::Phase::kGenesis,
                               .type = wire::MessageType::kBoot},
                              {},
                              cluster.node(i).id(),
                              {}};
    peer->Step(base::Time{}, MessageReceived{boot.sender, wire::EncodeUnsigned(boot), nullptr},
               out);
  }
  std::vector<SharedVector> begun;
  for (const Action& action : out.actions()) {
    const auto* seen = std::get_if<Observe>(&action);
    const auto* started = seen != nullptr ? std::get_if<StepStarted>(&seen->what) : nullptr;
    if (started != nullptr) begun.push_back(VelocityOf(started->state));
  }
  EXPECT_EQ(begun, std::vector<SharedVector>{velocity});
}

TEST(PlainPeerTest, OrderAndRepetitionOfDeliveriesDoNotMatter) {
  Cluster straight(Plain(4));
  straight.Start();
  straight.RunToEnd();
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Cluster cluster(Plain(4));
    cluster.disorder.emplace(seed);
    cluster.Start();
    cluster.RunToEnd();
    EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
    EXPECT_EQ(*cluster.node(1).states.back().parameters,
              *straight.node(0).states.back().parameters);
  }
}

TEST(PlainPeerTest, OneAttackerMovesTheMeanAsFarAsItLikes) {
  Cluster cluster(Plain(5));
  cluster.on_job = [](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node != 1 || !std::holds_alternative<GradientSpec>(spec)) return;
    result = GradientResult{std::make_shared<const std::vector<float>>(30, 1e6F)};
  };
  cluster.Start();
  cluster.RunToEnd();
  EXPECT_LT((*cluster.node(0).states.back().parameters)[0], -1e4F);
}

TEST(PlainPeerTest, NanFromThePeerStopsWithItsName) {
  Cluster cluster(Plain(3));
  cluster.on_job = [](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node != 1 || !std::holds_alternative<PackSpec>(spec)) return;
    const std::vector<float> bad(10, std::numeric_limits<float>::quiet_NaN());
    const base::ByteView bytes = base::AsBytes(std::span(bad));
    for (SharedBlob& part : std::get<PackResult>(result).parts) {
      part = std::make_shared<const crypto::Blob>(
          crypto::Blob{{bytes.begin(), bytes.end()}, Digest{}});
    }
  };
  cluster.Start();
  cluster.Run();
  ASSERT_TRUE(cluster.node(0).halted);
  EXPECT_EQ(cluster.node(0).halted->why, Halted::Why::kFailed);
  EXPECT_NE(cluster.node(0).halted->reason.find(cluster.node(1).id().Short()), std::string::npos);
}

TEST(PlainPeerTest, ASilentPeerStallsTheRun) {
  Cluster cluster(Plain(3));
  std::size_t sent = 0;
  cluster.on_send = [&](std::size_t from, const Send&) { return from != 1 || ++sent < 8; };
  cluster.Start();
  cluster.RunToEnd();
  ASSERT_TRUE(cluster.node(0).halted);
  EXPECT_EQ(cluster.node(0).halted->why, Halted::Why::kStalled);
}

// Whatever a peer says first for a place is believed; what it says beyond that must not pile up.
TEST(PlainPeerTest, MessagesThatNoStepUsesAreNotKept) {
  Cluster cluster({.n = 3, .dimension = 30, .steps = 9, .plain = true});
  cluster.on_send = [&](std::size_t from, const Send& send) {
    if (from != 1) return true;
    auto envelope = wire::OpenUnsigned(*send.frame);
    EXPECT_TRUE(envelope.ok());
    const std::uint64_t step = envelope->slot.step;
    for (const std::uint64_t at : {step, step + 1}) {
      for (const wire::MessageType type :
           {wire::MessageType::kBoot, wire::MessageType::kPart, wire::MessageType::kResult}) {
        wire::Envelope extra = *envelope;
        extra.slot.type = type;
        extra.slot.step = at;
        extra.slot.iteration = 0;
        extra.slot.phase =
            type == wire::MessageType::kBoot ? wire::Phase::kGenesis : wire::Phase::kA;
        cluster.Deliver(0, 1, wire::EncodeUnsigned(extra),
                        crypto::MakeBlob(base::Bytes(15 * sizeof(float))));
      }
    }
    return true;
  };
  cluster.Start();
  cluster.RunToEnd();  // Cluster checks the invariants after every input
  EXPECT_TRUE(cluster.node(0).halted);
}

}  // namespace
}  // namespace ostraka::protocol::plain_peer_test

#include "node/protocol/recording/recording_machine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "node/protocol/mail/secrets.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/member/whole/cluster.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::recording_machine_test {
namespace {

using scene::Cluster;
using scene::ClusterOptions;

bool Holds(const base::Bytes& bytes, base::ByteView what) {
  return std::search(bytes.begin(), bytes.end(), what.begin(), what.end()) != bytes.end();
}

TEST(RecordingMachineTest, HoldsNoSecret) {
  constexpr std::uint64_t kSteps = 12;
  Cluster cluster({.n = 4, .steps = kSteps, .records = true});
  cluster.Start();
  cluster.RunToEnd();
  std::size_t shown = 0;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const Cluster::Node& node = cluster.node(i);
    base::Bytes all = node.lives.recorded.at(0)->head;
    for (const auto* entries :
         {&node.lives.recorded[0]->turns, &node.lives.recorded[0]->outcomes}) {
      for (const base::Bytes& entry : *entries) all.insert(all.end(), entry.begin(), entry.end());
    }
    EXPECT_FALSE(Holds(all, node.key->seed()));
    EXPECT_FALSE(Holds(all, Cluster::SeedOf(i).view()));
    SeedSecrets secrets(node.id());
    secrets.Begin(Cluster::SeedOf(i));
    for (std::uint64_t step = 0; step < kSteps; ++step) {
      // No draw was aborted, so each step showed one coin.
      const crypto::Coin coin = secrets.Opening(step, 4, 0).coin;
      shown += Holds(all, coin.value.view()) && Holds(all, coin.salt.view()) ? 1 : 0;
      for (std::uint32_t draw = 1; draw < 4; ++draw) {
        const crypto::Coin kept = secrets.Opening(step, 4, draw).coin;
        EXPECT_FALSE(Holds(all, kept.value.view())) << step << " " << draw;
        EXPECT_FALSE(Holds(all, kept.salt.view())) << step << " " << draw;
      }
    }
  }
  EXPECT_EQ(shown, cluster.size() * kSteps);  // the search finds what is there
}

// --- a machine that does what a test says -------------------------------------------------------

class Scripted final : public Machine {
 public:
  explicit Scripted(std::vector<std::vector<Action>> script) : script_(std::move(script)) {}
  void Step(Time, const Input&, Outbox& out) override {
    for (const Action& action : script_.at(next_++)) {
      std::visit([&](const auto& what) { out.Add(what); }, action);
    }
  }
  void CheckInvariants() const override {}
  Digest Fingerprint() const override { return {}; }

 private:
  std::vector<std::vector<Action>> script_;
  std::size_t next_ = 0;
};

struct Written final : Recorder {
  bool Given(const wire::RecordedInput& turn) override {
    turns.push_back(turn);
    return true;
  }
  bool Asked(const wire::RecordedOutcome& outcome, bool ends) override {
    outcomes.push_back(outcome);
    ends_step.push_back(ends);
    return outcomes.size() < room;
  }
  std::vector<wire::RecordedInput> turns;
  std::vector<wire::RecordedOutcome> outcomes;
  std::vector<bool> ends_step;
  std::size_t room = 100;
};

RecordingMachine Recorded(std::vector<std::vector<Action>> script,
                          const std::shared_ptr<Written>& written,
                          const PeerId& self = scene::PeerNumber(0)) {
  return {std::make_unique<Scripted>(std::move(script)), self, written};
}

TEST(RecordingMachineTest, ActionsPassUnchangedAndStepsAreMarked) {
  const auto written = std::make_shared<Written>();
  StepDone done;
  done.block = std::make_shared<const wire::Block>();
  RecordingMachine machine = Recorded({{SetTimer{7, Time{9}}}, {Observe{done}}}, written);
  Outbox out;
  out.Add(CancelTimer{1});  // of an earlier call
  machine.Step(Time{5}, TimerFired{3}, out);
  machine.Step(Time{6}, Stored{4}, out);
  ASSERT_EQ(out.actions().size(), 3u);
  EXPECT_EQ(std::get<SetTimer>(out.actions()[1]).id, 7u);
  ASSERT_EQ(written->turns.size(), 2u);
  EXPECT_EQ(written->turns[0].at, 5u);
  EXPECT_EQ(written->turns[0].id, 3u);
  EXPECT_NE(written->outcomes[0].actions, written->outcomes[1].actions);
  EXPECT_EQ(written->ends_step, (std::vector<bool>{false, true}));
}

TEST(RecordingMachineTest, NothingIsRecordedAfterTheEnd) {
  const auto written = std::make_shared<Written>();
  written->room = 1;
  RecordingMachine machine = Recorded({{}, {SetTimer{7, Time{9}}}}, written);
  Outbox out;
  machine.Step(Time{5}, TimerFired{3}, out);
  machine.Step(Time{6}, TimerFired{3}, out);
  EXPECT_EQ(written->turns.size(), 1u);
  EXPECT_EQ(out.actions().size(), 1u);
}

TEST(RecordingMachineTest, AResultThatNobodyWantsIsLeftOut) {
  const auto written = std::make_shared<Written>();
  RecordingMachine machine = Recorded({{StopJob{8}}, {}, {}}, written);
  Outbox out;
  const auto result = std::make_shared<const JobResult>(RootResult{});
  machine.Step(Time{5}, TimerFired{3}, out);
  machine.Step(Time{6}, JobDone{8, result}, out);
  machine.Step(Time{7}, JobDone{9, result}, out);
  EXPECT_FALSE(written->turns[1].result);
  EXPECT_TRUE(written->turns[2].result);
}

TEST(RecordingMachineTest, OwnSignedFramesAreKeptOnceAlsoFromWithinAForward) {
  const auto keys = scene::SortedKeys(2);
  const auto signed_by = [&](std::size_t who, std::uint64_t step) {
    wire::Slot slot;
    slot.step = step;
    slot.phase = wire::Phase::kA;
    slot.type = wire::MessageType::kCommit;
    wire::Commit commit;
    commit.coin_count = 1;
    return wire::Seal({slot, {}, keys[who]->id(), wire::Encode(commit)}, *keys[who]).frame;
  };
  const auto first = signed_by(0, 1);
  const auto second = signed_by(0, 2);
  wire::Slot service;
  service.phase = wire::Phase::kC;
  service.type = wire::MessageType::kForward;
  const wire::Forward forward{keys[0]->id(), keys[1]->id(), *second};
  const auto forwarded = wire::EncodeService({service, {}, keys[0]->id(), wire::Encode(forward)});
  const PeerId other = keys[1]->id();
  const auto written = std::make_shared<Written>();
  RecordingMachine machine = Recorded(
      {{Send{other, first, {}}, Send{other, signed_by(1, 1), {}}, Send{other, forwarded, {}}},
       {Send{other, first, {}}}},
      written, keys[0]->id());
  Outbox out;
  machine.Step(Time{5}, TimerFired{3}, out);
  machine.Step(Time{6}, TimerFired{3}, out);
  EXPECT_EQ(written->outcomes[0].said, (std::vector<base::Bytes>{*first, *second}));
  EXPECT_TRUE(written->outcomes[1].said.empty());
}

// A machine that fails its own check ends the process. What it was given is already kept.
TEST(RecordingMachineTest, WhatACallWasGivenIsKeptBeforeTheCall) {
  class Asking final : public Machine {
   public:
    explicit Asking(std::shared_ptr<Written> written) : written_(std::move(written)) {}
    void Step(Time, const Input&, Outbox&) override {
      EXPECT_EQ(written_->turns.size(), 1u);
      EXPECT_TRUE(written_->outcomes.empty());
    }
    void CheckInvariants() const override {}
    Digest Fingerprint() const override { return {}; }

   private:
    std::shared_ptr<Written> written_;
  };
  const auto written = std::make_shared<Written>();
  RecordingMachine machine(std::make_unique<Asking>(written), scene::PeerNumber(0), written);
  Outbox out;
  machine.Step(Time{5}, TimerFired{3}, out);
  EXPECT_EQ(written->outcomes.size(), 1u);
}

}  // namespace
}  // namespace ostraka::protocol::recording_machine_test

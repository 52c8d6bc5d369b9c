// A member that dies and starts again from its store, from a damaged store, or without one.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "node/protocol/mail/signer.h"
#include "node/protocol/rules/standing.h"
#include "tests/unit/protocol/member/whole/cluster.h"
#include "tests/unit/protocol/member/whole/four_peers.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::restart_test {
namespace {

using scene::Cluster;
using scene::EnvelopeOf;
using scene::ExpectNoSuspicionOf;
using scene::HonestBlocks;
using scene::RemovalsOf;
using scene::Steps;
using wire::MessageType;

constexpr std::size_t kVictim = 2;

// Remembers what the victim signed, and fails if it ever signs another body for one slot.
class Scribe {
 public:
  explicit Scribe(Cluster& cluster) {
    cluster.on_send = [this, &cluster](std::size_t from, const Send& send) {
      if (from != kVictim) return true;
      const wire::Envelope envelope = EnvelopeOf(send.frame);
      const bool own = envelope.sender == cluster.node(kVictim).id();
      if (!own || wire::IsService(envelope.slot.type)) return true;
      const auto [said, fresh] = said_.try_emplace(envelope.slot, *send.frame);
      EXPECT_EQ(said->second, *send.frame)
          << wire::MessageTypeName(envelope.slot.type) << " of step " << envelope.slot.step;
      if (!fresh) ++repeated_;
      return true;
    };
  }
  // The victim's store is gone.
  void SeeStoreLost() {
    std::erase_if(said_, [](const auto& entry) { return wire::MayBeSaidAnew(entry.first); });
  }
  std::size_t repeated() const { return repeated_; }
  // Of REJOINs.
  std::size_t CountOf(MessageType type) const {
    return static_cast<std::size_t>(std::count_if(
        said_.begin(), said_.end(), [type](const auto& e) { return e.first.type == type; }));
  }
  // Nothing but REJOIN and the last COMMITs: a step without an echo of it is one it had no part in.
  bool EchoedIn(std::uint64_t step) const {
    return std::any_of(said_.begin(), said_.end(), [step](const auto& e) {
      return e.first.step == step && e.first.type == MessageType::kEcho;
    });
  }

 private:
  std::map<wire::Slot, base::Bytes> said_;
  std::size_t repeated_ = 0;
};

void ExpectSameEnd(Cluster& cluster) {
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  for (std::size_t i = 1; i < cluster.size(); ++i) {
    ASSERT_FALSE(cluster.node(i).encoded_blocks.empty());
    EXPECT_EQ(*cluster.node(i).encoded_blocks.rbegin(), *cluster.node(0).encoded_blocks.rbegin());
    EXPECT_EQ(*cluster.node(i).states.back().parameters, *cluster.node(0).states.back().parameters);
  }
}

// Wherever it is killed: it says again what it said, to the byte, and never anything else.
TEST(RestartTest, SaysWhatItSaidAndNothingElse) {
  std::size_t repeated = 0;
  for (std::size_t deliveries = 10; deliveries < 900; deliveries += 71) {
    SCOPED_TRACE(deliveries);
    Cluster cluster(Steps(8));
    Scribe scribe(cluster);
    cluster.Start();
    cluster.RunSome(deliveries);
    cluster.Kill(kVictim);
    cluster.RunSome(20);
    cluster.Restart(kVictim);
    cluster.RunToEnd();
    ExpectSameEnd(cluster);
    for (const wire::Removal& removal : RemovalsOf(cluster)) {
      EXPECT_EQ(removal.peer, cluster.node(kVictim).id()) << wire::TextOf(removal.reason);
      EXPECT_FALSE(wire::IsBan(removal.kind)) << wire::TextOf(removal.reason);
    }
    repeated += scribe.repeated();
  }
  EXPECT_GT(repeated, 0u) << "no restart came in the middle of a step";
}

// Between two steps nothing is lost at all.
TEST(RestartTest, AQuickOneBetweenStepsCostsNothing) {
  Cluster cluster(Steps(8));
  Scribe scribe(cluster);
  cluster.Start();
  while (cluster.node(kVictim).blocks.size() < 3) cluster.RunSome(1);
  cluster.Kill(kVictim);
  cluster.Restart(kVictim);
  cluster.RunToEnd();
  ExpectSameEnd(cluster);
  EXPECT_TRUE(RemovalsOf(cluster).empty());
  EXPECT_TRUE(cluster.node(kVictim).away.empty());
  EXPECT_EQ(cluster.node(0).encoded_blocks, HonestBlocks(8));
}

// Its AGG is on disk and nothing of it was sent: an aggregate that died with it would drop it.
TEST(RestartTest, AnOwnerThatDiesWithItsAggUnsentShowsItsAggregateAfterwards) {
  Cluster cluster(Steps(8));
  cluster.on_send = [](std::size_t from, const Send& send) {
    const wire::Slot slot = scene::SlotOf(send);
    return from != kVictim || slot.step != 2 || slot.phase != wire::Phase::kA ||
           (slot.type != MessageType::kAggregate && slot.type != MessageType::kResult);
  };
  cluster.Start();
  const auto aggregated = [](const auto& entry) {
    if (entry.first.first != RecordKind::kSlot) return false;
    const wire::Slot slot = wire::OpenUnsigned(entry.second.value).value().slot;
    return slot.step == 2 && slot.type == MessageType::kAggregate;
  };
  const auto& durable = cluster.node(kVictim).durable;
  while (std::none_of(durable.begin(), durable.end(), aggregated)) cluster.RunSome(1);
  cluster.Kill(kVictim);
  cluster.on_send = nullptr;
  cluster.Restart(kVictim);
  cluster.RunToEnd();
  ExpectSameEnd(cluster);
  EXPECT_TRUE(RemovalsOf(cluster).empty());
  EXPECT_TRUE(cluster.node(kVictim).away.empty());
  scene::ExpectAllApplied(cluster.node(0));
}

// The others need nothing more of a step that it had spoken in, so the step ends while its gradient
// is still computed anew. Taken for the next step's, that gradient or its numbers would convict it.
TEST(RestartTest, WhatAJobOfTheLastStepGivesIsNotSignedInThisOne) {
  Cluster calm(Steps(12));
  calm.Start();
  calm.RunToEnd();
  const auto works_in = [&](std::size_t step) {
    return calm.node(kVictim).started[step].roles.IsWorker(calm.node(kVictim).id());
  };
  std::uint64_t step = 2;
  while (!works_in(step) || !works_in(step + 1)) ++step;

  Cluster cluster(Steps(12));
  cluster.Start();
  const auto echoed_in_c = [&](const auto& entry) {
    if (entry.first.first != RecordKind::kSlot) return false;
    const wire::Slot slot = wire::OpenUnsigned(entry.second.value).value().slot;
    return slot.step == step && slot.phase == wire::Phase::kC && slot.type == MessageType::kEcho;
  };
  const auto& durable = cluster.node(kVictim).durable;
  while (std::none_of(durable.begin(), durable.end(), echoed_in_c)) cluster.RunSome(1);
  cluster.Kill(kVictim);
  bool hangs = true;
  cluster.job_hangs = [&](std::size_t node, const JobSpec& spec) {
    return node == kVictim && hangs && std::holds_alternative<GradientSpec>(spec);
  };
  cluster.Restart(kVictim);
  cluster.RunUntil([&] { return cluster.node(kVictim).blocks.back()->step >= step; });
  ASSERT_EQ(cluster.node(kVictim).hanging.size(), 2u) << "the gradients of two steps";
  hangs = false;
  cluster.ReleaseJobs(kVictim);
  cluster.RunToEnd();
  ExpectSameEnd(cluster);
  EXPECT_TRUE(RemovalsOf(cluster).empty());
  ExpectNoSuspicionOf(cluster, {0, 1, 2, 3});
  EXPECT_TRUE(*cluster.node(0).states.back().parameters == *calm.node(0).states.back().parameters)
      << "another gradient went into the sums";
}

TEST(RestartTest, WhenAllDieTheRunGoesOnFromTheLastBlock) {
  Cluster cluster(Steps(8));
  cluster.Start();
  while (cluster.node(0).blocks.size() < 4) cluster.RunSome(1);
  for (std::size_t i = 0; i < cluster.size(); ++i) cluster.Kill(i);
  for (std::size_t i = 0; i < cluster.size(); ++i) cluster.Restart(i);
  cluster.RunToEnd();
  ExpectSameEnd(cluster);
  EXPECT_TRUE(RemovalsOf(cluster).empty());
}

// One missed the end, and all others had ended. Two of them are started again to help it.
TEST(RestartTest, TheEndCanBeFetchedFromMembersThatEndedBefore) {
  Cluster cluster(Steps(40));
  cluster.Start();
  while (cluster.node(kVictim).blocks.size() < 2) cluster.RunSome(1);
  cluster.Kill(kVictim);
  cluster.RunToEnd();
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    if (i == kVictim) continue;
    ASSERT_TRUE(cluster.node(i).halted);
    cluster.Kill(i);
  }
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, kVictim}) cluster.Restart(i);
  cluster.RunToEnd();
  ASSERT_TRUE(cluster.node(kVictim).halted);
  EXPECT_EQ(cluster.node(kVictim).halted->why, Halted::Why::kFinished);
  EXPECT_EQ(*cluster.node(kVictim).states.back().parameters,
            *cluster.node(0).states.back().parameters);
}

// It is sealed absent while it is dead: dropped, it follows, asks, and is admitted again.
TEST(RestartTest, ALateOneFollowsAndComesBack) {
  Cluster late(Steps(24));
  Scribe late_scribe(late);
  late.Start();
  while (late.node(kVictim).blocks.size() < 2) late.RunSome(1);
  late.Kill(kVictim);
  late.RunUntil([&] { return late.node(0).blocks.size() >= 5; });
  late.Restart(kVictim);
  late.RunToEnd();
  ExpectSameEnd(late);
  const auto removals = RemovalsOf(late);
  ASSERT_EQ(removals.size(), 1u);
  EXPECT_EQ(removals[0].peer, late.node(kVictim).id());
  EXPECT_EQ(removals[0].kind, wire::RemovalKind::kDrop);
  ASSERT_EQ(late.node(kVictim).back.size(), 1u);
  EXPECT_GT(late_scribe.CountOf(MessageType::kRejoin), 0u);
  EXPECT_FALSE(late_scribe.EchoedIn(removals[0].step + 1)) << "a dropped one has no voice";
}

// Results of the last block were lost with the crash: the others still have them.
TEST(RestartTest, LostResultsComeFromTheOthers) {
  Cluster cluster(Steps(24));
  Scribe scribe(cluster);
  cluster.Start();
  while (cluster.node(kVictim).blocks.size() < 3) cluster.RunSome(1);
  cluster.Kill(kVictim);
  std::erase_if(cluster.node(kVictim).durable,
                [](const auto& entry) { return entry.first.first == RecordKind::kResult; });
  cluster.Restart(kVictim);
  cluster.RunToEnd();
  ExpectSameEnd(cluster);
  ASSERT_FALSE(cluster.node(kVictim).away.empty());
  EXPECT_NE(cluster.node(kVictim).away[0].reason.find("lost"), std::string::npos);
  EXPECT_FALSE(cluster.node(kVictim).back.empty());
}

// Nobody knows what it signed before, so it signs nothing but REJOIN until a block admits it.
TEST(RestartTest, WithoutItsStoreItMustRejoin) {
  Cluster cluster(Steps(30));
  Scribe scribe(cluster);
  cluster.Start();
  while (cluster.node(kVictim).blocks.size() < 2) cluster.RunSome(1);
  cluster.Kill(kVictim);
  Cluster::Node& node = cluster.node(kVictim);
  node.durable.clear();
  scribe.SeeStoreLost();
  node.encoded_blocks.clear();
  cluster.Restart(kVictim);
  cluster.RunToEnd();
  ExpectSameEnd(cluster);
  ASSERT_FALSE(node.away.empty());
  ASSERT_EQ(node.back.size(), 1u);
  const auto removals = RemovalsOf(cluster);
  ASSERT_EQ(removals.size(), 1u);
  EXPECT_EQ(removals[0].kind, wire::RemovalKind::kDrop) << wire::TextOf(removals[0].reason);
  for (std::uint64_t step = removals[0].step; step < node.back[0].step; ++step) {
    EXPECT_FALSE(scribe.EchoedIn(step)) << step;
  }
  EXPECT_TRUE(scribe.EchoedIn(node.back[0].step));
  EXPECT_TRUE(node.durable.contains({RecordKind::kMember, BlockKey(false, node.back[0].step - 1)}))
      << "the next restart may trust this store";
}

// Silence after seal A may be a coin that was seen and not liked, so it bars a return, and says so.
TEST(RestartTest, WhoDiesBeforeItsRevealWatchesForAThousandSteps) {
  Cluster cluster(Steps(20));
  std::size_t asked_to_return = 0;
  bool owes_its_coin = false;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Slot slot = scene::SlotOf(send);
    if (from != kVictim) return true;
    if (slot.type == MessageType::kRejoin) ++asked_to_return;
    if (slot.step != 2 || slot.type != MessageType::kReveal) return true;
    owes_its_coin = true;
    return false;
  };
  cluster.Start();
  cluster.RunUntil([&] { return owes_its_coin; });
  cluster.Kill(kVictim);
  cluster.RunUntil([&] { return cluster.node(0).blocks.size() >= 5; });
  cluster.Restart(kVictim);
  cluster.RunToEnd();
  ExpectSameEnd(cluster);
  const auto removals = RemovalsOf(cluster);
  ASSERT_EQ(removals.size(), 1u);
  EXPECT_NE(wire::TextOf(removals[0].reason).find("its REVEAL did not come"), std::string::npos);
  const Cluster::Node& victim = cluster.node(kVictim);
  ASSERT_EQ(victim.barred.size(), 1u) << "told once";
  EXPECT_EQ(victim.barred[0].step, 2u);
  EXPECT_EQ(victim.barred[0].until, 2 + kBarredSteps);
  EXPECT_EQ(asked_to_return, 0u);
  EXPECT_TRUE(victim.back.empty());
}

// As long as step 0 lasts, the words of genesis go round: with them and no store it must not begin
// the step a second time, for in other company it says other things.
TEST(RestartTest, WithoutItsStoreItDoesNotBeginTheFirstStepAgain) {
  Cluster cluster(Steps(30));
  Scribe scribe(cluster);
  bool second_life = false;
  cluster.on_send = [&, note = cluster.on_send](std::size_t from, const Send& send) {
    note(from, send);
    const wire::Envelope envelope = EnvelopeOf(send.frame);
    if (envelope.slot.step != 0 || envelope.slot.phase != wire::Phase::kA) return true;
    // The others cannot end the step before it dies; and later it hears less than before.
    if (!second_life) return from != kVictim || envelope.slot.type != MessageType::kEcho;
    return cluster.IndexOf(send.to) != kVictim || envelope.sender != cluster.node(0).id();
  };
  cluster.Start();
  cluster.Run();
  ASSERT_TRUE(scribe.EchoedIn(0));
  Cluster::Node& node = cluster.node(kVictim);
  ASSERT_FALSE(node.started.empty());
  ASSERT_TRUE(node.blocks.empty());
  cluster.Kill(kVictim);
  second_life = true;
  node.durable.clear();
  scribe.SeeStoreLost();
  node.encoded_blocks.clear();
  node.started.clear();
  cluster.Restart(kVictim);
  cluster.Run();
  for (const auto& [id, due] : std::map(node.timers)) cluster.Feed(kVictim, TimerFired{id});
  cluster.Run();
  EXPECT_TRUE(node.started.empty());
  EXPECT_FALSE(node.away.empty());
  cluster.RunToEnd();
  ExpectSameEnd(cluster);
  for (const wire::Removal& removal : RemovalsOf(cluster)) {
    EXPECT_FALSE(wire::IsBan(removal.kind)) << wire::TextOf(removal.reason);
  }
}

// It has nothing left to do, and still says what the run came to.
TEST(RestartTest, AfterTheEndItTellsWhereTheRunEnded) {
  Cluster cluster(Steps(6));
  cluster.Start();
  cluster.RunToEnd();
  const auto last = cluster.node(kVictim).blocks.back();
  const std::vector<float> parameters = *cluster.node(kVictim).states.back().parameters;
  cluster.Kill(kVictim);
  cluster.Restart(kVictim);
  cluster.RunToEnd();
  ASSERT_EQ(cluster.node(kVictim).resumed.size(), 1u);
  EXPECT_EQ(wire::BlockDigest(*cluster.node(kVictim).resumed[0].block), wire::BlockDigest(*last));
  EXPECT_TRUE(*cluster.node(kVictim).resumed[0].state.parameters == parameters);
  ASSERT_TRUE(cluster.node(kVictim).halted);
  EXPECT_EQ(cluster.node(kVictim).halted->why, Halted::Why::kFinished);
}

TEST(RestartTest, AStoreThatCannotBeReadStopsItWithOneLine) {
  Cluster cluster(Steps(6));
  cluster.Start();
  while (cluster.node(kVictim).blocks.size() < 2) cluster.RunSome(1);
  cluster.Kill(kVictim);
  for (auto& [key, record] : cluster.node(kVictim).durable) {
    if (key.first == RecordKind::kBlock) record.value.pop_back();
  }
  cluster.Restart(kVictim);
  ASSERT_TRUE(cluster.node(kVictim).halted);
  EXPECT_EQ(cluster.node(kVictim).halted->why, Halted::Why::kFailed);
  EXPECT_NE(cluster.node(kVictim).halted->reason.find("data folder"), std::string::npos);
}

// BOOT names a store. The others have echoed the one that is lost, so what they have said cannot
// let its successor begin, though the run has begun with none of them.
TEST(RestartTest, WhoBeganFirstAndLostItsStoreDoesNotBeginAgain) {
  Cluster cluster(Steps(30));
  Scribe scribe(cluster);
  bool apart = true;
  cluster.on_send = [&, note = cluster.on_send](std::size_t from, const Send& send) {
    note(from, send);
    const wire::Slot slot = scene::SlotOf(send);
    const bool echo = slot.phase == wire::Phase::kGenesis && slot.type == MessageType::kEcho;
    // Nobody hears of the step that it has begun, nor what it begins with.
    if (from == kVictim && apart) {
      const bool passed_on = scene::EnvelopeOf(send.frame).sender != cluster.node(kVictim).id();
      return slot.phase != wire::Phase::kA && !(echo && passed_on);
    }
    return !apart || !echo || cluster.IndexOf(send.to) == kVictim;
  };
  cluster.Start();
  cluster.Run();
  Cluster::Node& node = cluster.node(kVictim);
  ASSERT_EQ(node.started.size(), 1u);
  ASSERT_GT(scribe.CountOf(MessageType::kCommit), 0u);
  ASSERT_TRUE(cluster.node(0).started.empty());
  cluster.Kill(kVictim);
  node.durable.clear();
  scribe.SeeStoreLost();
  node.encoded_blocks.clear();
  cluster.Restart(kVictim);
  cluster.Run();
  EXPECT_EQ(node.started.size(), 1u);
  EXPECT_EQ(node.machine->progress().phase, "genesis");
  EXPECT_EQ(node.machine->progress().missing.size(), 3u) << "echoes of this store's BOOT";
  apart = false;
  for (const std::size_t i : {0u, 1u, 3u}) {
    for (const std::size_t j : {0u, 1u, 3u}) {
      if (i != j) cluster.Feed(i, LinkChanged{cluster.node(j).id(), true});
    }
  }
  cluster.RunToEnd();
  ExpectSameEnd(cluster);
  EXPECT_FALSE(node.away.empty());
  for (const wire::Removal& removal : RemovalsOf(cluster)) {
    EXPECT_FALSE(wire::IsBan(removal.kind)) << wire::TextOf(removal.reason);
  }
}

}  // namespace
}  // namespace ostraka::protocol::restart_test

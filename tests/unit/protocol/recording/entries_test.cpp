#include "node/protocol/recording/entries.h"

#include <gtest/gtest.h>

#include <set>

#include "crypto/merkle.h"
#include "node/protocol/ground/transcript.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::entries_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;

SharedVector Floats(std::vector<float> values) {
  return std::make_shared<const std::vector<float>>(std::move(values));
}

// Through bytes and back.
Input Again(const Input& input) {
  const auto bytes = wire::EncodeRecordedInput(RecordInput(Time{77}, input, true));
  const auto turn = wire::DecodeRecordedInput(bytes);
  EXPECT_TRUE(turn.ok()) << turn.status();
  EXPECT_EQ(turn->at, 77u);
  auto read = InputOf(*turn);
  EXPECT_TRUE(read.ok()) << read.status();
  return *std::move(read);
}

TEST(EntriesTest, AMessageKeepsItsFrameAndItsBlob) {
  const auto frame = std::make_shared<const base::Bytes>(base::Bytes{1, 2, 3});
  for (const SharedBlob& blob : {SharedBlob(), crypto::MakeBlob({}), crypto::MakeBlob({4, 5})}) {
    const auto again =
        std::get<MessageReceived>(Again(MessageReceived{PeerNumber(2), frame, blob}));
    EXPECT_EQ(again.from, PeerNumber(2));
    EXPECT_EQ(*again.frame, *frame);
    ASSERT_EQ(again.blob == nullptr, blob == nullptr);
    if (blob != nullptr) EXPECT_EQ(again.blob->root, blob->root);
  }
}

TEST(EntriesTest, LinksTimersAndStoresKeepTheirNumbers) {
  const auto link = std::get<LinkChanged>(Again(LinkChanged{PeerNumber(3), true}));
  EXPECT_EQ(link.peer, PeerNumber(3));
  EXPECT_TRUE(link.up);
  EXPECT_EQ(std::get<TimerFired>(Again(TimerFired{5})).id, 5u);
  EXPECT_EQ(std::get<Stored>(Again(Stored{6})).id, 6u);
}

TEST(EntriesTest, WishesTellWhatWasToldAndNotWhatWasNot) {
  const auto nothing = std::get<Told>(Again(Told{}));
  EXPECT_FALSE(nothing.only_dials || nothing.leave || nothing.revocations);
  Told told;
  told.only_dials = false;
  told.leave = {3, 9};
  told.revocations.emplace();
  const auto all = std::get<Told>(Again(told));
  EXPECT_EQ(all.only_dials, false);
  ASSERT_TRUE(all.leave);
  EXPECT_EQ(all.leave->from, 3u);
  EXPECT_EQ(all.leave->until, 9u);
  EXPECT_EQ(all.revocations, std::vector<wire::Revocation>());
}

TEST(EntriesTest, AStartKeepsItsStoreAndLosesItsSeed) {
  Restored store;
  store.blocks = {{RecordKind::kBlock, {1}, {2, 3}}};
  store.slots = {{RecordKind::kSlot, {4}, {5}}};
  store.state = Record{RecordKind::kState, {6}, {}, crypto::MakeBlob({7})};
  store.results = {{RecordKind::kResult, {8}, {}, crypto::MakeBlob({9})}};
  store.member = true;
  store.asks_since = 0;
  store.fork = "a line";
  store.handover = Record{RecordKind::kHandover, {10}, {11}};
  store.state_parts = {{RecordKind::kStatePart, {12}, {}, crypto::MakeBlob({13})}};
  Started started{DigestOf(1), 5, std::make_shared<const Restored>(store), {}};
  started.wishes.only_dials = true;
  const auto again = std::get<Started>(Again(started));
  EXPECT_TRUE(again.private_seed.is_zero());
  EXPECT_EQ(again.store_nonce, 5u);
  EXPECT_EQ(again.wishes.only_dials, true);
  ASSERT_NE(again.restored, nullptr);
  const Restored& kept = *again.restored;
  ASSERT_EQ(kept.blocks.size(), 1u);
  EXPECT_EQ(kept.blocks[0].value, (base::Bytes{2, 3}));
  ASSERT_EQ(kept.slots.size(), 1u);
  EXPECT_EQ(kept.slots[0].key, base::Bytes{4});
  ASSERT_TRUE(kept.state);
  EXPECT_EQ(kept.state->blob->data, base::Bytes{7});
  ASSERT_EQ(kept.results.size(), 1u);
  EXPECT_EQ(kept.results[0].blob->root, store.results[0].blob->root);
  EXPECT_TRUE(kept.member);
  EXPECT_EQ(kept.asks_since, 0u);
  EXPECT_EQ(kept.fork, "a line");
  ASSERT_TRUE(kept.handover);
  EXPECT_EQ(kept.handover->value, base::Bytes{11});
  ASSERT_EQ(kept.state_parts.size(), 1u);
  EXPECT_EQ(std::get<Started>(Again(Started{})).restored, nullptr);
}

wire::RecordedResult Recorded(const JobResult& result) {
  const Input input = JobDone{4, std::make_shared<const JobResult>(result)};
  return RecordInput(Time{}, input, true).result.value();
}

TEST(EntriesTest, GradientsRecomputationsAndFailuresAreHeldWhole) {
  const GradientSpec gradient{0, {}, Floats({0, 0}), {}};
  const auto computed = Recorded(GradientResult{Floats({1.5F, -0.0F})});
  ASSERT_TRUE(IsHeldWhole(computed));
  EXPECT_EQ(HashOf(ResultOf(computed, gradient).value()),
            HashOf(GradientResult{Floats({1.5F, -0.0F})}));
  const RecomputeResult found{true, false, 2.5, true, false};
  ASSERT_TRUE(IsHeldWhole(Recorded(found)));
  EXPECT_EQ(HashOf(ResultOf(Recorded(found), RecomputeSpec{}).value()), HashOf(found));
  const JobFailed failed{"no memory"};
  EXPECT_EQ(std::get<JobFailed>(ResultOf(Recorded(failed), gradient).value()).reason, "no memory");
}

TEST(EntriesTest, AGradientOfAnotherSizeOrJobIsRefused) {
  const auto recorded = Recorded(GradientResult{Floats({1, 2})});
  EXPECT_FALSE(ResultOf(recorded, GradientSpec{0, {}, Floats({0}), {}}).ok());
  EXPECT_FALSE(ResultOf(recorded, RecomputeSpec{}).ok());
}

TEST(EntriesTest, OtherResultsAreKnownByHashesThatDiffer) {
  const std::vector<JobResult> results = {
      PackResult{{crypto::MakeBlob({1})}},
      PackResult{{crypto::MakeBlob({2})}},
      AggregateResult{crypto::MakeBlob({1})},
      ProveResult{{wire::ColumnNumbers{}}},
      ProveResult{},
      CrossCheckResult{{PeerNumber(1)}},
      CrossCheckResult{},
      UpdateResult{{Floats({1}), {}}},
      UpdateResult{{Floats({1}), {{"velocity", Floats({1})}}}},
      RootResult{DigestOf(1), {}},
      ParametersRootResult{DigestOf(1)},
  };
  std::set<Digest> hashes;
  for (const JobResult& result : results) {
    EXPECT_FALSE(IsHeldWhole(Recorded(result)));
    EXPECT_EQ(Recorded(result).hash, HashOf(result));
    hashes.insert(HashOf(result));
  }
  EXPECT_EQ(hashes.size(), results.size());
}

TEST(EntriesTest, UnknownKindsAreRefused) {
  wire::RecordedInput turn;
  turn.input = 99;
  EXPECT_FALSE(InputOf(turn).ok());
  turn.input = static_cast<std::uint8_t>(Input(JobDone{}).index());
  EXPECT_FALSE(InputOf(turn).ok());
  turn = RecordInput(Time{}, Started{}, true);
  turn.store.emplace();
  turn.store->slots.push_back({.kind = 200});
  EXPECT_FALSE(InputOf(turn).ok());
}

}  // namespace
}  // namespace ostraka::protocol::entries_test

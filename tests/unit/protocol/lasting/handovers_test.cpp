#include "node/protocol/lasting/handovers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::handovers_test {
namespace {

using scene::KeyNumber;
using Numbers = std::vector<std::uint32_t>;

std::vector<PeerId> IdsOf(const Numbers& numbers) {
  std::vector<PeerId> ids;
  for (const std::uint32_t number : numbers) ids.push_back(KeyNumber(number)->id());
  std::sort(ids.begin(), ids.end());
  return ids;
}

// The genesis are 0 to 5, of whom two may be at fault.
class HandoversTest : public testing::Test {
 protected:
  HandoversTest() : manifest_(scene::ManifestOf(6, Mode::kMajority)) {
    for (std::uint32_t i = 0; i < 6; ++i) manifest_.members[i].id = KeyNumber(i)->id();
    turn_.Begin(Time{}, out_);
    OSTRAKA_CHECK(KnownRunOf(manifest_).faults == 2);
  }
  wire::Block BlockOf(std::uint64_t step, const Numbers& members) const {
    wire::Block block;
    block.step = step;
    block.members = IdsOf(members);
    block.thresholds = {static_cast<std::uint32_t>(members.size()), 1, 1};
    return block;
  }
  std::vector<SharedBytes> CommitsOf(const wire::Block& block, const Numbers& members) const {
    const wire::Slot slot{
        manifest_.run_id, 0, block.step + 1, wire::Phase::kA, wire::MessageType::kCommit, 0, 0};
    std::vector<SharedBytes> commits;
    for (const std::uint32_t member : members) {
      const auto key = KeyNumber(member);
      wire::Commit body;
      body.coin_count = 1;
      commits.push_back(
          wire::Seal({slot, wire::BlockDigest(block), key->id(), wire::Encode(body)}, *key).frame);
    }
    return commits;
  }
  void Extend(Handovers& handovers, const wire::Block& block, const Numbers& commit) {
    handovers.Extend(block, CommitsOf(block, commit));
    handovers.CheckInvariants();
  }
  // The records since the last call.
  std::vector<Record> Stored() {
    std::vector<Record> records;
    for (const Action& action : out_.actions()) {
      const auto* store = std::get_if<Store>(&action);
      if (store != nullptr)
        records.insert(records.end(), store->records.begin(), store->records.end());
    }
    out_.actions().clear();
    return records;
  }
  Handovers Made() { return Handovers(manifest_, journal_); }

  Manifest manifest_;
  Outbox out_;
  Turn turn_;
  Journal journal_{KeyNumber(0), turn_};
};

TEST_F(HandoversTest, OneForEachChangeOfTheMembersLeadsOn) {
  Handovers handovers = Made();
  Extend(handovers, BlockOf(3, {0, 1, 2, 3, 4, 5}), {0, 1, 2, 3, 4});
  EXPECT_TRUE(Stored().empty()) << "nothing has changed";
  Extend(handovers, BlockOf(4, {0, 1, 2, 3, 4, 5, 6}), {0, 1, 2, 3, 6});
  const auto first = Stored();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].kind, RecordKind::kHandover);
  EXPECT_EQ(first[0].key, BlockKey(false, 4));
  Extend(handovers, BlockOf(7, {2, 3, 4, 6}), {4, 6});
  const auto second = Stored();
  ASSERT_EQ(second.size(), 1U);
  const auto views = evidence::FollowAll(KnownRunOf(manifest_), {second[0].value, first[0].value});
  ASSERT_TRUE(views.ok());
  ASSERT_EQ(views->size(), 3U);
  EXPECT_EQ(views->back().members, IdsOf({2, 3, 4, 6}));
  EXPECT_EQ(handovers.view().members, IdsOf({2, 3, 4, 6}));
}

TEST_F(HandoversTest, AGapClosesWithTheNextCommitsThatAreEnough) {
  Handovers handovers = Made();
  Extend(handovers, BlockOf(4, {3, 4, 5, 6}), {3, 4, 6});
  EXPECT_TRUE(Stored().empty()) << "two of the genesis, and two can be at fault";
  EXPECT_EQ(handovers.view().since, 0U);
  Extend(handovers, BlockOf(5, {3, 4, 5, 6}), {3, 4, 5});
  EXPECT_EQ(Stored().size(), 1U);
  EXPECT_EQ(handovers.view().since, 6U);
}

TEST_F(HandoversTest, WhereNoHandoverCanLeadAnyMoreItBeginsAnew) {
  Handovers newcomer = Made();  // or a founder that was away for long
  Extend(newcomer, BlockOf(4, {5, 6, 7, 8}), {5, 6, 7, 8});
  EXPECT_TRUE(Stored().empty());
  EXPECT_EQ(newcomer.view().members, IdsOf({5, 6, 7, 8}));
  Extend(newcomer, BlockOf(6, {6, 7, 8, 9}), {6, 7});
  EXPECT_EQ(Stored().size(), 1U);
  Handovers early = Made();
  Extend(early, BlockOf(4, {0, 1, 2, 7}), {0, 1, 2});
  EXPECT_EQ(Stored().size(), 1U) << "a handover leads there from the genesis";
  // It had a view, was away, and knows too few of those that are there.
  Extend(early, BlockOf(30, {4, 5, 8, 9}), {4, 5, 8, 9});
  EXPECT_TRUE(Stored().empty());
  Extend(early, BlockOf(31, {5, 8, 9}), {8, 9});
  EXPECT_EQ(Stored().size(), 1U);
}

TEST_F(HandoversTest, GoesOnFromItsStore) {
  Handovers before = Made();
  Extend(before, BlockOf(4, {2, 3, 4, 5}), {2, 3, 4});
  const auto stored = Stored();
  ASSERT_EQ(stored.size(), 1U);
  Handovers after = Made();
  ASSERT_TRUE(after.Restore(stored[0]).ok());
  EXPECT_EQ(after.view().members, before.view().members);
  EXPECT_EQ(after.view().since, 5U);
  EXPECT_FALSE(after.Restore({RecordKind::kHandover, {}, {1, 2, 3}}).ok());
}

}  // namespace
}  // namespace ostraka::protocol::handovers_test

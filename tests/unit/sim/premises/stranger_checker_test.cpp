#include "sim/premises/stranger_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::stranger_checker_test {
namespace {

using testing::HasSubstr;

base::SharedBytes CommitOf(std::uint32_t peer, const wire::Block& block) {
  wire::Commit body;
  body.coin_count = 1;
  wire::Slot slot;
  slot.step = block.step + 1;
  slot.phase = wire::Phase::kA;
  slot.type = wire::MessageType::kCommit;
  return wire::Seal({slot, wire::BlockDigest(block), Key(peer)->id(), wire::Encode(body)},
                    *Key(peer))
      .frame;
}

std::vector<base::PeerId> Sorted(std::vector<base::PeerId> ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

class StrangerCheckerTest : public testing::Test {
 protected:
  wire::Block BlockOf(std::uint64_t step, const std::vector<base::PeerId>& members) const {
    wire::Block block;
    block.step = step;
    block.members = Sorted(members);
    block.thresholds = {static_cast<std::uint32_t>(members.size()), 1, 1};
    return block;
  }
  void Store(protocol::RecordKind kind, base::Bytes file) {
    ASSERT_TRUE(checker_.OnAction(0, protocol::Store{1, {{kind, {}, std::move(file)}}}).ok());
  }
  void Decide(const wire::Block& block) { ASSERT_TRUE(checker_.OnAction(0, Done(block)).ok()); }
  base::Bytes Handover(const evidence::KnownRun& from, const wire::Block& block,
                       const std::vector<std::uint32_t>& by) const {
    std::vector<base::SharedBytes> commits;
    for (const std::uint32_t peer : by) commits.push_back(CommitOf(peer, block));
    const auto made = evidence::MakeHandover(from, block, commits);
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? *made : base::Bytes{};
  }
  std::string Fault() { return std::string(checker_.AtEnd().message()); }

  const std::vector<base::PeerId> all_ = ThreePeers().ids;
  const evidence::KnownRun genesis_{{}, Sorted(all_), 1};
  StrangerChecker checker_{ThreePeers(), genesis_};
};

TEST_F(StrangerCheckerTest, AllowsHandoversThatLeadToTheMembersOfTheDay) {
  const wire::Block changed = BlockOf(3, {all_[0], all_[1]});
  Store(protocol::RecordKind::kHandover, Handover(genesis_, changed, {0, 1}));
  Decide(changed);
  Decide(BlockOf(20, changed.members));
  EXPECT_EQ(Fault(), "");
}

TEST_F(StrangerCheckerTest, FindsAHandoverThatLeadsOnFromNowhere) {
  const evidence::KnownRun others{{}, Sorted({Key(7)->id(), Key(8)->id()}), 1};
  Store(protocol::RecordKind::kHandover, Handover(others, BlockOf(3, {all_[0]}), {7, 8}));
  EXPECT_THAT(Fault(), HasSubstr("leads on from no view"));
}

TEST_F(StrangerCheckerTest, FindsABanThatTheManifestAloneDoesNotProve) {
  const evidence::KnownRun others{{}, Sorted({Key(7)->id(), Key(8)->id()}), 1};
  wire::Block bans = BlockOf(3, {all_[0], all_[1]});
  bans.removals = {{all_[2], wire::RemovalKind::kVerdict, 3, {.old_text = "test"}}};
  const auto file =
      evidence::MakeSealedBan(all_[2], bans, {CommitOf(7, bans), CommitOf(8, bans)}, others);
  ASSERT_TRUE(file.ok()) << file.status();
  Store(protocol::RecordKind::kEvidence, *file);
  EXPECT_THAT(Fault(), HasSubstr("not only members"));
}

TEST_F(StrangerCheckerTest, FindsMembersThatNothingProves) {
  Decide(BlockOf(3, {all_[0], all_[1]}));
  EXPECT_EQ(Fault(), "") << "the next seals may show it";
  Decide(BlockOf(20, {all_[0], all_[1]}));
  EXPECT_THAT(Fault(), HasSubstr("since step 3"));
}

}  // namespace
}  // namespace ostraka::sim::stranger_checker_test

#include "node/protocol/member/waiting.h"

#include <map>
#include <set>

#include "crypto/merkle.h"
#include "crypto/set_root.h"
#include "node/wire/bitmap.h"
#include "tests/unit/protocol/member/member_fixture.h"

namespace ostraka::protocol::waiting_test {
namespace {

using scene::DigestOf;
using scene::kMemberCount;
using scene::kStep;
using scene::MemberTest;
using wire::MessageType;
using wire::Phase;

class WaitingTest : public MemberTest {
 protected:
  using Waits = std::map<MessageType, std::set<PeerId>>;
  Waits AwaitedAt(Stage stage) {
    Waits waits;
    for (const Awaited& awaited :
         AwaitedBy(WaitingView{components(), stage, components().genesis, ending_, *step_})) {
      EXPECT_TRUE(waits[awaited.type].insert(awaited.sender).second) << "named twice";
    }
    return waits;
  }
  Waits AwaitedNow() { return AwaitedAt(components().stage.stage()); }
  std::set<PeerId> Ids(const std::vector<std::uint32_t>& numbers) const {
    std::set<PeerId> ids;
    for (const std::uint32_t number : numbers) ids.insert(IdOf(number));
    return ids;
  }
  std::set<PeerId> AllIds() const { return Ids({0, 1, 2, 3, 4}); }
  void Take(const scene::Saying& saying) { step().OnAccepted(*Hold(saying)); }

  // --- a step in which this member itself says nothing ---
  std::uint32_t coin_count() const { return step().facts().reading.coin_count; }
  SeedSecrets SecretsOf(std::uint32_t member) const {
    SeedSecrets secrets(IdOf(member));
    secrets.Begin(DigestOf(500 + member));
    return secrets;
  }
  wire::Reveal RevealOf(std::uint32_t member) const {
    return {SecretsOf(member).Opening(kStep, coin_count(), 0)};
  }
  scene::Saying CommitOf(std::uint32_t member) const {
    wire::Commit commit;
    commit.coins_root = SecretsOf(member).CoinsRoot(kStep, coin_count());
    commit.coin_count = coin_count();
    commit.gradient_root = DigestOf(600 + member);
    return {.from = member, .body = wire::Encode(commit), .parent = step().facts().parent_a};
  }
  scene::Saying AggregateOf(std::uint32_t member) const {
    std::vector<Digest> commits;
    std::vector<PeerId> senders;
    for (std::uint32_t i = 1; i < kMemberCount; ++i) {
      commits.push_back(Sign(CommitOf(i))->digest);
      senders.push_back(IdOf(i));
    }
    wire::Aggregate aggregate;
    aggregate.part_index = step().facts().roles().PartOwnedBy(IdOf(member)).value();
    aggregate.result_root = DigestOf(700 + member);
    aggregate.included = wire::BitmapOf(senders, Members());
    aggregate.leaves_root = DigestOf(800);
    aggregate.commits_root = crypto::SetRoot(commits);
    return {.from = member,
            .type = MessageType::kAggregate,
            .body = wire::Encode(aggregate),
            .parent = step().facts().parent_a};
  }
  // Members 1 to 4 have said all of phase A, and seal A is decided without this member.
  void ReachReveal() {
    BeginStep();
    for (std::uint32_t i = 1; i < kMemberCount; ++i) {
      Take(CommitOf(i));
      Take(AggregateOf(i));
    }
    DecideSeal();
    ASSERT_EQ(step().TryAdvance().what, Outcome::What::kGoOn);
    ASSERT_TRUE(components().stage.is(Stage::kReveal));
  }
  void ReachProve() {
    ReachReveal();
    for (std::uint32_t i = 1; i < kMemberCount; ++i) {
      Take({.from = i,
            .type = MessageType::kReveal,
            .phase = Phase::kB,
            .body = wire::Encode(RevealOf(i)),
            .parent = step().facts().parent_b});
    }
    DecideSeal();
    ASSERT_EQ(step().TryAdvance().what, Outcome::What::kGoOn);
    ASSERT_TRUE(components().stage.is(Stage::kProve));
  }

  Ending ending_{components(), components().followers, components().charges};
};

TEST_F(WaitingTest, NothingOfOthersIsAwaitedInTheOtherStages) {
  for (const Stage stage : {Stage::kUnstarted, Stage::kRestore, Stage::kUpdate, Stage::kFollow,
                            Stage::kFrozen, Stage::kHalted}) {
    EXPECT_TRUE(AwaitedAt(stage).empty()) << NameOf(stage);
  }
}

TEST_F(WaitingTest, GenesisWaitsForBootsAndThenForMembersThatSayThatTheyWait) {
  EXPECT_EQ(AwaitedAt(Stage::kGenesis), (Waits{{MessageType::kBoot, AllIds()}}));
  for (std::uint32_t i = 0; i < kMemberCount; ++i) {
    Hold({.from = i, .type = MessageType::kBoot, .step = 0, .phase = Phase::kGenesis});
  }
  components().genesis.OnWaiting(IdOf(2));
  EXPECT_EQ(AwaitedAt(Stage::kGenesis), (Waits{{MessageType::kBlock, Ids({1, 3, 4})}}));
}

TEST_F(WaitingTest, CollectWaitsForCommitsAggregatesAndThePartsOfTheOwnColumn) {
  BeginStep();
  EXPECT_EQ(AwaitedNow(), (Waits{{MessageType::kCommit, AllIds()},
                                 {MessageType::kPart, AllIds()},
                                 {MessageType::kAggregate, AllIds()}}));
  Take(CommitOf(1));
  Take(AggregateOf(2));
  Take({.from = 3, .parent = DigestOf(9)});  // builds on another block
  Waits waits = AwaitedNow();
  EXPECT_EQ(waits[MessageType::kCommit], Ids({0, 2, 3, 4}));
  EXPECT_EQ(waits[MessageType::kAggregate], Ids({0, 1, 3, 4}));
}

TEST_F(WaitingTest, MemberThatHasEchoedWaitsForEchoesAlone) {
  BeginStep();
  step().sealing().OnEchoTimer();
  EXPECT_EQ(AwaitedNow(), (Waits{{MessageType::kEcho, AllIds()}}));
  Settle();
  EXPECT_EQ(AwaitedNow(), (Waits{{MessageType::kEcho, Ids({1, 2, 3, 4})}}));
}

TEST_F(WaitingTest, RevealWaitsForTheCoinsOfMembersThatAreNotAbsent) {
  ReachReveal();
  EXPECT_EQ(AwaitedNow(), (Waits{{MessageType::kReveal, Ids({1, 2, 3, 4})}}));
  Take({.from = 1,
        .type = MessageType::kReveal,
        .phase = Phase::kB,
        .body = wire::Encode(RevealOf(1)),
        .parent = step().facts().parent_b});
  EXPECT_EQ(AwaitedNow(), (Waits{{MessageType::kReveal, Ids({2, 3, 4})}}));
  step().sealing().OnEchoTimer();
  EXPECT_EQ(AwaitedNow(), (Waits{{MessageType::kEcho, Ids({1, 2, 3, 4})}}));
}

TEST_F(WaitingTest, ProveWaitsForResultsAndProofsUntilTheResultsExpire) {
  ReachProve();
  EXPECT_EQ(AwaitedNow(), (Waits{{MessageType::kResult, Ids({1, 2, 3, 4})},
                                 {MessageType::kProof, Ids({1, 2, 3, 4})}}));
  step().OnBulkTimer();
  EXPECT_EQ(AwaitedNow(), (Waits{{MessageType::kProof, Ids({1, 2, 3, 4})}}));
  step().sealing().OnEchoTimer();
  EXPECT_EQ(AwaitedNow(), (Waits{{MessageType::kEcho, Ids({1, 2, 3, 4})}}));
}

TEST_F(WaitingTest, SettleWaitsForResultsAlone) {
  ReachProve();
  step().OnBulkTimer();
  EXPECT_EQ(AwaitedAt(Stage::kSettle), (Waits{{MessageType::kResult, Ids({1, 2, 3, 4})}}))
      << "the block needs them, whether or not the PROOF waited";
}

TEST_F(WaitingTest, EndWaitsForTheLastCommitsOfThoseThatHaveNotFinished) {
  SetHead(HeadBlock());
  Hold({.from = 2, .parent = wire::BlockDigest(components().chain.head())});
  ending_.Begin();
  EXPECT_EQ(AwaitedAt(Stage::kLinger), (Waits{{MessageType::kCommit, Ids({1, 3, 4})}}));
}

}  // namespace
}  // namespace ostraka::protocol::waiting_test

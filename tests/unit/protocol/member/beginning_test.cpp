#include "node/protocol/member/beginning.h"

#include <functional>
#include <set>

#include "node/protocol/ground/stored_state.h"
#include "tests/unit/protocol/member/member_fixture.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::beginning_test {
namespace {

using scene::DigestOf;
using scene::kMemberCount;
using scene::MemberTest;
using wire::MessageType;
using wire::Phase;
using wire::PullKind;

constexpr std::uint64_t kBlocks = 4;  // stored: of the genesis, and of steps 0 to 2

void ThreeSteps(Manifest& manifest) {
  manifest.training.steps = 20;
  manifest.training.warmup_steps = 0;
}

class BeginningTest : public MemberTest {
 protected:
  BeginningTest() : MemberTest(scene::kSelf, ThreeSteps) {}
  ~BeginningTest() override { beginning_.CheckInvariants(); }

  // --- genesis ---
  void Boot(std::uint64_t nonce = 1) {
    components().stage.Enter(Stage::kGenesis);
    beginning_.BeginGenesis(nonce);
  }
  void HoldGenesis(std::uint32_t from, MessageType type, const base::Bytes& body) {
    Hold({.from = from, .type = type, .step = 0, .phase = Phase::kGenesis, .body = body});
  }
  // All others have sent BOOT and say that they wait.
  void OthersAreThere() {
    for (std::uint32_t i = 1; i < kMemberCount; ++i) {
      HoldGenesis(i, MessageType::kBoot, wire::Encode(wire::Boot{DigestOf(i)}));
      components().genesis.OnWaiting(IdOf(i));
    }
  }
  Digest BootIdOf(const std::vector<Record>& slots) {
    return wire::Decode<wire::Boot>(wire::OpenUnsigned(slots.at(0).value)->body)->boot_id;
  }

  // --- a store ---
  Block BlockAt(std::uint64_t height) const {
    Block block = HeadBlock();
    block.genesis = height == 0;
    block.step = height == 0 ? 0 : height - 1;
    block.decision = DigestOf(7000 + height);
    if (height > 0) {
      block.columns = {wire::ColumnFate::kApplied, wire::ColumnFate::kSumCheck};
      block.result_roots = {ResultOf(block.step)->root, Digest{}};
      block.aggregated = {{IdOf(1), {}}, {IdOf(2), {}}};
    }
    return block;
  }
  static SharedBlob ResultOf(std::uint64_t step) {
    const std::vector<float> values(scene::kFloats / 2, static_cast<float>(step));
    const base::ByteView bytes = base::AsBytes(std::span(values));
    return crypto::MakeBlob({bytes.begin(), bytes.end()});
  }
  static Record RecordOf(const Block& block) {
    return Journal::RecordOf(block.genesis, block.step, wire::EncodeBlock(block));
  }
  static Record ResultRecord(std::uint64_t step) {
    return {RecordKind::kResult, ResultKey(step, 0), {}, ResultOf(step)};
  }
  // A store that holds the state after `last`.
  static SharedBlob StoredBlob(const ModelState& state) {
    return crypto::MakeBlob(EncodeState(state));
  }
  static Restored StoreThatEndsWith(const Block& last) {
    Restored store;
    const auto numbers = std::make_shared<const std::vector<float>>(scene::kFloats, 9.0F);
    store.blocks = {RecordOf(last)};
    store.state = Record{
        RecordKind::kState, BlockKey(false, last.step), {}, StoredBlob(SgdState(numbers, numbers))};
    store.member = true;
    return store;
  }
  // Blocks up to kBlocks - 1 and the results of steps below `results`.
  Restored StoreWith(std::uint64_t results) const {
    Restored store;
    for (std::uint64_t height = 0; height < kBlocks; ++height) {
      store.blocks.push_back(RecordOf(BlockAt(height)));
    }
    for (std::uint64_t step = 0; step < results; ++step) {
      store.results.push_back(ResultRecord(step));
    }
    store.member = true;
    return store;
  }
  Record SlotRecord(const Digest& run) const {
    wire::Slot slot = components().voice.SlotOf(3, Phase::kA, MessageType::kCommit);
    slot.run_id = run;
    const Draft draft{{slot, DigestOf(2), Self(), {7}}, nullptr, {}};
    return Signer(keys_[0]).Prepare(1, {draft}).records.at(0);
  }
  // The jobs that are asked for are done, one after the other, until something else happens.
  Outcome Replay() {
    Outcome outcome = beginning_.ReplayNext();
    float value = 1;
    for (auto jobs = Taken<StartJob>(); !jobs.empty(); jobs = Taken<StartJob>()) {
      EXPECT_EQ(jobs.size(), 1u) << "one at a time";
      EXPECT_EQ(outcome.what, Outcome::What::kWait);
      EXPECT_TRUE(beginning_.Owns(jobs[0].id));
      const auto numbers = std::make_shared<const std::vector<float>>(scene::kFloats, value++);
      outcome = beginning_.OnJob(jobs[0].id, UpdateResult{SgdState(numbers, numbers)});
      beginning_.CheckInvariants();
      ++replayed_;
    }
    return outcome;
  }
  // The last block seals that root, and the state has the root DigestOf(1).
  void RestoreAfterTheEnd(const Digest& sealed) {
    Block last = BlockAt(2);
    last.closing = 2;
    last.state_root = sealed;
    ASSERT_TRUE(beginning_.Restore(StoreThatEndsWith(last)).ok());
    EXPECT_EQ(beginning_.ReplayNext().what, Outcome::What::kWait);
    const auto jobs = Taken<StartJob>();
    ASSERT_EQ(jobs.size(), 1u);
    EXPECT_TRUE(std::holds_alternative<RootSpec>(*jobs[0].spec));
    ASSERT_TRUE(beginning_.Owns(jobs[0].id));
    EXPECT_EQ(beginning_.OnJob(jobs[0].id, RootResult{DigestOf(1), {DigestOf(3)}}).what,
              Outcome::What::kFinish);
  }
  void ExpectRefused(const std::function<void(Restored&)>& spoil) {
    Restored store = StoreWith(3);
    spoil(store);
    EXPECT_FALSE(beginning_.Restore(store).ok());
    EXPECT_FALSE(beginning_.replays());
  }

  Follower follower_{components(), components().check, components().post, std::nullopt};
  Beginning beginning_{components(), components().genesis, follower_, components().charges,
                       nullptr};
  std::size_t replayed_ = 0;
};

// --- genesis ------------------------------------------------------------------------------------

TEST_F(BeginningTest, MemberSaysBootAndAsksWhetherTheRunHasBegun) {
  Boot();
  std::set<PeerId> asked;
  for (const Send& send : Taken<Send>()) {
    EXPECT_EQ(PullOf(send).kind, PullKind::kHead);
    asked.insert(send.to);
  }
  EXPECT_EQ(asked.size(), kMemberCount - 1);
  const auto slots = Stored(RecordKind::kSlot);
  ASSERT_EQ(slots.size(), 1u);
  EXPECT_FALSE(BootIdOf(slots).is_zero());
}

TEST_F(BeginningTest, BootOfAnotherStoreOfTheKeyDiffers) {
  Boot(1);
  const Digest first = BootIdOf(Stored(RecordKind::kSlot));
  components().journal.ForgetBefore(1);  // as a store that knows nothing of it
  beginning_.BeginGenesis(2);
  EXPECT_NE(BootIdOf(Stored(RecordKind::kSlot)), first);
}

TEST_F(BeginningTest, RunBeginsWhenAllHaveEchoedAlike) {
  Boot();
  Settle();
  EXPECT_EQ(beginning_.TryGenesis().what, Outcome::What::kWait);
  OthersAreThere();
  EXPECT_EQ(beginning_.TryGenesis().what, Outcome::What::kGoOn);
  EXPECT_EQ(beginning_.TryGenesis().what, Outcome::What::kWait) << "it echoes once";
  Settle();
  const Inbox::Item* own =
      components().inbox.Find({0, Phase::kGenesis, MessageType::kEcho, 0, 0}, Self());
  ASSERT_NE(own, nullptr);
  const base::Bytes echo = own->message->envelope.body;
  for (std::uint32_t i = 1; i < kMemberCount; ++i) {
    EXPECT_EQ(beginning_.TryGenesis().what, Outcome::What::kWait);
    HoldGenesis(i, MessageType::kEcho, echo);
  }
  ForgetActions();
  EXPECT_EQ(beginning_.TryGenesis().what, Outcome::What::kBeginStep);
  EXPECT_TRUE(components().chain.head().genesis);
  EXPECT_FALSE(components().chain.head().decision.is_zero());
  std::vector<RecordKind> kinds;
  for (const Store& store : Taken<Store>()) kinds.push_back(store.records[0].kind);
  EXPECT_EQ(kinds, (std::vector{RecordKind::kMember, RecordKind::kBlock})) << "in this order";
  // Attack: colluders show their ECHOs to some members only.
  EXPECT_EQ(Taken<Send>().size(), (kMemberCount - 1) * (kMemberCount - 2));
  EXPECT_EQ(Observed<Sealed>().size(), 1u);
}

TEST_F(BeginningTest, MemberWithoutWhomTheRunHasBegunLeavesAndMustBeAdmitted) {
  Boot();
  Hold({.from = 1, .step = 0, .parent = DigestOf(5)});
  EXPECT_EQ(beginning_.TryGenesis().what, Outcome::What::kWait) << "one may lie";
  EXPECT_FALSE(follower_.MustBeAdmitted());
  Hold({.from = 2, .step = 0, .parent = DigestOf(5)});
  EXPECT_EQ(beginning_.TryGenesis().what, Outcome::What::kLeave);
  EXPECT_TRUE(follower_.MustBeAdmitted());
}

TEST_F(BeginningTest, EchoesOfOthersAreShownToAMemberThatAsks) {
  components().stage.Enter(Stage::kGenesis);
  for (const std::uint32_t from : {0u, 1u, 2u}) HoldGenesis(from, MessageType::kEcho, {1});
  beginning_.ShowEchoes(IdOf(1));
  const auto sends = Taken<Send>();
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(EnvelopeOf(sends[0]).sender, IdOf(2));
}

// --- restart ------------------------------------------------------------------------------------

TEST_F(BeginningTest, StoreWithoutBlocksGivesTheOwnMessagesBackAndReplaysNothing) {
  Restored store;
  store.slots = {SlotRecord(manifest_->run_id)};
  const auto own = beginning_.Restore(store);
  ASSERT_TRUE(own.ok());
  ASSERT_EQ(own->size(), 1u);
  EXPECT_EQ((*own)[0].envelope.slot.step, 3u);
  EXPECT_FALSE(beginning_.replays());
  EXPECT_FALSE(follower_.MustBeAdmitted());
}

TEST_F(BeginningTest, StoredBlocksAreReplayedInOrderAndTheNextStepBegins) {
  ASSERT_TRUE(beginning_.Restore(StoreWith(kBlocks - 1)).ok());
  EXPECT_TRUE(beginning_.replays());
  EXPECT_EQ(HeightOf(components().chain.head()), 0u);
  EXPECT_EQ(Replay().what, Outcome::What::kBeginStep);
  EXPECT_EQ(replayed_, kBlocks - 1);
  EXPECT_EQ(HeightOf(components().chain.head()), kBlocks - 1);
  EXPECT_EQ(components().chain.state().parameters->front(), static_cast<float>(kBlocks - 1));
  EXPECT_EQ(Observed<Resumed>().size(), 1u);
}

TEST_F(BeginningTest, BlocksAreReplayedAsFarAsEveryResultIsThere) {
  ASSERT_TRUE(beginning_.Restore(StoreWith(1)).ok());
  const Outcome outcome = Replay();
  EXPECT_EQ(replayed_, 1u);
  EXPECT_EQ(outcome.what, Outcome::What::kLeave);
  EXPECT_TRUE(outcome.trust_state);
  EXPECT_EQ(HeightOf(components().chain.head()), 1u);
}

TEST_F(BeginningTest, ResultThatWasSpoiltOnTheDiskCountsAsLost) {
  Restored store = StoreWith(kBlocks - 1);
  store.results[1].blob = ResultOf(77);  // the root of another aggregate
  ASSERT_TRUE(beginning_.Restore(store).ok());
  EXPECT_EQ(Replay().what, Outcome::What::kLeave);
  EXPECT_EQ(replayed_, 1u);
  EXPECT_EQ(components().chain.ResultAt(1, 0), nullptr) << "it is not served";
  components().KeepResult(1, 0, ResultOf(1));
  EXPECT_EQ(Stored(RecordKind::kResult).size(), 1u) << "the right one takes its place";
}

TEST_F(BeginningTest, ResultOfAnotherSizeThanItsColumnIsNotApplied) {
  Restored store = StoreWith(kBlocks - 1);
  const SharedBlob shorter = crypto::MakeBlob(base::Bytes(sizeof(float), 0));
  Block block = BlockAt(2);
  block.result_roots[0] = shorter->root;
  store.blocks[2] = RecordOf(block);
  store.results[1].blob = shorter;
  ASSERT_TRUE(beginning_.Restore(store).ok());
  EXPECT_EQ(Replay().what, Outcome::What::kLeave);
  EXPECT_EQ(replayed_, 1u);
}

TEST_F(BeginningTest, StoredBlockWithOtherThresholdsThanItsMembershipsIsRefused) {
  Restored store = StoreWith(kBlocks - 1);
  Block block = BlockAt(2);
  block.thresholds.t_a = block.thresholds.n;
  store.blocks[2] = RecordOf(block);
  EXPECT_FALSE(beginning_.Restore(store).ok());
}

TEST_F(BeginningTest, BlocksAfterAGapAreNotReplayed) {
  Restored store = StoreWith(kBlocks - 1);
  store.blocks.erase(store.blocks.begin() + 2);
  ASSERT_TRUE(beginning_.Restore(store).ok());
  EXPECT_EQ(Replay().what, Outcome::What::kLeave);
  EXPECT_EQ(replayed_, 1u);
}

TEST_F(BeginningTest, ReplayBeginsAtTheStoredState) {
  Restored store = StoreWith(kBlocks - 1);
  const auto numbers = std::make_shared<const std::vector<float>>(scene::kFloats, 9.0F);
  store.state =
      Record{RecordKind::kState, BlockKey(false, 1), {}, StoredBlob(SgdState(numbers, numbers))};
  ASSERT_TRUE(beginning_.Restore(store).ok());
  EXPECT_EQ(HeightOf(components().chain.head()), 2u);
  EXPECT_EQ(*components().chain.state().parameters, *numbers);
  EXPECT_NE(components().chain.recent().Find(1), nullptr) << "blocks before it are for others";
  EXPECT_EQ(Replay().what, Outcome::What::kBeginStep);
  EXPECT_EQ(replayed_, 1u);
}

TEST_F(BeginningTest, StoreThatIsYoungerThanTheRunMustBeAdmitted) {
  Restored store = StoreWith(kBlocks - 1);
  store.member = false;
  ASSERT_TRUE(beginning_.Restore(store).ok());
  EXPECT_TRUE(follower_.MustBeAdmitted()) << "before anything is signed";
  EXPECT_EQ(Replay().what, Outcome::What::kLeave);
}

TEST_F(BeginningTest, MemberThatWasDroppedBeforeItRestartedLeaves) {
  Restored store = StoreWith(kBlocks - 1);
  Block last = BlockAt(kBlocks - 1);
  std::erase(last.members, Self());
  last.thresholds = ThresholdsIn(*manifest_, last.members.size());
  store.blocks.back() = RecordOf(last);
  ASSERT_TRUE(beginning_.Restore(store).ok());
  EXPECT_EQ(Replay().what, Outcome::What::kLeave);
}

// Its last state is for members that missed the end.
TEST_F(BeginningTest, RunThatIsOverIsFinished) {
  RestoreAfterTheEnd(DigestOf(1));
  const auto* served = components().chain.ServedAt(1);
  ASSERT_NE(served, nullptr);
  EXPECT_EQ(served->leaves, (std::vector{DigestOf(3)}));
}

TEST_F(BeginningTest, StateThatTheLastBlockDoesNotSealIsNotServed) {
  RestoreAfterTheEnd(DigestOf(2));
  EXPECT_EQ(components().chain.ServedAt(1), nullptr);
}

TEST_F(BeginningTest, RunThatIsOverWithoutAStateThatIsSealedIsFinished) {
  Block last = BlockAt(2 + wire::kClosingSteps);
  last.closing = wire::kClosingSteps + 1;
  ASSERT_TRUE(beginning_.Restore(StoreThatEndsWith(last)).ok());
  EXPECT_EQ(Replay().what, Outcome::What::kFinish);
}

TEST_F(BeginningTest, RunWhoseLastStateIsNotSealedGoesOn) {
  Block last = BlockAt(1);
  last.closing = 1;
  ASSERT_TRUE(beginning_.Restore(StoreThatEndsWith(last)).ok());
  EXPECT_EQ(Replay().what, Outcome::What::kBeginStep);
}

// --- a store that cannot be read ----------------------------------------------------------------

TEST_F(BeginningTest, UnreadableSlotIsAStatus) {
  ExpectRefused([](Restored& store) {
    store.slots = {{RecordKind::kSlot, base::Bytes(22, 1), {1, 2, 3}}};
  });
}

TEST_F(BeginningTest, SlotOfAnotherRunIsAStatus) {
  ExpectRefused([&](Restored& store) { store.slots = {SlotRecord(DigestOf(1))}; });
}

TEST_F(BeginningTest, UnreadableBlockIsAStatus) {
  ExpectRefused([](Restored& store) { store.blocks[1].value = {1, 2, 3}; });
}

TEST_F(BeginningTest, BlockUnderTheKeyOfAnotherIsAStatus) {
  ExpectRefused([](Restored& store) { std::swap(store.blocks[1].key, store.blocks[2].key); });
}

TEST_F(BeginningTest, StateWithoutDataIsAStatus) {
  ExpectRefused([](Restored& store) {
    store.state = Record{RecordKind::kState, BlockKey(false, 1), {}};
  });
}

TEST_F(BeginningTest, StateOfAnotherSizeIsAStatus) {
  ExpectRefused([](Restored& store) {
    const auto few = std::make_shared<const std::vector<float>>(scene::kFloats - 1, 9.0F);
    store.state =
        Record{RecordKind::kState, BlockKey(false, 1), {}, StoredBlob(SgdState(few, few))};
  });
}

TEST_F(BeginningTest, StateWithoutItsBlockIsAStatus) {
  ExpectRefused([](Restored& store) {
    const auto numbers = std::make_shared<const std::vector<float>>(scene::kFloats, 9.0F);
    store.state =
        Record{RecordKind::kState, BlockKey(false, 77), {}, StoredBlob(SgdState(numbers, numbers))};
  });
}

TEST_F(BeginningTest, ResultUnderAKeyThatIsNoneIsAStatus) {
  ExpectRefused([](Restored& store) { store.results[0].key.pop_back(); });
}

// A newcomer was killed when the blocks after its first state were durable and the state was not:
// it begins anew at the block that its invite names, and takes nothing for granted.
TEST_F(BeginningTest, AStoreWithNeitherAStateNorTheGenesisBlockBeginsAtTheAnchor) {
  const auto at = [this](std::uint64_t height) {
    Block block = HeadBlock();
    block.genesis = false;
    block.step = height - 1;
    block.decision = DigestOf(7000 + height);
    return block;
  };
  Beginning beginning{components(), components().genesis, follower_, components().charges,
                      std::make_shared<const Block>(at(40))};
  Restored store;
  for (const std::uint64_t height : {62, 63}) {
    store.blocks.push_back(Journal::RecordOf(false, height - 1, wire::EncodeBlock(at(height))));
  }
  ASSERT_TRUE(beginning.Restore(store).ok());
  EXPECT_FALSE(beginning.replays());
  const Outcome outcome = beginning.ComeIn();
  EXPECT_EQ(outcome.what, Outcome::What::kLeave);
  EXPECT_FALSE(outcome.trust_state);
  EXPECT_EQ(HeightOf(components().chain.head()), 40u);
}

}  // namespace
}  // namespace ostraka::protocol::beginning_test

// Each premise fires on a run that breaks it, and not on one that it allows.
#include "sim/premises/premise_checkers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::premise_checkers_test {
namespace {

using testing::HasSubstr;
using wire::MessageType;
using wire::Phase;

constexpr base::Duration kDelta = base::Milliseconds(100);

base::Digest Value(std::uint8_t fill) {
  base::Digest digest;
  digest.bytes.fill(fill);
  return digest;
}

// Two honest peers and a Byzantine one; Q = 2.
class Premises : public testing::Test {
 protected:
  // `peer` acts at `ms`; returns the checker's status.
  template <typename AnyChecker>
  base::Status At(AnyChecker& checker, std::int64_t ms, std::uint32_t peer,
                  const std::vector<protocol::Action>& actions) {
    const protocol::Input input = protocol::TimerFired{1};
    watch_.OnStep({base::Time{} + base::Milliseconds(ms), ++sequence_, peer, input, actions});
    if (!roster_.IsHonest(peer)) return base::OkStatus();
    for (const protocol::Action& action : actions) RETURN_IF_ERROR(checker.OnAction(peer, action));
    return base::OkStatus();
  }
  static protocol::Action Say(std::uint32_t author, MessageType type, base::Bytes body,
                              std::uint32_t iteration = 0, Phase phase = Phase::kA,
                              std::uint64_t step = 0) {
    wire::Slot slot;
    slot.step = step;
    slot.phase = phase;
    slot.type = type;
    slot.iteration = iteration;
    return SendOf(wire::Seal({slot, {}, Key(author)->id(), std::move(body)}, *Key(author)));
  }
  static protocol::Action Echo(std::uint32_t author, std::uint8_t value = 1) {
    return Say(author, MessageType::kEcho, wire::Encode(wire::Echo{Value(value), {}, {}}));
  }
  static protocol::Action Lock(std::uint32_t author, std::uint32_t k, std::uint8_t value) {
    return Say(author, MessageType::kLock, wire::Encode(wire::Lock{Value(value)}), k);
  }
  static protocol::Action Vote(std::uint32_t author, std::uint32_t k, std::uint8_t value) {
    return Say(author, MessageType::kVote, wire::Encode(wire::SealVote{Value(value), 0}), k);
  }
  static protocol::Action Status(std::uint32_t author, std::uint32_t k, std::uint32_t rank) {
    return Say(author, MessageType::kStatus, wire::Encode(wire::SealStatus{rank, Value(1)}), k);
  }
  static protocol::Action Begins(std::uint64_t step) {
    protocol::StepStarted started;
    started.step = step;
    return protocol::Observe{started};
  }

  Roster roster_ = ThreePeers();
  SealWatch watch_{roster_, StepView{roster_.ids, 2, 1, kDelta},
                   std::make_shared<wire::PlainOpener>()};
  std::uint64_t sequence_ = 0;
};

TEST_F(Premises, EchoesMoreThanDeltaApart) {
  EchoSkew checker(roster_, &watch_);
  EXPECT_TRUE(At(checker, 0, 2, {Echo(2)}).ok()) << "what a liar says when is its own business";
  EXPECT_TRUE(At(checker, 500, 0, {Echo(0)}).ok());
  EXPECT_TRUE(At(checker, 600, 1, {Echo(1)}).ok()) << "a Delta is allowed";
  EXPECT_TRUE(At(checker, 700, 1, {Echo(0)}).ok()) << "another's, passed on";
}
TEST_F(Premises, EchoesMoreThanDeltaApartFail) {
  EchoSkew checker(roster_, &watch_);
  EXPECT_TRUE(At(checker, 500, 0, {Echo(0)}).ok());
  EXPECT_THAT(Fault(At(checker, 601, 1, {Echo(1)})), HasSubstr("1.01 Delta after the first"));
}

TEST_F(Premises, OpeningsMoreThanDeltaApart) {
  OpeningSkew checker(roster_, &watch_, base::Seconds(1));
  EXPECT_TRUE(At(checker, 0, 0, {Begins(0)}).ok());
  EXPECT_TRUE(At(checker, 2'000, 1, {Begins(0)}).ok()) << "before the first deadline of seal A";
  EXPECT_TRUE(At(checker, 2'300, 0, {SealedAs(0, 1, 7)}).ok());
  EXPECT_THAT(Fault(At(checker, 2'401, 1, {SealedAs(0, 1, 7)})),
              HasSubstr("opens seal b of step 0"));
}
TEST_F(Premises, OpeningSealAAfterTheFirstDeadline) {
  OpeningSkew checker(roster_, &watch_, base::Seconds(1));
  EXPECT_TRUE(At(checker, 0, 0, {Begins(0)}).ok());
  EXPECT_THAT(Fault(At(checker, 2'201, 1, {Begins(0)})), HasSubstr("opens seal a of step 0"));
}

TEST_F(Premises, MemberThatDoesNotBeginWithTheOthers) {
  BeginsTogether checker(roster_, &watch_, base::Seconds(2));
  EXPECT_TRUE(At(checker, 100, 0, {Begins(0)}).ok());
  EXPECT_TRUE(checker.AtEnd().ok()) << "it is not late yet";
  const protocol::Action nothing = Echo(0);
  EXPECT_TRUE(At(checker, 2'101, 0, {nothing}).ok());
  EXPECT_THAT(Fault(checker.AtEnd()), HasSubstr("never begins"));
  EXPECT_THAT(Fault(At(checker, 2'102, 1, {Begins(0)})), HasSubstr("begins step 0"));
}

TEST_F(Premises, AStatusBelowAnHonestLock) {
  LockKnown checker(roster_, &watch_);
  EXPECT_TRUE(At(checker, 0, 2, {Lock(2, 1, 9)}).ok());
  EXPECT_TRUE(At(checker, 1, 1, {Status(1, 2, 0)}).ok()) << "a liar's lock binds nobody";
  EXPECT_TRUE(At(checker, 2, 0, {Lock(0, 1, 1)}).ok());
  EXPECT_TRUE(At(checker, 3, 1, {Status(1, 1, 0)}).ok()) << "it is of the same iteration";
  EXPECT_TRUE(At(checker, 4, 1, {Status(1, 3, 2)}).ok());
  EXPECT_THAT(Fault(At(checker, 5, 1, {Status(1, 4, 1)})),
              HasSubstr("without the certificate of an honest LOCK of iteration 1"));
}
TEST_F(Premises, AVoteAboveAnHonestLockOfAnotherValue) {
  LockKnown checker(roster_, &watch_);
  EXPECT_TRUE(At(checker, 0, 0, {Lock(0, 1, 1)}).ok());
  EXPECT_TRUE(At(checker, 1, 1, {Vote(1, 2, 1)}).ok());
  EXPECT_TRUE(At(checker, 2, 2, {Vote(2, 2, 3)}).ok());
  EXPECT_THAT(Fault(At(checker, 3, 1, {Vote(1, 3, 2)})),
              HasSubstr("above an honest LOCK of another value"));
}

TEST_F(Premises, AQuorumOfVotesBesideAnHonestLock) {
  Certificates checker(roster_, &watch_);
  EXPECT_TRUE(At(checker, 0, 0, {Vote(0, 1, 1)}).ok());
  EXPECT_TRUE(At(checker, 1, 2, {Vote(2, 1, 1), Vote(2, 2, 2)}).ok());
  EXPECT_TRUE(At(checker, 2, 0, {Lock(0, 1, 1)}).ok());
  EXPECT_TRUE(At(checker, 3, 1, {Vote(1, 1, 2)}).ok()) << "one vote is no quorum";
  EXPECT_THAT(Fault(At(checker, 4, 1, {Vote(1, 2, 2)})),
              HasSubstr("another has a quorum of VOTEs in iteration 2"));
}

protocol::Action ProofNaming(std::uint32_t author, std::uint8_t named, std::uint64_t step,
                             base::Bytes wire::Proof::*names = &wire::Proof::silent) {
  wire::Proof proof;
  proof.*names = {named};
  wire::Slot slot;
  slot.step = step;
  slot.phase = Phase::kC;
  slot.type = MessageType::kProof;
  return SendOf(wire::Seal({slot, {}, Key(author)->id(), wire::Encode(proof)}, *Key(author)));
}

TEST_F(Premises, AnHonestProofThatNamesAnHonestMember) {
  // Members are sorted by key, so the roster tells which bit belongs to which peer.
  std::uint8_t byzantine = 0;
  for (std::size_t i = 0; i < roster_.ids.size(); ++i) {
    if (!roster_.IsHonest(static_cast<std::uint32_t>(i))) byzantine |= 1U << i;
  }
  HonestNames checker(roster_, &watch_);
  EXPECT_TRUE(At(checker, 0, 0, {ProofNaming(0, byzantine, 0)}).ok());
  EXPECT_TRUE(At(checker, 1, 2, {ProofNaming(2, 0xff, 0)}).ok()) << "a liar says anything";
  EXPECT_THAT(Fault(At(checker, 2, 1, {ProofNaming(1, 1, 0)})), HasSubstr("did not come"));
  EXPECT_THAT(Fault(At(checker, 3, 1, {ProofNaming(1, 1, 0, &wire::Proof::hasty)})),
              HasSubstr("lacked what it had to wait for"));
  EXPECT_THAT(Fault(At(checker, 4, 1, {ProofNaming(1, 1, 0, &wire::Proof::unshown)})),
              HasSubstr("was not shown"));
}

// A member that left came back three steps later and sent its PROOF again: the bits are of the
// members then, though some are gone now (swarm seed 70256).
TEST_F(Premises, BitsOfAnOlderProofAreOfItsOwnMembers) {
  HonestNames checker(roster_, &watch_);
  std::uint8_t byzantine = 0;
  for (std::size_t i = 0; i < roster_.ids.size(); ++i) {
    if (!roster_.IsHonest(static_cast<std::uint32_t>(i))) {
      byzantine = static_cast<std::uint8_t>(1U << i);
    }
  }
  for (std::uint64_t step = 0; step < 3; ++step) {
    wire::Block block = ABlock(step);
    block.members.assign(3, roster_.ids[0]);
    EXPECT_TRUE(At(checker, 0, 0, {Done(block)}).ok());
  }
  EXPECT_TRUE(At(checker, 1, 1, {ProofNaming(1, byzantine, 0, &wire::Proof::hasty)}).ok());
}

TEST_F(Premises, StoriesAreKeptForTwoSteps) {
  EchoSkew checker(roster_, &watch_);
  EXPECT_TRUE(At(checker, 0, 0, {Echo(0, 1)}).ok());
  EXPECT_TRUE(At(checker, 1, 2, {Echo(2, 1)}).ok());
  const SealName seal{1, static_cast<std::uint8_t>(Phase::kA), 0};
  ASSERT_NE(watch_.StoryOf(seal), nullptr);
  EXPECT_EQ(watch_.StoryOf(seal)->CertifiedValues(), 1U);
  for (std::uint64_t step = 0; step < 4; ++step) {
    EXPECT_TRUE(At(checker, 2, 0, {Done(ABlock(step))}).ok());
  }
  EXPECT_EQ(watch_.StoryOf(seal), nullptr);
}

}  // namespace
}  // namespace ostraka::sim::premise_checkers_test

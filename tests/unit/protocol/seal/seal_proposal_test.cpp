#include "node/protocol/seal/seal_proposal.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::seal_proposal_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;
using scene::PeersUpTo;
using State = SealEntry::State;

// n = 7, t_s = 2, t_a = 1.
constexpr std::size_t kQuorum = 5;
constexpr std::size_t kEnough = 4;

class ProposalTest : public testing::Test {
 protected:
  // Member `number` states that it echoed `value`, in its `variant`-th STATUS of the slot.
  void Says(std::uint32_t number, std::uint64_t value, std::uint32_t rank = 0,
            std::uint64_t variant = 0) {
    statuses_.Add(PeerNumber(number),
                  {{rank, DigestOf(value)}, DigestOf(1000 + 100 * variant + number), nullptr});
  }
  wire::Propose Proposing(std::uint64_t value, const std::vector<PeerId>& chosen) const {
    wire::Propose propose;
    propose.value = DigestOf(value);
    propose.statuses_root = StatusesRoot(statuses_, chosen);
    return propose;
  }
  StatusRule Judge(const wire::Propose& propose, const std::vector<PeerId>& chosen) {
    return JudgeStatuses(statuses_, chosen, propose, kQuorum, kEnough, why_);
  }

  Statuses statuses_;
  std::string why_;
  const std::vector<PeerId> first_five_ = PeersUpTo(5);
};

TEST_F(ProposalTest, StatusesKeepTheFirstAndOneRival) {
  Says(1, 1);
  EXPECT_FALSE(statuses_.TwoFaced(PeerNumber(1)));
  Says(1, 1);
  EXPECT_FALSE(statuses_.TwoFaced(PeerNumber(1)));
  Says(1, 2, 0, 1);
  EXPECT_TRUE(statuses_.TwoFaced(PeerNumber(1)));
  Says(1, 3, 0, 2);
  statuses_.CheckInvariants();
  EXPECT_EQ(statuses_.all().at(PeerNumber(1)).size(), 2u);
  EXPECT_EQ(statuses_.FirstOf(PeerNumber(1))->body.value, DigestOf(1));
}

TEST_F(ProposalTest, ALeaderChoosesAQuorumWithoutLocksAndTwoFaces) {
  for (std::uint32_t i = 0; i < 5; ++i) Says(i, 1);
  EXPECT_EQ(ChooseStatuses(statuses_, kQuorum), first_five_);
  Says(4, 2, 0, 1);
  EXPECT_EQ(ChooseStatuses(statuses_, kQuorum), std::nullopt);
  Says(5, 1, 1);  // has a lock
  EXPECT_EQ(ChooseStatuses(statuses_, kQuorum), std::nullopt);
  Says(6, 1);
  EXPECT_EQ(ChooseStatuses(statuses_, kQuorum)->back(), PeerNumber(6));
}

TEST_F(ProposalTest, AValueThatEnoughMembersEchoedIsForced) {
  for (std::uint32_t i = 0; i < 3; ++i) Says(i, 1);
  Says(3, 2);
  Says(4, 2);
  EXPECT_EQ(ForcedValue(statuses_, first_five_, kEnough), std::nullopt);
  EXPECT_EQ(Judge(Proposing(9, first_five_), first_five_), StatusRule::kMerge);
  statuses_ = {};
  for (std::uint32_t i = 0; i < 4; ++i) Says(i, 1);
  Says(4, 2);
  EXPECT_EQ(ForcedValue(statuses_, first_five_, kEnough), DigestOf(1));
  EXPECT_EQ(Judge(Proposing(1, first_five_), first_five_), StatusRule::kForced);
  EXPECT_EQ(Judge(Proposing(2, first_five_), first_five_), StatusRule::kRefused);
  EXPECT_EQ(why_, "its statuses force another value");
}

TEST_F(ProposalTest, AVoterRefusesStatusesThatAreNotInOrder) {
  for (std::uint32_t i = 0; i < 5; ++i) Says(i, i);
  const wire::Propose propose = Proposing(9, first_five_);
  EXPECT_EQ(Judge(propose, first_five_), StatusRule::kMerge);
  EXPECT_EQ(Judge(propose, PeersUpTo(4)), StatusRule::kRefused);
  EXPECT_EQ(Judge(propose, PeersUpTo(6)), StatusRule::kRefused);
  wire::Propose other = propose;
  other.statuses_root = DigestOf(3);
  EXPECT_EQ(Judge(other, first_five_), StatusRule::kRefused);
  std::vector<PeerId> unseen = first_five_;
  unseen[4] = PeerNumber(6);
  EXPECT_EQ(Judge(propose, unseen), StatusRule::kRefused);
  EXPECT_EQ(StatusesToAskFor(statuses_, unseen, DigestOf(3)), std::vector<PeerId>{PeerNumber(6)});
  EXPECT_EQ(StatusesToAskFor(statuses_, first_five_, DigestOf(3)), first_five_);
  EXPECT_TRUE(StatusesToAskFor(statuses_, first_five_, propose.statuses_root).empty());
  statuses_ = {};
  for (std::uint32_t i = 0; i < 5; ++i) Says(i, i, i == 2 ? 1 : 0);
  EXPECT_EQ(Judge(Proposing(9, first_five_), first_five_), StatusRule::kRefused);
}

// The leader saw one STATUS of a two-faced member, the voter saw both.
TEST_F(ProposalTest, AVoterAcceptsTheLeadersReadingOfATwoFacedMember) {
  for (std::uint32_t i = 0; i < 3; ++i) Says(i, 1);
  Says(3, 2);
  Says(4, 2);
  Says(4, 1, 0, 1);
  wire::Propose forced = Proposing(1, first_five_);
  forced.statuses_root = DigestOf(3);  // over a STATUS that came second here
  EXPECT_EQ(Judge(forced, first_five_), StatusRule::kForced);
  forced.value = DigestOf(9);  // or the leader read it the other way
  EXPECT_EQ(Judge(forced, first_five_), StatusRule::kMerge);
  EXPECT_TRUE(StatusesToAskFor(statuses_, first_five_, DigestOf(3)).empty());
  Says(3, 1, 0, 1);  // but the other members still force their value
  statuses_ = {};
  for (std::uint32_t i = 0; i < 4; ++i) Says(i, 1);
  Says(4, 2);
  Says(4, 3, 0, 1);
  EXPECT_EQ(Judge(forced, first_five_), StatusRule::kRefused);
}

class Held : public SealMessages {
 public:
  SealEntry EntryNow(std::size_t index) const override { return entries.at(index); }
  bool Holds(std::size_t index, const Digest& digest) const override {
    return entries.at(index).state != State::kAbsent && held.contains({index, digest});
  }
  void Hold(std::size_t index, std::uint64_t number) {
    const bool first = entries[index].state == State::kAbsent;
    entries[index] =
        first ? SealEntry{State::kPresent, DigestOf(number)} : SealEntry{State::kEquivocated, {}};
    held.insert({index, DigestOf(number)});
  }
  SealVector entries = SealVector(3);
  std::set<std::pair<std::size_t, Digest>> held;
};

TEST(MergeTest, LeavesOutNothingOfTheOwnEchoAndIncludesOnlyWhatIsHeld) {
  Held messages;
  messages.Hold(0, 10);
  messages.Hold(1, 11);
  const SealVector own = messages.entries;
  EXPECT_EQ(MergeFault(own, own, messages), "");
  SealVector merged = own;
  merged[0] = {};
  EXPECT_EQ(MergeFault(own, merged, messages), "it leaves out a message that I echoed");
  merged[0] = {State::kPresent, DigestOf(99)};
  EXPECT_EQ(MergeFault(own, merged, messages), "it leaves out a message that I echoed");
  merged = own;
  merged[2] = {State::kPresent, DigestOf(12)};
  EXPECT_EQ(MergeFault(own, merged, messages), "it includes a message that did not come here");
  messages.Hold(2, 12);
  EXPECT_EQ(MergeFault(own, merged, messages), "");
  merged[1] = {State::kEquivocated, {}};
  EXPECT_EQ(MergeFault(own, merged, messages), "it claims an equivocation that did not show here");
  messages.Hold(1, 13);
  EXPECT_EQ(MergeFault(own, merged, messages), "");
  const SealVector knowing = messages.entries;
  merged[1] = {State::kPresent, DigestOf(11)};
  EXPECT_EQ(MergeFault(knowing, merged, messages), "it passes over an equivocation that I echoed");
  merged.pop_back();
  EXPECT_EQ(MergeFault(own, merged, messages), "it has another number of entries");
}

}  // namespace
}  // namespace ostraka::protocol::seal_proposal_test

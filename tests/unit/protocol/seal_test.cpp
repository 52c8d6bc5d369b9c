#include "node/protocol/seal.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

using scene::DigestOf;
using scene::PeerNumber;
using scene::PeersUpTo;
using State = SealEntry::State;

SealEntry Present(std::uint64_t number) { return {State::kPresent, DigestOf(number)}; }
SealVector VectorOf(std::uint32_t n) {
  SealVector vector;
  for (std::uint32_t i = 0; i < n; ++i) vector.push_back(Present(i));
  return vector;
}

// --- echoes --------------------------------------------------------------------------------------

TEST(EchoTest, BitmapsSayWhoIsPresentAndWhoEquivocated) {
  SealVector vector = VectorOf(10);
  vector[3] = {};
  vector[9] = {State::kEquivocated, {}};
  const wire::Echo echo = EchoOf(vector);
  EXPECT_EQ(echo.present, (base::Bytes{0xf7, 0x01}));
  EXPECT_EQ(echo.equivocated, (base::Bytes{0x00, 0x02}));
}

TEST(EchoTest, EveryEntryAndItsPlaceAreInTheHash) {
  const SealVector vector = VectorOf(4);
  std::set<Digest> hashes = {EchoOf(vector).vector};
  for (std::size_t i = 0; i < vector.size(); ++i) {
    SealVector changed = vector;
    changed[i] = Present(99);
    EXPECT_TRUE(hashes.insert(EchoOf(changed).vector).second);
    changed[i] = {};
    EXPECT_TRUE(hashes.insert(EchoOf(changed).vector).second);
    changed[i] = {State::kEquivocated, {}};
    EXPECT_TRUE(hashes.insert(EchoOf(changed).vector).second);
  }
  SealVector swapped = vector;
  std::swap(swapped[0], swapped[1]);
  EXPECT_TRUE(hashes.insert(EchoOf(swapped).vector).second);
  SealVector longer = vector;
  longer.push_back({});
  EXPECT_TRUE(hashes.insert(EchoOf(longer).vector).second);
  EXPECT_EQ(EchoOf(vector).vector, EchoOf(VectorOf(4)).vector);
}

// --- the fast path -------------------------------------------------------------------------------

class FastPathTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kMembers = 5;

  FastPathTest() {
    for (const PeerId& member : members_) echoes_[member] = EchoOf(VectorOf(kMembers));
  }
  void Echo(std::uint32_t member, const SealVector& vector) {
    echoes_[PeerNumber(member)] = EchoOf(vector);
  }
  FastPath Try() const { return TryFastPath(PeerNumber(0), members_, echoes_); }
  std::string ReasonWhen(const SealVector& mine, const SealVector& theirs) {
    Echo(0, mine);
    for (std::uint32_t i = 1; i < kMembers; ++i) Echo(i, mine);
    Echo(3, theirs);
    const FastPath fast = Try();
    EXPECT_EQ(fast.state, FastPath::State::kImpossible);
    return fast.reason;
  }

  const std::vector<PeerId> members_ = PeersUpTo(kMembers);
  std::map<PeerId, wire::Echo> echoes_;
};

TEST_F(FastPathTest, DecidesOnIdenticalEchoesOfAll) {
  EXPECT_EQ(Try().state, FastPath::State::kDecided);
}

// A quorum is not enough: the model finds a fork.
TEST_F(FastPathTest, WaitsForTheLastEcho) {
  for (std::uint32_t missing = 1; missing < kMembers; ++missing) {
    auto echoes = echoes_;
    echoes.erase(PeerNumber(missing));
    EXPECT_EQ(TryFastPath(PeerNumber(0), members_, echoes).state, FastPath::State::kWaiting);
  }
}

TEST_F(FastPathTest, IsImpossibleWithOneOtherEchoEvenBeforeAllHaveCome) {
  SealVector other = VectorOf(kMembers);
  other[1] = Present(99);
  Echo(4, other);
  EXPECT_EQ(Try().state, FastPath::State::kImpossible);
  echoes_.erase(PeerNumber(2));
  EXPECT_EQ(Try().state, FastPath::State::kImpossible);
}

TEST_F(FastPathTest, EchoesOfStrangersDoNotMatter) {
  Echo(77, VectorOf(2));
  EXPECT_EQ(Try().state, FastPath::State::kDecided);
}

TEST_F(FastPathTest, TheReasonNamesWhoDiffersAndAboutWhom) {
  const SealVector all = VectorOf(kMembers);
  SealVector less = all;
  less[2] = {};
  SealVector twice = all;
  twice[2] = {State::kEquivocated, {}};
  SealVector other = all;
  other[2] = Present(99);
  const std::string who = PeerNumber(3).Short() + " echoed another vector: ";
  const std::string whom = PeerNumber(2).Short();
  EXPECT_EQ(ReasonWhen(all, less), who + "it lacks a message of " + whom);
  EXPECT_EQ(ReasonWhen(less, all), who + "it has a message of " + whom + " that did not come here");
  EXPECT_EQ(ReasonWhen(all, twice), who + "it holds two messages of " + whom);
  EXPECT_EQ(ReasonWhen(twice, all), who + "it has not seen that " + whom + " equivocated");
  EXPECT_EQ(ReasonWhen(all, other), who + "it holds another message of one sender than came here");
}

// Seal A has two entries a member; both are the same member's.
TEST_F(FastPathTest, TheSecondEntryOfAMemberIsItsOwnToo) {
  SealVector all = VectorOf(2 * kMembers);
  SealVector less = all;
  less[kMembers + 2] = {};
  EXPECT_EQ(ReasonWhen(all, less), PeerNumber(3).Short() +
                                       " echoed another vector: it lacks a message of " +
                                       PeerNumber(2).Short());
}

// Bitmaps are another peer's bytes: any length is safe, and equal hashes decide whatever they say.
TEST_F(FastPathTest, BitmapsOfAnyLengthAreSafe) {
  for (const std::size_t length : {0u, 1u, 64u}) {
    echoes_[PeerNumber(3)].present.assign(length, 0xff);
    echoes_[PeerNumber(3)].equivocated.assign(length, 0xff);
    EXPECT_EQ(Try().state, FastPath::State::kDecided);
    auto differing = echoes_;
    differing[PeerNumber(3)].vector = DigestOf(1);
    EXPECT_EQ(TryFastPath(PeerNumber(0), members_, differing).state, FastPath::State::kImpossible);
  }
}

// --- decisions -----------------------------------------------------------------------------------

TEST(DecisionDigestTest, NamesTheSealTheVectorAndTheDecisionBefore) {
  const wire::Slot slot{.run_id = DigestOf(1),
                        .incarnation = 0,
                        .step = 2,
                        .phase = wire::Phase::kB,
                        .type = wire::MessageType::kEcho,
                        .draw = 3,
                        .iteration = 0};
  const Digest decision = DecisionDigest(slot, DigestOf(4), DigestOf(5));
  EXPECT_EQ(decision.Hex(), "19fafbccbadda2f93c7908c84d1dd34b178bbe776f08915c0a3b426a98b5b65e");
  std::set<Digest> decisions = {decision};
  const auto differs = [&](const Digest& other) { return decisions.insert(other).second; };
  wire::Slot changed = slot;
  changed.run_id = DigestOf(9);
  EXPECT_TRUE(differs(DecisionDigest(changed, DigestOf(4), DigestOf(5))));
  changed = slot;
  changed.incarnation = 9;
  EXPECT_TRUE(differs(DecisionDigest(changed, DigestOf(4), DigestOf(5))));
  changed = slot;
  changed.step = 9;
  EXPECT_TRUE(differs(DecisionDigest(changed, DigestOf(4), DigestOf(5))));
  changed = slot;
  changed.phase = wire::Phase::kC;
  EXPECT_TRUE(differs(DecisionDigest(changed, DigestOf(4), DigestOf(5))));
  changed = slot;
  changed.draw = 9;
  EXPECT_TRUE(differs(DecisionDigest(changed, DigestOf(4), DigestOf(5))));
  EXPECT_TRUE(differs(DecisionDigest(slot, DigestOf(9), DigestOf(5))));
  EXPECT_TRUE(differs(DecisionDigest(slot, DigestOf(4), DigestOf(9))));
}

}  // namespace
}  // namespace ostraka::protocol

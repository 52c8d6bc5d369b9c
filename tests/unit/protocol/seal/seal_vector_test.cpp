#include "node/protocol/seal/seal_vector.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::seal_vector_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;
using scene::PeersUpTo;
using State = SealEntry::State;

SealEntry Present(std::uint64_t number) { return {State::kPresent, DigestOf(number)}; }
SealVector AllPresent(std::uint32_t n) {
  SealVector vector;
  for (std::uint32_t i = 0; i < n; ++i) vector.push_back(Present(i));
  return vector;
}

TEST(EchoTest, BitmapsShowPresentAndEquivocatedMembers) {
  SealVector vector = AllPresent(10);
  vector[3] = {};
  vector[9] = {State::kEquivocated, {}};
  const wire::Echo echo = EchoOf(vector);
  EXPECT_EQ(echo.present, (base::Bytes{0xf7, 0x01}));
  EXPECT_EQ(echo.equivocated, (base::Bytes{0x00, 0x02}));
  for (std::size_t i = 0; i < vector.size(); ++i) EXPECT_EQ(StateIn(echo, i), vector[i].state);
  EXPECT_EQ(StateIn(echo, 1000), State::kAbsent);  // bitmaps of peers may have any length
}

TEST(EchoTest, EveryEntryAndItsPlaceAreInTheHash) {
  const SealVector vector = AllPresent(4);
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
  EXPECT_EQ(EchoOf(vector).vector, EchoOf(AllPresent(4)).vector);
}

TEST(VectorTest, ComesBackFromTheWireOrIsRefused) {
  SealVector vector = AllPresent(3);
  vector[1] = {};
  vector[2] = {State::kEquivocated, {}};
  const wire::Vector sent = WireOf(vector);
  EXPECT_EQ(VectorOf(sent), vector);
  wire::Vector changed = sent;
  changed.entries[0].state = 3;
  EXPECT_EQ(VectorOf(changed), std::nullopt);
  changed = sent;
  changed.entries[1].digest = DigestOf(1);  // absent, yet with a digest
  EXPECT_EQ(VectorOf(changed), std::nullopt);
  changed = sent;
  changed.entries[2].digest = DigestOf(1);
  EXPECT_EQ(VectorOf(changed), std::nullopt);
}

std::string Difference(const SealVector& mine, const SealVector& theirs) {
  return DifferenceOf(EchoOf(mine), EchoOf(theirs), mine.size(), PeersUpTo(5));
}

TEST(DifferenceTest, NamesTheMemberWhoseMessageDiffers) {
  const SealVector all = AllPresent(5);
  SealVector less = all;
  less[2] = {};
  SealVector twice = all;
  twice[2] = {State::kEquivocated, {}};
  SealVector other = all;
  other[2] = Present(99);
  const std::string whom = PeerNumber(2).Short();
  EXPECT_EQ(Difference(all, less), "it lacks a message of " + whom);
  EXPECT_EQ(Difference(less, all), "it has a message of " + whom + " that did not come here");
  EXPECT_EQ(Difference(all, twice), "it holds two messages of " + whom);
  EXPECT_EQ(Difference(twice, all), "it has not seen that " + whom + " equivocated");
  EXPECT_EQ(Difference(all, other), "it holds another message of one sender than came here");
}

// Seal A has two entries a member; both are the same member's.
TEST(DifferenceTest, BothEntriesOfAMemberNameIt) {
  SealVector less = AllPresent(10);
  less[5 + 2] = {};
  EXPECT_EQ(Difference(AllPresent(10), less), "it lacks a message of " + PeerNumber(2).Short());
}

TEST(DifferenceTest, BitmapsOfAnyLengthAreSafe) {
  const wire::Echo mine = EchoOf(AllPresent(5));
  for (const std::size_t length : {0u, 1u, 64u}) {
    wire::Echo theirs;
    theirs.present.assign(length, 0xff);
    theirs.equivocated.assign(length, 0xff);
    EXPECT_NE(DifferenceOf(mine, theirs, 5, PeersUpTo(5)), "");
  }
}

// A byte of a bitmap has room for the three entries of three members, and for three more.
TEST(DifferenceTest, PaddingBitsAreNoEntries) {
  const wire::Echo mine = EchoOf(AllPresent(3));
  wire::Echo theirs = mine;
  theirs.present[0] = 0xff;
  theirs.equivocated[0] = 0xf8;
  EXPECT_EQ(DifferenceOf(mine, theirs, 3, PeersUpTo(3)),
            "it holds another message of one sender than came here");
}

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
}  // namespace ostraka::protocol::seal_vector_test

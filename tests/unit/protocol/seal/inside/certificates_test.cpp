#include "node/protocol/seal/inside/certificates.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/protocol/seal/inside/parts_fixture.h"

namespace ostraka::protocol::certificates_test {
namespace {

using parts::FrameOf;
using scene::DigestOf;
using scene::PeerNumber;
using wire::MessageType;

constexpr std::size_t kQuorum = 3;

class SealCertificatesTest : public testing::Test {
 protected:
  void Echo(std::uint32_t member, std::uint64_t value) {
    certificates_.AddEcho(PeerNumber(member), DigestOf(value), FrameOf(1));
  }
  void Vote(std::uint32_t k, std::uint32_t member, std::uint64_t value) {
    certificates_.AddVote(k, PeerNumber(member), DigestOf(value), FrameOf(2));
  }
  bool Lock(std::uint32_t k, std::uint32_t member, std::uint64_t value, std::uint32_t current = 5) {
    return certificates_.AddLock(k, PeerNumber(member), DigestOf(value), FrameOf(3), current);
  }
  std::size_t Count(std::uint32_t rank, std::uint64_t value) const {
    return certificates_.SignersOf({rank, DigestOf(value)}).size();
  }

  SealCertificates certificates_{kQuorum};
};

TEST_F(SealCertificatesTest, EqualEchoesOfAQuorumCertifyAndOfAllUnmutedDecide) {
  for (std::uint32_t i = 0; i < 3; ++i) Echo(i, 7);
  EXPECT_TRUE(certificates_.IsCertified({1, DigestOf(7)}));
  EXPECT_EQ(certificates_.HighestCertified(), (SealLock{1, DigestOf(7)}));
  EXPECT_EQ(certificates_.Decided(4), std::nullopt) << "a quorum alone decides nothing";
  Echo(3, 7);
  ASSERT_TRUE(certificates_.Decided(4));
  EXPECT_EQ(certificates_.Decided(4)->value, DigestOf(7));
  EXPECT_EQ(certificates_.Decided(4)->signers.size(), 4u);
}

TEST_F(SealCertificatesTest, AllOfFewerThanAQuorumDecideNothing) {
  Echo(0, 7);
  Echo(1, 7);
  EXPECT_EQ(certificates_.Decided(2), std::nullopt);
}

TEST_F(SealCertificatesTest, LocksOfAQuorumDecideInOneIterationAlone) {
  Lock(5, 0, 7);
  Lock(5, 1, 7);
  Lock(6, 2, 7);
  EXPECT_EQ(certificates_.Decided(5), std::nullopt);
  EXPECT_TRUE(Lock(5, 2, 7));
  EXPECT_FALSE(Lock(5, 2, 7));
  EXPECT_EQ(certificates_.Decided(5)->value, DigestOf(7));
}

// A two-faced member must not be able to hide the ballot on which another member's lock rests.
TEST_F(SealCertificatesTest, AFurtherBallotIsKeptIfALockMayRestOnIt) {
  Vote(2, 0, 7);
  Vote(2, 0, 8);
  EXPECT_EQ(Count(3, 8), 0u);
  certificates_.Name({3, DigestOf(9)}, 3);
  Vote(2, 0, 9);
  EXPECT_EQ(Count(3, 9), 1u) << "some member claims the lock, or some proposal is for it";
  Lock(2, 1, 10);
  Vote(2, 0, 10);
  EXPECT_EQ(Count(3, 10), 1u) << "some member has sent the LOCK";
  certificates_.Raise({3, DigestOf(11)}, 2);
  Vote(2, 0, 11);
  EXPECT_EQ(Count(3, 11), 1u) << "the own lock";
}

TEST_F(SealCertificatesTest, AFurtherEchoIsKeptForTheLeadingAndForTheOwnValue) {
  Echo(0, 7);
  Echo(1, 7);
  Echo(2, 8);
  Echo(2, 9);
  EXPECT_EQ(Count(1, 9), 0u);
  certificates_.Name({1, DigestOf(9)}, UINT32_MAX);
  Echo(2, 9);
  EXPECT_EQ(Count(1, 9), 1u);
  EXPECT_EQ(certificates_.LeadingEcho(), DigestOf(7));
  Echo(2, 7);
  EXPECT_EQ(Count(1, 7), 3u);
}

TEST_F(SealCertificatesTest, TheOwnLockRises) {
  certificates_.Raise({2, DigestOf(7)}, 4);
  certificates_.Raise({2, DigestOf(8)}, 4);
  certificates_.Raise({1, DigestOf(9)}, 4);
  EXPECT_EQ(certificates_.lock(), (SealLock{2, DigestOf(7)}));
  for (std::uint32_t i = 0; i < 3; ++i) Vote(4, i, 6);
  for (std::uint32_t i = 0; i < 3; ++i) Vote(3, i, 6);
  certificates_.LockOn({5, DigestOf(6)}, 4);
  EXPECT_EQ(certificates_.lock(), (SealLock{5, DigestOf(6)}));
  EXPECT_DEATH(certificates_.LockOn({6, DigestOf(6)}, 4), "CHECK failed") << "not certified";
  EXPECT_DEATH(certificates_.LockOn({4, DigestOf(6)}, 4), "CHECK failed") << "a lower rank";
}

TEST_F(SealCertificatesTest, OldBallotsGoButForThoseOfTheOwnLock) {
  Echo(0, 7);
  for (std::uint32_t i = 0; i < 3; ++i) {
    Vote(1, i, 6);
    Vote(2, i, 6);
    Vote(3, i, 6);
  }
  Vote(1, 3, 5);
  certificates_.LockOn({2, DigestOf(6)}, 3);
  certificates_.Name({3, DigestOf(77)}, 3);
  certificates_.Forget(4);
  certificates_.CheckInvariants(4);
  EXPECT_EQ(Count(1, 7), 1u) << "ECHOs stay";
  EXPECT_EQ(Count(2, 6), 3u) << "the own lock's certificate";
  EXPECT_EQ(Count(2, 5), 0u) << "but no other ballot of its iteration";
  EXPECT_EQ(Count(3, 6), 0u);
  EXPECT_EQ(Count(4, 6), 3u) << "the iteration before";
  EXPECT_FALSE(certificates_.IsNeeded(2, DigestOf(77))) << "its name ended";
}

TEST_F(SealCertificatesTest, AFurtherBallotGoesWithTheNameThatNeededIt) {
  Echo(0, 7);
  Echo(1, 7);
  Vote(4, 0, 6);
  certificates_.Name({1, DigestOf(8)}, 5);
  certificates_.Name({5, DigestOf(8)}, 5);
  Echo(0, 8);
  Vote(4, 0, 8);
  certificates_.Forget(5);
  EXPECT_EQ(Count(1, 8), 1u);
  EXPECT_EQ(Count(5, 8), 1u);
  certificates_.Forget(6);
  certificates_.CheckInvariants(6);
  EXPECT_EQ(Count(1, 8), 0u);
  EXPECT_EQ(Count(1, 7), 2u) << "first ECHOs stay";
  EXPECT_EQ(Count(5, 8), 0u);
  EXPECT_EQ(Count(5, 6), 0u) << "its iteration has left the window";
}

TEST_F(SealCertificatesTest, AVoteGoesWithTheLastLockFrameThatNeededIt) {
  for (std::uint32_t k = 100; k < 200; ++k) {
    EXPECT_TRUE(Lock(k, 1, k));
    Vote(k, 1, k);
    certificates_.CheckInvariants(5);
  }
  EXPECT_EQ(certificates_.Frames(MessageType::kLock).size(), Locks::kLocksOfOne);
  EXPECT_EQ(certificates_.Frames(MessageType::kVote).size(), Locks::kLocksOfOne);
}

TEST_F(SealCertificatesTest, AFormerOwnLockNeedsItsBallotsNoMore) {
  for (std::uint32_t i = 0; i < 3; ++i) Vote(4, i, 6);
  certificates_.Raise({1, DigestOf(8)}, 4);
  Echo(0, 7);
  Echo(1, 7);
  Echo(0, 8);
  EXPECT_EQ(Count(1, 8), 1u);
  certificates_.LockOn({5, DigestOf(6)}, 4);
  EXPECT_EQ(Count(1, 8), 0u);
  certificates_.CheckInvariants(4);
}

// The lowest of equals leads. Liars whose ECHOs come first, each with a lower value, all lead once;
// each time every one of them added an ECHO for that value.
TEST_F(SealCertificatesTest, AFurtherEchoForAValueThatLedGoes) {
  constexpr std::uint32_t kLiars = 40;
  std::set<Digest> values;
  for (std::uint32_t i = 0; i < kLiars; ++i) values.insert(DigestOf(i));
  std::uint32_t first = 0;
  for (auto value = values.rbegin(); value != values.rend(); ++value, ++first) {
    certificates_.AddEcho(PeerNumber(first), *value, FrameOf(1));
    EXPECT_EQ(certificates_.LeadingEcho(), *value);
    for (std::uint32_t i = 0; i < first; ++i) {
      certificates_.AddEcho(PeerNumber(i), *value, FrameOf(2));
    }
    certificates_.CheckInvariants(0);
  }
  EXPECT_LE(certificates_.Frames(MessageType::kEcho).size(), 2 * kLiars);
}

TEST_F(SealCertificatesTest, NoBallotsCertifyRankZero) {
  certificates_.AddVote(UINT32_MAX, PeerNumber(0), DigestOf(7), FrameOf(2));
  EXPECT_EQ(Count(0, 7), 0u);
}

TEST_F(SealCertificatesTest, FramesAreOfOneType) {
  Echo(0, 7);
  Echo(1, 8);
  Vote(1, 0, 7);
  Lock(1, 2, 7);
  EXPECT_EQ(certificates_.Frames(MessageType::kEcho).size(), 2u);
  EXPECT_EQ(certificates_.Frames(MessageType::kVote).size(), 1u);
  ASSERT_EQ(certificates_.Frames(MessageType::kLock).size(), 1u);
  EXPECT_EQ(certificates_.Frames(MessageType::kLock)[0].sender, PeerNumber(2));
}

}  // namespace
}  // namespace ostraka::protocol::certificates_test

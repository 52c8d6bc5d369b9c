#include "node/protocol/seal/inside/certificates.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/seal/inside/parts_fixture.h"

namespace ostraka::protocol {
namespace {

using parts::FrameOf;
using scene::DigestOf;
using scene::PeerNumber;
using wire::MessageType;

constexpr std::size_t kQuorum = 3;

class SealCertificatesTest : public testing::Test {
 protected:
  void Echo(std::uint32_t member, std::uint64_t value, bool wanted = false) {
    certificates_.AddEcho(PeerNumber(member), DigestOf(value), FrameOf(1), wanted);
  }
  void Vote(std::uint32_t k, std::uint32_t member, std::uint64_t value, bool wanted = false) {
    certificates_.AddVote(k, PeerNumber(member), DigestOf(value), FrameOf(2), wanted);
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
  certificates_.AddLock(5, PeerNumber(0), DigestOf(7), FrameOf(1));
  certificates_.AddLock(5, PeerNumber(1), DigestOf(7), FrameOf(1));
  certificates_.AddLock(6, PeerNumber(2), DigestOf(7), FrameOf(1));
  EXPECT_EQ(certificates_.Decided(5), std::nullopt);
  EXPECT_TRUE(certificates_.AddLock(5, PeerNumber(2), DigestOf(7), FrameOf(1)));
  EXPECT_FALSE(certificates_.AddLock(5, PeerNumber(2), DigestOf(7), FrameOf(1)));
  EXPECT_EQ(certificates_.Decided(5)->value, DigestOf(7));
}

// A two-faced member must not be able to hide the ballot on which another member's lock rests.
TEST_F(SealCertificatesTest, AFurtherBallotIsKeptIfALockMayRestOnIt) {
  Vote(2, 0, 7);
  Vote(2, 0, 8);
  EXPECT_EQ(Count(3, 8), 0u);
  Vote(2, 0, 8, true);
  EXPECT_EQ(Count(3, 8), 1u) << "some proposal is for it";
  certificates_.Claim({3, DigestOf(9)});
  Vote(2, 0, 9);
  EXPECT_EQ(Count(3, 9), 1u) << "some member claims the lock";
  certificates_.AddLock(2, PeerNumber(1), DigestOf(10), FrameOf(1));
  Vote(2, 0, 10);
  EXPECT_EQ(Count(3, 10), 1u) << "some member has sent the LOCK";
  certificates_.Raise({3, DigestOf(11)});
  Vote(2, 0, 11);
  EXPECT_EQ(Count(3, 11), 1u) << "the own lock";
}

TEST_F(SealCertificatesTest, AFurtherEchoIsKeptForTheLeadingAndForTheOwnValue) {
  Echo(0, 7);
  Echo(1, 7);
  Echo(2, 8);
  Echo(2, 9);
  EXPECT_EQ(Count(1, 9), 0u);
  Echo(2, 9, true);
  EXPECT_EQ(Count(1, 9), 1u);
  EXPECT_EQ(certificates_.LeadingEcho(), DigestOf(7));
  Echo(2, 7);
  EXPECT_EQ(Count(1, 7), 3u);
}

TEST_F(SealCertificatesTest, TheOwnLockRises) {
  certificates_.Raise({2, DigestOf(7)});
  certificates_.Raise({2, DigestOf(8)});
  certificates_.Raise({1, DigestOf(9)});
  EXPECT_EQ(certificates_.lock(), (SealLock{2, DigestOf(7)}));
  for (std::uint32_t i = 0; i < 3; ++i) Vote(4, i, 6);
  certificates_.Hold({5, DigestOf(6)});
  EXPECT_EQ(certificates_.lock(), (SealLock{5, DigestOf(6)}));
  EXPECT_DEATH(certificates_.Hold({6, DigestOf(6)}), "CHECK failed") << "not certified";
}

TEST_F(SealCertificatesTest, OldBallotsGoButForThoseOfTheOwnLock) {
  Echo(0, 7);
  for (std::uint32_t i = 0; i < 3; ++i) {
    Vote(1, i, 6);
    Vote(2, i, 6);
    Vote(3, i, 6);
  }
  Vote(1, 3, 5);
  certificates_.Hold({2, DigestOf(6)});
  certificates_.Claim({3, DigestOf(77)});
  certificates_.Forget(4);
  certificates_.CheckInvariants();
  EXPECT_EQ(Count(1, 7), 1u) << "ECHOs stay";
  EXPECT_EQ(Count(2, 6), 3u) << "the own lock's certificate";
  EXPECT_EQ(Count(2, 5), 0u) << "but no other ballot of its iteration";
  EXPECT_EQ(Count(3, 6), 0u);
  EXPECT_EQ(Count(4, 6), 3u) << "the iteration before";
  EXPECT_FALSE(certificates_.IsNeeded(2, DigestOf(77))) << "claims end with their iteration";
}

TEST_F(SealCertificatesTest, FramesAreOfOneType) {
  Echo(0, 7);
  Echo(1, 8);
  Vote(1, 0, 7);
  certificates_.AddLock(1, PeerNumber(2), DigestOf(7), FrameOf(3));
  EXPECT_EQ(certificates_.Frames(MessageType::kEcho).size(), 2u);
  EXPECT_EQ(certificates_.Frames(MessageType::kVote).size(), 1u);
  ASSERT_EQ(certificates_.Frames(MessageType::kLock).size(), 1u);
  EXPECT_EQ(certificates_.Frames(MessageType::kLock)[0].sender, PeerNumber(2));
}

}  // namespace
}  // namespace ostraka::protocol

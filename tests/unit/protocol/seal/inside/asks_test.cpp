#include "node/protocol/seal/inside/asks.h"

#include <gtest/gtest.h>

#include "node/wire/bitmap.h"
#include "node/wire/limits.h"
#include "tests/unit/protocol/seal/inside/parts_fixture.h"

namespace ostraka::protocol::asks_test {
namespace {

using parts::At;
using parts::FiveMembers;
using scene::DigestOf;
using scene::PeerNumber;
using wire::MessageType;
using wire::PullKind;

// Two of five may be faulty: three sources are asked at once.
class SealAsksTest : public testing::Test {
 protected:
  std::vector<PeerId> Send(const SealLacks& lacks, bool slow = true) {
    asked_.clear();
    more_ = asks_.Send(lacks, slow, asked_);
    std::vector<PeerId> to;
    for (const SealAsk& ask : asked_) to.push_back(ask.to);
    return to;
  }
  SealLacks LackOf(const SealLack& lack) const {
    SealLacks lacks;
    lacks.sources[lack] = scene::PeersUpTo(5);
    return lacks;
  }

  const SealSetup setup_{FiveMembers()};
  SealAsks asks_{setup_};
  std::vector<SealAsk> asked_;
  bool more_ = false;
};

TEST_F(SealAsksTest, AnHonestSourceIsAmongThoseAskedAtOnceAndEachIsAskedOnce) {
  const SealLacks lacks = LackOf({PullKind::kVector, MessageType::kBoot, 0, DigestOf(5)});
  EXPECT_EQ(Send(lacks), (std::vector<PeerId>{PeerNumber(1), PeerNumber(2), PeerNumber(3)}));
  EXPECT_TRUE(more_);
  EXPECT_EQ(asked_[0].pull.kind, PullKind::kVector);
  EXPECT_EQ(asked_[0].pull.digests, std::vector<Digest>{DigestOf(5)});
  EXPECT_EQ(Send(lacks), std::vector<PeerId>{PeerNumber(4)});
  EXPECT_FALSE(more_);
  EXPECT_TRUE(Send(lacks).empty());
  asks_.Restart();
  EXPECT_EQ(Send(lacks).size(), 3u);
}

TEST_F(SealAsksTest, EchoesAndClosesAreAskedOfAllEachTimeUntilTheSlowPath) {
  for (const MessageType type : {MessageType::kEcho, MessageType::kClose}) {
    const SealLacks lacks = LackOf({PullKind::kMessages, type, 2, {}});
    EXPECT_EQ(Send(lacks, false).size(), 4u);
    EXPECT_EQ(Send(lacks, false).size(), 4u);
    EXPECT_EQ(asked_[0].pull.type, type);
    EXPECT_EQ(asked_[0].pull.members, wire::BitmapOf({PeerNumber(2)}, setup_.members()));
    EXPECT_EQ(Send(lacks, true).size(), 4u);
    EXPECT_TRUE(Send(lacks, true).empty());
    EXPECT_FALSE(more_);
  }
  // The ECHOs that certify a lock: its claimants have them.
  EXPECT_EQ(Send(LackOf({PullKind::kMessages, MessageType::kEcho, 2, DigestOf(5)})).size(), 3u);
}

TEST_F(SealAsksTest, LacksOfOneSourceShareRequestsWithinTheLimitOfTheWire) {
  SealLacks lacks;
  for (std::size_t i = 0; i <= wire::kMaxPullDigests; ++i) {
    lacks.sources[{PullKind::kDigests, MessageType::kBoot, 0, DigestOf(i)}] = {PeerNumber(1)};
  }
  lacks.sources[{PullKind::kMessages, MessageType::kVote, 1, DigestOf(5)}] = {PeerNumber(1)};
  lacks.sources[{PullKind::kMessages, MessageType::kVote, 3, DigestOf(5)}] = {PeerNumber(1)};
  ASSERT_EQ(Send(lacks).size(), 3u);
  EXPECT_EQ(asked_[0].pull.digests.size(), wire::kMaxPullDigests);
  EXPECT_EQ(asked_[1].pull.digests.size(), 1u);
  EXPECT_EQ(asked_[2].pull.members,
            wire::BitmapOf({PeerNumber(1), PeerNumber(3)}, setup_.members()));
}

TEST_F(SealAsksTest, TheNextLookIsTheEarliestAndSendingClearsIt) {
  asks_.LookAt(At(500));
  asks_.LookAt(At(900));
  EXPECT_FALSE(asks_.IsDue(At(499)));
  EXPECT_TRUE(asks_.IsDue(At(500)));
  Send({});
  EXPECT_EQ(asks_.next_look(), std::nullopt);
  SealLacks lacks;
  lacks.later = At(700);
  Send(lacks);
  EXPECT_EQ(asks_.next_look(), At(700));
}

}  // namespace
}  // namespace ostraka::protocol::asks_test

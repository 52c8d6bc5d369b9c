#include "node/protocol/recording/said.h"

#include <gtest/gtest.h>

#include "node/wire/codec.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::said_test {
namespace {

using scene::DigestOf;

class SaidTest : public testing::Test {
 protected:
  template <typename Body>
  wire::SignedEnvelope Sign(wire::MessageType type, wire::Phase phase, const Body& body,
                            std::uint64_t step, std::uint32_t draw = 0) const {
    wire::Slot slot;
    slot.step = step;
    slot.phase = phase;
    slot.type = type;
    slot.draw = draw;
    return wire::Seal({slot, {}, key_->id(), wire::Encode(body)}, *key_);
  }
  wire::SignedEnvelope Add(const wire::SignedEnvelope& message) {
    EXPECT_TRUE(said_.Add(key_->id(), *message.frame).ok());
    return message;
  }

  std::shared_ptr<const crypto::SigningKey> key_ = scene::SortedKeys(2)[0];
  Said said_;
};

TEST_F(SaidTest, GivesWhatWasSent) {
  wire::Commit commit;
  commit.coins_root = DigestOf(1);
  commit.coin_count = 3;
  const auto message = Add(Sign(wire::MessageType::kCommit, wire::Phase::kA, commit, 5));
  wire::Reveal reveal;
  reveal.opening.coin = {DigestOf(2), DigestOf(3)};
  Add(Sign(wire::MessageType::kReveal, wire::Phase::kB, reveal, 5, 1));
  wire::Boot boot;
  boot.boot_id = DigestOf(4);
  Add(Sign(wire::MessageType::kBoot, wire::Phase::kGenesis, boot, 0));
  wire::Rejoin rejoin;
  rejoin.nonce = DigestOf(6);
  Add(Sign(wire::MessageType::kRejoin, wire::Phase::kC, rejoin, 7));
  EXPECT_EQ(said_.SignatureOf(message.digest), message.signature);
  EXPECT_EQ(said_.CoinsRoot(5), DigestOf(1));
  EXPECT_EQ(said_.Opening(5, 1).coin.salt, DigestOf(3));
  EXPECT_EQ(said_.BootNonce(), DigestOf(4));
  EXPECT_EQ(said_.RejoinNonce(7), DigestOf(6));
  EXPECT_FALSE(said_.lacks());
}

TEST_F(SaidTest, ASignatureThatWasNotSentIsNoneThatVerifiesAndLacksNothing) {
  const crypto::Signature none = said_.SignatureOf(DigestOf(9));
  EXPECT_NE(none, crypto::Signature{});
  EXPECT_FALSE(crypto::PlainVerifier().Verify(key_->id(), DigestOf(9), none));
  EXPECT_FALSE(said_.lacks());
}

TEST_F(SaidTest, ContentThatWasNotSentIsTold) {
  EXPECT_TRUE(said_.CoinsRoot(5).is_zero());
  EXPECT_TRUE(said_.lacks());
}

TEST_F(SaidTest, RefusesFramesOfOthersAndGarbage) {
  wire::Commit commit;
  commit.coin_count = 3;
  const auto message = Sign(wire::MessageType::kCommit, wire::Phase::kA, commit, 5);
  EXPECT_FALSE(said_.Add(scene::PeerNumber(3), *message.frame).ok());
  EXPECT_FALSE(said_.Add(key_->id(), {1, 2, 3}).ok());
}

}  // namespace
}  // namespace ostraka::protocol::said_test

#include "node/protocol/lasting/genesis_seal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "node/wire/codec.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::genesis_seal_test {
namespace {

using scene::DigestOf;
using scene::KeyNumber;
using wire::MessageType;
using wire::Phase;

constexpr std::uint32_t kMembers = 5;

class GenesisSealTest : public testing::Test {
 protected:
  GenesisSealTest() {
    auto head = std::make_shared<Block>();
    head->genesis = true;
    for (std::uint32_t i = 0; i < kMembers; ++i) head->members.push_back(IdOf(i));
    std::sort(head->members.begin(), head->members.end());
    head->thresholds = {.n = kMembers, .t_s = 1, .t_a = 1};
    head_ = head;
    seal_.emplace(IdOf(0), DigestOf(9), head_, inbox_);
  }
  static PeerId IdOf(std::uint32_t number) { return KeyNumber(number)->id(); }

  wire::SharedMessage Message(std::uint32_t from, Phase phase, MessageType type, base::Bytes body,
                              const Digest& parent = {}) {
    const wire::Slot slot{.run_id = DigestOf(9),
                          .incarnation = 0,
                          .step = 0,
                          .phase = phase,
                          .type = type,
                          .draw = 0,
                          .iteration = 0};
    return wire::Share(wire::Seal({slot, parent, IdOf(from), std::move(body)}, *KeyNumber(from)));
  }
  void Boot(std::uint32_t from, int store = 0) {
    auto boot = Message(from, Phase::kGenesis, MessageType::kBoot,
                        wire::Encode(wire::Boot{DigestOf(100 + store)}));
    if (seal_->Wants(boot->envelope)) inbox_.Replace(boot);
  }
  void Echo(std::uint32_t from, const wire::Echo& echo) {
    auto message = Message(from, Phase::kGenesis, MessageType::kEcho, wire::Encode(echo));
    if (seal_->Wants(message->envelope)) inbox_.Replace(message);
  }
  void Commit(std::uint32_t from, const Digest& block) {
    inbox_.Add(Message(from, Phase::kA, MessageType::kCommit, {1}, block), nullptr);
  }
  wire::Echo EchoHere() {
    for (std::uint32_t i = 0; i < kMembers; ++i) Boot(i);
    for (std::uint32_t i = 1; i < kMembers; ++i) seal_->OnWaiting(IdOf(i));
    const wire::Echo echo = seal_->TryEcho().value();
    seal_->OnOwnEcho(echo);
    return echo;
  }

  SharedBlock head_;
  Inbox inbox_;
  std::optional<GenesisSeal> seal_;
};

TEST_F(GenesisSealTest, NoEchoBeforeEachOtherMemberSaysThatItWaits) {
  for (std::uint32_t i = 0; i < kMembers; ++i) Boot(i);
  for (std::uint32_t i = 1; i + 1 < kMembers; ++i) seal_->OnWaiting(IdOf(i));
  seal_->OnWaiting(IdOf(77));  // no member
  EXPECT_FALSE(seal_->TryEcho());
  ASSERT_EQ(seal_->MissingNow().size(), 1u);
  EXPECT_EQ(seal_->MissingNow()[0].type, MessageType::kBlock);
  seal_->OnWaiting(IdOf(kMembers - 1));
  EXPECT_TRUE(seal_->TryEcho());
  seal_->OnLinkDown(IdOf(2));
  EXPECT_FALSE(seal_->TryEcho());
}

TEST_F(GenesisSealTest, NoEchoBeforeEachBootIsThere) {
  for (std::uint32_t i = 1; i < kMembers; ++i) {
    Boot(i);
    seal_->OnWaiting(IdOf(i));
  }
  EXPECT_FALSE(seal_->TryEcho());
  ASSERT_EQ(seal_->MissingNow().size(), 1u);
  EXPECT_EQ(seal_->MissingNow()[0].sender, IdOf(0));
}

TEST_F(GenesisSealTest, RunBeginsWhenAllHaveEchoedAlike) {
  const wire::Echo echo = EchoHere();
  for (std::uint32_t i = 0; i + 1 < kMembers; ++i) Echo(i, echo);
  EXPECT_FALSE(seal_->Begins());
  wire::Echo other = echo;
  other.vector = DigestOf(5);
  Echo(kMembers - 1, other);
  EXPECT_FALSE(seal_->Begins());
  Echo(kMembers - 1, echo);  // its newest counts until it equals the own one
  EXPECT_TRUE(seal_->Begins());
  Echo(kMembers - 1, other);
  EXPECT_TRUE(seal_->Begins());
  EXPECT_TRUE(seal_->block()->genesis);
  EXPECT_FALSE(seal_->block()->decision.is_zero());
}

TEST_F(GenesisSealTest, BootOfAnotherStoreDoesNotCountAfterTheEcho) {
  EchoHere();
  const Inbox::Place boots{0, Phase::kGenesis, MessageType::kBoot, 0, 0};
  const Digest before = inbox_.Find(boots, IdOf(2))->message->digest;
  Boot(2, 1);
  EXPECT_EQ(inbox_.Find(boots, IdOf(2))->message->digest, before);
}

// A carrier of two members that only dial can show one of them the BOOT of a store that the other
// one has lost. The run then does not begin, and begins with nothing else (docs/decisions/0024).
TEST_F(GenesisSealTest, WhereTheBootOfALostStoreIsShownNothingBegins) {
  for (std::uint32_t i = 0; i < kMembers; ++i) Boot(i);
  for (std::uint32_t i = 1; i < kMembers; ++i) seal_->OnWaiting(IdOf(i));
  Boot(1, 1);
  const wire::Echo newer = seal_->TryEcho().value();
  Boot(1, 0);
  const wire::Echo older = seal_->TryEcho().value();
  EXPECT_NE(newer.vector, older.vector);
  seal_->OnOwnEcho(older);
  for (std::uint32_t i = 1; i < kMembers; ++i) Echo(i, newer);
  EXPECT_FALSE(seal_->Begins());
  EXPECT_EQ(seal_->MissingNow().size(), kMembers) << "it waits for ECHOs that agree with its own";
  EXPECT_FALSE(seal_->BegunWithout());
}

TEST_F(GenesisSealTest, MoreThanTheFaultBoundThatBeganAlikeAreEnough) {
  EchoHere();
  const Digest block = wire::BlockDigest(*seal_->block());
  Commit(1, block);
  EXPECT_FALSE(seal_->Begins());
  Commit(2, block);
  EXPECT_TRUE(seal_->Begins());
  EXPECT_FALSE(seal_->BegunWithout());
}

TEST_F(GenesisSealTest, OneLiarsBlockMakesNobodyLeave) {
  Commit(1, DigestOf(50));
  EXPECT_FALSE(seal_->BegunWithout());
  Commit(2, DigestOf(51));
  EXPECT_TRUE(seal_->BegunWithout());
}

TEST_F(GenesisSealTest, OnlyAnEchoThatEqualsTheOwnOneCountsWhenPassedOn) {
  const auto boot = Message(1, Phase::kGenesis, MessageType::kBoot, wire::Encode(wire::Boot{}));
  EXPECT_FALSE(seal_->CountsIfRelayed(*boot));
  const wire::Echo echo = EchoHere();
  EXPECT_FALSE(seal_->CountsIfRelayed(*boot));
  const auto same = Message(1, Phase::kGenesis, MessageType::kEcho, wire::Encode(echo));
  EXPECT_TRUE(seal_->CountsIfRelayed(*same));
  wire::Echo changed = echo;
  changed.vector = DigestOf(5);
  const auto other = Message(1, Phase::kGenesis, MessageType::kEcho, wire::Encode(changed));
  EXPECT_FALSE(seal_->CountsIfRelayed(*other));
}

TEST_F(GenesisSealTest, EchoesOfOthersAreShownToThirdMembers) {
  const wire::Echo echo = EchoHere();
  for (std::uint32_t i = 0; i < 3; ++i) Echo(i, echo);
  EXPECT_EQ(seal_->EchoesFor(IdOf(4)).size(), 2u);  // of 1 and 2: the own one went to all
  EXPECT_EQ(seal_->EchoesFor(IdOf(1)).size(), 1u);
  EXPECT_TRUE(seal_->EchoesFor(IdOf(0)).empty());
}

}  // namespace
}  // namespace ostraka::protocol::genesis_seal_test

#include "node/protocol/mail/signature_check.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::signature_check_test {
namespace {

using scene::DigestOf;
using scene::KeyNumber;

// Says what the test has it say, and counts how often it is asked.
class Oracle final : public crypto::Verifier {
 public:
  bool Verify(const PeerId&, const Digest&, const crypto::Signature&) override {
    ++asked;
    return good;
  }
  std::uint64_t asked = 0;
  bool good = true;
};

class SignatureCheckTest : public testing::Test {
 protected:
  SignatureCheckTest() { turn_.Begin(Time{}, out_); }
  static PeerId Link(std::uint32_t number) { return KeyNumber(number)->id(); }
  static wire::SignedEnvelope MessageOf(std::uint32_t signer) {
    const wire::Slot slot{.run_id = DigestOf(1),
                          .incarnation = 0,
                          .step = 3,
                          .phase = wire::Phase::kA,
                          .type = wire::MessageType::kCommit,
                          .draw = 0,
                          .iteration = 0};
    return wire::Seal({slot, DigestOf(2), KeyNumber(signer)->id(), {7}}, *KeyNumber(signer));
  }
  std::vector<Suspicion> Suspicions() {
    std::vector<Suspicion> seen;
    for (const Action& action : out_.actions()) {
      seen.push_back(std::get<Suspicion>(std::get<Observe>(action).what));
    }
    out_.actions().clear();
    return seen;
  }
  void After(base::Duration time) {
    turn_.End();
    turn_.Begin(turn_.now() + time, out_);
  }

  Outbox out_;
  Turn turn_;
  Journal journal_{KeyNumber(0), turn_};
  Voice voice_{KeyNumber(0)->id(), DigestOf(1), turn_, journal_};
  Ration ration_{1 << 20};
  std::shared_ptr<Oracle> oracle_ = std::make_shared<Oracle>();
  SignatureCheck check_{oracle_, ration_, turn_, voice_};
};

TEST_F(SignatureCheckTest, SignatureIsJudgedByItsSignersKey) {
  SignatureCheck check(std::make_shared<crypto::PlainVerifier>(), ration_, turn_, voice_);
  wire::SignedEnvelope message = MessageOf(1);
  EXPECT_TRUE(check.Verified(message, Link(2))) << "relayed";
  EXPECT_TRUE(Suspicions().empty());
  message.envelope.sender = KeyNumber(3)->id();
  EXPECT_FALSE(check.Verified(message, Link(2)));
}

TEST_F(SignatureCheckTest, ACredentialHasTwoSignaturesAndTakesTwoOfTheRation) {
  EXPECT_TRUE(check_.VerifiedCredential(DigestOf(1), {}, Link(2), Link(2)));
  EXPECT_EQ(oracle_->asked, 2u);
  for (std::uint64_t i = 2; i < Ration::kOddMessagesASecond; i += 2) {
    ASSERT_TRUE(check_.VerifiedCredential(DigestOf(1), {}, Link(2), Link(2))) << i;
  }
  const std::uint64_t asked = oracle_->asked;
  EXPECT_FALSE(check_.VerifiedCredential(DigestOf(1), {}, Link(2), Link(2)));
  EXPECT_EQ(oracle_->asked, asked) << "no signature beyond the ration";
}

TEST_F(SignatureCheckTest, AForgedCredentialCountsAsAForgery) {
  for (std::uint64_t i = 1; i < Ration::kForgeriesASecond; ++i) {
    ration_.CountForgery(turn_.now(), Link(2));
  }
  oracle_->good = false;
  ASSERT_TRUE(ration_.IsHeard(turn_.now(), Link(2)));
  EXPECT_FALSE(check_.VerifiedCredential(DigestOf(1), {}, Link(2), Link(2)));
  EXPECT_FALSE(ration_.IsHeard(turn_.now(), Link(2)));
}

TEST_F(SignatureCheckTest, LinkIsSuspectedAndNotTheSigner) {
  oracle_->good = false;
  EXPECT_FALSE(check_.Verified(MessageOf(1), Link(2)));
  const auto seen = Suspicions();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].peer, Link(2));
  EXPECT_EQ(seen[0].check, "signature");
}

TEST_F(SignatureCheckTest, LinkWithTooManyForgeriesIsNotHeardUntilTheSecondIsOver) {
  const auto message = MessageOf(1);
  oracle_->good = false;
  for (std::uint64_t i = 0; i < Ration::kForgeriesASecond; ++i) {
    EXPECT_FALSE(check_.Verified(message, Link(2)));
  }
  EXPECT_EQ(oracle_->asked, Ration::kForgeriesASecond) << "the last of its ration is looked at";
  oracle_->good = true;
  EXPECT_FALSE(check_.Verified(message, Link(2))) << "not heard";
  EXPECT_EQ(oracle_->asked, Ration::kForgeriesASecond) << "it costs nothing more";
  EXPECT_TRUE(check_.Verified(message, Link(3))) << "another link brings it";
  EXPECT_EQ(Suspicions().size(), Ration::kForgeriesASecond);
  After(base::Seconds(1));
  EXPECT_TRUE(check_.Verified(message, Link(2)));
}

TEST_F(SignatureCheckTest, OddMessagesHaveARationOfTheirOwn) {
  const auto message = MessageOf(1);
  for (std::uint64_t i = 0; i < Ration::kOddMessagesASecond; ++i) {
    EXPECT_TRUE(check_.VerifiedOdd(message, Link(2)));
  }
  EXPECT_FALSE(check_.VerifiedOdd(message, Link(2)));
  EXPECT_EQ(oracle_->asked, Ration::kOddMessagesASecond) << "refused unverified";
  EXPECT_TRUE(Suspicions().empty()) << "to pass on too many is no fault";
  EXPECT_TRUE(check_.Verified(message, Link(2)))
      << "messages that matter are verified all the same";
  EXPECT_TRUE(check_.VerifiedOdd(message, Link(3)));
  After(base::Seconds(1));
  EXPECT_TRUE(check_.VerifiedOdd(message, Link(2)));
}

}  // namespace
}  // namespace ostraka::protocol::signature_check_test

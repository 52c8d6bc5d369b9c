#include "sim/setup/arrivals.h"

#include <gtest/gtest.h>

#include <set>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/protocol/ground/invite.h"

namespace ostraka::sim::arrivals_test {
namespace {

SimOptions Options() {
  SimOptions options;
  options.peers = 8;
  options.byzantine = 1;
  options.comes = 2;
  options.intruders = 2;
  options.forgers = 7;
  options.steps = 40;
  return options;
}

Keys Guests(std::size_t count) {
  Keys keys;
  for (std::size_t i = 0; i < count; ++i) {
    base::Bytes seed(crypto::SigningKey::kSeedSize, static_cast<std::uint8_t>(i + 1));
    keys.push_back(std::make_shared<const crypto::SigningKey>(crypto::SigningKey::FromSeed(seed)));
  }
  return keys;
}

const base::Digest kRun = crypto::Hash(crypto::kDomainManifest, base::AsBytes("a run"));

class ArrivalsTest : public testing::Test {
 protected:
  bool IsGood(std::size_t guest) const {
    const auto credential = gatehouse_.CredentialOf(kRun, guest);
    crypto::PlainVerifier verifier;
    return credential && protocol::IsSigned(kRun, *credential, guests_[guest]->id(), verifier) &&
           credential->invite.moderator == gatehouse_.Plan().moderators.front();
  }

  const Keys guests_ = Guests(11);
  const Gatehouse gatehouse_{base::Rng(3), Options(), guests_};
};

TEST_F(ArrivalsTest, HonestKeysHaveAnInviteOrAreListed) {
  EXPECT_TRUE(IsGood(0));
  EXPECT_EQ(gatehouse_.CredentialOf(kRun, 0)->invite.uses, 1u);
  EXPECT_FALSE(gatehouse_.CredentialOf(kRun, 1));
  EXPECT_EQ(gatehouse_.Plan().allow, std::vector<base::PeerId>{guests_[1]->id()});
}

TEST_F(ArrivalsTest, IntrudersShareOneInvite) {
  EXPECT_TRUE(IsGood(2));
  EXPECT_TRUE(IsGood(3));
  const auto first = gatehouse_.CredentialOf(kRun, 2);
  const auto second = gatehouse_.CredentialOf(kRun, 3);
  EXPECT_EQ(protocol::InviteDigest(kRun, first->invite),
            protocol::InviteDigest(kRun, second->invite));
  EXPECT_EQ(first->invite.uses, 2u);
}

TEST_F(ArrivalsTest, ForgersShowWhatIsNoGood) {
  EXPECT_FALSE(IsGood(4)) << "no moderator signed it";
  EXPECT_TRUE(IsGood(5));
  EXPECT_TRUE(IsGood(6));
  EXPECT_EQ(gatehouse_.CredentialOf(kRun, 5)->invite.holder,
            gatehouse_.CredentialOf(kRun, 6)->invite.holder)
      << "one use for two";
  EXPECT_TRUE(IsGood(7));
  EXPECT_LE(gatehouse_.CredentialOf(kRun, 7)->invite.ends_step, 1u);
  EXPECT_FALSE(IsGood(8)) << "another key's";
  EXPECT_TRUE(IsGood(9)) << "revoked, which the credential does not show";
  EXPECT_TRUE(IsGood(10));
  EXPECT_EQ(gatehouse_.CredentialOf(kRun, 10)->invite.kind, wire::InviteKind::kObserve);
  std::vector<std::uint32_t> uses;
  for (const Entitlement& one : gatehouse_.Entitlements()) uses.push_back(one.uses);
  EXPECT_EQ(uses, (std::vector<std::uint32_t>{1, 1, 2, 2, 0, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(gatehouse_.Entitlements()[7].ends_step, 1u);
  EXPECT_EQ(gatehouse_.Entitlements()[2].ends_step, UINT64_MAX);
}

TEST_F(ArrivalsTest, TheModeratorRevokesOneInviteAndAttackersForgeTheRest) {
  crypto::PlainVerifier verifier;
  const auto revoked = gatehouse_.Revocations(kRun);
  ASSERT_EQ(revoked.size(), 1u);
  EXPECT_EQ(revoked[0].invite, gatehouse_.CredentialOf(kRun, 9)->invite);
  EXPECT_TRUE(protocol::IsSigned(kRun, revoked[0], verifier));
  const auto forged = gatehouse_.ForgedRevocations(kRun);
  EXPECT_EQ(forged.size(), 6u) << "all; of 0, 2, 3, 5 and 6";
  for (const wire::Revocation& one : forged) {
    EXPECT_EQ(one.moderator, gatehouse_.Plan().moderators.front());
    EXPECT_FALSE(protocol::IsSigned(kRun, one, verifier));
  }
}

TEST_F(ArrivalsTest, AllStartInTheFirstThirdAtTimesOfTheirOwn) {
  std::set<std::int64_t> times;
  const SimOptions options = Options();
  for (const base::Time start : gatehouse_.starts()) {
    times.insert(start.ns);
    EXPECT_GE(start.ns, base::Milliseconds(300).ns);
    EXPECT_LE(start.ns, base::Milliseconds(300).ns + options.delay_max.ns * 8 * 40 / 3);
  }
  EXPECT_EQ(times.size(), guests_.size());
}

TEST(GatehouseTest, ARunWithoutGuestsIsClosed) {
  SimOptions options;
  const Gatehouse gatehouse(base::Rng(1), options, {});
  EXPECT_EQ(gatehouse.Plan().policy, protocol::JoinPolicy::kClosed);
}

}  // namespace
}  // namespace ostraka::sim::arrivals_test

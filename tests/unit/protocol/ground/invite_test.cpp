// What the two signatures of a credential bind.
#include "node/protocol/ground/invite.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::invite_test {
namespace {

using scene::DigestOf;
using scene::KeyNumber;

class InviteTest : public testing::Test {
 protected:
  InviteTest() {
    invite_ = {.moderator = moderator_->id(), .holder = holder_->id(), .uses = 3, .ends_step = 900};
    by_moderator_ = SignInvite(run_, invite_, *moderator_);
  }
  wire::Credential CredentialFor(const PeerId& peer) const {
    return UseInvite(run_, invite_, by_moderator_, *holder_, peer);
  }
  bool Good(const wire::Credential& credential, const PeerId& peer) {
    return IsSigned(run_, credential, peer, verifier_);
  }

  const Digest run_ = DigestOf(1);
  std::shared_ptr<const crypto::SigningKey> moderator_ = KeyNumber(1);
  std::shared_ptr<const crypto::SigningKey> holder_ = KeyNumber(2);
  const PeerId guest_ = KeyNumber(3)->id();
  wire::Invite invite_;
  crypto::Signature by_moderator_;
  crypto::PlainVerifier verifier_;
};

TEST_F(InviteTest, LetsInTheKeyThatItsHolderSignedFor) {
  EXPECT_TRUE(Good(CredentialFor(guest_), guest_));
  EXPECT_TRUE(Good(CredentialFor(KeyNumber(4)->id()), KeyNumber(4)->id()))
      << "a public link is for many";
}

// Attack: who reads the REJOIN of another takes its credential.
TEST_F(InviteTest, ACopiedCredentialFitsNoOtherKey) {
  EXPECT_FALSE(Good(CredentialFor(guest_), KeyNumber(4)->id()));
  wire::Credential own = CredentialFor(guest_);
  own.by_holder = KeyNumber(4)->Sign(InviteUseDigest(run_, invite_, KeyNumber(4)->id()));
  EXPECT_FALSE(Good(own, KeyNumber(4)->id())) << "signed by another key than the holder's";
}

TEST_F(InviteTest, IsOfOneRun) {
  EXPECT_FALSE(IsSigned(DigestOf(2), CredentialFor(guest_), guest_, verifier_));
}

TEST_F(InviteTest, NothingOfItCanBeChanged) {
  const std::vector<std::function<void(wire::Invite&)>> edits = {
      [](wire::Invite& i) { ++i.uses; },
      [](wire::Invite& i) { ++i.ends_step; },
      [](wire::Invite& i) { i.holder = KeyNumber(4)->id(); },
      [](wire::Invite& i) { i.moderator = KeyNumber(4)->id(); },
      [](wire::Invite& i) { i.kind = wire::InviteKind::kObserve; },
      [](wire::Invite& i) { i.anchor = DigestOf(7); },
      [](wire::Invite& i) { i.anchor = DigestOf(8); },
      [](wire::Invite& i) { i.anchor = Digest{}; },
      [](wire::Invite& i) {
        i = {i.moderator, i.holder, i.uses, i.ends_step, wire::InviteKind::kObserve, Digest{}};
      }};
  std::set<Digest> digests = {InviteDigest(run_, invite_)};
  for (const auto& edit : edits) {
    wire::Credential edited = CredentialFor(guest_);
    edit(edited.invite);
    EXPECT_FALSE(Good(edited, guest_));
    // Nor with a new signature of the holder.
    edited.by_holder = holder_->Sign(InviteUseDigest(run_, edited.invite, guest_));
    EXPECT_FALSE(Good(edited, guest_));
    digests.insert(InviteDigest(run_, edited.invite));
  }
  digests.insert(InviteDigest(DigestOf(2), invite_));
  EXPECT_EQ(digests.size(), edits.size() + 2) << "each is another invite, and is counted apart";
}

// By proofs/verifier/hashing.py. Those of the first kind name invites in the blocks of old ledgers.
TEST(InviteDigestTest, IsWhatDocsSay) {
  const auto filled = [](auto id, std::uint8_t byte) {
    id.bytes.fill(byte);
    return id;
  };
  wire::Invite invite = {filled(PeerId{}, 0xc1), filled(PeerId{}, 0xc2), 3, 900};
  const Digest run = filled(Digest{}, 1);
  EXPECT_EQ(InviteDigest(run, invite).Hex(),
            "6999f7f598479965f191b3c4332109cc363d1eb6e3aa22b73a327f15feecd9ba");
  invite.kind = wire::InviteKind::kObserve;
  invite.anchor = filled(Digest{}, 0xc8);
  EXPECT_EQ(InviteDigest(run, invite).Hex(),
            "a834ba70906b32c4aa6077832d49613241c53b1b05d013886405c99ee7fde8ff");
}

TEST_F(InviteTest, EachSignatureIsNeeded) {
  wire::Credential credential = CredentialFor(guest_);
  credential.by_moderator.bytes[5] ^= 1;
  EXPECT_FALSE(Good(credential, guest_));
  credential = CredentialFor(guest_);
  credential.by_holder.bytes[5] ^= 1;
  EXPECT_FALSE(Good(credential, guest_));
  credential = CredentialFor(guest_);
  std::swap(credential.by_holder, credential.by_moderator);
  EXPECT_FALSE(Good(credential, guest_));
}

TEST_F(InviteTest, TheVoucherIsWhatIsCounted) {
  const wire::Voucher voucher = VoucherOf(run_, invite_);
  EXPECT_EQ(voucher.invite, InviteDigest(run_, invite_));
  EXPECT_EQ(voucher.moderator, moderator_->id());
  EXPECT_EQ(voucher.uses, 3u);
  EXPECT_EQ(voucher.ends_step, 900u);
  EXPECT_EQ(voucher.kind, wire::InviteKind::kAdmit);
  invite_.kind = wire::InviteKind::kObserve;
  EXPECT_EQ(VoucherOf(run_, invite_).kind, wire::InviteKind::kObserve);
}

using InviteDeathTest = InviteTest;

TEST_F(InviteDeathTest, IsSignedByItsModeratorAndUsedByItsHolder) {
  EXPECT_DEATH(SignInvite(run_, invite_, *holder_), "CHECK failed");
  EXPECT_DEATH(UseInvite(run_, invite_, by_moderator_, *moderator_, guest_), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::protocol::invite_test

// Invites that are taken back: who can, what it costs, and whom it shuts out.
#include "node/protocol/rules/invite_book.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "node/protocol/ground/invite.h"
#include "node/protocol/rules/judgement.h"
#include "node/wire/limits.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::invite_book_test {
namespace {

using scene::DigestOf;
using scene::KeyNumber;
using scene::ManifestOf;
using scene::PeerNumber;
using scene::ViewBefore;
using wire::Invite;
using wire::Revocation;

constexpr std::uint64_t kStep = 50;
constexpr std::uint32_t kModerator = 90;  // no member; 91 is another
constexpr std::uint32_t kHolder = 95;

// Eight members, t_s = 3, so four confirm; probation of three blocks.
class InviteBookTest : public testing::Test {
 protected:
  InviteBookTest() : manifest_(ManifestOf(8)) {
    manifest_.probation = 3;
    manifest_.join.policy = JoinPolicy::kInvite;
    manifest_.join.moderators = {KeyNumber(kModerator)->id(), KeyNumber(kModerator + 1)->id()};
    manifest_.join.quota = 3;
    manifest_.join.seats = 20;
    std::sort(manifest_.join.moderators.begin(), manifest_.join.moderators.end());
    view_ = ViewBefore(manifest_, kStep);
  }

  static Invite InviteOf(std::uint32_t holder = kHolder, std::uint32_t uses = 2,
                         std::uint32_t moderator = kModerator) {
    return {KeyNumber(moderator)->id(), PeerNumber(holder), uses, 5000};
  }
  Revocation Revoked(const std::optional<Invite>& invite,
                     std::uint32_t moderator = kModerator) const {
    return SignRevocation(manifest_.run_id, invite, *KeyNumber(moderator));
  }
  // The next block: four members state that key by that invite, and the member of that index passes
  // the revocation on.
  const Block& Next(std::optional<std::uint32_t> guest, const Invite& invite,
                    const std::optional<Revocation>& revocation = {}, std::size_t by = 0) {
    SealedStep sealed;
    sealed.step = view_.step + 1;
    for (std::size_t i = 0; i < view_.members.size(); ++i) {
      const PeerId& member = view_.members[i];
      wire::Proof& proof = sealed.proofs[member];
      if (guest && i < 4)
        proof.arrivals = {{PeerNumber(*guest), VoucherOf(manifest_.run_id, invite)}};
      if (i == by) sealed.commits[member].revokes = revocation;
    }
    return view_ = JudgeStep(sealed, view_, manifest_, {{}, {}, {}, {}});
  }
  void Admit(std::uint32_t guest, const Invite& invite) {
    for (int i = 0; i < 3; ++i) Next(guest, invite);
    ASSERT_TRUE(IsMember(view_.members, PeerNumber(guest)));
  }
  std::string Refusal(const Invite& invite) const {
    return InviteBook(view_, view_.step + 1)
        .RefusalOf(VoucherOf(manifest_.run_id, invite), manifest_, view_.step + 1)
        .value_or("");
  }

  Manifest manifest_;
  Block view_;
};

TEST_F(InviteBookTest, OneMembersCommitRevokesAnInvite) {
  Next({}, {}, Revoked(InviteOf()), 7);
  ASSERT_EQ(view_.invites.size(), 1u);
  EXPECT_TRUE(view_.invites[0].revoked);
  EXPECT_EQ(view_.invites[0].ends_step, 5000u);
  EXPECT_EQ(Refusal(InviteOf()), "its invite was revoked: ask a moderator for a new one");
  EXPECT_EQ(Refusal(InviteOf(96)), "");
}

TEST_F(InviteBookTest, ACandidateIsOutWithTheBlockThatRevokes) {
  for (int i = 0; i < 2; ++i) Next(20, InviteOf());
  ASSERT_EQ(view_.candidates.size(), 1u);
  Next(20, InviteOf(), Revoked(InviteOf()));
  EXPECT_TRUE(view_.candidates.empty());
  EXPECT_FALSE(IsMember(view_.members, PeerNumber(20)));
}

TEST_F(InviteBookTest, WhoIsInStays) {
  Admit(20, InviteOf());
  Next({}, {}, Revoked(InviteOf()));
  EXPECT_TRUE(IsMember(view_.members, PeerNumber(20)));
  EXPECT_EQ(view_.invites[0].used, 1u);
  EXPECT_EQ(view_.moderators[0].admitted, 1u) << "revoking a used invite costs nothing";
}

TEST_F(InviteBookTest, AnUnusedInviteCostsOneOfTheQuota) {
  for (std::uint32_t i = 0; i < 5; ++i) Next({}, {}, Revoked(InviteOf(kHolder + i)));
  EXPECT_EQ(view_.invites.size(), 3u) << "a moderator cannot fill the book";
  EXPECT_EQ(view_.moderators[0].admitted, 3u);
  EXPECT_NE(Refusal(InviteOf(kHolder + 4)).find("have let in all 3"), std::string::npos);
}

TEST_F(InviteBookTest, TheSameWordTwiceCountsOnce) {
  Next({}, {}, Revoked(InviteOf()));
  const Block after = view_;
  Next({}, {}, Revoked(InviteOf()));
  EXPECT_EQ(view_.invites.size(), 1u);
  EXPECT_EQ(view_.moderators[0].admitted, after.moderators[0].admitted);
}

TEST_F(InviteBookTest, AllOfAModeratorsAreOutForEver) {
  Admit(20, InviteOf());
  Next({}, {}, Revoked(std::nullopt));
  EXPECT_TRUE(view_.moderators[0].revoked);
  EXPECT_NE(Refusal(InviteOf()).find("has revoked all of its invites"), std::string::npos);
  EXPECT_EQ(Refusal(InviteOf(kHolder, 2, kModerator + 1)), "") << "the other's are good";
  EXPECT_TRUE(IsMember(view_.members, PeerNumber(20)));
}

TEST_F(InviteBookTest, NobodyElseRevokes) {
  Revocation forged = Revoked(InviteOf());
  forged.by_moderator = Revoked(std::nullopt).by_moderator;
  Next({}, {}, forged);
  EXPECT_TRUE(view_.invites.empty());
  Revocation moved = Revoked(InviteOf(kHolder + 1));  // the moderator's word about another invite
  moved.invite = InviteOf();
  Next({}, {}, moved);
  EXPECT_TRUE(view_.invites.empty());
  Revocation all{KeyNumber(kModerator)->id(), std::nullopt,
                 SignRevocation(manifest_.run_id, std::nullopt, *KeyNumber(1)).by_moderator};
  Next({}, {}, all);
  Next({}, {}, SignRevocation(DigestOf(8), InviteOf(), *KeyNumber(kModerator)));  // another run
  Next({}, {}, Revoked(InviteOf(kHolder, 2, 1), 1));  // a member that is no moderator
  EXPECT_TRUE(view_.invites.empty());
  EXPECT_TRUE(view_.moderators.empty());
  EXPECT_EQ(Refusal(InviteOf()), "");
}

TEST_F(InviteBookTest, AnInviteThatHasEndedNeedsNoRevocation) {
  const InviteBook book(view_, view_.step + 1);
  Invite ended = InviteOf();
  ended.ends_step = view_.step + 1;
  EXPECT_FALSE(book.Concerns(Revoked(ended), manifest_, view_.step + 1));
}

// It lets in who has used it.
TEST_F(InviteBookTest, OneThatIsUsedUpCanBeRevoked) {
  const Invite invite = InviteOf(kHolder, 1);
  Admit(20, invite);
  const Digest name = InviteDigest(manifest_.run_id, invite);
  const auto to_user = [&] {
    const InviteBook book(view_, view_.step + 1);
    return book.RefusalToUserOf(VoucherOf(manifest_.run_id, invite), manifest_, view_.step + 1)
        .value_or("");
  };
  EXPECT_TRUE(InviteBook(view_, view_.step + 1).HasUsed(name, PeerNumber(20)));
  EXPECT_FALSE(InviteBook(view_, view_.step + 1).HasUsed(name, PeerNumber(21)));
  EXPECT_EQ(to_user(), "");
  Next({}, {}, Revoked(invite));
  EXPECT_EQ(to_user(), "its invite was revoked: ask a moderator for a new one");
  EXPECT_TRUE(view_.invites[0].users.empty());
  EXPECT_EQ(view_.moderators[0].admitted, 1u) << "it costs nothing";
}

TEST_F(InviteBookTest, AFullBookTakesNoInviteThatItDoesNotHave) {
  for (std::size_t i = 0; i < wire::kMaxUsedInvites; ++i) {
    view_.invites.push_back({DigestOf(1000 + i), 1, 5000});
  }
  std::sort(view_.invites.begin(), view_.invites.end(),
            [](const auto& a, const auto& b) { return a.invite < b.invite; });
  Next({}, {}, Revoked(InviteOf()));
  EXPECT_EQ(view_.invites.size(), wire::kMaxUsedInvites);
  EXPECT_TRUE(view_.moderators.empty());
}

TEST_F(InviteBookTest, AMemberSaysEachUntilABlockHasIt) {
  const std::vector<Revocation> held = {Revoked(InviteOf()), Revoked(InviteOf(96))};
  EXPECT_EQ(RevocationToState(view_, manifest_, held), held[0]);
  Next({}, {}, held[0]);
  EXPECT_EQ(RevocationToState(view_, manifest_, held), held[1]);
  const std::vector<Revocation> all = {held[1], Revoked(std::nullopt)};
  EXPECT_EQ(RevocationToState(view_, manifest_, all), all[1]) << "what ends most comes first";
  Next({}, {}, held[1]);
  EXPECT_EQ(RevocationToState(view_, manifest_, held), std::nullopt);
}

}  // namespace
}  // namespace ostraka::protocol::invite_book_test

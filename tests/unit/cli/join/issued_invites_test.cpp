// The notes of a moderator's invites.
#include "node/cli/join/issued_invites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "node/protocol/ground/invite.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::cli::issued_invites_test {
namespace {

using ::testing::HasSubstr;

class IssuedInvitesTest : public os::TempFolderTest {
 protected:
  static wire::Invite InviteOf(std::uint8_t holder, std::uint32_t uses = 3) {
    return {base::PeerId{{1}}, base::PeerId{{holder}}, uses, 900};
  }
  std::string Key() const { return dir_ + "/me.key"; }
  std::string NameOf(const wire::Invite& invite) const {
    return protocol::InviteDigest(run_, invite).Hex();
  }
  const base::Digest run_{{7}};
  const base::Digest other_{{8}};
};

TEST_F(IssuedInvitesTest, WhatIsNotedIsListedByRunInOrder) {
  EXPECT_TRUE(IssuedBy(Key(), run_)->invites.empty()) << "no file";
  for (std::uint8_t holder = 1; holder <= 3; ++holder) {
    ASSERT_TRUE(NoteInvite(Key(), {holder == 2 ? other_ : run_, InviteOf(holder)}).ok());
  }
  EXPECT_EQ(IssuedBy(Key(), run_)->invites, (std::vector{InviteOf(1), InviteOf(3)}));
  EXPECT_EQ(IssuedBy(Key(), other_)->invites, std::vector{InviteOf(2)});
}

// The block at which who comes begins is part of an invite's name.
TEST_F(IssuedInvitesTest, AnAnchorIsNoted) {
  wire::Invite anchored = InviteOf(1);
  anchored.anchor = base::Digest{{9}};
  ASSERT_TRUE(NoteInvite(Key(), {run_, anchored}).ok());
  ASSERT_TRUE(NoteInvite(Key(), {run_, InviteOf(1)}).ok());
  const auto read = IssuedBy(Key(), run_);
  EXPECT_EQ(read->invites, (std::vector{anchored, InviteOf(1)}));
  EXPECT_EQ(read->complaint, "");
  EXPECT_EQ(*InviteNamed(NameOf(anchored), read->invites, run_), anchored);
}

TEST_F(IssuedInvitesTest, ALineThatIsNoInviteIsNamed) {
  ASSERT_TRUE(NoteInvite(Key(), {run_, InviteOf(1)}).ok());
  const std::string good = [&] {
    std::ifstream file(Key() + ".invites");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  std::string no_uses = good;
  no_uses.replace(no_uses.find("\"uses\":3"), 8, "\"uses\":0");
  for (const std::string& bad : {std::string("{}\n"), std::string("\xff\xfe\n"), no_uses,
                                 good.substr(0, good.size() - 5) + "\n", std::string("\n"),
                                 "{\"anchor\":\"12\"," + good.substr(1)}) {
    std::ofstream(Key() + ".invites", std::ios::trunc) << good << bad;
    const auto read = IssuedBy(Key(), run_);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_THAT(read->complaint, HasSubstr("line 2 is no invite, and is left out: delete it"))
        << bad;
    EXPECT_EQ(read->invites, std::vector{InviteOf(1)});
  }
}

TEST_F(IssuedInvitesTest, AnInviteIsFoundByTheFirstDigitsOfItsName) {
  const std::vector<wire::Invite> invites = {InviteOf(1), InviteOf(2), InviteOf(2)};
  const auto found = InviteNamed(NameOf(invites[0]).substr(0, 8), invites, run_);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, invites[0]);
  const auto error = [&](const std::string& digits) {
    return base::MessageOf(InviteNamed(digits, invites, run_).status());
  };
  EXPECT_THAT(error(NameOf(invites[0]).substr(0, 7)), HasSubstr("too short"));
  EXPECT_THAT(error(NameOf(invites[1])), HasSubstr("several invites"));
  EXPECT_THAT(error(NameOf(InviteOf(9))), HasSubstr("no invite of this key"));
}

}  // namespace
}  // namespace ostraka::cli::issued_invites_test

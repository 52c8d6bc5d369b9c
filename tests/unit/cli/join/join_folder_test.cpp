#include "node/cli/join/join_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "node/train/exact/constants_file.h"
#include "tests/unit/cli/options/invite_fixture.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::cli::join_folder_test {
namespace {

using ::testing::HasSubstr;

class JoinFolderTest : public os::TempFolderTest {
 protected:
  // Not a field: the folder is made after the fields are.
  std::string DirOfRun() const { return dir_ + "/deep/run"; }
};

TEST_F(JoinFolderTest, MakesWhatIsMissingAndKeepsWhatIsThere) {
  InviteText invite = MakeInvite();
  const auto made = MakeJoinFolder(DirOfRun(), "", {}, invite);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->graph, "");
  const auto manifest = config::ReadManifestFile(made->manifest);
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->run_id, invite.manifest.run_id);
  const auto key = LoadKey(made->key, {});
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_TRUE(ReadInvite(DirOfRun()).ok()) << "the folder holds it";
  const auto again = MakeJoinFolder(DirOfRun(), "", {}, invite);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(LoadKey(again->key, {})->id(), key->id());
  const auto other = MakeJoinFolder(DirOfRun(), "", {}, MakeInvite(2));
  EXPECT_THAT(base::MessageOf(other.status()), HasSubstr("give another folder"));
}

// A folder whose invite was refused once kept it for ever, so its node came in by the next one and
// was refused after a restart.
TEST_F(JoinFolderTest, KeepsTheInviteThatWasGivenLast) {
  const InviteText old = MakeInvite();
  ASSERT_TRUE(MakeJoinFolder(DirOfRun(), "", {}, old).ok());
  InviteText next = MakeInvite();
  next.addresses[old.manifest.members.front().id] = "192.0.2.1:7700";
  ASSERT_TRUE(MakeJoinFolder(DirOfRun(), "", {}, next).ok());
  EXPECT_EQ(WriteInvite(*ReadInvite(DirOfRun())), WriteInvite(next));
  InviteText link = MakeInvite();
  link.pass.reset();
  ASSERT_TRUE(MakeJoinFolder(DirOfRun(), "", {}, link).ok());
  EXPECT_EQ(WriteInvite(*ReadInvite(DirOfRun())), WriteInvite(next)) << "a link lets nobody in";
  std::filesystem::resize_file(DirOfRun() + "/" + kInviteFileName, 100);
  ASSERT_TRUE(MakeJoinFolder(DirOfRun(), "", {}, link).ok());
  EXPECT_EQ(WriteInvite(*ReadInvite(DirOfRun())), WriteInvite(link)) << "the other was damaged";
}

TEST_F(JoinFolderTest, WritesTheGraphAndMakesTheKeyWhereItIsTold) {
  InviteText invite = MakeInvite();
  invite.graph = {"a graph\n", "constants"};
  const auto made = MakeJoinFolder(DirOfRun(), dir_ + "/my.key", {}, invite);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->key, dir_ + "/my.key");
  EXPECT_TRUE(std::filesystem::exists(dir_ + "/my.key"));
  EXPECT_TRUE(std::filesystem::exists(made->graph));
  EXPECT_TRUE(std::filesystem::exists(train::ConstantsBeside(made->graph)));
}

TEST_F(JoinFolderTest, IsNamedForTheRun) {
  protocol::Manifest manifest = MakeInvite().manifest;
  EXPECT_EQ(DefaultJoinFolder(manifest), "ostraka-a-run");
  manifest.name = "../../etc/x y";
  EXPECT_EQ(DefaultJoinFolder(manifest), "ostraka-..-..-etc-x-y");
  manifest.name = "";
  EXPECT_EQ(DefaultJoinFolder(manifest), "ostraka-" + manifest.run_id.Short());
}

}  // namespace
}  // namespace ostraka::cli::join_folder_test

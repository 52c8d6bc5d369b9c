// The file of revocations: what is added is held, what is no revocation is complained of once.
#include "node/store/revocation_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "node/protocol/ground/invite.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::store::revocation_file_test {
namespace {

class RevocationFileTest : public os::TempFolderTest {
 protected:
  wire::Revocation Revoked(std::uint32_t uses, const crypto::SigningKey& by) const {
    const wire::Invite invite{by.id(), base::PeerId{}, uses, 900};
    return protocol::SignRevocation(run_, invite, by);
  }
  void SetUp() override {
    TempFolderTest::SetUp();
    path_ = dir_ + "/" + kRevocationFileName;
    file_.emplace(dir_, run_, std::vector{moderator_.id()});
  }
  void Append(const std::string& text) const {
    std::ofstream(path_, std::ios::app | std::ios::binary) << text;
  }
  base::Status Add(const wire::Revocation& revocation) const {
    return AddRevocation(dir_, revocation);
  }

  const crypto::SigningKey moderator_ = crypto::SigningKey::Generate();
  const base::Digest run_{{1, 2, 3}};
  std::string path_;
  std::optional<RevocationFile> file_;
};

TEST_F(RevocationFileTest, AMissingFileHoldsNothing) {
  EXPECT_TRUE(file_->Refresh().ok());
  EXPECT_TRUE(file_->held().empty());
}

TEST_F(RevocationFileTest, WhatIsAddedIsHeldOnce) {
  const wire::Revocation first = Revoked(1, moderator_);
  const wire::Revocation all = protocol::SignRevocation(run_, std::nullopt, moderator_);
  ASSERT_TRUE(Add(first).ok());
  ASSERT_TRUE(file_->Refresh().ok());
  EXPECT_EQ(file_->held(), std::vector{first});
  ASSERT_TRUE(Add(all).ok());
  ASSERT_TRUE(Add(first).ok());
  ASSERT_TRUE(file_->Refresh().ok());
  EXPECT_EQ(file_->held(), (std::vector{first, all}));
}

TEST_F(RevocationFileTest, ABadLineIsComplainedOfOnceAndHidesNoGoodOne) {
  const crypto::SigningKey stranger = crypto::SigningKey::Generate();
  for (const std::string& bad :
       {std::string("nonsense"), TextOf(Revoked(1, stranger)), std::string(70'000, 'A'),
        TextOf(Revoked(1, moderator_)).substr(4)}) {
    std::ofstream(path_, std::ios::trunc | std::ios::binary) << bad << "\n";
    ASSERT_TRUE(Add(Revoked(2, moderator_)).ok());
    const base::Status read = file_->Refresh();
    EXPECT_NE(base::MessageOf(read).find("line 1 is not passed on"), std::string::npos)
        << base::MessageOf(read);
    EXPECT_EQ(file_->held(), std::vector{Revoked(2, moderator_)});
    EXPECT_TRUE(file_->Refresh().ok()) << "said twice";
    std::filesystem::remove(path_);
    EXPECT_TRUE(file_->Refresh().ok());
  }
}

TEST_F(RevocationFileTest, ALineThatIsNotEndedYetIsReadWhenItIs) {
  const std::string text = TextOf(Revoked(1, moderator_));
  Append(text.substr(0, 20));
  EXPECT_FALSE(file_->Refresh().ok());
  Append(text.substr(20) + "\n");
  EXPECT_TRUE(file_->Refresh().ok());
  EXPECT_EQ(file_->held().size(), 1u);
}

TEST_F(RevocationFileTest, AFolderInItsPlaceIsSaidOnceAndKeepsWhatWasHeld) {
  ASSERT_TRUE(Add(Revoked(1, moderator_)).ok());
  ASSERT_TRUE(file_->Refresh().ok());
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_NE(base::MessageOf(file_->Refresh()).find("is no regular file"), std::string::npos);
  EXPECT_TRUE(file_->Refresh().ok()) << "said twice";
  EXPECT_EQ(file_->held().size(), 1u);
  std::filesystem::remove(path_);
  EXPECT_TRUE(file_->Refresh().ok());
  EXPECT_TRUE(file_->held().empty());
}

}  // namespace
}  // namespace ostraka::store::revocation_file_test

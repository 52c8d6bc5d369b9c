#include "node/host/driver/member_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "node/os/endpoint.h"
#include "tests/unit/host/driver/node_driver_fixture.h"

namespace ostraka::host::member_finder_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> TextsOf(const std::vector<net::PeerAddress>& addresses) {
  std::vector<std::string> texts;
  for (const net::PeerAddress& address : addresses) texts.push_back(address.text);
  return texts;
}

class MemberFinderTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(crypto::Initialize().ok()); }
  void SetUp() override {
    std::string name = ::testing::TempDir() + "ostraka-finder-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    net::TransportOptions options;
    options.key = Key(1);
    options.members = {{Key(2)->id(), "127.0.0.1:1"}};
    members_ = options.members;
    net::TransportEvents events;
    events.message = [](const base::PeerId&, base::SharedBytes, crypto::SharedBlob) {};
    events.link = [](const base::PeerId&, bool) {};
    events.notice = [](net::NoticeLevel, const std::string&) {};
    auto made = net::Transport::Make(io_, std::move(options), std::move(events));
    ASSERT_TRUE(made.ok()) << made.status();
    transport_ = *std::move(made);
  }
  void TearDown() override {
    transport_.reset();
    std::filesystem::remove_all(folder_);
  }

  static std::shared_ptr<const crypto::SigningKey> Key(std::uint8_t fill) {
    return std::make_shared<const crypto::SigningKey>(
        crypto::SigningKey::FromSeed(base::Bytes(crypto::SigningKey::kSeedSize, fill)));
  }
  std::string file() const { return folder_ + "/learned"; }
  void Write(const std::string& text) const { std::ofstream(file()) << text; }
  std::string Read() const {
    std::ifstream in(file());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::unique_ptr<MemberFinder> Finder(const std::string& path) {
    return std::make_unique<MemberFinder>(io_, inlet_, reporter_, *transport_, Key(1),
                                          base::Digest{}, members_, FinderOptions{{}, path});
  }

  std::string folder_;
  boost::asio::io_context io_;
  Inlet inlet_{io_, [](const std::string& what) { FAIL() << what; }};
  Log log_;
  Reporter reporter_{log_, base::Time{}};
  std::unique_ptr<net::Transport> transport_;
  std::vector<net::TransportMember> members_;
};

// A node that does not listen has nothing to be dialed at, whatever the manifest says.
TEST_F(MemberFinderTest, OnlyANodeThatListensHasAPortForOthers) {
  members_.push_back({Key(1)->id(), "192.0.2.1:7000"});
  EXPECT_EQ(Finder("")->status().dial_back.port, 0);
}

TEST_F(MemberFinderTest, OthersDialWhatTheUserAnnouncesOrTheManifestSaysOrWhereItListens) {
  net::TransportOptions listens;
  listens.key = Key(1);
  listens.listen = "127.0.0.1:0";
  net::TransportEvents events;
  events.message = [](const base::PeerId&, base::SharedBytes, crypto::SharedBlob) {};
  events.link = [](const base::PeerId&, bool) {};
  transport_ = *net::Transport::Make(io_, std::move(listens), std::move(events));
  EXPECT_EQ(Finder("")->dialed_back().port, transport_->port());
  members_.push_back({Key(1)->id(), "192.0.2.1:7000"});
  EXPECT_EQ(Finder("")->dialed_back().port, 7000);
  FinderOptions announces;
  announces.reach.addresses = {dht::Endpoint::V4(0xc0000202, 7001)};
  const MemberFinder finder(io_, inlet_, reporter_, *transport_, Key(1), base::Digest{}, members_,
                            std::move(announces));
  EXPECT_EQ(finder.dialed_back().port, 7001);
}

TEST_F(MemberFinderTest, WhatWasLearnedIsDialedAgainAfterTheManifest) {
  const std::string id = Key(2)->id().Hex();
  Write("ostraka learned 1\nannounced " + id + " 5 6 127.0.0.1:3\nlinked " + id +
        " 127.0.0.1:2\nlinked " + Key(9)->id().Hex() + " 127.0.0.1:4\n");
  const auto finder = Finder(file());
  finder->Start();
  EXPECT_THAT(TextsOf(transport_->AddressesOf(Key(2)->id())),
              ElementsAre("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"));
  EXPECT_THAT(log_.notices, IsEmpty()) << "a peer that is no member any more is no trouble";
  finder->Stop();
}

TEST_F(MemberFinderTest, WhatLinksTeachIsWrittenAtTheEnd) {
  auto finder = Finder(file());
  finder->Start();
  ASSERT_TRUE(transport_->SetAddresses(Key(2)->id(), {}, net::AddressSource::kManifest).ok());
  ASSERT_TRUE(
      transport_->SetAddresses(Key(2)->id(), {"127.0.0.1:7"}, net::AddressSource::kAnnounced).ok());
  finder->OnLink(Key(2)->id(), true);
  finder->Stop();
  finder->OnLink(Key(2)->id(), false);  // harmless
  EXPECT_THAT(Read(), HasSubstr("linked " + Key(2)->id().Hex() + " 127.0.0.1:7\n"));
}

TEST_F(MemberFinderTest, ADamagedFileIsOneLineAndWrittenAnew) {
  Write("ostraka learned 1\nnonsense\n");
  const auto finder = Finder(file());
  finder->Start();
  EXPECT_THAT(log_.notices, ElementsAre(HasSubstr("line 2 begins with no word")));
  finder->Forget(Key(2)->id());
  finder->Stop();
}

TEST_F(MemberFinderTest, AFileThatCannotBeWrittenIsOneLine) {
  const auto finder = Finder(folder_ + "/missing/learned");
  finder->Start();
  ASSERT_TRUE(
      transport_->SetAddresses(Key(2)->id(), {"127.0.0.1:7"}, net::AddressSource::kAnnounced).ok());
  ASSERT_TRUE(transport_->SetAddresses(Key(2)->id(), {}, net::AddressSource::kManifest).ok());
  finder->OnLink(Key(2)->id(), true);
  finder->Stop();
  EXPECT_THAT(log_.notices, ElementsAre(HasSubstr("cannot write")));
}

}  // namespace
}  // namespace ostraka::host::member_finder_test

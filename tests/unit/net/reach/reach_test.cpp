// Reach on real sockets of 127.0.0.1: several nodes of the DHT on one io_context.
#include "node/net/reach/reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <set>

#include "node/os/endpoint.h"
#include "tests/unit/net/transport_net.h"

namespace ostraka::net::reach_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Nobody listens there.
constexpr char kDead[] = "127.0.0.1:1";

std::uint64_t WallSeconds() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

// One member that listens somewhere, and knows a dead address of each other member.
struct Member {
  explicit Member(std::size_t rank) : key(TestKey(rank)) {
    const auto socket = os::ListenOnLoopback();
    EXPECT_TRUE(socket.ok());
    fd = socket->fd;
    address = "127.0.0.1:" + std::to_string(socket->port);
  }
  ~Member() { close(fd); }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  void Start(boost::asio::io_context& io) {
    std::vector<TransportMember> members;
    for (std::size_t rank = 0; rank < 3; ++rank) members.push_back({TestKey(rank)->id(), kDead});
    options.network = "test";
    reach = std::make_unique<Reach>(
        io, key, members, options,
        ReachEvents{
            .found =
                [this](const base::PeerId& peer, const std::vector<std::string>& at) {
                  found[peer] = at;
                  ++times_found[peer];
                },
            .save = [this](const std::string& text) { saved = text; },
            .notice = [this](NoticeLevel, const std::string& line) { notices += line + "\n"; }});
    reach->Start(address);
  }
  base::PeerId id() const { return key->id(); }

  std::shared_ptr<const crypto::SigningKey> key;
  int fd = -1;
  std::string address;
  ReachOptions options = {
      .mode = DhtMode::kOn, .network = {}, .bootstraps = {}, .addresses = {}, .learned = {}};
  std::map<base::PeerId, std::vector<std::string>> found;
  std::map<base::PeerId, int> times_found;
  std::string saved;
  std::string notices;
  std::unique_ptr<Reach> reach;
};

class ReachTest : public ::testing::Test {
 protected:
  void StartAll() {
    b_.options.bootstraps = c_.options.bootstraps = {a_.address};
    for (Member* member : {&a_, &b_, &c_}) member->Start(io_);
  }
  boost::asio::io_context io_;
  Member a_{0}, b_{1}, c_{2};
};

TEST_F(ReachTest, MembersFindEachOtherByKey) {
  StartAll();
  ASSERT_TRUE(RunUntil(
      io_, [this] { return a_.found.size() == 2 && b_.found.size() == 2 && c_.found.size() == 2; }))
      << a_.notices << b_.notices << c_.notices;
  EXPECT_THAT(b_.found[c_.id()], ElementsAre(c_.address));
  EXPECT_THAT(a_.found[b_.id()], ElementsAre(b_.address));
  ASSERT_TRUE(RunUntil(io_, [this] { return !b_.saved.empty(); }));
  EXPECT_THAT(b_.reach->Stop().value_or(b_.saved), HasSubstr("announced " + c_.id().Hex()));
  EXPECT_TRUE(c_.reach->status().progress.joined);
  EXPECT_THAT(c_.reach->status().announced, ElementsAre(NumericEndpoint(c_.address).value()));
}

// A node that hands out an old announcement cannot lead back to where the member was.
TEST_F(ReachTest, AnOlderAnnouncementIsAReplayUntilTheNewerHasExpired) {
  const std::uint64_t later = WallSeconds() + 1000;
  b_.options.learned.members[c_.id()] = {later, later, {"127.0.0.1:7"}, {}};
  b_.options.learned.members[a_.id()] = {later, WallSeconds() - 1, {"127.0.0.1:7"}, {}};
  b_.options.bootstraps = c_.options.bootstraps = {a_.address};
  a_.Start(io_);
  c_.Start(io_);
  // Both announcements are stored before B asks for both at once.
  ASSERT_TRUE(
      RunUntil(io_, [this] { return a_.found.contains(c_.id()) && c_.found.contains(a_.id()); }));
  b_.Start(io_);
  // A's second lookup begins 4 s after its first, and so after the end of C's.
  ASSERT_TRUE(RunUntil(io_, [this] { return b_.times_found[a_.id()] == 2; }));
  EXPECT_FALSE(b_.found.contains(c_.id()));
  EXPECT_THAT(b_.found[a_.id()], ElementsAre(a_.address));
}

TEST_F(ReachTest, OffSendsNothingAndStillRemembersLinks) {
  a_.options.mode = DhtMode::kOff;
  a_.Start(io_);
  const PeerAddress manifest{kDead, AddressSource::kManifest, 0, {}};
  const PeerAddress incoming{"127.0.0.1:99", AddressSource::kIncoming, 0, {}};
  const PeerAddress announced{"127.0.0.1:98", AddressSource::kAnnounced, 0, {}};
  a_.reach->OnLink(b_.id(), true, {manifest, incoming, announced});
  a_.reach->OnLink(c_.id(), true, {announced, manifest});
  a_.reach->OnLink(TestKey(5)->id(), true, {incoming});  // a stranger
  const std::string text = a_.reach->Stop().value_or("");
  EXPECT_THAT(text, HasSubstr("linked " + b_.id().Hex() + " 127.0.0.1:99\n"));
  EXPECT_THAT(text, HasSubstr("linked " + c_.id().Hex() + " 127.0.0.1:98\n"));
  EXPECT_EQ(text.find(TestKey(5)->id().Hex()), std::string::npos);
  EXPECT_EQ(a_.reach->status().mode, DhtMode::kOff);
  // The UDP port was never taken.
  UdpSocket socket(io_, [](const dht::Endpoint&, base::ByteView) {});
  EXPECT_TRUE(socket.Open(NumericEndpoint(a_.address).value()).ok());
}

TEST_F(ReachTest, NobodyToAskIsOneLineWithEachAddress) {
  b_.options.bootstraps = {"127.0.0.1:2"};
  b_.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [this] { return !b_.reach->status().problem.empty(); }));
  EXPECT_THAT(b_.reach->status().problem, HasSubstr("no answer by UDP from 127.0.0.1:2, "));
  EXPECT_THAT(b_.found, ::testing::IsEmpty());
}

TEST_F(ReachTest, WhereTcpStandsAndUdpIsSilentUdpIsToBlame) {
  b_.options.bootstraps = {"127.0.0.1:2"};
  b_.Start(io_);
  b_.reach->OnLink(c_.id(), true, {{kDead, AddressSource::kManifest, 0, {}}});
  ASSERT_TRUE(RunUntil(io_, [this] { return !b_.reach->status().problem.empty(); }));
  EXPECT_THAT(
      b_.reach->status().problem,
      HasSubstr("no answer by UDP from 127.0.0.1:2, 127.0.0.1:1, though members are linked"));
  EXPECT_THAT(b_.reach->status().problem, HasSubstr("the DHT (UDP) is blocked here, or off there"));
}

TEST_F(ReachTest, AnAddressThatIsOursAloneMakesItGiveUpWithALine) {
  b_.address = "192.0.2.1:9";  // not of this machine
  b_.Start(io_);
  ASSERT_TRUE(RunUntil(io_, [this] { return !b_.reach->status().problem.empty(); }));
  EXPECT_THAT(b_.notices, HasSubstr("cannot receive UDP at 192.0.2.1:9"));
  EXPECT_EQ(b_.reach->Stop(), std::nullopt);
}

// Its key is not in the manifest, so nobody knows it before a block does.
TEST_F(ReachTest, AMemberThatIsAddedIsLookedUpAndWhatWasLearnedOfItStays) {
  Member d(3);
  d.options.bootstraps = {a_.address};
  b_.options.bootstraps = {a_.address};
  b_.options.learned.members[d.id()] = {0, 0, {}, {"127.0.0.1:7"}};
  for (Member* member : {&a_, &b_, &d}) member->Start(io_);
  ASSERT_TRUE(RunUntil(io_, [&] { return d.found.contains(b_.id()); }));
  EXPECT_FALSE(b_.found.contains(d.id()));
  b_.reach->Add(d.id());
  b_.reach->Add(b_.id());  // itself: nothing to look up
  EXPECT_THAT(b_.reach->learned().members.at(d.id()).linked, ElementsAre("127.0.0.1:7"));
  ASSERT_TRUE(RunUntil(io_, [&] { return b_.found.contains(d.id()); })) << b_.notices;
  EXPECT_THAT(b_.found[d.id()], ElementsAre(d.address));
  EXPECT_FALSE(b_.found.contains(b_.id()));
}

TEST_F(ReachTest, AForgottenMemberIsNeitherSoughtNorKept) {
  b_.options.learned.members[c_.id()] = {0, 0, {}, {"127.0.0.1:7"}};
  b_.Start(io_);
  b_.reach->Forget(c_.id());
  const std::optional<std::string> text = b_.reach->Stop();
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(text->find(c_.id().Hex()), std::string::npos);
}

}  // namespace
}  // namespace ostraka::net::reach_test

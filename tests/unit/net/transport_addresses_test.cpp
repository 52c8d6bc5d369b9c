// Several addresses a member, and addresses that change while the transport runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/post.hpp>

#include "node/os/endpoint.h"
#include "tests/unit/net/transport_net.h"

namespace ostraka::net::transport_addresses_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Far beyond what a test may take: a test that waits for it fails.
constexpr Duration kForEver = base::Seconds(3600);

class TransportAddresses : public ::testing::Test {
 protected:
  // Both run, and know nobody.
  void Start() {
    a_.Start(io_);
    b_.Start(io_);
  }
  bool BothUp() const { return a_.transport->IsUp(b_.id()) && b_.transport->IsUp(a_.id()); }
  // Until everything that is already posted has run.
  void RunWhatIsPosted() {
    bool done = false;
    boost::asio::post(io_, [&done] { done = true; });
    ASSERT_TRUE(RunUntil(io_, [&done] { return done; }));
  }

  boost::asio::io_context io_;
  TestNode a_{0}, b_{1};
};

std::string DeadAddress() {
  TestNode gone(7);
  return gone.address();
}

std::vector<std::string> TextsOf(const std::vector<PeerAddress>& addresses) {
  std::vector<std::string> texts;
  for (const PeerAddress& address : addresses) texts.push_back(address.text);
  return texts;
}

// No back-off lies between the addresses of a round: it would be for ever here.
TEST_F(TransportAddresses, AMemberIsReachedAtAnyOfItsAddresses) {
  a_.options.backoff.first = a_.options.backoff.longest = kForEver;
  Start();
  const std::string dead = DeadAddress();
  ASSERT_TRUE(b_.transport->Add(a_.id(), {}).ok());
  ASSERT_TRUE(a_.transport->Add(b_.id(), {dead, b_.address()}).ok());
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); })) << a_.AllNotices();
  EXPECT_EQ(a_.transport->counters().dialed, 2u);
  EXPECT_TRUE(a_.Noticed("at " + dead + " cannot be reached")) << a_.AllNotices();
  EXPECT_THAT(TextsOf(a_.transport->AddressesOf(b_.id())), ElementsAre(b_.address(), dead))
      << "where it was reached is tried first";
}

// A host that takes connections and says nothing, as a firewall that drops packets looks to us. Its
// deadline is for ever here, so only the head start lets the next address be dialed.
TEST_F(TransportAddresses, AnAddressThatDoesNotAnswerKeepsNoOtherWaiting) {
  const auto silent = os::ListenOnLoopback();
  ASSERT_TRUE(silent.ok());
  const std::string hole = "127.0.0.1:" + std::to_string(silent->port);
  a_.options.timeouts.handshake = kForEver;
  a_.options.timeouts.hello = kForEver * 2;
  a_.options.backoff.first = a_.options.backoff.longest = kForEver;
  Start();
  ASSERT_TRUE(b_.transport->Add(a_.id(), {}).ok());
  ASSERT_TRUE(a_.transport->Add(b_.id(), {hole, b_.address()}).ok());
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); })) << a_.AllNotices();
  EXPECT_THAT(TextsOf(a_.transport->AddressesOf(b_.id())), ElementsAre(b_.address(), hole));
  EXPECT_EQ(a_.Ups(), 1u);
  close(silent->fd);
}

// Both addresses of a member answer at once: one link stands, and it stays.
TEST_F(TransportAddresses, TwoAddressesThatAnswerMakeOneLink) {
  a_.options.backoff.head_start = {};
  Start();
  ASSERT_TRUE(b_.transport->Add(a_.id(), {}).ok());
  const std::string other = "localhost:" + std::to_string(b_.port());
  ASSERT_TRUE(a_.transport->Add(b_.id(), {b_.address(), other}).ok());
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); })) << a_.AllNotices();
  RunWhatIsPosted();
  EXPECT_TRUE(BothUp());
  EXPECT_EQ(a_.Ups() - a_.Downs(), 1u);
}

TEST_F(TransportAddresses, FailuresAreNotedByAddress) {
  a_.Start(io_);
  const std::string dead = DeadAddress();
  ASSERT_TRUE(a_.transport->Add(b_.id(), {dead}).ok());
  ASSERT_TRUE(
      RunUntil(io_, [this] { return a_.transport->AddressesOf(b_.id()).at(0).failures >= 2; }));
  EXPECT_THAT(a_.transport->AddressesOf(b_.id())[0].last_failure,
              HasSubstr("cannot be reached: Connection refused"));
}

// Somebody else answers at one address: the next is tried, and the stranger becomes no link.
TEST_F(TransportAddresses, SomebodyElseAtAnAddressIsNotTheMember) {
  TestNode c(2);
  c.Start(io_);
  a_.options.backoff.first = a_.options.backoff.longest = kForEver;
  Start();
  ASSERT_TRUE(b_.transport->Add(a_.id(), {}).ok());
  ASSERT_TRUE(a_.transport->Add(b_.id(), {c.address(), b_.address()}).ok());
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); })) << a_.AllNotices();
  EXPECT_TRUE(a_.Noticed("is " + c.id().Short() + ", not the " + b_.id().Short()));
  EXPECT_THAT(c.links, IsEmpty());
}

TEST_F(TransportAddresses, ANewAddressOfAKnownMemberIsDialed) {
  Start();
  ASSERT_TRUE(a_.transport->Add(b_.id(), {}).ok());
  ASSERT_TRUE(b_.transport->Add(a_.id(), {}).ok());
  RunWhatIsPosted();
  EXPECT_EQ(a_.transport->counters().dialed, 0u);
  EXPECT_EQ(a_.transport->SetAddresses(TestKey(4)->id(), {"a:1"}, AddressSource::kAnnounced).code(),
            absl::StatusCode::kNotFound);
  ASSERT_TRUE(a_.transport->SetAddresses(b_.id(), {b_.address()}, AddressSource::kAnnounced).ok());
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); }));
  // Nothing about an open link depends on its addresses any more.
  ASSERT_TRUE(a_.transport->SetAddresses(b_.id(), {DeadAddress()}, AddressSource::kAnnounced).ok());
  RunWhatIsPosted();
  EXPECT_TRUE(BothUp());
  EXPECT_EQ(a_.transport->counters().dialed, 1u);
}

// The first address never answers; the second came while it was tried.
TEST_F(TransportAddresses, AnAddressThatComesDuringADialIsTriedSoonAfterIt) {
  const auto silent = os::ListenOnLoopback();
  ASSERT_TRUE(silent.ok());
  a_.options.timeouts.handshake = base::Milliseconds(100);
  a_.options.backoff.first = base::Milliseconds(20);
  a_.Start(io_);
  b_.Start(io_);
  ASSERT_TRUE(b_.transport->Add(a_.id(), {}).ok());
  ASSERT_TRUE(a_.transport->Add(b_.id(), {"127.0.0.1:" + std::to_string(silent->port)}).ok());
  ASSERT_TRUE(a_.transport->SetAddresses(b_.id(), {b_.address()}, AddressSource::kAnnounced).ok());
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); })) << a_.AllNotices();
  EXPECT_EQ(a_.transport->counters().dialed, 3u) << "the silent one twice, then the new one";
  close(silent->fd);
}

// Its address has changed, and it dials us from the new one.
TEST_F(TransportAddresses, AMemberIsDialedBackWhereItsLinkCameFrom) {
  Start();
  // Nobody listens there; the port is the right one.
  const std::string old_address = "127.0.0.2:" + std::to_string(b_.port());
  ASSERT_TRUE(a_.transport->Add(b_.id(), {old_address}).ok());
  ASSERT_TRUE(b_.transport->Add(a_.id(), {a_.address()}).ok());
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); }));
  EXPECT_THAT(TextsOf(a_.transport->AddressesOf(b_.id())), ElementsAre(old_address, b_.address()));
  b_.Kill();
  ASSERT_TRUE(RunUntil(io_, [this] { return a_.Downs() == 1; }));
  b_.Start(io_);
  ASSERT_TRUE(b_.transport->Add(a_.id(), {}).ok()) << "it does not dial this time";
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); })) << a_.AllNotices();
  EXPECT_EQ(b_.transport->counters().dialed, 0u);
}

}  // namespace
}  // namespace ostraka::net::transport_addresses_test

// KeyProbe against real sockets of 127.0.0.1.
#include "node/net/link/key_probe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <optional>

#include "tests/unit/net/transport_net.h"

namespace ostraka::net::key_probe_test {
namespace {

class KeyProbeTest : public ::testing::Test {
 protected:
  std::optional<DialOutcome> Probe(std::uint16_t port, const base::PeerId& expected,
                                   base::Duration patience = base::Seconds(10)) {
    std::optional<DialOutcome> outcome;
    const KeyProbe probe(io_, tls_, {"127.0.0.1", port}, expected, patience,
                         [&outcome](DialOutcome what) { outcome = what; });
    EXPECT_FALSE(outcome.has_value()) << "not within the call";
    EXPECT_TRUE(RunUntil(io_, [&outcome] { return outcome.has_value(); }));
    return outcome;
  }

  boost::asio::io_context io_;
  TlsContext tls_ = *MakeTlsContext(*TestKey(0), RunId(7));
};

TEST_F(KeyProbeTest, SaysWhetherTheExpectedKeyAnswers) {
  TestNode node(1);
  node.options.members = {{TestKey(0)->id(), ""}};
  node.Start(io_);
  EXPECT_EQ(Probe(node.port(), node.id()), DialOutcome::kReached);
  EXPECT_EQ(Probe(node.port(), TestKey(2)->id()), DialOutcome::kOtherKey);
  EXPECT_EQ(node.Ups(), 0u) << "it is no link";
  EXPECT_EQ(node.transport->counters().refused, 0u) << "and nothing that is held against us";
}

TEST_F(KeyProbeTest, TellsARefusalFromSilence) {
  std::uint16_t closed = 0;
  {
    const TestNode gone(1);
    closed = gone.port();
  }
  EXPECT_EQ(Probe(closed, TestKey(1)->id()), DialOutcome::kRefused);
  const auto mute = os::ListenOnLoopback();
  ASSERT_TRUE(mute.ok());
  EXPECT_EQ(Probe(mute->port, TestKey(1)->id(), base::Milliseconds(100)), DialOutcome::kNoNode)
      << "TCP was answered, TLS was not";
  close(mute->fd);
}

TEST_F(KeyProbeTest, ADestroyedOneSaysNothing) {
  TestNode node(1);
  node.options.members = {{TestKey(0)->id(), ""}};
  node.Start(io_);
  bool said = false;
  {
    const KeyProbe probe(io_, tls_, {"127.0.0.1", node.port()}, node.id(), base::Milliseconds(50),
                         [&said](DialOutcome) { said = true; });
  }
  EXPECT_EQ(Probe(node.port(), node.id()), DialOutcome::kReached);  // meanwhile it would have
  EXPECT_FALSE(said);
}

}  // namespace
}  // namespace ostraka::net::key_probe_test

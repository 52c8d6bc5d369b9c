// Each checker must fail when it should: what it looks at is made up here.
#include "sim/dht/checks.h"

#include <gtest/gtest.h>

#include "sim/dht/adversary.h"
#include "tests/unit/dht/samples.h"

namespace ostraka::sim::dhtsim::checks_test {
namespace {

Endpoint Host(std::uint32_t number) { return Endpoint::V4(0x14000000 + 256 * number + 1, 7000); }

class ChecksTest : public testing::Test {
 protected:
  ChecksTest() {
    for (std::uint32_t i = 0; i < 3; ++i) {
      Swarm::PeerOptions peer;
      peer.endpoint = Host(i);
      swarm_.Add({}, std::move(peer), {});
    }
  }
  void Send(const Cause& cause, const Endpoint& to, std::size_t size, bool is_reply) {
    auto bytes = std::make_shared<base::Bytes>(size);
    (*bytes)[5] = is_reply ? 1 : 0;
    checks_.OnAction({}, 0, cause, machine::SendDatagram<Endpoint>{to, bytes});
  }
  void See(const Cause& cause, dht::Observation what) {
    checks_.OnAction({}, 0, cause, machine::Observe<dht::Observation>{std::move(what)});
  }
  std::string failed() const { return checks_.failure() ? checks_.failure()->checker : ""; }

  Swarm swarm_{1, {}};
  Checks checks_{&swarm_};
  Endpoint from_ = Host(1);
  Cause query_{&from_, 1, 1200, false};
};

TEST_F(ChecksTest, AReplyToItsQueryPasses) {
  Send(query_, from_, 1200, true);
  Send({}, Host(2), 1200, false);
  checks_.Inspect();
  EXPECT_EQ(failed(), "");
}
TEST_F(ChecksTest, ALongerReplyFails) {
  query_.size = 300;
  Send(query_, from_, 301, true);
  EXPECT_EQ(failed(), "no_amplification");
}
TEST_F(ChecksTest, AReplyToAnotherFails) {
  Send(query_, Host(2), 100, true);
  EXPECT_EQ(failed(), "no_amplification");
}
TEST_F(ChecksTest, AReplyToAReplyFails) {
  query_.is_reply = true;
  Send(query_, from_, 100, true);
  EXPECT_EQ(failed(), "no_amplification");
}
TEST_F(ChecksTest, AShortQueryFails) {
  Send({}, Host(2), 1199, false);
  EXPECT_EQ(failed(), "no_amplification");
}
TEST_F(ChecksTest, AStormOfQueriesFails) {
  for (std::uint64_t i = 0; i <= Checks::kQueriesAMinute; ++i) {
    EXPECT_EQ(failed(), "");
    Send({}, Host(2), 1200, false);
  }
  EXPECT_EQ(failed(), "bytes_in_out");
}
TEST_F(ChecksTest, ARecordForAnAddressThatDidNotSendItFails) {
  See(query_, dht::RecordStored{{}, Host(1)});
  EXPECT_EQ(failed(), "");
  See(query_, dht::RecordStored{{}, Host(2)});
  EXPECT_EQ(failed(), "sources");
}
TEST_F(ChecksTest, AContactWithAnotherKeyFails) {
  See({}, dht::ContactLearned{{swarm_.id(1), Host(1)}});
  EXPECT_EQ(failed(), "");
  See({}, dht::ContactLearned{{swarm_.id(1), Host(2)}});
  EXPECT_EQ(failed(), "identity");
}
TEST_F(ChecksTest, AContactWhereNobodyIsFails) {
  See({}, dht::ContactLearned{{swarm_.id(1), Host(77)}});
  EXPECT_EQ(failed(), "identity");
}

}  // namespace
}  // namespace ostraka::sim::dhtsim::checks_test

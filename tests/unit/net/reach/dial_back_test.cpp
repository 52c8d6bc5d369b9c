// DialBack over real links of 127.0.0.1.
#include "node/net/reach/dial_back.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "tests/unit/net/transport_net.h"

namespace ostraka::net::dial_back_test {
namespace {

using ::testing::IsEmpty;

// A member with its transport, which others know at its own address.
struct Dialer {
  explicit Dialer(std::size_t rank) : node(rank), port(node.port()) {
    node.on_link = [this](const PeerId& peer, bool) {
      if (dial_back) dial_back->OnLink(peer);
    };
    node.on_dial_back = [this](const PeerId& from, const DialBackRecord& record) {
      if (std::holds_alternative<DialBackAsk>(record)) ++asked;
      if (dial_back) dial_back->OnRecord(from, record);
    };
  }
  // `manifest`: the addresses that it names.
  void Start(boost::asio::io_context& io, const std::vector<std::string>& manifest,
             bool on = true) {
    std::vector<TransportMember> members;
    for (const std::string& address : manifest) members.push_back({TestKey(7)->id(), address});
    node.Start(io);
    dial_back = std::make_unique<DialBack>(
        io, node.options.key, node.options.run_id, members, on,
        DialBackEvents{.send =
                           [this](const PeerId& to, const DialBackRecord& record) {
                             const auto* answer = std::get_if<DialBackAnswer>(&record);
                             if (answer != nullptr) answers.push_back(*answer);
                             node.transport->SendDialBack(to, record);
                           },
                       .path = [this](const PeerId& peer) { return node.transport->PathOf(peer); },
                       .port = [this] { return port; }});
    dial_back->Start();
  }
  std::vector<DialedBack> results() const { return dial_back->status().results; }

  TestNode node;
  std::uint16_t port;  // that it has others dial
  std::unique_ptr<DialBack> dial_back;
  int asked = 0;
  std::vector<DialBackAnswer> answers;
};

class DialBackTest : public ::testing::Test {
 protected:
  // `a_` dials `b_`.
  void Link(bool b_on = true, const std::vector<std::string>& manifest = {"127.0.0.1:1"}) {
    a_.Start(io_, manifest);
    b_.Start(io_, manifest, b_on);
    ASSERT_TRUE(b_.node.transport->Add(a_.node.id(), {}).ok());
    ASSERT_TRUE(a_.node.transport->Add(b_.node.id(), {b_.node.address()}).ok());
  }
  // The outcome that b tells a.
  std::optional<DialOutcome> Outcome() {
    RunUntil(io_, [this] { return !a_.results().empty(); });
    return a_.results().empty() ? std::nullopt : std::optional(a_.results()[0].outcome);
  }
  boost::asio::io_context io_;
  Dialer a_{0}, b_{1};
};

TEST_F(DialBackTest, AMemberIsToldThatItCanBeReached) {
  Link();
  EXPECT_EQ(Outcome(), DialOutcome::kReached);
  EXPECT_EQ(a_.results()[0].peer, b_.node.id());
  EXPECT_EQ(dht::TextOf(a_.results()[0].where), a_.node.address());
  ASSERT_EQ(b_.results().size(), 1u) << "a link came in";
  EXPECT_EQ(b_.results()[0].where.port, 0);
  EXPECT_EQ(a_.asked, 0) << "whom others have reached asks nobody";
  EXPECT_EQ(a_.node.Ups(), 1u) << "the dial leaves the link alone";
}

TEST_F(DialBackTest, AMemberIsToldThatItsPortIsClosed) {
  const Dialer gone(2);
  a_.port = 1;
  Link();
  EXPECT_EQ(Outcome(), DialOutcome::kRefused);
}

TEST_F(DialBackTest, AMemberIsToldThatAnotherKeyAnswers) {
  TestNode other(2);
  other.options.members = {{b_.node.id(), ""}};
  other.Start(io_);
  a_.port = other.port();
  Link();
  EXPECT_EQ(Outcome(), DialOutcome::kOtherKey);
}

TEST_F(DialBackTest, OneThatIsOffDeclinesAndAsksNobody) {
  Link(false);
  EXPECT_EQ(Outcome(), DialOutcome::kDeclined);
  EXPECT_FALSE(b_.dial_back->status().on);
}

TEST_F(DialBackTest, AForgottenMembersDialEnds) {
  Link();
  ASSERT_TRUE(RunUntil(io_, [this] { return b_.asked == 1; }));
  b_.dial_back->Forget(a_.node.id());
  b_.dial_back->CheckInvariants();
  EXPECT_THAT(b_.results(), IsEmpty());
  EXPECT_THAT(b_.answers, IsEmpty());
}

// The manifest names no loopback address, so that nobody is dialed there.
TEST_F(DialBackTest, WhatThePolicyForbidsIsNotDialed) {
  Link(true, {"192.0.2.1:9000"});
  EXPECT_EQ(Outcome(), DialOutcome::kDeclined);
}

TEST_F(DialBackTest, AFloodOfQuestionsGetsFourAnswers) {
  Link();
  ASSERT_EQ(Outcome(), DialOutcome::kReached);
  const std::uint64_t before = a_.node.transport->counters().accepted;
  int questions = 1;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 100; ++i, ++questions) {
      a_.node.transport->SendDialBack(b_.node.id(), DialBackAsk{a_.node.port()});
    }
    ASSERT_TRUE(RunUntil(io_, [&] { return b_.asked == questions; }));
    // One dial at once: the next round begins when it has ended.
    const std::size_t had = b_.answers.size();
    if (had < 4) ASSERT_TRUE(RunUntil(io_, [&] { return b_.answers.size() > had; }));
  }
  EXPECT_EQ(b_.answers.size(), 4u);
  EXPECT_LE(a_.node.transport->counters().accepted - before, 3u);
  EXPECT_TRUE(b_.node.transport->IsUp(a_.node.id()));
}

TEST_F(DialBackTest, AfterStopNothingIsSaidNotEvenOfADialThatIsUnderWay) {
  Link();
  ASSERT_TRUE(RunUntil(io_, [this] { return b_.asked == 1; }));
  ASSERT_THAT(b_.answers, IsEmpty());
  b_.dial_back->Stop();
  b_.dial_back->CheckInvariants();
  const std::size_t had = b_.answers.size();
  a_.node.transport->SendDialBack(b_.node.id(), DialBackAsk{a_.node.port()});
  ASSERT_TRUE(RunUntil(io_, [this] { return b_.asked == 2; }));
  EXPECT_EQ(b_.answers.size(), had);
}

}  // namespace
}  // namespace ostraka::net::dial_back_test

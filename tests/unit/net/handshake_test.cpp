// The handshake and the stream under it, alone: two of them meet on loopback, and one meets nobody.
#include "node/net/link/handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/write.hpp>

#include "node/net/link/record_stream.h"
#include "node/os/endpoint.h"
#include "tests/unit/net/transport_raw_peer.h"

namespace ostraka::net::handshake_test {
namespace {

namespace asio = boost::asio;

// One side: a stream, its handshake, and what they reported.
class Side {
 public:
  Side(asio::io_context& io, std::size_t key_rank)
      : stream(std::make_shared<RecordStream>(io, *MakeTlsContext(*TestKey(key_rank)))) {
    stream->Listen({.read =
                        [this](boost::system::error_code ec, std::size_t added) {
                          read_failed = ec.failed();
                          read += added;
                        },
                    .written =
                        [this](boost::system::error_code ec) {
                          ++written;
                          EXPECT_FALSE(ec) << ec.message();
                        }});
  }
  void Prepare(std::optional<PeerId> expected, const std::string& remote,
               base::Bytes first_bytes = {}) {
    handshake = std::make_shared<Handshake>(
        stream, LinkTimeouts{}, expected, remote, std::move(first_bytes),
        Handshake::Events{.authenticated = [this](const PeerId& id) -> base::StatusOr<Hello> {
                            proven = id;
                            if (!verdict.ok()) return verdict;
                            return GoodHello(7);
                          },
                          .upgraded =
                              [this](const Hello& ours) {
                                ++upgraded;
                                EXPECT_EQ(ours, GoodHello(7));
                              },
                          .failed = [this](const Closing& why) { failures.push_back(why); }});
  }
  bool is_over() const { return upgraded > 0 || !failures.empty(); }

  std::shared_ptr<RecordStream> stream;
  std::shared_ptr<Handshake> handshake;
  base::Status verdict = base::OkStatus();
  std::optional<PeerId> proven;
  int upgraded = 0;
  std::vector<Closing> failures;
  std::size_t read = 0;
  bool read_failed = false;
  int written = 0;
};

class HandshakeTest : public ::testing::Test {
 protected:
  HandshakeTest() : acceptor_(io_, {asio::ip::address_v4::loopback(), 0}) {
    address_ = "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  ~HandshakeTest() override {
    dialer_.stream->CloseSocket();
    server_.stream->CloseSocket();
    io_.restart();
    io_.poll();  // what has failed now still finds its owner
  }
  // The dialer expects key `rank`; the server has key 1.
  void Meet(std::size_t rank) {
    acceptor_.async_accept([this](boost::system::error_code ec, asio::ip::tcp::socket socket) {
      ASSERT_FALSE(ec);
      server_.stream->Adopt(socket.release());
      server_.Prepare(std::nullopt, "somebody");
      server_.handshake->Start();
    });
    dialer_.Prepare(TestKey(rank)->id(), address_);
    dialer_.handshake->Start();
    EXPECT_FALSE(dialer_.is_over()) << "an event came within Start";
  }
  bool RunUntilBothAreOver() {
    return RunUntil(io_, [this] { return dialer_.is_over() && server_.is_over(); });
  }

  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_;
  std::string address_;
  Side dialer_{io_, 0};
  Side server_{io_, 1};
};

TEST_F(HandshakeTest, ProvesBothIdsAndThenRecordsFlow) {
  Meet(1);
  ASSERT_TRUE(RunUntilBothAreOver());
  EXPECT_EQ(dialer_.upgraded + server_.upgraded, 2);
  EXPECT_EQ(dialer_.proven, TestKey(1)->id());
  EXPECT_EQ(server_.proven, TestKey(0)->id());
  SendQueue queue(1000, 1000);
  ASSERT_TRUE(queue.PushControl(Frame("hello")).ok());
  server_.stream->Read(100);
  dialer_.stream->Write(queue.Next().value());
  ASSERT_TRUE(RunUntil(io_, [this] { return server_.stream->inbox().size() == 6; }));
  EXPECT_TRUE(server_.stream->is_record_complete());
  EXPECT_FALSE(server_.stream->is_text());
  EXPECT_EQ(server_.stream->inbox()[0], static_cast<std::uint8_t>(RecordType::kControl));
  server_.stream->Consume();
  EXPECT_TRUE(server_.stream->inbox().empty());
  EXPECT_EQ(dialer_.written, 1);
}

TEST_F(HandshakeTest, ALongRecordIsReadInPiecesThatTheReaderBounds) {
  Meet(1);
  ASSERT_TRUE(RunUntilBothAreOver());
  SendQueue queue(10'000, 1000);
  ASSERT_TRUE(queue.PushControl(Frame(std::string(5000, 'x'))).ok());
  dialer_.stream->Write(queue.Next().value());
  server_.stream->Read(1000);
  ASSERT_TRUE(RunUntil(io_, [this] { return server_.read > 0; }));
  EXPECT_LE(server_.stream->inbox().size(), 1000u);
  EXPECT_FALSE(server_.stream->is_record_complete());
}

TEST_F(HandshakeTest, ACloseIsAnsweredAndItsCodeAndReasonArrive) {
  Meet(1);
  ASSERT_TRUE(RunUntilBothAreOver());
  bool answered = false;
  server_.stream->Read(100);
  dialer_.stream->SendClose(CloseCode::kLeaving, std::string(200, 'r'),
                            [&answered](boost::system::error_code) { answered = true; });
  ASSERT_TRUE(RunUntil(io_, [&] { return answered && server_.read_failed; }));
  EXPECT_EQ(server_.stream->close_code(), 4002);
  EXPECT_EQ(server_.stream->close_reason(), std::string(123, 'r'));
}

TEST_F(HandshakeTest, SomebodyElseIsRefusedAfterTls) {
  Meet(2);
  ASSERT_TRUE(RunUntil(io_, [this] { return dialer_.is_over(); }));
  ASSERT_EQ(dialer_.failures.size(), 1u);
  EXPECT_EQ(dialer_.failures[0].refusal, Refusal::kIdentity);
  EXPECT_EQ(dialer_.failures[0].reason, "is " + TestKey(1)->id().Short() + ", not the " +
                                            TestKey(2)->id().Short() + " that we dialed");
  EXPECT_EQ(dialer_.proven, std::nullopt) << "only the expected id is passed on";
}

TEST_F(HandshakeTest, TheOwnersVerdictClosesAsQuotaOrAsIdentity) {
  server_.verdict = base::Unavailable("is one too many");
  dialer_.verdict = base::FailedPrecondition("is not wanted");
  Meet(1);
  ASSERT_TRUE(RunUntilBothAreOver());
  EXPECT_EQ(dialer_.failures.at(0).refusal, Refusal::kIdentity);
  EXPECT_EQ(dialer_.failures.at(0).reason, "is not wanted");
  EXPECT_EQ(server_.failures.at(0).refusal, Refusal::kQuota);
  EXPECT_EQ(dialer_.upgraded + server_.upgraded, 0);
}

TEST_F(HandshakeTest, CancelledItReportsNothing) {
  Meet(1);
  dialer_.handshake->Cancel();
  dialer_.stream->CloseSocket();
  ASSERT_TRUE(RunUntil(io_, [this] { return server_.is_over(); }));
  EXPECT_FALSE(dialer_.is_over());
  EXPECT_EQ(server_.failures.at(0).why, Closing::Why::kLost);
}

TEST_F(HandshakeTest, ABadAddressFailsLater) {
  for (const std::string& address : {std::string("no address"), std::string("127.0.0.1:1")}) {
    Side side(io_, 0);
    side.Prepare(TestKey(1)->id(), address);
    side.handshake->Start();
    EXPECT_FALSE(side.is_over()) << "an event came within Start";
    ASSERT_TRUE(RunUntil(io_, [&side] { return side.is_over(); }));
    EXPECT_EQ(side.failures.at(0).why, Closing::Why::kLost);
  }
}

TEST_F(HandshakeTest, LatenessNamesTheStep) {
  const auto silent = os::ListenOnLoopback();
  Side side(io_, 0);
  side.Prepare(TestKey(1)->id(), "127.0.0.1:" + std::to_string(silent->port));
  side.handshake->Start();
  EXPECT_EQ(side.handshake->Late().reason, "did not answer within 4 s");
  EXPECT_EQ(side.handshake->Late().why, Closing::Why::kLost);
  // The kernel completes TCP for it, and nobody answers the ClientHello.
  ASSERT_TRUE(RunUntil(io_, [&side] {
    return side.handshake->Late().reason == "did not finish the TLS handshake within 4 s";
  }));
  side.handshake->Cancel();
  side.stream->CloseSocket();
  close(silent->fd);
}

// The bytes that were read before TLS are the first that TLS reads.
TEST_F(HandshakeTest, WhatWasReadBeforeIsNotLost) {
  asio::ip::tcp::socket raw(io_);
  raw.connect(acceptor_.local_endpoint());
  server_.stream->Adopt(acceptor_.accept().release());
  const std::string junk = "\x16\x03\x01\xff\xff";
  server_.Prepare(std::nullopt, "somebody", base::Bytes(junk.begin(), junk.end()));
  server_.handshake->Start();
  ASSERT_TRUE(RunUntil(io_, [this] { return server_.is_over(); }));
  EXPECT_EQ(server_.failures.at(0).why, Closing::Why::kRefused);
  EXPECT_EQ(server_.failures.at(0).refusal, Refusal::kHandshake);
}

TEST_F(HandshakeTest, OneReadAndOneWriteAtATime) {
  Meet(1);
  ASSERT_TRUE(RunUntilBothAreOver());
  server_.stream->Read(100);
  EXPECT_DEATH(server_.stream->Read(100), "CHECK failed");
  SendQueue queue(1000, 1000);
  ASSERT_TRUE(queue.PushControl(Frame("a")).ok());
  ASSERT_TRUE(queue.PushControl(Frame("b")).ok());
  dialer_.stream->Write(queue.Next().value());
  EXPECT_DEATH(dialer_.stream->Write(queue.Next().value()), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::net::handshake_test

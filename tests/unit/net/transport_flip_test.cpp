// One wrong byte on the way, at every place: of both handshakes (TCP's payload from the first byte
// of TLS to GO) and of every kind of message. Whoever receives it closes the connection and says
// why in our own words; no frame arrives but those, whole, that went before it.
//
// Two honest nodes with a proxy between them that changes one byte of each connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <string_view>

#include "node/base/check.h"
#include "tests/unit/net/transport_net.h"
#include "tests/unit/wire/vector_file.h"

namespace ostraka::net::transport_flip_test {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;

// What to change: byte `position` of what the dialer says, or of what it hears.
struct Flip {
  bool dialer_says = true;
  std::size_t position = ~std::size_t{0};
};

// One connection through the proxy, both ways, until either side closes it.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(asio::io_context& io, tcp::socket dialer, Flip flip, std::function<void()> ended)
      : dialer_(std::move(dialer)), listener_(io), flip_(flip), ended_(std::move(ended)) {}

  void Start(std::uint16_t port) {
    listener_.connect({asio::ip::address_v4::loopback(), port});
    listener_.set_option(tcp::no_delay(true));
    dialer_.set_option(tcp::no_delay(true));
    Read(0);
    Read(1);
  }
  void Cut() {
    error_code ignored;
    dialer_.close(ignored);
    listener_.close(ignored);
    if (const auto ended = std::exchange(ended_, nullptr)) ended();
  }
  // So far: [0] what the dialer said, [1] what it heard.
  const std::array<std::size_t, 2>& bytes() const { return bytes_; }

 private:
  void Read(int way) {
    (way == 0 ? dialer_ : listener_)
        .async_read_some(asio::buffer(buffers_[way]),
                         [self = shared_from_this(), way](error_code ec, std::size_t size) {
                           self->OnRead(way, ec, size);
                         });
  }
  void OnRead(int way, error_code ec, std::size_t size) {
    if (ec) return Cut();
    const bool mine = flip_.dialer_says == (way == 0);
    if (mine && flip_.position - bytes_[way] < size) {
      // Never zero, and not the same bits everywhere.
      const auto wrong = static_cast<char>(1 + flip_.position * 37 % 255);
      buffers_[way][flip_.position - bytes_[way]] ^= wrong;
    }
    bytes_[way] += size;
    asio::async_write(way == 0 ? listener_ : dialer_, asio::buffer(buffers_[way], size),
                      [self = shared_from_this(), way](error_code failed, std::size_t /*all*/) {
                        failed ? self->Cut() : self->Read(way);
                      });
  }

  tcp::socket dialer_;
  tcp::socket listener_;
  Flip flip_;
  std::function<void()> ended_;
  std::array<std::array<char, 16384>, 2> buffers_;
  std::array<std::size_t, 2> bytes_{};
};

class TransportFlip : public ::testing::Test {
 protected:
  TransportFlip()
      : dialer_(1), listener_(2), acceptor_(io_, {asio::ip::address_v4::loopback(), 0}) {
    for (const char* kind :
         {"boot", "commit", "part", "aggregate", "result", "reveal", "proof", "echo"}) {
      const auto frame = wire::ReadVector(std::string(WIRE_VECTORS) + "/frame_" + kind + ".hex");
      OSTRAKA_CHECK(frame.ok());
      frames_.push_back(std::string(frame->begin(), frame->end()));
    }
    for (TestNode* node : {&dialer_, &listener_}) {
      TransportOptions& options = node->options;
      options.backoff = {.first = base::Milliseconds(1), .longest = base::Milliseconds(1)};
      options.admission.stranger_notices = 1'000'000'000;
      options.admission.handshakes_per_second = 1'000'000'000;
      options.admission.unnamed_per_second = 1'000'000'000;
      // Every kind of message, as soon as there is a link.
      node->on_link = [this, node](const PeerId& peer, bool up) {
        for (const std::string& frame : frames_) {
          if (up) node->transport->Send(peer, Frame(frame));
        }
      };
    }
    const std::uint16_t port = acceptor_.local_endpoint().port();
    dialer_.options.members = {{listener_.id(), "127.0.0.1:" + std::to_string(port)}};
    listener_.options.members = {{dialer_.id(), ""}};
  }
  ~TransportFlip() override {
    acceptor_.close();
    if (session_ != nullptr) session_->Cut();
  }

  // The next connection waits here until the one before is over at both ends.
  void Accept() {
    acceptor_.async_accept([this](error_code ec, tcp::socket socket) {
      if (!ec) next_ = std::move(socket);
    });
  }
  bool AllArrived() const {
    return dialer_.messages.size() == frames_.size() && listener_.messages.size() == frames_.size();
  }
  // Whoever dials anew has ended what he had.
  bool IsOver() const {
    return next_.has_value() && listener_.transport->counters().connections_open == 0;
  }
  // The connection that the dialer makes next, from beginning to end, with one wrong byte.
  void RunSession(const Flip& flip) {
    ASSERT_TRUE(RunUntil(io_, [this] { return IsOver(); }));
    ended_ = false;
    for (TestNode* node : {&dialer_, &listener_}) {
      node->notices.clear();
      node->messages.clear();
      node->links.clear();
    }
    session_ = std::make_shared<Session>(io_, *std::exchange(next_, std::nullopt), flip,
                                         [this] { ended_ = true; });
    session_->Start(listener_.port());
    Accept();
    ASSERT_TRUE(RunUntil(io_, [this] { return ended_ || AllArrived(); }));
    came_through_ = !ended_;
    if (came_through_) session_->Cut();
    ASSERT_TRUE(RunUntil(io_, [this] { return IsOver(); }));
  }

  // Starts both, and makes a connection with no wrong byte; returns how much was said and heard.
  // Where a length is wrong, who hears too little waits: `victim` not for long.
  std::array<std::size_t, 2> Whole(TestNode& victim) {
    victim.options.timeouts = {.handshake = base::Milliseconds(150),
                               .hello = base::Milliseconds(300),
                               .idle = base::Milliseconds(400),
                               .close = base::Milliseconds(100)};
    Accept();
    dialer_.Start(io_);
    listener_.Start(io_);
    RunSession({});
    EXPECT_TRUE(came_through_);
    return session_->bytes();
  }

  void ExpectAPrefix(const TestNode& node) {
    ASSERT_LE(node.messages.size(), frames_.size());
    for (std::size_t i = 0; i < node.messages.size(); ++i) {
      EXPECT_EQ(node.messages[i].frame, frames_[i]);
    }
  }
  // Closed, for reasons of our own. A frame that is not whole is waited for until the sender is
  // silent for too long.
  void ExpectRefused(const TestNode& victim) {
    const bool said =
        std::any_of(victim.notices.begin(), victim.notices.end(), [](const std::string& line) {
          return std::any_of(kReasons.begin(), kReasons.end(), [&line](std::string_view reason) {
            return line.find(reason) != std::string::npos;
          });
        });
    EXPECT_TRUE(said) << victim.AllNotices();
    EXPECT_EQ(victim.Ups(), victim.Downs());
  }
  // Every byte of what one side says before `end`. Returns the places where the link came up and
  // lived all the same.
  std::vector<std::size_t> FlipAll(bool dialer_says, std::size_t end) {
    std::vector<std::size_t> harmless;
    for (std::size_t i = 0; i < end; ++i) {
      SCOPED_TRACE(std::to_string(i));
      RunSession({dialer_says, i});
      ExpectAPrefix(dialer_);
      ExpectAPrefix(listener_);
      if (came_through_) {
        harmless.push_back(i);
      } else {
        ExpectRefused(dialer_says ? listener_ : dialer_);
      }
      if (HasFailure()) break;
    }
    return harmless;
  }

  static constexpr std::array<std::string_view, 12> kReasons = {
      "does not speak TLS",
      "sent a malformed TLS handshake",
      "sent a TLS handshake that does not verify",
      "sent a TLS record that does not decrypt",
      "ended the TLS handshake with alert",
      "has no Ed25519 certificate",
      "speaks TLS, but not ALPN",
      "did not finish the TLS handshake within",
      "did not finish the WebSocket upgrade within",
      "said no HELLO within",
      "did not make this connection the link within",
      "was silent for",
  };
  // Of the first record each side sends, TLS 1.3 has the receiver ignore the low byte of the
  // version (RFC 8446, 5.1).
  const std::vector<std::size_t> kIgnored = {2};

  asio::io_context io_;
  TestNode dialer_;
  TestNode listener_;
  tcp::acceptor acceptor_;
  std::vector<std::string> frames_;
  std::optional<tcp::socket> next_;
  std::shared_ptr<Session> session_;
  bool ended_ = false;
  bool came_through_ = false;
};

// What the dialer says, to the last byte of the last kind of message.
TEST_F(TransportFlip, EveryByteThatTheDialerSays) {
  const std::array<std::size_t, 2> bytes = Whole(listener_);
  EXPECT_GT(bytes[0], 4000u);
  EXPECT_EQ(FlipAll(true, bytes[0]), kIgnored);
}

// What it hears, until it is told that this is the link.
TEST_F(TransportFlip, EveryByteOfTheHandshakeThatTheDialerHears) {
  const std::array<std::size_t, 2> bytes = Whole(dialer_);
  std::size_t messages = 0;
  for (const std::string& frame : frames_) messages += frame.size();
  EXPECT_GT(bytes[1], messages);
  EXPECT_EQ(FlipAll(false, bytes[1] - messages), kIgnored);
}

}  // namespace
}  // namespace ostraka::net::transport_flip_test

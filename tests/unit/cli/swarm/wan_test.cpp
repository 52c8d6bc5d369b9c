// Lines between nodes: times by arithmetic alone, and bytes through real sockets.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <thread>
#include <vector>

#include "node/cli/swarm/wan_lines.h"
#include "node/cli/swarm/wan_relay.h"
#include "node/os/steady_clock.h"

namespace ostraka::cli::wan_test {
namespace {

using boost::asio::ip::tcp;

constexpr WanLine kLine = {.bits_per_second = 8'000'000, .delay = base::Milliseconds(50)};

base::Time At(std::int64_t ms) { return base::Time{} + base::Milliseconds(ms); }

TEST(WanLineTest, IsReadAndWritten) {
  const auto line = ParseWanLine("20M:50ms");
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->bits_per_second, 20'000'000u);
  EXPECT_EQ(line->delay, base::Milliseconds(50));
  EXPECT_EQ(WanLineText(*line), "20 Mbit/s, 50 ms");
  EXPECT_EQ(WanLineText(*ParseWanLine("250K:500ms")), "250 kbit/s, 500 ms");
  EXPECT_EQ(ParseWanLine("1G:0ms")->bits_per_second, 1'000'000'000u);
  for (const char* wrong : {"", "20M", "20M:", ":50ms", "20M:50", "0:50ms", "20X:50ms", "20M:1s",
                            "20M:501ms", "20M:50ms:1", "-1M:5ms", "99999999999M:1ms", "199K:1ms"}) {
    EXPECT_FALSE(ParseWanLine(wrong).ok()) << wrong;
  }
}

// A megabyte a second, so a kilobyte a millisecond.
TEST(WanLinesTest, AChunkTakesItsBytesAndADelay) {
  WanLines lines(kLine, 3);
  const auto first = lines.Send(At(1000), 0, 1, 10'000);
  EXPECT_EQ(first.left, At(1010));
  EXPECT_EQ(first.arrives, At(1060));
  const auto second = lines.Send(At(1002), 0, 2, 5'000);
  EXPECT_EQ(second.left, At(1015)) << "behind the first on one line";
  EXPECT_EQ(second.arrives, At(1065));
  EXPECT_EQ(lines.Send(At(2000), 0, 1, 1'000).arrives, At(2051)) << "an idle line";
}

TEST(WanLinesTest, TwoThatSendToOneShareItsLineAndNobodyElses) {
  WanLines lines(kLine, 3);
  EXPECT_EQ(lines.Send(At(0), 0, 2, 10'000).arrives, At(60));
  EXPECT_EQ(lines.Send(At(0), 1, 2, 10'000).arrives, At(70)) << "the receiver takes one at a time";
  EXPECT_EQ(lines.Send(At(0), 2, 0, 10'000).arrives, At(60)) << "directions do not share";
}

class WanRelayTest : public ::testing::Test {
 protected:
  // Two nodes that listen; connections go from node 0 to node 1.
  WanRelayTest() {
    for (tcp::acceptor* acceptor : {&zero_, &one_}) {
      acceptor->open(tcp::v4());
      acceptor->bind({boost::asio::ip::address_v4::loopback(), 0});
      acceptor->listen();
    }
  }
  void Begin(const WanLine& line) {
    auto relay =
        WanRelay::Start(line, {zero_.local_endpoint().port(), one_.local_endpoint().port()});
    ASSERT_TRUE(relay.ok());
    relay_ = *std::move(relay);
    dialer_.connect({boost::asio::ip::address_v4::loopback(), relay_->PortFor(0, 1)});
    one_.accept(dialed_);
  }

  boost::asio::io_context io_;
  tcp::acceptor zero_{io_};
  tcp::acceptor one_{io_};
  std::unique_ptr<WanRelay> relay_;
  tcp::socket dialer_{io_};
  tcp::socket dialed_{io_};
};

TEST_F(WanRelayTest, BytesArriveInOrderAndNoSoonerThanTheLineAllows) {
  Begin({.bits_per_second = 40'000'000, .delay = base::Milliseconds(30)});
  std::string sent(1'000'000, 0);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 31 + i / 251);
  const base::Time begin = os::SteadyNow();
  std::thread writer([&] { boost::asio::write(dialer_, boost::asio::buffer(sent)); });
  std::string got(sent.size(), 0);
  boost::asio::read(dialed_, boost::asio::buffer(got));
  writer.join();
  EXPECT_GE((os::SteadyNow() - begin).seconds(), 0.2 + 0.03);
  EXPECT_EQ(got, sent);
  const std::string back = "and back";
  boost::asio::write(dialed_, boost::asio::buffer(back));
  std::string answer(back.size(), 0);
  boost::asio::read(dialer_, boost::asio::buffer(answer));
  EXPECT_EQ(answer, back);
  EXPECT_EQ(relay_->bytes(), sent.size() + back.size());
}

TEST_F(WanRelayTest, AnEndArrivesBehindTheBytes) {
  Begin({.bits_per_second = 8'000'000, .delay = base::Milliseconds(1)});
  boost::asio::write(dialer_, boost::asio::buffer(std::string(50'000, 'x')));
  dialer_.shutdown(tcp::socket::shutdown_send);
  std::vector<char> got(60'000);
  boost::system::error_code error;
  EXPECT_EQ(boost::asio::read(dialed_, boost::asio::buffer(got), error), 50'000u);
  EXPECT_EQ(error, boost::asio::error::eof);
}

// A gigabit line would take 125 MB in a second.
TEST_F(WanRelayTest, AReceiverThatDoesNotReadStopsItsSender) {
  Begin({.bits_per_second = 1'000'000'000, .delay = base::Milliseconds(1)});
  dialer_.non_blocking(true);
  const std::string some(1 << 20, 'x');
  std::size_t taken = 0;
  base::Time last = os::SteadyNow();
  while (os::SteadyNow() - last < base::Milliseconds(500)) {
    boost::system::error_code error;
    const std::size_t more = dialer_.write_some(boost::asio::buffer(some), error);
    if (more > 0) last = os::SteadyNow();
    taken += more;
    ASSERT_LT(taken, std::size_t{200} << 20) << "the relay takes whatever comes";
    if (error) std::this_thread::yield();
  }
  std::string got(taken, 0);
  boost::asio::read(dialed_, boost::asio::buffer(got));
  EXPECT_EQ(got, std::string(taken, 'x')) << "nothing was lost, and it goes on";
}

TEST_F(WanRelayTest, EndsWhileConnectionsHoldBytes) {
  Begin({.bits_per_second = 8'000, .delay = base::Seconds(5)});
  boost::asio::write(dialer_, boost::asio::buffer(std::string(30'000, 'x')));
  relay_.reset();
  std::vector<char> got(1);
  boost::system::error_code error;
  boost::asio::read(dialed_, boost::asio::buffer(got), error);
  EXPECT_TRUE(error);
}

}  // namespace
}  // namespace ostraka::cli::wan_test

#include "node/net/reach/router_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>

#include "node/os/steady_clock.h"

namespace ostraka::net::router_port_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RouterPortTest : public ::testing::Test {
 protected:
  void Start(const std::string& script) {
    port_.Start(io_, {"/bin/sh", "-c", script}, 7000, /*udp=*/false);
  }
  void RunUntilNotices(std::size_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (notices_.size() < count) {
      io_.run_one_until(end);
      ASSERT_LT(std::chrono::steady_clock::now(), end);
    }
    port_.CheckInvariants();
  }

  boost::asio::io_context io_;
  std::vector<std::string> notices_;
  RouterPort port_{[this](NoticeLevel, const std::string& line) { notices_.push_back(line); }};
};

TEST_F(RouterPortTest, WasNotAskedAtFirst) { EXPECT_FALSE(port_.StatusAt({}).asked); }

TEST_F(RouterPortTest, ARenewalIsNoNews) {
  Start(
      "printf 'mapped 203.0.113.5:7000 60\\nmapped 203.0.113.5:7000 60\\n"
      "mapped 203.0.113.6:7000 60\\n'; cat");
  RunUntilNotices(2);
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("203.0.113.5:7000"), HasSubstr("203.0.113.6:7000")));
  const base::Time now = os::SteadyNow();
  EXPECT_EQ(dht::TextOf(port_.StatusAt(now).outside.value()), "203.0.113.6:7000");
  EXPECT_FALSE(port_.StatusAt(now + base::Seconds(61)).outside.has_value()) << "not renewed";
}

TEST_F(RouterPortTest, AFailureKeepsWhatIsGrantedAndIsToldOnce) {
  Start(
      "printf 'mapped 203.0.113.5:7000 60\\nfailed silence\\nfailed silence\\n"
      "mapped 203.0.113.5:7000 60\\n'; cat");
  RunUntilNotices(3);
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("forwards 203.0.113.5:7000"),
                                    HasSubstr("no port is forwarded by the router: silence"),
                                    HasSubstr("forwards 203.0.113.5:7000")));
  EXPECT_EQ(port_.StatusAt(os::SteadyNow()).problem, "");
  EXPECT_TRUE(port_.StatusAt(os::SteadyNow()).outside.has_value());
}

}  // namespace
}  // namespace ostraka::net::router_port_test

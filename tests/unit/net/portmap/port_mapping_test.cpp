#include "node/net/portmap/port_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>

namespace ostraka::net::port_mapping_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kDeadline = std::chrono::seconds(30);

// A mapper that is a shell script.
class PortMappingTest : public ::testing::Test {
 protected:
  void Start(const std::string& script) {
    auto started = PortMapping::Start(
        io_, {"/bin/sh", "-c", script},
        {.mapped = [this](const MappingNews& news) { mapped_.push_back(LineOf(news)); },
         .failed = [this](const std::string& why) { failed_.push_back(why); }});
    ASSERT_TRUE(started.ok()) << started.status();
    mapping_ = *std::move(started);
  }
  void RunUntilNews(std::size_t count) {
    const auto end = std::chrono::steady_clock::now() + kDeadline;
    while (mapped_.size() + failed_.size() < count) {
      io_.run_one_until(end);
      ASSERT_LT(std::chrono::steady_clock::now(), end);
    }
  }

  boost::asio::io_context io_;
  std::vector<std::string> mapped_, failed_;
  std::unique_ptr<PortMapping> mapping_;
};

TEST_F(PortMappingTest, TellsEachLineInItsOrder) {
  Start(
      "printf 'failed no router\\nmapped 203.0.113.5:'; printf '7000 3600\\n"
      "mapped 203.0.113.6:7000 60\\n'; cat");
  EXPECT_TRUE(failed_.empty()) << "no callback within a call";
  RunUntilNews(3);
  EXPECT_THAT(mapped_, ElementsAre("mapped 203.0.113.5:7000 3600", "mapped 203.0.113.6:7000 60"));
  EXPECT_THAT(failed_, ElementsAre("no router"));
}

TEST_F(PortMappingTest, AMapperThatWritesSomethingElseIsNotListenedToAgain) {
  Start("printf 'mapped 192.168.1.1:7000 60\\nmapped 203.0.113.5:7000 60\\n'; cat");
  RunUntilNews(1);
  io_.restart();
  io_.run();  // nothing is waited for
  EXPECT_THAT(failed_, ElementsAre(HasSubstr("cannot be")));
  EXPECT_TRUE(mapped_.empty());
}

TEST_F(PortMappingTest, AnEndlessLineIsNotKept) {
  Start("while :; do printf xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done");
  RunUntilNews(1);
  EXPECT_THAT(failed_, ElementsAre(HasSubstr("writes no lines")));
}

TEST_F(PortMappingTest, AMapperThatEndsIsToldOnce) {
  Start("true");
  RunUntilNews(1);
  io_.restart();
  io_.run();
  EXPECT_THAT(failed_, ElementsAre(HasSubstr("it has ended")));
}

TEST_F(PortMappingTest, AProgramThatIsNotThereEnds) {
  // The thread sanitizer's _exit writes out what gtest has buffered, and so into the mapper's pipe.
  std::fflush(stdout);
  auto started =
      PortMapping::Start(io_, {"/nonexistent/mapper"},
                         {.mapped = [](const MappingNews&) {},
                          .failed = [this](const std::string& why) { failed_.push_back(why); }});
  ASSERT_TRUE(started.ok());
  mapping_ = *std::move(started);
  RunUntilNews(1);
  EXPECT_THAT(failed_, ElementsAre(HasSubstr("it has ended")));
}

TEST_F(PortMappingTest, NothingComesAfterItsEnd) {
  Start("printf 'mapped 203.0.113.5:7000 60\\nmapped 203.0.113.5:7000 60\\n'; cat");
  mapping_.reset();
  io_.run();
  EXPECT_TRUE(mapped_.empty() && failed_.empty());
}

TEST_F(PortMappingTest, ACallbackMayEndIt) {
  auto started =
      PortMapping::Start(io_, {"/bin/sh", "-c", "printf 'failed one\\nfailed two\\n'; cat"},
                         {.mapped = [](const MappingNews&) {},
                          .failed =
                              [this](const std::string& why) {
                                failed_.push_back(why);
                                mapping_.reset();
                              }});
  ASSERT_TRUE(started.ok());
  mapping_ = *std::move(started);
  RunUntilNews(1);
  io_.restart();
  io_.run();
  EXPECT_THAT(failed_, ElementsAre("one"));
}

}  // namespace
}  // namespace ostraka::net::port_mapping_test

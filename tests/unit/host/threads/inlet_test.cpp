#include "node/host/threads/inlet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ostraka::host::inlet_test {
namespace {

using ::testing::ElementsAre;

class InletTest : public ::testing::Test {
 protected:
  boost::asio::io_context io_;
  std::vector<std::string> thrown_;
  std::optional<Inlet> inlet_{std::in_place, io_,
                              [this](const std::string& what) { thrown_.push_back(what); }};
};

TEST_F(InletTest, RunsWhatAThreadPostsInOrderOnTheThreadOfTheContext) {
  std::vector<int> order;
  std::vector<std::thread::id> where;
  std::thread poster([&] {
    for (const int i : {1, 2, 3}) {
      inlet_->Post([&, i] {
        order.push_back(i);
        where.push_back(std::this_thread::get_id());
      });
    }
  });
  poster.join();
  EXPECT_TRUE(order.empty()) << "ran within Post";
  io_.run();
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
  EXPECT_EQ(where, std::vector(3, std::this_thread::get_id()));
}

TEST_F(InletTest, NothingRunsAfterItIsGone) {
  bool ran = false;
  inlet_->Post([&] { ran = true; });
  inlet_.reset();
  io_.run();
  EXPECT_FALSE(ran);
}

TEST_F(InletTest, AnExceptionIsToldAndGoesNoFurther) {
  inlet_->Post([] { throw std::runtime_error("no memory"); });
  inlet_->Post([] { throw 3; });
  io_.run();
  inlet_->Enter([] { throw std::runtime_error("no file"); });
  EXPECT_THAT(thrown_, ElementsAre("a library failed: no memory",
                                   "a library threw something that is no exception",
                                   "a library failed: no file"));
}

}  // namespace
}  // namespace ostraka::host::inlet_test

#include "node/host/threads/background_task.h"

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>

namespace ostraka::host::background_task_test {
namespace {

class BackgroundTaskTest : public ::testing::Test {
 protected:
  boost::asio::io_context io_;
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  const Inlet inlet_{io_, [](const std::string&) {}};
  std::optional<BackgroundTask> task_{std::in_place, inlet_};
};

TEST_F(BackgroundTaskTest, TheContextGoesOnWhileTheWorkWaits) {
  std::promise<void> release;
  std::optional<base::Status> done;
  task_->Start([&] { release.get_future().wait(); }, [&](const base::Status& s) { done = s; });
  inlet_.Post([&] {
    EXPECT_FALSE(done.has_value());
    release.set_value();  // never reached if the work held up the context
  });
  while (!done) io_.run_one();
  EXPECT_TRUE(done->ok()) << *done;
}

// A thread's own objects are destroyed after its function has returned.
struct LastOfItsThread {
  bool* ended;
  ~LastOfItsThread() {
    for (volatile int i = 0; i < 20'000'000;) i = i + 1;
    *ended = true;
  }
};

TEST_F(BackgroundTaskTest, TheThreadHasEndedWhenItIsDone) {
  bool ended = false;
  std::optional<bool> ended_at_done;
  task_->Start([&] { thread_local const LastOfItsThread last{&ended}; },
               [&](const base::Status&) { ended_at_done = ended; });
  while (!ended_at_done) io_.run_one();
  EXPECT_TRUE(*ended_at_done);
}

TEST_F(BackgroundTaskTest, AnExceptionOfTheWorkIsAStatus) {
  std::optional<base::Status> done;
  task_->Start([] { throw std::runtime_error("no disk"); },
               [&](const base::Status& status) { done = status; });
  while (!done) io_.run_one();
  EXPECT_EQ(base::MessageOf(*done), "a library failed: no disk");
}

TEST_F(BackgroundTaskTest, WhatIsNoExceptionIsAStatusToo) {
  std::optional<base::Status> done;
  task_->Start([] { throw 3; }, [&](const base::Status& status) { done = status; });
  while (!done) io_.run_one();
  EXPECT_FALSE(done->ok());
}

TEST_F(BackgroundTaskTest, TheDestructorWaitsForTheWork) {
  std::promise<void> begun;
  std::promise<void> release;
  bool ended = false;
  task_->Start(
      [&] {
        begun.set_value();
        release.get_future().wait();
        ended = true;
      },
      [](const base::Status&) {});
  begun.get_future().wait();
  release.set_value();
  task_.reset();
  EXPECT_TRUE(ended);
}

TEST_F(BackgroundTaskTest, StartsOnce) {
  task_->Start([] {}, [](const base::Status&) {});
  EXPECT_DEATH(task_->Start([] {}, [](const base::Status&) {}), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::host::background_task_test

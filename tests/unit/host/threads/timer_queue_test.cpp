// A machine's timers on a real io_context, with a clock that the test moves.
#include "node/host/threads/timer_queue.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <vector>

namespace ostraka::host::timer_queue_test {
namespace {

class TimerQueueTest : public ::testing::Test {
 protected:
  static base::Time At(std::int64_t ms) { return base::Time{} + base::Milliseconds(ms); }
  // Handles what is due at `ms`, one turn of the io_context after another, until nothing fires.
  std::vector<TimerQueue::Id> FiredBy(std::int64_t ms) {
    now_ = At(ms);
    fired_.clear();
    for (std::size_t before = 1; before != 0;) {
      before = fired_.size();
      io_.restart();
      io_.run_for(std::chrono::milliseconds(5));
      before = fired_.size() - before;
      queue_.CheckInvariants();
    }
    return fired_;
  }

  boost::asio::io_context io_;
  base::Time now_;
  std::vector<TimerQueue::Id> fired_;
  std::function<void(TimerQueue::Id)> react_ = [](TimerQueue::Id) {};
  TimerQueue queue_{io_, [this] { return now_; },
                    [this](TimerQueue::Id id) {
                      fired_.push_back(id);
                      react_(id);
                    }};
};

using Ids = std::vector<TimerQueue::Id>;

TEST_F(TimerQueueTest, FiresInOrderOfTimeThenOfSet) {
  queue_.Set(1, At(2));
  queue_.Set(2, At(1));
  queue_.Set(3, At(1));
  EXPECT_EQ(FiredBy(0), Ids{});
  EXPECT_EQ(FiredBy(1), (Ids{2, 3}));
  EXPECT_EQ(FiredBy(2), (Ids{1}));
  EXPECT_EQ(FiredBy(9), Ids{}) << "each fires once";
}

TEST_F(TimerQueueTest, SetAgainReplaces) {
  queue_.Set(1, At(1));
  queue_.Set(1, At(3));
  EXPECT_EQ(FiredBy(2), Ids{});
  EXPECT_EQ(FiredBy(3), (Ids{1}));
}

TEST_F(TimerQueueTest, WhatIsCancelledDoesNotFireThoughItsTimeHasCome) {
  queue_.Set(1, At(1));
  queue_.Set(2, At(1));
  queue_.Set(3, At(1));
  queue_.Set(4, At(5));
  react_ = [&](TimerQueue::Id id) {
    if (id == 1) queue_.Cancel(2);
  };
  EXPECT_EQ(FiredBy(1), (Ids{1, 3}));
  queue_.Cancel(77);  // never set
  queue_.Clear();
  EXPECT_EQ(FiredBy(9), Ids{});
}

TEST_F(TimerQueueTest, WhatSetsItselfForNowLetsOthersIn) {
  int sets = 0;
  bool let_in = false;
  queue_.Set(1, At(1));
  react_ = [&](TimerQueue::Id) {
    if (sets == 0) boost::asio::post(io_, [&] { let_in = sets == 1; });
    if (++sets < 3) queue_.Set(1, At(1));
  };
  EXPECT_EQ(FiredBy(1), (Ids{1, 1, 1}));
  EXPECT_TRUE(let_in) << "a message that came after the first turn waited for all three";
}

}  // namespace
}  // namespace ostraka::host::timer_queue_test

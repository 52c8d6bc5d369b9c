#include "sim/engine/event_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace ostraka::sim::event_queue_test {
namespace {

Event EventFor(std::uint32_t peer) {
  Event event;
  event.peer = peer;
  return event;
}

TEST(EventQueue, GivesTheEarliestFirst) {
  EventQueue queue;
  queue.Push({30}, EventFor(3));
  queue.Push({10}, EventFor(1));
  queue.Push({20}, EventFor(2));
  EXPECT_EQ(queue.next_time(), base::Time{10});
  EXPECT_EQ(queue.Pop().event.peer, 1U);
  EXPECT_EQ(queue.Pop().event.peer, 2U);
  EXPECT_EQ(queue.Pop().event.peer, 3U);
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, EventsOfOneTimeKeepTheOrderOfScheduling) {
  EventQueue queue;
  for (std::uint32_t i = 0; i < 100; ++i) queue.Push({7}, EventFor(i));
  for (std::uint32_t i = 0; i < 100; ++i) {
    const EventQueue::Due due = queue.Pop();
    EXPECT_EQ(due.event.peer, i);
    EXPECT_EQ(due.sequence, i);
  }
}

TEST(EventQueue, ReleasesReturnedEvents) {
  EventQueue queue;
  const auto frame = std::make_shared<const base::Bytes>(1);
  Event event;
  event.input = protocol::MessageReceived{{}, frame, nullptr};
  queue.Push({1}, std::move(event));
  { const EventQueue::Due due = queue.Pop(); }
  EXPECT_EQ(frame.use_count(), 1);
}

// Against a plain stable sort, with pushes and pops mixed.
RC_GTEST_PROP(EventQueueProperty, IsAStableSortByTime, (const std::vector<std::uint8_t>& times)) {
  EventQueue queue;
  std::vector<std::tuple<std::int64_t, std::uint64_t>> expected;
  std::uint64_t sequence = 0;
  const auto pop_and_compare = [&] {
    const auto first = std::min_element(expected.begin(), expected.end());
    const EventQueue::Due due = queue.Pop();
    RC_ASSERT(due.at.ns == std::get<0>(*first));
    RC_ASSERT(due.sequence == std::get<1>(*first));
    RC_ASSERT(due.event.peer == static_cast<std::uint32_t>(std::get<1>(*first)));
    expected.erase(first);
  };
  for (const std::uint8_t time : times) {
    expected.emplace_back(time, sequence);
    RC_ASSERT(queue.Push({time}, EventFor(static_cast<std::uint32_t>(sequence))) == sequence);
    ++sequence;
    if (time % 3 == 0) pop_and_compare();
  }
  while (!queue.empty()) pop_and_compare();
  RC_ASSERT(expected.empty());
}

}  // namespace
}  // namespace ostraka::sim::event_queue_test

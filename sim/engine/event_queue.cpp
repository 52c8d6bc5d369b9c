#include "sim/engine/event_queue.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"

namespace ostraka::sim {

bool EventQueue::Later(const Entry& a, const Entry& b) {
  return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
}

std::uint64_t EventQueue::Push(base::Time at, Event event) {
  std::uint32_t place = 0;
  if (free_places_.empty()) {
    place = static_cast<std::uint32_t>(pool_.size());
    pool_.push_back(std::move(event));
  } else {
    place = free_places_.back();
    free_places_.pop_back();
    pool_[place] = std::move(event);
  }
  const std::uint64_t sequence = next_sequence_++;
  heap_.push_back({at, sequence, place});
  std::push_heap(heap_.begin(), heap_.end(), Later);
  return sequence;
}

EventQueue::Due EventQueue::Pop() {
  OSTRAKA_CHECK(!heap_.empty());
  std::pop_heap(heap_.begin(), heap_.end(), Later);
  const Entry entry = heap_.back();
  heap_.pop_back();
  Due due{entry.at, entry.sequence, std::move(pool_[entry.place])};
  pool_[entry.place] = Event{};  // releases what the moved-from event may still share
  free_places_.push_back(entry.place);
  return due;
}

}  // namespace ostraka::sim

// The pending events, ordered by time and then by the order of scheduling.
//
// The second key makes the order total, so a run never depends on how a heap breaks ties.
// Memory is proportional to the largest number of events pending at once.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "node/protocol/ground/machine.h"

namespace ostraka::sim {

// A scheduled input of one peer.
struct Event {
  std::uint32_t peer = 0;    // index of the machine that will take the input
  std::uint32_t from = 0;    // MessageReceived, LinkChanged: the peer at the other end
  std::uint64_t ticket = 0;  // TimerFired: its generation; MessageReceived: the link's epoch
  protocol::Input input;
  std::shared_ptr<const protocol::JobSpec> job;  // JobDone: run when the event is due
  std::uint32_t life = 0;  // of the peer; Stored and JobDone of an earlier life are void
  // kInput is an input of the machine; the others act on the peer or on its link with `from`.
  enum class Fate : std::uint8_t { kInput, kCrash, kRestart, kLoseDisk, kCut, kHeal };
  Fate fate = Fate::kInput;
};

class EventQueue {
 public:
  struct Due {
    base::Time at;
    std::uint64_t sequence = 0;
    Event event;
  };

  // Returns the event's sequence number: 0, 1, 2 ... in order of scheduling.
  std::uint64_t Push(base::Time at, Event event);
  // The earliest event. REQUIRES: !empty().
  Due Pop();

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  // REQUIRES: !empty().
  base::Time next_time() const { return heap_.front().at; }

 private:
  // The heap moves only these small entries; the events stay in place in `pool_`.
  struct Entry {
    base::Time at;
    std::uint64_t sequence = 0;
    std::uint32_t place = 0;
  };
  static bool Later(const Entry& a, const Entry& b);

  std::vector<Entry> heap_;
  std::vector<Event> pool_;
  std::vector<std::uint32_t> free_places_;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace ostraka::sim

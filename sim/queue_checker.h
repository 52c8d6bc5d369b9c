// "queues": what a machine has asked for and not got yet, and what it has on its way to another, is
// bounded by the size of the run. Whatever grows with time instead, because nobody takes it back or
// because it is asked for again and again, is found here (docs/simulation.md, "What is checked").
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "sim/checker.h"

namespace ostraka::sim {

struct QueueBounds {
  std::size_t timers = 0;           // set, and neither fired nor cancelled
  std::size_t jobs = 0;             // running or waiting, of a machine
  std::size_t stores = 0;           // on their way to its disk
  std::size_t messages = 0;         // on their way from one peer to another
  std::uint64_t message_bytes = 0;  // of them, frames and bulk data
};

// Of a run of `peers` with `dimension` parameters, in which Delta is never below `delta_floor` and
// the network keeps messages back for up to `hold`. What is kept back waits in the network and not
// in a machine; what a real node holds of it is bounded by its transport (node/runtime/transport.h:
// control_queue_bytes, bulk_queue_bytes).
QueueBounds BoundsOf(std::uint32_t peers, std::uint64_t dimension, base::Duration hold,
                     base::Duration delta_floor);

class Queues final : public Checker, public StepObserver {
 public:
  Queues(const Roster& roster, const QueueBounds& bounds);
  std::string_view name() const override { return "queues"; }
  // Learns from inputs what has come. Register with the simulator before the set.
  void OnStep(const StepRecord& record) override;
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

  // The largest that there were.
  const QueueBounds& peaks() const { return peaks_; }

 private:
  struct Link {
    std::size_t messages = 0;
    std::uint64_t bytes = 0;
  };
  struct Peer {
    std::set<protocol::TimerId> timers;
    std::set<protocol::JobId> jobs;
    std::set<protocol::StoreId> stores;
    // By receiver: what was sent since the link came up and is not there yet. What is sent while it
    // is down goes nowhere.
    std::map<base::PeerId, Link> links;
    std::set<base::PeerId> down;
  };
  template <typename Size>
  base::Status Judge(std::uint32_t peer, const char* what, Size size, Size bound, Size& peak);

  Roster roster_;
  QueueBounds bounds_;
  QueueBounds peaks_;
  std::vector<Peer> peers_;
};

}  // namespace ostraka::sim

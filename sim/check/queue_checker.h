// "queues": the size of the run bounds what a machine has requested and not received yet, and what
// it has in transit to another. The checker finds whatever grows with time instead, because nobody
// cancels it or because it is requested again and again (docs/simulation.md, "What is checked").
//
// Promises:
//   Q1  Requests that were cancelled or answered, and messages that arrived or were lost with
//       their link, no longer count.
//   Q2  The bound depends on the size of the run, and not on its length.
//
// Memory: a record for each timer, job, store and message that is outstanding.
//
// What an attacker can do here: nothing; only queues of honest peers are counted.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "node/wire/opener.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

struct QueueBounds {
  std::size_t timers = 0;           // set, and neither fired nor cancelled
  std::size_t jobs = 0;             // running or waiting, for one machine
  std::size_t stores = 0;           // on their way to its disk
  std::size_t messages = 0;         // in transit from one peer to another
  std::uint64_t message_bytes = 0;  // bytes of those, frames and bulk data
  std::size_t answers = 0;          // to a Byzantine peer within kAnswerWindow
  std::uint64_t answer_bytes = 0;
};

// Below one second, so that it overlaps at most two seconds of a machine's ration, whatever its
// clock.
inline constexpr base::Duration kAnswerWindow = base::Milliseconds(900);

// Bounds for a run of `peers` with `dimension` parameters, in which Delta is never below `delta`
// and the network delays messages by up to `hold`. A delayed message waits in the network and not
// in a machine; the transport bounds what a real node holds of it (node/net/mesh/transport.h:
// control_queue_bytes, bulk_queue_bytes).
//
// Of `nat` peers that only dial each gives to a carrier what it says to all the others.
//
// An honest peer requests only what it lacks; a Byzantine one requests everything, again and again.
// So forwarded messages and messages for one peer alone are not counted in transit to a Byzantine
// peer, but by the second: at most the ration (node/protocol/mail/ration.h) and what the peer
// would have been sent without requests.
QueueBounds BoundsOf(std::uint32_t peers, std::uint64_t dimension, base::Duration hold,
                     base::Duration delta, std::uint32_t nat = 0);

class Queues final : public Checker, public StepObserver {
 public:
  Queues(const Roster& roster, const QueueBounds& bounds, std::shared_ptr<wire::Opener> opener);
  std::string_view name() const override { return "queues"; }
  // Learns from inputs which messages arrived. Register with the simulator before the set.
  void OnStep(const StepRecord& record) override;
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

  // The largest values so far.
  const QueueBounds& peaks() const { return peaks_; }

 private:
  struct Link {
    std::size_t messages = 0;
    std::uint64_t bytes = 0;
    base::Time answers_since;
    std::size_t answers = 0;
    std::uint64_t answer_bytes = 0;
  };
  struct Peer {
    std::set<protocol::TimerId> timers;
    std::set<protocol::JobId> jobs;
    std::set<protocol::StoreId> stores;
    // By receiver: messages sent since the link came up that have not arrived. Messages sent while
    // the link is down are lost.
    std::map<base::PeerId, Link> links;
    std::set<base::PeerId> down;
  };
  // True for a message to a Byzantine peer that is not a broadcast of the sender's own.
  bool IsAnswer(std::uint32_t from, std::uint32_t to, const base::SharedBytes& frame) const;
  // True for what a carrier passes on, which the transport bounds and drops
  // (node/net/records/carried_lane.h).
  bool IsCarried(const base::PeerId& link, const base::SharedBytes& frame) const;
  base::Status CountAnswer(std::uint32_t peer, Link& link, std::uint64_t bytes);
  template <typename Size>
  base::Status Judge(std::uint32_t peer, const char* what, Size size, Size bound, Size& peak);

  Roster roster_;
  QueueBounds bounds_;
  QueueBounds peaks_;
  std::shared_ptr<wire::Opener> opener_;
  base::Time now_;
  std::vector<Peer> peers_;
};

}  // namespace ostraka::sim

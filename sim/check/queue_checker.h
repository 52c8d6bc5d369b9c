// "queues": what a machine has asked for and not got yet, and what it has on its way to another, is
// bounded by the size of the run. Whatever grows with time instead, because nobody takes it back or
// because it is asked for again and again, is found here (docs/simulation.md, "What is checked").
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
  std::size_t jobs = 0;             // running or waiting, of a machine
  std::size_t stores = 0;           // on their way to its disk
  std::size_t messages = 0;         // on their way from one peer to another
  std::uint64_t message_bytes = 0;  // of them, frames and bulk data
  std::size_t answers = 0;          // to a Byzantine peer within kAnswerWindow
  std::uint64_t answer_bytes = 0;
};

// Less than a second: no more than two seconds of a machine's ration touch it, whatever its clock.
inline constexpr base::Duration kAnswerWindow = base::Milliseconds(900);

// Of a run of `peers` with `dimension` parameters, in which Delta is never below `delta` and
// the network keeps messages back for up to `hold`. What is kept back waits in the network and not
// in a machine; what a real node holds of it is bounded by its transport
// (node/net/mesh/transport.h: control_queue_bytes, bulk_queue_bytes).
//
// An honest peer asks for what it lacks; a Byzantine one for everything, again and again. So what
// others said, and what is said to one peer alone, is not counted on its way to a Byzantine peer,
// but by the second: no more than the ration (node/protocol/mail/ration.h) and what the peer
// would have been sent unasked.
QueueBounds BoundsOf(std::uint32_t peers, std::uint64_t dimension, base::Duration hold,
                     base::Duration delta);

class Queues final : public Checker, public StepObserver {
 public:
  Queues(const Roster& roster, const QueueBounds& bounds, std::shared_ptr<wire::Opener> opener);
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
    base::Time answers_since;
    std::size_t answers = 0;
    std::uint64_t answer_bytes = 0;
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
  // Nobody's own word to all, sent to a Byzantine peer.
  bool IsAnswer(std::uint32_t from, std::uint32_t to, const base::SharedBytes& frame) const;
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

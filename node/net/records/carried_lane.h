// The messages in the queue of one link that are carried: passed on for other peers, each of which
// may send as much as it likes. The line is shared evenly among these, so that one of them costs
// the others a turn, whatever it sends.
//
// Promises:
//   K1  bytes() is the bytes of what waits, and never above the limit. Beyond it the newest message
//       of the peer that has most bytes waiting is dropped, which may be the one that comes.
//   K2  Peers take turns. In a turn about kTurnBytes of a peer leave, and of one with longer
//       messages one in so many turns (deficit round robin: Shreedhar and Varghese, SIGCOMM 1995).
//   K3  What leaves of a peer leaves in the order of arrival.
//
// May not know: sockets, what is in a message.
//
// Memory: the limit, and some words for each peer of which something waits.
//
// What an attacker can do here: have its own messages dropped. [In one line for all, peers that
// flooded it kept the messages of the others out.]
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "node/base/bytes.h"
#include "node/base/ids.h"

namespace ostraka::net {

class CarriedLane {
 public:
  // Some ten messages of a step.
  static constexpr std::size_t kTurnBytes = 4 << 10;

  explicit CarriedLane(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Returns how many messages are dropped for it.
  std::size_t Push(const base::PeerId& peer, base::SharedBytes frame);
  bool empty() const { return lines_.empty(); }
  std::size_t bytes() const { return bytes_; }
  // REQUIRES: !empty().
  base::SharedBytes Next();
  void Clear();

  void CheckInvariants() const;  // K1

 private:
  struct Line {
    std::deque<base::SharedBytes> frames;  // never empty
    std::size_t bytes = 0;
    std::size_t credit = 0;  // bytes that may leave in this turn
  };
  void DropNewestOfLongest();
  void Forget(std::map<base::PeerId, Line>::iterator line);

  const std::size_t max_bytes_;
  std::map<base::PeerId, Line> lines_;
  std::deque<base::PeerId> turns_;  // the peers of lines_, the next one first
  std::size_t bytes_ = 0;
};

}  // namespace ostraka::net

// Limits bulk data to a rate, over all connections together and fairly among them.
//
// Every byte is charged but only bulk waits: control overdraws the rate, and later bulk waits
// longer.
//
// Promises:
//   P1  Turns are granted in the order of request, one bulk record each, and none while the bucket
//       is in debt.
//   P2  No turn is called within MayGo. A turn that asks again queues behind those that wait.
//   P3  While somebody waits a timer runs, so that every turn comes.
//
// May not know: connections, records, priorities.
//
// Memory: one callback for each turn asked for, at most one for each connection (pacer_turn.h).
//
// What an attacker can do here: take its share of the rate, as every connection does.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "node/net/records/token_bucket.h"
#include "node/os/timer.h"

namespace ostraka::net {

class Pacer {
 public:
  // 0: no limit.
  Pacer(boost::asio::io_context& io, std::uint64_t bytes_per_second);

  // True: proceed now. False: `turn` is called once, when it is the caller's turn; turns are
  // granted in order of request. `turn` must tolerate that its owner is gone, and must Charge what
  // it then sends.
  bool MayGo(std::function<void()> turn);
  void Charge(std::uint64_t bytes);

 private:
  void Wake();

  const bool limited_;
  TokenBucket bucket_;
  std::deque<std::function<void()>> waiting_;
  os::Timer timer_;
};

}  // namespace ostraka::net

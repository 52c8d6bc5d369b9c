// Limits bulk data to a rate, over all connections together and fairly among them.
//
// Every byte is charged but only bulk waits: control overdraws the rate, and later bulk waits
// longer.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "node/net/link/token_bucket.h"
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

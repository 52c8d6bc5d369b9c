// Holds bulk data back to a rate, for all connections together and each in its turn.
//
// Every byte is charged; only bulk waits. So control overdraws the rate and the bulk after it pays.
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
  // 0: holds nothing back.
  Pacer(boost::asio::io_context& io, std::uint64_t bytes_per_second);

  // True: go on now. False: `turn` is called once, when it is the caller's turn; whoever asked
  // before comes first. `turn` must bear that its owner is gone, and Charge what it then does.
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

// A one-shot timer on an io_context, without Boost in the header.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <functional>
#include <memory>

#include "node/base/time.h"

namespace boost::asio {
class io_context;
}

namespace ostraka::os {

// Destroying or restarting a Timer cancels it: a callback never outlives its Timer.
class Timer {
 public:
  explicit Timer(boost::asio::io_context& io);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void Start(base::Duration after, std::function<void()> callback);
  void Cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ostraka::os

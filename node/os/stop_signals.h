// SIGINT, SIGTERM and SIGHUP as one call on an io_context, for a program that ends cleanly.
//
// A signal of any kind calls `stop` with its name, "Ctrl-C", "SIGTERM" or "SIGHUP". If that returns
// true, the program goes on for now, and the next signal is told too. Else the default handlers are
// restored: another signal ends the process at once. The destructor restores them too.
// SIGHUP stays ignored if it is, as by nohup.
//
// Thread safety: none; the thread that runs the io_context. One per process at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "node/base/time.h"

namespace boost::asio {
class io_context;
}

namespace ostraka::os {

// For a program that does more than print: from now on a pipe that nobody reads any more refuses
// what is written, and ends nothing (SIGPIPE is ignored). Whoever writes sees no error unless it
// looks.
void IgnoreClosedPipes();

// Waits for one of these signals for as long as `waits` says so, which is asked at once and then
// every `look`. True: a signal came. No signal ends the process meanwhile.
bool AwaitStop(base::Duration look, const std::function<bool()>& waits);

class StopSignals {
 public:
  StopSignals(boost::asio::io_context& io, std::function<bool(const std::string& name)> stop);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  struct State;
  static void Wait(const std::shared_ptr<State>& state);
  const std::shared_ptr<State> state_;
};

}  // namespace ostraka::os

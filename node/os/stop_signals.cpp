#include "node/os/stop_signals.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <utility>

#include "node/os/timer.h"

namespace ostraka::os {

namespace {

const char* NameOf(int signal) {
  if (signal == SIGINT) return "Ctrl-C";
  return signal == SIGHUP ? "SIGHUP" : "SIGTERM";
}

}  // namespace

void IgnoreClosedPipes() { std::signal(SIGPIPE, SIG_IGN); }

struct StopSignals::State {
  State(boost::asio::io_context& io, std::function<bool(const std::string&)> call)
      : signals(io, SIGINT, SIGTERM), stop(std::move(call)) {
    struct sigaction old {};
    if (sigaction(SIGHUP, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) signals.add(SIGHUP);
  }
  boost::asio::signal_set signals;
  std::function<bool(const std::string&)>
      stop;  // null once it has returned false, or must not be called
};

void StopSignals::Wait(const std::shared_ptr<State>& state) {
  state->signals.async_wait([state](const boost::system::error_code& error, int signal) {
    if (error || !state->stop) return;  // cancelled
    if (state->stop(NameOf(signal))) return Wait(state);
    state->stop = nullptr;
    boost::system::error_code ignored;
    state->signals.clear(ignored);
  });
}

StopSignals::StopSignals(boost::asio::io_context& io,
                         std::function<bool(const std::string& name)> stop)
    : state_(std::make_shared<State>(io, std::move(stop))) {
  Wait(state_);
}

StopSignals::~StopSignals() {
  state_->stop = nullptr;
  boost::system::error_code ignored;
  state_->signals.clear(ignored);
  state_->signals.cancel(ignored);
}

bool AwaitStop(base::Duration look, const std::function<bool()>& waits) {
  boost::asio::io_context io;
  bool came = false;
  const StopSignals signals(io, [&](const std::string&) {
    came = true;
    io.stop();
    return true;
  });
  Timer timer(io);
  const std::function<void()> ask = [&] { waits() ? timer.Start(look, ask) : io.stop(); };
  ask();
  if (!io.stopped()) io.run();
  return came;
}

}  // namespace ostraka::os

#include "node/os/stop_signals.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <utility>

namespace ostraka::os {

namespace {

const char* NameOf(int signal) {
  if (signal == SIGINT) return "Ctrl-C";
  return signal == SIGHUP ? "SIGHUP" : "SIGTERM";
}

}  // namespace

struct StopSignals::State {
  State(boost::asio::io_context& io, std::function<void(const std::string&)> call)
      : signals(io, SIGINT, SIGTERM), stop(std::move(call)) {
    struct sigaction old {};
    if (sigaction(SIGHUP, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) signals.add(SIGHUP);
  }
  boost::asio::signal_set signals;
  std::function<void(const std::string&)> stop;  // null once it was called, or must not be
};

StopSignals::StopSignals(boost::asio::io_context& io,
                         std::function<void(const std::string& name)> stop)
    : state_(std::make_shared<State>(io, std::move(stop))) {
  state_->signals.async_wait([state = state_](const boost::system::error_code& error, int signal) {
    if (error) return;  // cancelled
    boost::system::error_code ignored;
    state->signals.clear(ignored);
    const auto call = std::exchange(state->stop, nullptr);
    if (call) call(NameOf(signal));
  });
}

StopSignals::~StopSignals() {
  state_->stop = nullptr;
  boost::system::error_code ignored;
  state_->signals.clear(ignored);
  state_->signals.cancel(ignored);
}

}  // namespace ostraka::os

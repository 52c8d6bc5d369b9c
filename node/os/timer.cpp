#include "node/os/timer.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <utility>

namespace ostraka::os {

struct Timer::State {
  explicit State(boost::asio::io_context& io) : timer(io) {}
  boost::asio::steady_timer timer;
  // Asio cannot cancel an expiry that is already queued, so its handler compares generations.
  std::uint64_t generation = 0;
};

Timer::Timer(boost::asio::io_context& io) : state_(std::make_shared<State>(io)) {}

Timer::~Timer() { Cancel(); }

void Timer::Start(base::Duration after, std::function<void()> callback) {
  const std::uint64_t generation = ++state_->generation;
  state_->timer.expires_after(std::chrono::nanoseconds(after.ns));
  state_->timer.async_wait([state = state_, generation, callback = std::move(callback)](
                               const boost::system::error_code& /*cancelled: generation says*/) {
    if (state->generation == generation) callback();
  });
}

void Timer::Cancel() {
  ++state_->generation;
  state_->timer.cancel();
}

}  // namespace ostraka::os

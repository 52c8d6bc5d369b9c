#include "node/host/driver/machine_seat.h"

#include <utility>
#include <variant>

#include "node/base/check.h"
#include "node/os/steady_clock.h"

namespace ostraka::host {

MachineSeat::MachineSeat(boost::asio::io_context& io, std::unique_ptr<protocol::Machine> machine,
                         Fired fired)
    : machine_(std::move(machine)),
      origin_(os::SteadyNow()),
      timers_(
          io, [this] { return Now(); }, std::move(fired)) {
  OSTRAKA_CHECK(machine_ != nullptr);
}

base::Time MachineSeat::Now() const { return base::Time{} + (os::SteadyNow() - origin_); }

void MachineSeat::Feed(const protocol::Input& input, const Perform& perform) {
  OSTRAKA_CHECK(!std::exchange(stepping_, true));
  const base::Time now = Now();
  OSTRAKA_CHECK(last_ <= now);
  last_ = now;
  protocol::Outbox out;
  machine_->Step(now, input, out);
  for (protocol::Action& action : out.actions()) PerformHere(action, perform);
  stepping_ = false;
}

void MachineSeat::PerformHere(protocol::Action& action, const Perform& perform) {
  if (const auto* set = std::get_if<protocol::SetTimer>(&action)) {
    if (!stopped_) timers_.Set(set->id, set->at);
  } else if (const auto* cancel = std::get_if<protocol::CancelTimer>(&action)) {
    timers_.Cancel(cancel->id);
  } else {
    perform(action);
  }
}

void MachineSeat::StopTimers() {
  stopped_ = true;
  timers_.Clear();
}

protocol::Progress MachineSeat::progress() const {
  return stepping_ ? protocol::Progress{} : machine_->progress();
}

}  // namespace ostraka::host

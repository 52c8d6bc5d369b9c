#include "node/net/udp/dht_driver.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "node/base/check.h"
#include "node/os/steady_clock.h"

namespace ostraka::net {

DhtDriver::DhtDriver(boost::asio::io_context& io, dht::NodeConfig config, Listener listener)
    : io_(io),
      node_(std::make_unique<dht::Node>(std::move(config))),
      listener_(std::move(listener)),
      socket_(io,
              [this](const dht::Endpoint& from, base::ByteView bytes) {
                Step(machine::DatagramReceived<dht::Endpoint>{
                    from, std::make_shared<const base::Bytes>(bytes.begin(), bytes.end())});
              }),
      timer_(io),
      alive_(std::make_shared<bool>(true)) {}

DhtDriver::~DhtDriver() { *alive_ = false; }

base::Status DhtDriver::Start(const dht::Endpoint& local, const dht::Started& started) {
  RETURN_IF_ERROR(socket_.Open(local));
  Step(started);
  return base::OkStatus();
}

void DhtDriver::Ask(const dht::Ask& ask) { Step(ask); }

void DhtDriver::Close() {
  *alive_ = false;
  timer_.Cancel();
  socket_.Close();
}

template <typename Function>
void DhtDriver::Guard(Function&& function) {
  try {
    function();
  } catch (const std::exception& error) {
    Close();
    if (listener_.failed) listener_.failed(error.what());
  }
}

void DhtDriver::Step(const dht::Input& input) {
  if (!*alive_) return;
  Guard([&] { StepMachine(input); });
}

void DhtDriver::StepMachine(const dht::Input& input) {
  dht::Outbox out;
  OSTRAKA_CHECK(contract_.Step(*node_, os::SteadyNow(), input, out) == machine::Breach::kNone);
  for (const auto& action : out.actions()) {
    std::visit([this](const auto& what) { Perform(what); }, action);
  }
}

void DhtDriver::Perform(const machine::SendDatagram<dht::Endpoint>& send) {
  socket_.Send(send.to, *send.bytes);
}

void DhtDriver::Perform(const machine::SetTimer& timer) {
  const base::Duration after = timer.at - os::SteadyNow();
  timer_.Start(std::max(after, base::Duration{}),
               [this, id = timer.id] { Step(machine::TimerFired{id}); });
}

void DhtDriver::Perform(const machine::CancelTimer&) { timer_.Cancel(); }

void DhtDriver::Perform(const machine::Store<dht::KeptContacts>& store) {
  for (const dht::KeptContacts& kept : store.records) {
    if (listener_.kept) listener_.kept(kept);
  }
  Post([this, id = store.id] { Step(machine::Stored{id}); });
}

void DhtDriver::Perform(const dht::Answered& answered) {
  if (!listener_.answered) return;
  Post([this, answered] { listener_.answered(answered); });
}

void DhtDriver::Perform(const machine::Observe<dht::Observation>& observe) {
  if (listener_.observed) listener_.observed(observe.what);
}

void DhtDriver::Post(std::function<void()> call) {
  boost::asio::post(io_, [this, alive = alive_, call = std::move(call)] {
    if (*alive) Guard(call);
  });
}

}  // namespace ostraka::net

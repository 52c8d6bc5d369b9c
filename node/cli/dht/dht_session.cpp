#include "node/cli/dht/dht_session.h"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <utility>

#include "node/cli/dht/dht_ping.h"
#include "node/net/udp/dht_driver.h"
#include "node/net/udp/resolver.h"

namespace ostraka::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr base::Duration kSessionNamePatience = base::Seconds(5);
constexpr auto kLookEvery = std::chrono::milliseconds(100);

std::uint64_t WallSeconds() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace

struct DhtSession::State {
  boost::asio::io_context io;
  DhtSessionOptions options;
  std::unique_ptr<net::DhtDriver> driver;
  std::optional<dht::Answered> answered;
  std::string failed;  // why the driver has closed itself
  std::uint64_t next_ask = 1;
};

DhtSession::DhtSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
DhtSession::~DhtSession() = default;

base::StatusOr<std::unique_ptr<DhtSession>> DhtSession::Open(const DhtSessionOptions& options) {
  std::unique_ptr<DhtSession> session(new DhtSession(std::make_unique<State>()));
  State& state = *session->state_;
  state.options = options;
  if (state.options.key == nullptr) {
    state.options.key = std::make_shared<const crypto::SigningKey>(crypto::SigningKey::Generate());
  }
  dht::Started started;
  net::Resolver resolver(state.io);
  bool resolved = false;
  resolver.Resolve(options.bootstraps, kSessionNamePatience, [&](const net::Resolved& all) {
    started.bootstraps = all.endpoints;
    resolved = true;
  });
  session->RunUntil([&] { return resolved; }, std::nullopt);
  started.wall_s = WallSeconds();
  crypto::FillRandom(started.secret.bytes);
  net::DhtDriver::Listener listener;
  listener.answered = [&state](const dht::Answered& answered) { state.answered = answered; };
  listener.failed = [&state](const std::string& what) { state.failed = what; };
  state.driver = std::make_unique<net::DhtDriver>(
      state.io,
      dht::NodeConfig{state.options.key, dht::NetworkOf(options.network), options.role,
                      std::make_shared<crypto::PlainVerifier>()},
      std::move(listener));
  RETURN_IF_ERROR(state.driver->Start(options.local, started));
  return session;
}

bool DhtSession::RunUntil(const std::function<bool()>& done,
                          std::optional<base::Duration> patience) {
  const auto begin = Clock::now();
  while (!done()) {
    if (patience && Clock::now() - begin > std::chrono::nanoseconds(patience->ns)) return false;
    state_->io.run_one_for(kLookEvery);
    state_->io.restart();
  }
  return true;
}

base::Status DhtSession::Join() {
  const State& state = *state_;
  if (RunUntil([&] { return state.driver->progress().joined || !state.failed.empty(); },
               kPatience)) {
    return state.failed.empty() ? base::OkStatus() : base::Unavailable(state.failed);
  }
  RETURN_IF_ERROR(
      WhyNobodyAnswers(state.options.bootstraps, dht::NetworkOf(state.options.network)));
  return base::Unavailable(
      "the addresses answer, but none of them is a server of the DHT yet: a node becomes one once "
      "others have found that it can be reached, or with --dht server");
}

base::StatusOr<dht::Answered> DhtSession::Ask(decltype(dht::Ask::what) what) {
  State& state = *state_;
  state.answered.reset();
  state.driver->Ask({state.next_ask++, std::move(what)});
  if (!RunUntil([&] { return state.answered.has_value() || !state.failed.empty(); }, kPatience)) {
    return base::Unavailable("the DHT gave no answer within 10 s");
  }
  if (!state.failed.empty()) return base::Unavailable(state.failed);
  return *state.answered;
}

boost::asio::io_context& DhtSession::io() { return state_->io; }
dht::Endpoint DhtSession::local() const { return state_->driver->local(); }
dht::Progress DhtSession::progress() const { return state_->driver->progress(); }
base::PeerId DhtSession::id() const { return state_->options.key->id(); }

}  // namespace ostraka::cli

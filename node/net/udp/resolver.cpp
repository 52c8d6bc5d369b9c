#include "node/net/udp/resolver.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/post.hpp>

#include "node/base/check.h"
#include "node/os/endpoint.h"
#include "node/os/timer.h"

namespace ostraka::net {
namespace {

using boost::asio::ip::udp;
using boost::system::error_code;
namespace ip = boost::asio::ip;

dht::Endpoint EndpointOf(const ip::address& address, std::uint16_t port) {
  const ip::address_v6 v6 =
      address.is_v6() ? address.to_v6() : ip::make_address_v6(ip::v4_mapped, address.to_v4());
  dht::Endpoint endpoint;
  const auto bytes = v6.to_bytes();
  std::copy(bytes.begin(), bytes.end(), endpoint.address.begin());
  endpoint.port = port;
  return endpoint;
}

}  // namespace

std::optional<dht::Endpoint> NumericEndpoint(std::string_view text) {
  const base::StatusOr<os::HostPort> where = os::ParseHostPort(text);
  if (!where.ok()) return std::nullopt;
  error_code error;
  const ip::address address = ip::make_address(where->host, error);
  if (error) return std::nullopt;
  return EndpointOf(address, where->port);
}

struct Resolver::State {
  explicit State(boost::asio::io_context& io) : resolver(io), deadline(io) {}

  struct Text {
    std::string text;
    std::vector<dht::Endpoint> endpoints;
    std::string failure = "no name server answered in time";
    bool open = true;
  };

  void Finish() {
    resolver.cancel();
    deadline.Cancel();
    Resolved resolved;
    for (const Text& text : texts) {
      if (text.endpoints.empty()) resolved.failures.emplace_back(text.text, text.failure);
      for (const dht::Endpoint& endpoint : text.endpoints) {
        auto& known = resolved.endpoints;
        if (std::find(known.begin(), known.end(), endpoint) == known.end()) {
          known.push_back(endpoint);
        }
      }
    }
    texts.clear();
    std::exchange(done, nullptr)(resolved);
  }

  void OnFound(std::size_t index, const error_code& error, const udp::resolver::results_type& all) {
    if (done == nullptr) return;
    Text& text = texts[index];
    text.open = false;
    if (error) text.failure = error.message();
    for (const auto& one : all) {
      if (text.endpoints.size() == kMostPerName) break;
      text.endpoints.push_back(EndpointOf(one.endpoint().address(), one.endpoint().port()));
    }
    FinishIfComplete();
  }

  void FinishIfComplete() {
    const auto is_open = [](const Text& text) { return text.open; };
    if (std::none_of(texts.begin(), texts.end(), is_open)) Finish();
  }

  udp::resolver resolver;
  os::Timer deadline;
  std::vector<Text> texts;
  std::function<void(const Resolved&)> done;  // until it was called
};

Resolver::Resolver(boost::asio::io_context& io) : state_(std::make_shared<State>(io)) {}

// The state ends here, and with it what is under way: cancel() would allocate, which may fail.
Resolver::~Resolver() = default;

void Resolver::Resolve(const std::vector<std::string>& texts, base::Duration deadline,
                       std::function<void(const Resolved&)> done) {
  State& state = *state_;
  OSTRAKA_CHECK(done != nullptr && state.done == nullptr);  // R1
  state.done = std::move(done);
  for (const std::string& text : texts) state.texts.emplace_back().text = text;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    State::Text& text = state.texts[i];
    if (const auto numeric = NumericEndpoint(text.text)) {
      text.endpoints.push_back(*numeric);
      text.open = false;
      continue;
    }
    const base::StatusOr<os::HostPort> where = os::ParseHostPort(text.text);
    if (!where.ok()) {
      text.failure = base::MessageOf(where.status());
      text.open = false;
      continue;
    }
    state.resolver.async_resolve(
        where->host, std::to_string(where->port),
        [shared = std::weak_ptr<State>(state_), i](const error_code& error,
                                                   const udp::resolver::results_type& found) {
          if (const auto alive = shared.lock()) alive->OnFound(i, error, found);
        });
  }
  state.deadline.Start(deadline, [shared = std::weak_ptr<State>(state_)] {
    const auto alive = shared.lock();
    if (alive != nullptr && alive->done != nullptr) alive->Finish();
  });
  boost::asio::post(state.resolver.get_executor(), [shared = std::weak_ptr<State>(state_)] {
    const auto alive = shared.lock();
    if (alive != nullptr && alive->done != nullptr) alive->FinishIfComplete();
  });
}

Resolved ResolveNow(const std::vector<std::string>& texts, base::Duration deadline) {
  boost::asio::io_context io;
  Resolver resolver(io);
  Resolved resolved;
  resolver.Resolve(texts, deadline, [&resolved](const Resolved& all) { resolved = all; });
  io.run();
  return resolved;
}

}  // namespace ostraka::net

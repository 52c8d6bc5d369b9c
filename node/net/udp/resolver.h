// "host:port" texts as endpoints: numbers at once, names through the system's resolver.
//
// Promises:
//   R1  `done` comes once for each Resolve, from the io_context, after the last name or at the
//       deadline, unless the resolver is destroyed first. Every text is among the endpoints (once
//       or more) or among the failures (once).
//   R2  At most kMostPerName addresses of a name are taken.
//
// May not know: what the endpoints are for.
// Memory: the texts and their endpoints.
// What an attacker can do here: who controls a name chooses its addresses, up to kMostPerName.
//
// Thread safety: none; the thread that runs the io_context. (The system's resolver has a thread of
// Asio's own.)
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dht/wire/endpoint.h"
#include "node/base/time.h"

namespace boost::asio {
class io_context;
}

namespace ostraka::net {

// The endpoint that "192.0.2.1:9000" or "[2001:db8::1]:9000" names; nullopt: a name, or malformed.
std::optional<dht::Endpoint> NumericEndpoint(std::string_view text);

struct Resolved {
  // In the order of the texts; of a name in the system's order. None twice.
  std::vector<dht::Endpoint> endpoints;
  std::vector<std::pair<std::string, std::string>> failures;  // text, why
};

// Blocks until all texts are resolved, or until `deadline`. For commands.
Resolved ResolveNow(const std::vector<std::string>& texts, base::Duration deadline);

class Resolver {
 public:
  static constexpr std::size_t kMostPerName = 4;

  explicit Resolver(boost::asio::io_context& io);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // REQUIRES: no earlier Resolve is under way.
  void Resolve(const std::vector<std::string>& texts, base::Duration deadline,
               std::function<void(const Resolved&)> done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ostraka::net

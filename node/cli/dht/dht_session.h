// A node of the DHT that a command runs to ask something.
//
// Thread safety: none; one owner. Calls block and run the node meanwhile.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crypto/sign.h"
#include "dht/kind.h"
#include "node/base/status.h"
#include "node/base/time.h"

namespace boost::asio {
class io_context;
}

namespace ostraka::cli {

struct DhtSessionOptions {
  std::string network;
  std::vector<std::string> bootstraps;  // "host:port"; REQUIRES: good (CheckBootstraps)
  dht::Role role = dht::Role::kClient;
  std::shared_ptr<const crypto::SigningKey> key;  // null: a new one
  dht::Endpoint local;                            // to receive at; port 0: any
};

class DhtSession {
 public:
  static constexpr base::Duration kPatience = base::Seconds(10);

  // Unavailable: the UDP port is taken.
  static base::StatusOr<std::unique_ptr<DhtSession>> Open(const DhtSessionOptions& options);
  ~DhtSession();
  DhtSession(const DhtSession&) = delete;
  DhtSession& operator=(const DhtSession&) = delete;

  // Until it knows other nodes. Unavailable: why none of the bootstraps answers, by address.
  base::Status Join();
  // REQUIRES: joined. Unavailable: no end within kPatience.
  base::StatusOr<dht::Answered> Ask(decltype(dht::Ask::what) what);
  // Runs until `done` holds or `patience` is over; false in the latter case. `done` is looked at
  // after each event and ten times a second.
  bool RunUntil(const std::function<bool()>& done, std::optional<base::Duration> patience);

  boost::asio::io_context& io();
  dht::Endpoint local() const;
  dht::Progress progress() const;
  base::PeerId id() const;

 private:
  struct State;
  explicit DhtSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ostraka::cli

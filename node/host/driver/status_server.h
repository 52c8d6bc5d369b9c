// The addresses and sockets at which one run serves its status over HTTP.
//
// Promises:
//   P1  Every place is bound before Make returns, and if one cannot be bound, the others are
//       closed.
//   P2  `answer` is called on the protocol thread, and never after the server is destroyed.
//
// May not know: what an answer contains.
// Memory, and what an attacker can do here: http_server.h, for each place.
//
// Thread safety: none; the protocol thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "node/base/status.h"
#include "node/http/http_server.h"

namespace ostraka::host {

class StatusServer {
 public:
  // HttpServer::Make's errors. REQUIRES: `io` outlives the server.
  static base::StatusOr<StatusServer> Make(boost::asio::io_context& io,
                                           const std::vector<http::HttpPlace>& places,
                                           const http::HttpHandler& answer);

  // Of the last place that has a port; 0 if none has.
  std::uint16_t port() const { return port_; }

 private:
  StatusServer() = default;

  std::vector<std::unique_ptr<http::HttpServer>> servers_;
  std::uint16_t port_ = 0;
};

}  // namespace ostraka::host

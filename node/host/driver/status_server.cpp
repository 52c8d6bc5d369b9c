#include "node/host/driver/status_server.h"

namespace ostraka::host {

base::StatusOr<StatusServer> StatusServer::Make(boost::asio::io_context& io,
                                                const std::vector<http::HttpPlace>& places,
                                                const http::HttpHandler& answer) {
  StatusServer server;
  for (const http::HttpPlace& place : places) {
    ASSIGN_OR_RETURN(server.servers_.emplace_back(), http::HttpServer::Make(io, place, answer));
    if (server.servers_.back()->port() != 0) server.port_ = server.servers_.back()->port();
  }
  return server;
}

}  // namespace ostraka::host

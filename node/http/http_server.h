// A small HTTP/1.1 server for people and monitors: GET and HEAD, one response per connection. It
// answers HTTP/1.0, which may leave out the Host field, and the absolute form of a target.
//
// Attack: connections can make it hold at most max_connections sockets with max_request_bytes each.
// Every connection ends `timeout` after it was accepted. When all places are taken, the connection
// whose request has been incomplete for longest is closed. A server on a loopback address answers
// no request that names another host, so that a web page cannot read it through a visitor's
// browser (DNS rebinding). Every answer forbids scripts and styles that do not come from this
// server as files of their own, and frames around it (Content-Security-Policy), so that text of a
// peer that was escaped badly still runs nothing.
//
// Thread safety: none; the thread that runs the io_context. The handler runs there too, and must
// not block. Does not throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "node/base/status.h"
#include "node/base/time.h"

namespace boost::asio {
class io_context;
}

namespace ostraka::http {

// Set one of the two.
struct HttpPlace {
  std::string address;      // "host:port"; port 0: any free one
  std::string socket_path;  // a Unix socket; an old one is replaced; removed at the end
  bool operator==(const HttpPlace&) const = default;
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

// `path` begins with '/' and has no query. The handler answers 404 for an unknown path.
using HttpHandler = std::function<HttpResponse(std::string_view path)>;

struct HttpLimits {
  std::size_t max_connections = 16;
  std::size_t max_request_bytes = 8 << 10;
  base::Duration timeout = base::Seconds(5);
};

class HttpServer {
 public:
  // Binds and listens; serves once `io` runs. Unavailable: the port is taken, or the socket cannot
  // be made. InvalidArgument: a malformed address. REQUIRES: `io` outlives the server; no other
  // server uses `socket_path`.
  static base::StatusOr<std::unique_ptr<HttpServer>> Make(boost::asio::io_context& io,
                                                          const HttpPlace& place,
                                                          HttpHandler handler,
                                                          HttpLimits limits = {});
  // Closes everything at once.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // 0 for a Unix socket.
  std::uint16_t port() const;

 private:
  class Impl;
  HttpServer(std::shared_ptr<Impl> impl, std::string socket_path, std::uint16_t port);
  std::shared_ptr<Impl> impl_;
  const std::string socket_path_;
  const std::uint16_t port_;
};

// True if `address` ("host:port") can only be reached from this machine.
bool IsLoopback(std::string_view address);

}  // namespace ostraka::http

#include "node/http/http_server.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <limits>
#include <list>
#include <optional>
#include <utility>

#include "node/base/check.h"
#include "node/http/host_field.h"
#include "node/os/endpoint.h"
#include "node/os/timer.h"
#include "node/os/unix_socket.h"

namespace ostraka::http {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using Protocol = asio::generic::stream_protocol;
using boost::beast::string_view;
using boost::system::error_code;

// For every answer: a page runs only the script and style that come from here as files of their
// own, asks only here, and stands in no frame of another page.
constexpr const char* kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Long enough not to spin while file descriptors are exhausted, short enough to go unnoticed.
constexpr base::Duration kRetryAfter = base::Milliseconds(100);

beast_http::response<beast_http::string_body> Wrap(HttpResponse answer) {
  beast_http::response<beast_http::string_body> response;
  response.result(answer.status);
  response.set(beast_http::field::content_type, answer.content_type);
  response.set(beast_http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Content-Security-Policy", kContentPolicy);
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.set("Referrer-Policy", "no-referrer");
  response.body() = std::move(answer.body);
  return response;
}

beast_http::response<beast_http::string_body> Refusal(unsigned status, const char* why) {
  return Wrap({status, "text/plain; charset=utf-8", std::string(why) + "\n"});
}

}  // namespace

bool IsLoopback(std::string_view address) {
  const auto where = os::ParseHostPort(address);
  return where.ok() && os::IsLoopbackHost(where->host);
}

class HttpServer::Impl : public std::enable_shared_from_this<HttpServer::Impl> {
 public:
  Impl(asio::io_context& io, int fd, bool check_host, HttpHandler handler, HttpLimits limits)
      : io_(io),
        acceptor_(io, Protocol(AF_UNIX, 0), fd),
        retry_(io),
        check_host_(check_host),
        handler_(std::move(handler)),
        limits_(limits) {}

  void AcceptNext() {
    acceptor_.async_accept([weak = weak_from_this()](error_code ec, Protocol::socket socket) {
      if (const auto self = weak.lock()) self->OnAccept(ec, std::move(socket));
    });
  }

  void Stop();

 private:
  class Session;
  using Sessions = std::list<std::shared_ptr<Session>>;

  void OnAccept(error_code ec, Protocol::socket socket);
  void End(const Session* session) {
    sessions_.remove_if([session](const auto& held) { return held.get() == session; });
  }
  beast_http::response<beast_http::string_body> Answer(
      const beast_http::request<beast_http::empty_body>& request, bool has_body) const;

  asio::io_context& io_;
  asio::basic_socket_acceptor<Protocol> acceptor_;
  os::Timer retry_;
  const bool check_host_;
  const HttpHandler handler_;
  const HttpLimits limits_;
  Sessions sessions_;  // oldest first
  bool stopped_ = false;
};

// One connection: a request, a response, the close.
class HttpServer::Impl::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Impl& server, Protocol::socket socket)
      : server_(server), socket_(std::move(socket)), timer_(server.io_) {}

  void Start() {
    parser_.header_limit(static_cast<std::uint32_t>(server_.limits_.max_request_bytes));
    parser_.body_limit(std::numeric_limits<std::uint64_t>::max());  // no body is read
    buffer_.max_size(server_.limits_.max_request_bytes);
    timer_.Start(server_.limits_.timeout, [this] { Finish(); });
    beast_http::async_read_header(socket_, buffer_, parser_,
                                  [self = this->shared_from_this()](error_code ec, std::size_t) {
                                    if (!self->closed_) self->OnRequest(ec);
                                  });
  }

  bool answering() const { return answering_; }

  // Closes without notifying the server, which is the caller.
  void Close() {
    closed_ = true;
    timer_.Cancel();
    error_code ignored;
    socket_.shutdown(Protocol::socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

 private:
  void OnRequest(error_code ec) {
    answering_ = true;
    if (!ec) {
      head_only_ = parser_.get().method() == beast_http::verb::head;
      return Respond(server_.Answer(parser_.get(),
                                    parser_.chunked() || parser_.content_length().value_or(0) > 0));
    }
    // No response to a peer that has gone; an error response to a malformed request.
    const bool parsing =
        ec.category() == beast_http::make_error_code(beast_http::error::bad_method).category();
    if (!parsing || ec == beast_http::error::end_of_stream ||
        ec == beast_http::error::partial_message) {
      return Finish();
    }
    if (ec == beast_http::error::bad_version) return Respond(Refusal(505, "speak HTTP/1.1"));
    const bool large =
        ec == beast_http::error::header_limit || ec == beast_http::error::buffer_overflow;
    Respond(large ? Refusal(413, "the request is too large") : Refusal(400, "this is no request"));
  }

  void Respond(beast_http::response<beast_http::string_body> response) {
    response_ = std::move(response);
    response_.version(11);
    response_.keep_alive(false);
    response_.prepare_payload();
    if (head_only_) response_.body().clear();
    beast_http::async_write(socket_, response_,
                            [self = this->shared_from_this()](error_code, std::size_t) {
                              if (!self->closed_) self->Drain();
                            });
  }

  // Closing with unread bytes would reset the connection and could discard the response.
  void Drain() {
    error_code ec;
    socket_.shutdown(Protocol::socket::shutdown_send, ec);
    if (ec) return Finish();
    socket_.async_read_some(asio::buffer(drain_),
                            [self = this->shared_from_this()](error_code error, std::size_t) {
                              if (self->closed_) return;
                              if (error) return self->Finish();
                              self->Drain();
                            });
  }

  void Finish() {
    const auto self = this->shared_from_this();
    Close();
    server_.End(this);
  }

  Impl& server_;
  Protocol::socket socket_;
  os::Timer timer_;
  boost::beast::flat_buffer buffer_;
  beast_http::request_parser<beast_http::empty_body> parser_;
  beast_http::response<beast_http::string_body> response_;
  std::array<char, 1024> drain_{};
  bool head_only_ = false;
  bool answering_ = false;
  bool closed_ = false;
};

void HttpServer::Impl::Stop() {
  stopped_ = true;
  retry_.Cancel();
  error_code ignored;  // a failed close loses nothing
  acceptor_.close(ignored);
  for (const auto& session : sessions_) session->Close();
  sessions_.clear();
}

void HttpServer::Impl::OnAccept(error_code ec, Protocol::socket socket) {
  if (stopped_) return;
  if (ec) {
    retry_.Start(kRetryAfter, [this] { AcceptNext(); });
    return;
  }
  if (sessions_.size() >= limits_.max_connections) {
    const auto idle = std::find_if(sessions_.begin(), sessions_.end(),
                                   [](const auto& session) { return !session->answering(); });
    const auto victim = idle == sessions_.end() ? sessions_.begin() : idle;
    (*victim)->Close();
    sessions_.erase(victim);
  }
  sessions_.push_back(std::make_shared<Session>(*this, std::move(socket)));
  sessions_.back()->Start();
  AcceptNext();
}

beast_http::response<beast_http::string_body> HttpServer::Impl::Answer(
    const beast_http::request<beast_http::empty_body>& request, bool has_body) const {
  constexpr unsigned kHttp11 = 11;
  const std::size_t hosts = request.count(beast_http::field::host);
  if (hosts > 1 || (hosts == 0 && request.version() >= kHttp11)) {
    return Refusal(400, "give one Host field");
  }
  const string_view field = request[beast_http::field::host];
  std::optional<std::string> host = HostOf({field.data(), field.size()});
  if (!host) return Refusal(400, "the Host field is no host");
  const auto target = ParseTarget({request.target().data(), request.target().size()});
  // What the target names counts, not the field. Only a target without one is for this server
  // whoever asks: a browser always names a host.
  bool named = hosts > 0;
  if (target && target->authority) {
    host = HostOf(*target->authority);
    if (!host || host->empty()) return Refusal(400, "the target names no host");
    named = true;
  }
  if (check_host_ && named && !os::IsLoopbackHost(*host)) {
    return Refusal(403, "name this machine as localhost");
  }
  if (request.method() != beast_http::verb::get && request.method() != beast_http::verb::head) {
    auto refused = Refusal(405, "only GET and HEAD");
    refused.set(beast_http::field::allow, "GET, HEAD");
    return refused;
  }
  if (!target) return Refusal(400, "the target must begin with / or http://");
  if (has_body) return Refusal(413, "a GET has no body here");
  return Wrap(handler_(target->path));
}

base::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Make(asio::io_context& io,
                                                             const HttpPlace& place,
                                                             HttpHandler handler,
                                                             HttpLimits limits) {
  OSTRAKA_CHECK(place.address.empty() != place.socket_path.empty() && handler);
  const bool is_unix = place.address.empty();
  int fd = -1;
  if (is_unix) {
    ASSIGN_OR_RETURN(fd, os::ListenOnUnix(place.socket_path));
  } else {
    ASSIGN_OR_RETURN(fd, os::ListenOn(place.address, "--http"));
  }
  std::uint16_t port = 0;
  if (!is_unix) {
    ASSIGN_OR_RETURN(port, os::ListeningPort(fd));  // cannot fail for a listening socket
  }
  auto impl = std::make_shared<Impl>(io, fd, !is_unix && IsLoopback(place.address),
                                     std::move(handler), limits);
  impl->AcceptNext();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl), place.socket_path, port));
}

HttpServer::HttpServer(std::shared_ptr<Impl> impl, std::string socket_path, std::uint16_t port)
    : impl_(std::move(impl)), socket_path_(std::move(socket_path)), port_(port) {}

HttpServer::~HttpServer() {
  impl_->Stop();
  // A stale socket file would only refuse connections, so a failure is harmless.
  if (!socket_path_.empty()) unlink(socket_path_.c_str());
}

std::uint16_t HttpServer::port() const { return port_; }

}  // namespace ostraka::http

#include "node/runtime/http_get.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "node/runtime/endpoint.h"
#include "node/runtime/unix_socket.h"

namespace ostraka::runtime {
namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;
using tcp = net::ip::tcp;
using Protocol = net::generic::stream_protocol;
using boost::system::error_code;

std::string NameOf(const HttpPlace& place) {
  return place.address.empty() ? place.socket_path : place.address;
}

// One exchange on a socket that is connected or about to be.
class Exchange {
 public:
  Exchange(const HttpPlace& place, const std::string& path, std::size_t max_body_bytes)
      : place_(place), socket_(io_) {
    request_ = {http::verb::get, path, 11};
    request_.set(http::field::host, place.address.empty() ? "localhost" : place.address);
    request_.set(http::field::connection, "close");
    parser_.body_limit(max_body_bytes);
  }

  base::StatusOr<HttpResponse> Run(base::Duration timeout) {
    RETURN_IF_ERROR(Begin());
    io_.run_for(std::chrono::nanoseconds(timeout.ns));
    if (!ended_) {
      return base::Unavailable(NameOf(place_) + ": no answer for " +
                               std::to_string(timeout.ns / 1'000'000) + " ms: is the node stuck?");
    }
    if (*ended_ == net::error::connection_refused) {
      return base::NotFound("nobody listens at " + NameOf(place_));
    }
    if (ended_->category() == http::make_error_code(http::error::bad_version).category()) {
      return base::InvalidArgument(NameOf(place_) + ": did not answer in HTTP (" +
                                   ended_->message() + ")");
    }
    if (*ended_) return base::Unavailable(NameOf(place_) + ": " + ended_->message());
    const auto& response = parser_.get();
    const auto type = response[http::field::content_type];
    return HttpResponse{response.result_int(), std::string(type.data(), type.size()),
                        response.body()};
  }

 private:
  base::Status Begin() {
    if (place_.address.empty()) {
      ASSIGN_OR_RETURN(const int fd, ConnectToUnix(place_.socket_path));
      socket_.assign(Protocol(AF_UNIX, 0), fd);
      Talk();
      return base::OkStatus();
    }
    ASSIGN_OR_RETURN(const HostPort where, ParseHostPort(place_.address));
    tcp::resolver resolver(io_);
    error_code ec;
    const auto found = resolver.resolve(where.host, std::to_string(where.port), ec);
    if (ec) return base::Unavailable(where.host + ": " + ec.message());
    for (const auto& entry : found) endpoints_.emplace_back(entry.endpoint());
    net::async_connect(socket_, endpoints_,
                       [this](error_code error, const Protocol::endpoint& /*which*/) {
                         error ? End(error) : Talk();
                       });
    return base::OkStatus();
  }

  void Talk() {
    http::async_write(socket_, request_, [this](error_code sent, std::size_t) {
      if (sent) return End(sent);
      http::async_read(socket_, buffer_, parser_,
                       [this](error_code read, std::size_t) { End(read); });
    });
  }

  void End(error_code ec) { ended_ = ec; }

  const HttpPlace& place_;
  net::io_context io_;
  Protocol::socket socket_;
  std::vector<Protocol::endpoint> endpoints_;
  http::request<http::empty_body> request_;
  boost::beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
  std::optional<error_code> ended_;
};

}  // namespace

base::StatusOr<HttpResponse> HttpGet(const HttpPlace& place, const std::string& path,
                                     base::Duration timeout, std::size_t max_body_bytes) {
  return Exchange(place, path, max_body_bytes).Run(timeout);
}

}  // namespace ostraka::runtime

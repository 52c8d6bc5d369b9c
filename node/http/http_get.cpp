#include "node/http/http_get.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "node/os/endpoint.h"
#include "node/os/unix_socket.h"

namespace ostraka::http {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using tcp = asio::ip::tcp;
using Protocol = asio::generic::stream_protocol;
using boost::system::error_code;

std::string NameOf(const HttpPlace& place) {
  return place.address.empty() ? place.socket_path : place.address;
}

// One exchange on a connected or connecting socket.
class Exchange {
 public:
  Exchange(const HttpPlace& place, const std::string& path, std::size_t max_body_bytes)
      : place_(place), socket_(io_) {
    request_ = {beast_http::verb::get, path, 11};
    request_.set(beast_http::field::host, place.address.empty() ? "localhost" : place.address);
    request_.set(beast_http::field::connection, "close");
    parser_.body_limit(max_body_bytes);
  }

  base::StatusOr<HttpResponse> Run(base::Duration timeout) {
    RETURN_IF_ERROR(Begin());
    io_.run_for(std::chrono::nanoseconds(timeout.ns));
    if (!ended_) {
      return base::Unavailable(NameOf(place_) + ": no answer for " +
                               std::to_string(timeout.ns / 1'000'000) + " ms: is the node stuck?");
    }
    if (*ended_ == asio::error::connection_refused) {
      return base::NotFound("nobody listens at " + NameOf(place_));
    }
    if (ended_->category() ==
        beast_http::make_error_code(beast_http::error::bad_version).category()) {
      return base::InvalidArgument(NameOf(place_) + ": did not answer in HTTP (" +
                                   ended_->message() + ")");
    }
    if (*ended_) return base::Unavailable(NameOf(place_) + ": " + ended_->message());
    const auto& response = parser_.get();
    const auto type = response[beast_http::field::content_type];
    return HttpResponse{response.result_int(), std::string(type.data(), type.size()),
                        response.body()};
  }

 private:
  base::Status Begin() {
    if (place_.address.empty()) {
      ASSIGN_OR_RETURN(const int fd, os::ConnectToUnix(place_.socket_path));
      socket_.assign(Protocol(AF_UNIX, 0), fd);
      Talk();
      return base::OkStatus();
    }
    ASSIGN_OR_RETURN(const os::HostPort where, os::ParseHostPort(place_.address));
    tcp::resolver resolver(io_);
    error_code ec;
    const auto found = resolver.resolve(where.host, std::to_string(where.port), ec);
    if (ec) return base::Unavailable(where.host + ": " + ec.message());
    for (const auto& entry : found) endpoints_.emplace_back(entry.endpoint());
    asio::async_connect(socket_, endpoints_,
                        [this](error_code error, const Protocol::endpoint& /*which*/) {
                          error ? End(error) : Talk();
                        });
    return base::OkStatus();
  }

  void Talk() {
    beast_http::async_write(socket_, request_, [this](error_code sent, std::size_t) {
      if (sent) return End(sent);
      beast_http::async_read(socket_, buffer_, parser_,
                             [this](error_code read, std::size_t) { End(read); });
    });
  }

  void End(error_code ec) { ended_ = ec; }

  const HttpPlace& place_;
  asio::io_context io_;
  Protocol::socket socket_;
  std::vector<Protocol::endpoint> endpoints_;
  beast_http::request<beast_http::empty_body> request_;
  boost::beast::flat_buffer buffer_;
  beast_http::response_parser<beast_http::string_body> parser_;
  std::optional<error_code> ended_;
};

}  // namespace

base::StatusOr<HttpResponse> HttpGet(const HttpPlace& place, const std::string& path,
                                     base::Duration timeout, std::size_t max_body_bytes) {
  return Exchange(place, path, max_body_bytes).Run(timeout);
}

}  // namespace ostraka::http

#include "node/os/tcp_probe.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <optional>

#include "node/os/endpoint.h"

namespace ostraka::os {

base::Status ProbeTcp(const std::string& address, base::Duration timeout) {
  using tcp = boost::asio::ip::tcp;
  ASSIGN_OR_RETURN(const HostPort where, ParseHostPort(address));
  boost::asio::io_context io;
  tcp::resolver resolver(io);
  boost::system::error_code error;
  const auto found = resolver.resolve(where.host, std::to_string(where.port), error);
  if (error) return base::Unavailable(error.message());
  tcp::socket socket(io);
  std::optional<boost::system::error_code> ended;
  boost::asio::async_connect(
      socket, found, [&ended](boost::system::error_code ec, const tcp::endpoint&) { ended = ec; });
  io.run_for(std::chrono::nanoseconds(timeout.ns));
  if (!ended) return base::Unavailable("no answer, as behind a firewall");
  return *ended ? base::Unavailable(ended->message()) : base::OkStatus();
}

}  // namespace ostraka::os

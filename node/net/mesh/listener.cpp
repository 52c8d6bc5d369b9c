#include "node/net/mesh/listener.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <utility>

#include "node/base/check.h"
#include "node/os/endpoint.h"
#include "node/os/timer.h"

namespace ostraka::net {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

// Long enough not to spin while file descriptors are exhausted, short enough to go unnoticed.
constexpr base::Duration kRetryAfter = base::Milliseconds(100);

// A socket on [::] reports IPv4 clients as IPv4-mapped IPv6 addresses; unmap them.
asio::ip::address Unmapped(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
}

std::string FormatEndpoint(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  const std::string port = std::to_string(endpoint.port());
  return endpoint.address().is_v6() ? "[" + address + "]:" + port : address + ":" + port;
}

}  // namespace

class Listener::Impl : public std::enable_shared_from_this<Listener::Impl> {
 public:
  Impl(asio::io_context& io, Events events)
      : acceptor_(io), retry_(io), events_(std::move(events)) {}

  void TakeOver(int fd) {
    boost::system::error_code ec;
    acceptor_.assign(os::IsIpv6(fd) ? tcp::v6() : tcp::v4(), fd, ec);
    OSTRAKA_CHECK(!ec);  // the caller has checked that it is a listening socket
  }

  void AcceptNext() {
    acceptor_.async_accept(
        [self = shared_from_this()](boost::system::error_code ec, tcp::socket socket) {
          self->OnAccept(ec, std::move(socket));
        });
  }

  void Stop() {
    stopped_ = true;
    retry_.Cancel();
    boost::system::error_code ignored;  // closing a listening socket loses no data
    acceptor_.close(ignored);
  }

 private:
  void OnAccept(boost::system::error_code ec, tcp::socket socket) {
    if (stopped_) return;
    if (ec) {
      events_.failed(ec.message());
      retry_.Start(kRetryAfter, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->AcceptNext();
      });
      return;
    }
    const tcp::endpoint remote = socket.remote_endpoint(ec);
    if (!ec) {
      AcceptedSocket accepted;
      const asio::ip::address address = Unmapped(remote.address());
      accepted.address = os::AddressGroup(address.to_string());
      accepted.prefix = os::AddressPrefix(address.to_string());
      accepted.remote = FormatEndpoint({address, remote.port()});
      accepted.is_loopback = address.is_loopback();
      accepted.fd = socket.release(ec);
      OSTRAKA_CHECK(!ec);  // epoll can always release a descriptor
      events_.accepted(std::move(accepted));
    }  // otherwise the peer has already gone
    if (!stopped_) AcceptNext();
  }

  tcp::acceptor acceptor_;
  os::Timer retry_;
  Events events_;
  bool stopped_ = false;
};

Listener::Listener(asio::io_context& io, int fd, Events events)
    : impl_(std::make_shared<Impl>(io, std::move(events))) {
  impl_->TakeOver(fd);
}

Listener::~Listener() { impl_->Stop(); }

void Listener::Start() { impl_->AcceptNext(); }

}  // namespace ostraka::net

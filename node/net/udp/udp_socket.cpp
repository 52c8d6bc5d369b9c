#include "node/net/udp/udp_socket.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <utility>

#include "node/base/check.h"

namespace ostraka::net {
namespace {

using boost::asio::ip::udp;
namespace ip = boost::asio::ip;
using boost::system::error_code;

udp::endpoint AsAsio(const dht::Endpoint& endpoint, bool socket_is_v4) {
  ip::address_v6::bytes_type bytes;
  std::copy(endpoint.address.begin(), endpoint.address.end(), bytes.begin());
  const ip::address_v6 v6(bytes);
  if (socket_is_v4 && v6.is_v4_mapped()) {
    return {ip::make_address_v4(ip::v4_mapped, v6), endpoint.port};
  }
  return {v6, endpoint.port};
}

dht::Endpoint FromAsio(const udp::endpoint& endpoint) {
  const ip::address address = endpoint.address();
  const ip::address_v6 v6 =
      address.is_v6() ? address.to_v6() : ip::make_address_v6(ip::v4_mapped, address.to_v4());
  dht::Endpoint out;
  const auto bytes = v6.to_bytes();
  std::copy(bytes.begin(), bytes.end(), out.address.begin());
  out.port = endpoint.port();
  return out;
}

}  // namespace

struct UdpSocket::State {
  State(boost::asio::io_context& io, Receiver r) : socket(io), receiver(std::move(r)) {}
  udp::socket socket;
  Receiver receiver;
  std::array<std::uint8_t, kMostBytes + 1> buffer{};
  bool is_v4 = false;
  std::uint64_t dropped = 0;
};

UdpSocket::UdpSocket(boost::asio::io_context& io, Receiver receiver)
    : state_(std::make_shared<State>(io, std::move(receiver))) {}

UdpSocket::~UdpSocket() { Close(); }

void UdpSocket::Close() {
  error_code ignored;  // nothing is left to do for a socket that cannot be closed
  state_->socket.close(ignored);
}

base::Status UdpSocket::Open(const dht::Endpoint& local) {
  const base::Status opened = OpenAt(local);
  const bool everywhere = local.address == dht::Endpoint{}.address;
  if (opened.ok() || !everywhere) return opened;
  return OpenAt(dht::Endpoint::V4(0, local.port)).ok() ? base::OkStatus() : opened;
}

base::Status UdpSocket::OpenAt(const dht::Endpoint& local) {
  error_code error;
  State& state = *state_;
  state.is_v4 = local.IsV4();
  state.socket.open(state.is_v4 ? udp::v4() : udp::v6(), error);
  if (!error && !state.is_v4) state.socket.set_option(ip::v6_only(false), error);
  if (!error) state.socket.non_blocking(true, error);
  if (!error) state.socket.bind(AsAsio(local, state.is_v4), error);
  if (error) {
    Close();
    return base::Unavailable("cannot receive UDP at " + dht::TextOf(local) + ": " +
                             error.message());
  }
  Wait(state_);
  return base::OkStatus();
}

void UdpSocket::Wait(const std::shared_ptr<State>& state) {
  state->socket.async_wait(udp::socket::wait_read, [state](const error_code& error) {
    if (error || !state->socket.is_open()) return;
    Receive(*state);
    if (state->socket.is_open()) Wait(state);
  });
}

void UdpSocket::Receive(State& state) {
  for (int i = 0; i < kBurst && state.socket.is_open(); ++i) {
    udp::endpoint from;
    error_code error;
    const std::size_t size =
        state.socket.receive_from(boost::asio::buffer(state.buffer), from, 0, error);
    if (error == boost::asio::error::would_block) return;
    // An ICMP error of an earlier datagram: there may be others behind it.
    if (error) continue;
    state.receiver(FromAsio(from), base::ByteView(state.buffer.data(), size));
  }
}

void UdpSocket::Send(const dht::Endpoint& to, base::ByteView bytes) {
  State& state = *state_;
  error_code error;
  state.socket.send_to(boost::asio::buffer(bytes.data(), bytes.size()), AsAsio(to, state.is_v4), 0,
                       error);
  if (error) ++state.dropped;
}

dht::Endpoint UdpSocket::local() const {
  OSTRAKA_CHECK(state_->socket.is_open());
  error_code ignored;  // an open socket has an address
  return FromAsio(state_->socket.local_endpoint(ignored));
}

std::uint64_t UdpSocket::dropped() const { return state_->dropped; }

}  // namespace ostraka::net

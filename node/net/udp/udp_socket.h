// One UDP socket on an io_context, for datagrams of the DHT.
//
// Promises:
//   U1 Each datagram that arrives is given to the receiver once, whole, with its source. One that
//      is longer than kMostBytes arrives cut, one byte longer, so that a decoder refuses it.
//   U2 Send never blocks and never queues: what the system does not take at once is dropped, as UDP
//      allows, and counted.
//   U3 No call of the receiver after Close or destruction.
//   U4 After kBurst datagrams other work of the io_context gets its turn. [A flood of them must
//      not stop the node's links and timers.]
//
// May not know: what is in a datagram.
// Memory: one buffer of kMostBytes; the system's own queue.
// What an attacker can do here: fill the system's queue, so that datagrams of others are lost.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "dht/wire/endpoint.h"
#include "node/base/status.h"

namespace boost::asio {
class io_context;
}

namespace ostraka::net {

class UdpSocket {
 public:
  static constexpr std::size_t kMostBytes = 1200;
  static constexpr int kBurst = 64;
  using Receiver = std::function<void(const dht::Endpoint& from, base::ByteView bytes)>;

  UdpSocket(boost::asio::io_context& io, Receiver receiver);
  ~UdpSocket();
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  // Receives at `local`; port 0: one that the system chooses. The unspecified IPv6 address receives
  // IPv4, too, and IPv4 alone where there is no IPv6. Unavailable: the port is taken, or the
  // address is not ours.
  base::Status Open(const dht::Endpoint& local);
  void Close();
  void Send(const dht::Endpoint& to, base::ByteView bytes);

  // REQUIRES: open.
  dht::Endpoint local() const;
  std::uint64_t dropped() const;  // by U2

 private:
  struct State;
  base::Status OpenAt(const dht::Endpoint& local);
  static void Wait(const std::shared_ptr<State>& state);
  static void Receive(State& state);

  std::shared_ptr<State> state_;
};

}  // namespace ostraka::net

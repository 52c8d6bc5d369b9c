// Holds incoming connections until they name the run that they want. Each costs a socket, a timer
// and at most kMaxClientHelloBytes, and no cryptography.
//
// Promises:
//   L1  At most `places` connections wait.
//   L2  For each connection that entered exactly one event comes, or none after Clear.
//   L3  A connection waits for at most `patience`.
//
// May not know: members, admission, TLS beyond its first message.
//
// Memory: `places` connections of 5 KiB.
//
// What an attacker can do here:
// Attack: open connections and send nothing. They hold places until `patience` ends, or until all
// places are taken and another connection comes: then the oldest connection of the address with the
// most places is closed. An honest dialer sends its ClientHello with the last packet of TCP's
// handshake, so it needs a place only briefly: with 256 places, a flood of 4,000 connections per
// second leaves it 64 ms.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "node/base/bytes.h"
#include "node/base/time.h"
#include "node/net/link/connection.h"
#include "node/net/mesh/listener.h"

namespace boost::asio {
class io_context;
}

namespace ostraka::net {

class Lobby {
 public:
  struct Events {
    std::function<void(Caller)> spoke;
    // Closed for the reason in `closing`; `socket.fd` is no longer open.
    std::function<void(const AcceptedSocket& socket, const Closing& closing)> left;
  };

  // Both events come from the io_context, or from within Enter. REQUIRES: 0 < places.
  Lobby(boost::asio::io_context& io, std::string alpn, std::size_t places, base::Duration patience,
        Events events);
  // Closes all connections; no event follows.
  ~Lobby();
  Lobby(const Lobby&) = delete;
  Lobby& operator=(const Lobby&) = delete;

  // Takes ownership of the descriptor.
  void Enter(AcceptedSocket socket);
  void Clear();
  std::size_t size() const { return waiting_.size(); }

 private:
  class Visitor;
  friend class Visitor;

  void OnSpoke(std::uint64_t number, bool names_run);
  void Close(std::uint64_t number, const Closing& closing);
  void MakeRoom();

  boost::asio::io_context& io_;
  const std::string alpn_;
  const std::size_t places_;
  const base::Duration patience_;
  const Events events_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Visitor>> waiting_;  // in order of arrival
};

}  // namespace ostraka::net

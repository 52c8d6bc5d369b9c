// Accepts TCP connections on one socket.
//
// Promises:
//   L1  Each accepted descriptor is passed on once, to a receiver that must close it.
//   L2  After the destructor no event follows, and the socket is closed.
//   L3  A failure to accept is reported and tried again after 100 ms, for ever.
//
// May not know: who may connect.
//
// Memory: one socket that is being accepted.
//
// What an attacker can do here: connect often. Each connection costs what the receiver decides.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "node/net/link/caller.h"

namespace boost::asio {
class io_context;
}

namespace ostraka::net {

class Listener {
 public:
  struct Events {
    std::function<void(AcceptedSocket)> accepted;
    // Accepting failed (for example, too many open files); it retries soon.
    std::function<void(const std::string& reason)> failed;
  };

  // Takes ownership of `fd`, a listening socket.
  Listener(boost::asio::io_context& io, int fd, Events events);
  // Closes the socket; no event follows.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void Start();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ostraka::net

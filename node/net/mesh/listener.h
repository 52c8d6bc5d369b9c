// Accepts TCP connections on one socket.
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

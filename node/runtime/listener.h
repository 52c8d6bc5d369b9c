// Accepts TCP connections on one socket.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace boost::asio {
class io_context;
}

namespace ostraka::runtime {

struct AcceptedSocket {
  int fd = -1;          // the receiver's to close
  std::string address;  // AddressGroup
  std::string prefix;   // AddressPrefix
  std::string remote;   // "host:port"
  bool is_loopback = false;
};

class Listener {
 public:
  struct Events {
    std::function<void(AcceptedSocket)> accepted;
    // Accepting failed (too many open files, say); it tries again soon.
    std::function<void(const std::string& reason)> failed;
  };

  // Takes over `fd`, a listening socket.
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

}  // namespace ostraka::runtime

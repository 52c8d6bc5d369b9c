// Runs functions of one run on the protocol thread, on which all runs of a process take turns.
//
// Every function of a run that an io_context calls goes through the run's inlet: directly (Enter),
// or from another thread (Post). So an exception ends its own run and no other.
//
// Promises:
//   I1  A posted function runs on the thread of the io_context, never within Post. Functions that
//       one thread posts run in the order of Post.
//   I2  No posted function runs after the inlet is destroyed.
//   I3  Whatever a function throws reaches `thrown`, as one line (thrown.h), and nobody else.
//
// May not know: machines, networks, disks.
// Memory: the functions that were posted and have not run.
// What an attacker can do here: nothing; no byte of a peer arrives.
//
// Thread safety: Post from any thread; the rest on the thread of the io_context.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "node/host/threads/thrown.h"

namespace boost::asio {
class io_context;
}

namespace ostraka::host {

class Inlet {
 public:
  // `thrown` must not throw, and must not destroy an object that the function used. REQUIRES: `io`
  // outlives the inlet.
  Inlet(boost::asio::io_context& io, std::function<void(const std::string& what)> thrown);
  ~Inlet();
  Inlet(const Inlet&) = delete;
  Inlet& operator=(const Inlet&) = delete;

  void Post(std::function<void()> function) const;

  // Runs `function` now.
  template <typename Function>
  void Enter(Function&& function) const {
    try {
      std::forward<Function>(function)();
    } catch (...) {
      thrown_(DescribeThrown(std::current_exception()));
    }
  }

 private:
  struct Alive {
    const Inlet* inlet = nullptr;  // null once the inlet is destroyed; protocol thread only
  };

  boost::asio::io_context& io_;
  const std::function<void(const std::string&)> thrown_;
  const std::shared_ptr<Alive> alive_;
};

}  // namespace ostraka::host

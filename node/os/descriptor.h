// An open file, socket or folder, closed by the destructor.
//
// Thread safety: none; one owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace ostraka::os {

class Descriptor {
 public:
  // Takes the result of open, socket and the like; a negative number means none.
  explicit Descriptor(int fd) : fd_(fd) {}
  // The result of close is ignored: a writer syncs first, after which close reports nothing new.
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  bool ok() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // Passes ownership to the caller.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace ostraka::os

// An open file, socket or folder, closed at the end.
//
// Thread safety: none; one owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace ostraka::os {

class Descriptor {
 public:
  // Takes what open, socket and the like return; a negative number is none.
  explicit Descriptor(int fd) : fd_(fd) {}
  // The result of close is not looked at: whoever writes syncs first, and close says nothing new.
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool ok() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // The caller closes it.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace ostraka::os

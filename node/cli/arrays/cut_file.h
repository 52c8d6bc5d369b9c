// A file that is mapped into memory and that another program cuts short meanwhile: the pages behind
// its new end are gone, and whoever reads one gets SIGBUS. While a CutFileGuard lives, the process
// ends then with one line and code 3, as for any file that cannot be read. It has written nothing:
// results are written whole, after their input was read.
//
// Thread safety: guards are made and ended by one thread at a time; any thread may read the memory.
#pragma once

#include <cstddef>
#include <string>

namespace ostraka::cli {

class CutFileGuard {
 public:
  // Guards `size` bytes at `begin`, the content of `path`. At most kMostFiles live at once; others
  // do not guard.
  static constexpr std::size_t kMostFiles = 8;
  CutFileGuard(const std::string& path, const void* begin, std::size_t size);
  ~CutFileGuard();
  CutFileGuard(const CutFileGuard&) = delete;
  CutFileGuard& operator=(const CutFileGuard&) = delete;

 private:
  std::size_t place_;
};

// What is wrong with the file `path`, and what to do.
std::string CutFileMessage(const std::string& path);

}  // namespace ostraka::cli

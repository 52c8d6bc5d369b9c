// CHECK: an assertion that stays on in every build. For our own bugs only: bytes from a peer, a
// file or a user give a Status and must never be able to reach one.
#pragma once

namespace ostraka::base {

// Prints "CHECK failed: <expression> at <file>:<line>" to stderr and aborts.
[[noreturn]] void CheckFailed(const char* expression, const char* file, int line);

}  // namespace ostraka::base

#define OSTRAKA_CHECK(condition)                                    \
  do {                                                              \
    if (!(condition)) [[unlikely]] {                                \
      ::ostraka::base::CheckFailed(#condition, __FILE__, __LINE__); \
    }                                                               \
  } while (false)

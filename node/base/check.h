// CHECK: an assertion that is active in every build. For local bugs only: input from a peer, a file
// or a user must yield a Status and never reach a CHECK.
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

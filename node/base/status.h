// Status and StatusOr: Abseil's types under our names, with constructors that take std strings.
// (Debian's absl::string_view is not std::string_view, so Abseil's own constructors do not.)
//
// Meaning of the codes, everywhere in ostraka:
//   InvalidArgument     bytes or values that are wrong in themselves; exit code 2
//   FailedPrecondition  valid, but not now or not here (a mode too weak, a key in use); exit code 2
//   NotFound            a file, peer or record does not exist; exit code 3
//   Unavailable         the environment refused (port taken, disk full, no peers); exit code 3
//   Internal            a third-party library failed unexpectedly; exit code 3
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ostraka::base {

using Status = absl::Status;
template <typename T>
using StatusOr = absl::StatusOr<T>;

inline Status OkStatus() { return absl::OkStatus(); }

inline Status MakeStatus(absl::StatusCode code, std::string_view message) {
  return Status(code, absl::string_view(message.data(), message.size()));
}
inline Status InvalidArgument(std::string_view m) {
  return MakeStatus(absl::StatusCode::kInvalidArgument, m);
}
inline Status FailedPrecondition(std::string_view m) {
  return MakeStatus(absl::StatusCode::kFailedPrecondition, m);
}
inline Status NotFound(std::string_view m) { return MakeStatus(absl::StatusCode::kNotFound, m); }
inline Status Unavailable(std::string_view m) {
  return MakeStatus(absl::StatusCode::kUnavailable, m);
}
inline Status Cancelled(std::string_view m) { return MakeStatus(absl::StatusCode::kCancelled, m); }
inline Status Internal(std::string_view m) { return MakeStatus(absl::StatusCode::kInternal, m); }

// The message as a std::string, without the code's name.
inline std::string MessageOf(const Status& status) { return std::string(status.message()); }

}  // namespace ostraka::base

#define OSTRAKA_CONCAT_INNER(a, b) a##b
#define OSTRAKA_CONCAT(a, b) OSTRAKA_CONCAT_INNER(a, b)

// Returns the status from the enclosing function unless it is ok.
#define RETURN_IF_ERROR(expression) \
  RETURN_IF_ERROR_IMPL(OSTRAKA_CONCAT(status_, __LINE__), expression)
#define RETURN_IF_ERROR_IMPL(holder, expression)                 \
  do {                                                           \
    if (auto holder = (expression); !holder.ok()) return holder; \
  } while (false)

// ASSIGN_OR_RETURN(auto value, F()): declares or assigns `value`, or returns F's status.
#define ASSIGN_OR_RETURN(target, expression) \
  ASSIGN_OR_RETURN_IMPL(OSTRAKA_CONCAT(status_or_, __LINE__), target, expression)
#define ASSIGN_OR_RETURN_IMPL(holder, target, expression) \
  auto holder = (expression);                             \
  if (!holder.ok()) return holder.status();               \
  target = std::move(holder).value()

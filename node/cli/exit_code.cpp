#include "node/cli/exit_code.h"

#include <cstdio>
#include <string>

namespace ostraka::cli {

ExitCode ExitCodeOf(const base::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kDone;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return kBadInput;
    default:
      return kEnvironment;
  }
}

ExitCode Fail(const base::Status& status) {
  std::string line = base::MessageOf(status);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  std::fprintf(stderr, "ostraka: %s\n", line.c_str());
  return ExitCodeOf(status);
}

}  // namespace ostraka::cli

// Exit codes and how errors reach a user, the same for every subcommand.
//
// Thread safety: free functions.
#pragma once

#include <string>
#include <string_view>

#include "node/base/status.h"

namespace ostraka::cli {

enum ExitCode : int {
  kDone = 0,
  kNegative = 1,     // what was asked for came out negative: a check failed, a run was not ok
  kBadInput = 2,     // bad usage or input
  kEnvironment = 3,  // port taken, file missing, no peers
};

// InvalidArgument, FailedPrecondition -> kBadInput; NotFound, Unavailable, Internal ->
// kEnvironment.
ExitCode ExitCodeOf(const base::Status& status);

// `message` as one line that is safe on a terminal, whatever file or peer had a say in it: control
// characters and what is no UTF-8 become '?', and 1000 bytes are enough.
std::string PrintableLine(std::string_view message);

// Prints "ostraka: <message>" as one such line to stderr and returns ExitCodeOf(status).
ExitCode Fail(const base::Status& status);

}  // namespace ostraka::cli

// Exit codes and how errors reach a user, the same for every subcommand.
//
// Thread safety: free functions.
#pragma once

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

// Prints "ostraka: <message>" as one line to stderr (control characters shown as '?', so that a
// hostile file cannot draw on the terminal) and returns ExitCodeOf(status).
ExitCode Fail(const base::Status& status);

}  // namespace ostraka::cli

// Exit codes and error output, common to all subcommands.
//
// Thread safety: free functions.
#pragma once

#include <string>
#include <string_view>

#include "node/base/status.h"

namespace ostraka::cli {

enum ExitCode : int {
  kDone = 0,
  kNegative = 1,     // the result is negative: a check failed, or a run was not ok
  kBadInput = 2,     // bad usage or input
  kEnvironment = 3,  // port taken, file missing, no peers
};

// InvalidArgument, FailedPrecondition -> kBadInput; NotFound, Unavailable, Internal ->
// kEnvironment.
ExitCode ExitCodeOf(const base::Status& status);

// `message` as one line that is safe on a terminal, even if a file or a peer contributed to it:
// control characters and invalid UTF-8 become '?', and the line is cut at 1000 bytes.
std::string PrintableLine(std::string_view message);

// A text of any origin that is safe on a terminal: as PrintableLine, but line breaks and tabs stay,
// and it is not cut. Takes what it returns off `text`: bytes at the end that may be the beginning
// of a character stay there, unless the text is `whole`.
std::string PrintableText(std::string_view& text, bool whole);

// Prints "ostraka: <message>" through PrintableLine to stderr and returns ExitCodeOf(status).
ExitCode Fail(const base::Status& status);

// From here on an exception that nobody catches, and that says that the machine gives no more
// memory, threads or files, ends the process with one line and kEnvironment, in whatever thread.
// Any other exception is our own bug and aborts. Nothing is written or undone: what must be durable
// is so at every moment, as for a process that is killed. Called once, at the start.
void EndInOneLineWithoutResources();

// That line for the error `number` (errno), without its "ostraka: ".
std::string ResourceMessage(int number);

}  // namespace ostraka::cli

// The common part of `aggregate` and `attack`: both list a registry, or turn one .npy file into
// another.
//
// Thread safety: pure functions, except those that add options, which are called before parsing.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/cli/arrays/array_json.h"
#include "node/cli/arrays/npy_file.h"
#include "node/cli/arrays/registry_view.h"
#include "node/cli/terminal/exit_code.h"
#include "node/os/thread_executor.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

struct ArrayOptions {
  std::string out;  // a path; "-" for JSON on stdout
  std::size_t threads = os::AvailableThreads();
  bool list = false;
  bool markdown = false;
  bool json = false;
  bool force = false;

  bool prints_json() const { return json || out == "-"; }
};

// Adds --threads, --list (of `what`), --markdown (which prints `page`), --json and --force.
void AddArrayOptions(CLI::App& command, const std::string& what, const std::string& page,
                     ArrayOptions& options);

// Prints the list if --list was given, else runs `body`; prints an error as one line. `input` is
// the file to read, if one was named; a list needs none.
ExitCode ListOrRun(const ArrayOptions& options, const std::string& input,
                   std::string (*list)(ListFormat), const std::function<base::Status()>& body);

// InvalidArgument if the result would replace `input`, under any name: that file is mapped while it
// is read, and the user wants to keep it. FailedPrecondition if it would replace another file
// without --force: results of hours have common names.
base::Status CheckKeepsFiles(const ArrayOptions& options, const std::string& input);

// Writes the result to the file that `out` names, or into `answer`.
template <typename T>
base::Status PutResult(const ArrayOptions& options, const std::vector<std::uint64_t>& shape,
                       std::span<const T> values, nlohmann::json& answer) {
  if (options.out != "-") return WriteNpy<T>(options.out, shape, values);
  answer["result"] = JsonOfArray<T>(shape, values);
  return base::OkStatus();
}

}  // namespace ostraka::cli

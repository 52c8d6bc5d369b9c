#include "node/cli/arrays/array_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "node/cli/terminal/new_file.h"

namespace ostraka::cli {

void AddArrayOptions(CLI::App& command, const std::string& what, const std::string& page,
                     ArrayOptions& options) {
  command
      .add_option("--threads", options.threads,
                  "threads to use; the result does not depend on their number")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_flag("--list", options.list, "print all " + what);
  auto* markdown = command.add_flag("--markdown", options.markdown, "with --list: as " + page);
  command.add_flag("--json", options.json, "print one JSON object (docs/json.md)")
      ->excludes(markdown);
  command.add_flag("--force", options.force, "replace OUT.npy if it exists");
}

ExitCode ListOrRun(const ArrayOptions& options, const std::string& input,
                   std::string (*list)(ListFormat), const std::function<base::Status()>& body) {
  if (options.list && !input.empty()) {
    return Fail(base::InvalidArgument("--list prints everything and reads no file: leave '" +
                                      input + "' out"));
  }
  if (options.list) {
    const ListFormat format = options.json       ? ListFormat::kJson
                              : options.markdown ? ListFormat::kMarkdown
                                                 : ListFormat::kText;
    std::fputs(list(format).c_str(), stdout);
    return kDone;
  }
  const base::Status status = body();
  return status.ok() ? kDone : Fail(status);
}

base::Status CheckKeepsFiles(const ArrayOptions& options, const std::string& input) {
  std::error_code missing;  // no such file yet: nothing to replace
  if (std::filesystem::equivalent(input, options.out, missing)) {
    return base::InvalidArgument(options.out + " is the input: give the result another name");
  }
  return options.out == "-" ? base::OkStatus() : CheckReplaces(options.out, options.force);
}

}  // namespace ostraka::cli

// The log of a node: lines with a level, to stderr or to a rotated file.
//
// Lines to stderr have no prefix, so that journals and terminals can add their own. Lines to a file
// begin with time (UTC) and level; stderr then receives only errors. Every line is made printable,
// because peers contribute to some. A failed write to the file is reported on stderr once and stops
// nothing.
//
// Thread safety: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "node/base/status.h"
#include "node/cli/terminal/ink.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

// The names that --log-level takes, by LogLevel.
std::vector<std::string> LogLevelNames();

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };
// The colour of a line on a terminal (ink.h).
enum class Tone : std::uint8_t { kPlain, kGood, kBad };

struct LogOptions {
  std::string level;  // debug, info, warning, error; empty: the command's default
  std::string file;
  std::string max_bytes = "16M";
  std::uint64_t files = 5;  // number of rotated files to keep
  bool verbose = false;     // same as level debug
};

// Adds --log-level, --log-file, --log-max-bytes, --log-files and --verbose.
void AddLogOptions(CLI::App& command, LogOptions& options);

class Log {
 public:
  // InvalidArgument: an invalid option. Unavailable: the file cannot be written.
  static base::StatusOr<std::unique_ptr<Log>> Open(const LogOptions& options,
                                                   LogLevel default_level);
  ~Log();

  void Say(LogLevel level, const std::string& line, Tone tone = Tone::kPlain);
  // A line that the next one replaces; shown only on a terminal.
  void Progress(const std::string& text);

 private:
  class File;
  Log(LogLevel level, std::unique_ptr<File> file);

  const LogLevel level_;
  const bool terminal_;
  const Ink ink_;
  const std::unique_ptr<File> file_;  // null: stderr
};

}  // namespace ostraka::cli

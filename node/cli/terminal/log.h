// What a node says to people as it runs: lines with a level, to stderr or to a file that is
// rotated.
//
// To stderr the bare line, so that journals and terminals add what they want; to a file with time
// (UTC) and level in front. With a file, stderr gets errors alone. Every line is made printable:
// peers have a say in some. A disk that refuses is told to stderr once and stops nothing.
//
// Thread safety: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "node/base/status.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

struct LogOptions {
  std::string level;  // debug, info, warning, error; empty: the command's default
  std::string file;
  std::string max_bytes = "16M";
  std::uint64_t files = 5;  // rotated ones that are kept beside it
  bool verbose = false;     // short for level debug
};

// Adds --log-level, --log-file, --log-max-bytes, --log-files and --verbose.
void AddLogOptions(CLI::App& command, LogOptions& options);

class Log {
 public:
  // InvalidArgument: an option that makes no sense. Unavailable: the file cannot be written.
  static base::StatusOr<std::unique_ptr<Log>> Open(const LogOptions& options,
                                                   LogLevel default_level);
  ~Log();

  void Say(LogLevel level, const std::string& line);
  // A line that the next one replaces: on a terminal only.
  void Progress(const std::string& text);

 private:
  class File;
  Log(LogLevel level, std::unique_ptr<File> file);

  const LogLevel level_;
  const bool terminal_;
  const std::unique_ptr<File> file_;  // null: stderr
};

}  // namespace ostraka::cli

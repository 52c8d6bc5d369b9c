#include "node/cli/terminal/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <utility>

#include "node/base/suggest.h"
#include "node/cli/terminal/byte_count.h"
#include "node/cli/terminal/exit_code.h"
#include "node/cli/terminal/new_file.h"
#include "node/cli/terminal/progress.h"

namespace ostraka::cli {
namespace {

constexpr std::uint64_t kLeastBytes = 4096;  // room for more than the longest line
constexpr std::uint64_t kMostFiles = 1000;

base::StatusOr<LogLevel> ParseLevel(const std::string& name) {
  const std::vector<std::string> names = LogLevelNames();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<LogLevel>(i);
  }
  const std::string meant = base::ClosestName(name, names);
  return base::InvalidArgument("--log-level '" + name + "': use debug, info, warning or error" +
                               (meant.empty() ? "" : "; did you mean '" + meant + "'?"));
}

spdlog::level::level_enum LevelOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

}  // namespace

// The rotated file. spdlog throws when it opens a file, and calls a handler when a write fails.
class Log::File {
 public:
  File(const std::string& path, std::uint64_t max_bytes, std::uint64_t files)
      : logger_("ostraka",
                std::make_shared<spdlog::sinks::rotating_file_sink_st>(path, max_bytes, files)) {
    logger_.set_level(spdlog::level::trace);
    logger_.flush_on(spdlog::level::trace);
    logger_.set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc));
    logger_.set_error_handler([this, path](const std::string& error) {
      if (std::exchange(told_, true)) return;
      std::fprintf(stderr, "ostraka: cannot write the log %s: %s\n", PrintableLine(path).c_str(),
                   PrintableLine(error).c_str());
    });
  }

  void Say(LogLevel level, const std::string& line) { logger_.log(LevelOf(level), line); }

 private:
  spdlog::logger logger_;
  bool told_ = false;
};

std::vector<std::string> LogLevelNames() { return {"debug", "info", "warning", "error"}; }

void AddLogOptions(CLI::App& command, LogOptions& options) {
  command.add_option("--log-level", options.level,
                     "debug, info, warning or error (default info; with --events warning)");
  WritesTo(command.add_option("--log-file", options.file,
                              "log to this file; stderr then gets only errors"));
  command.add_option("--log-max-bytes", options.max_bytes,
                     "rotate the file at this size (default 16M)");
  command.add_option("--log-files", options.files, "rotated files to keep (default 5)");
  command.add_flag("--verbose", options.verbose, "same as --log-level debug");
}

base::StatusOr<std::unique_ptr<Log>> Log::Open(const LogOptions& options, LogLevel default_level) {
  LogLevel level = options.verbose ? LogLevel::kDebug : default_level;
  if (!options.level.empty()) {
    ASSIGN_OR_RETURN(level, ParseLevel(options.level));
  }
  const auto max_bytes = ParseByteCount(options.max_bytes);
  if (!max_bytes.ok()) {
    return base::InvalidArgument("--log-max-bytes " + base::MessageOf(max_bytes.status()));
  }
  if (*max_bytes < kLeastBytes) return base::InvalidArgument("--log-max-bytes must be at least 4K");
  if (options.files < 1 || options.files > kMostFiles) {
    return base::InvalidArgument("--log-files must be from 1 to " + std::to_string(kMostFiles));
  }
  std::unique_ptr<File> file;
  if (!options.file.empty()) {
    try {
      file = std::make_unique<File>(options.file, *max_bytes, options.files);
    } catch (const spdlog::spdlog_ex& error) {
      return base::Unavailable("--log-file: " + std::string(error.what()) +
                               ": give a file that can be written");
    }
  }
  return std::unique_ptr<Log>(new Log(level, std::move(file)));
}

Log::Log(LogLevel level, std::unique_ptr<File> file)
    : level_(level),
      terminal_(isatty(STDERR_FILENO) != 0),
      ink_(STDERR_FILENO),
      file_(std::move(file)) {}

Log::~Log() = default;

void Log::Say(LogLevel level, const std::string& line, Tone tone) {
  if (level < level_) return;
  const std::string printable = PrintableLine(line);
  if (file_ != nullptr) file_->Say(level, printable);
  if (file_ != nullptr && level < LogLevel::kError) return;
  const std::string shown = tone == Tone::kGood  ? ink_.Good(printable)
                            : tone == Tone::kBad ? ink_.Bad(printable)
                                                 : printable;
  std::fprintf(stderr, "%s%s\n", terminal_ ? "\r\x1b[K" : "", shown.c_str());
}

void Log::Progress(const std::string& text) {
  if (terminal_) DrawOver(text);
}

}  // namespace ostraka::cli

#include "node/cli/terminal/passphrase.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "node/base/foreign_text.h"

namespace ostraka::cli {
namespace {

constexpr std::size_t kMaxPassphraseBytes = 1024;

// Turns the terminal's echo off for its lifetime.
class EchoOff {
 public:
  explicit EchoOff(int fd) : fd_(fd) {
    if (tcgetattr(fd_, &saved_) != 0) return;
    termios quiet = saved_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    changed_ = tcsetattr(fd_, TCSAFLUSH, &quiet) == 0;
  }
  ~EchoOff() {
    if (changed_) tcsetattr(fd_, TCSAFLUSH, &saved_);
  }
  EchoOff(const EchoOff&) = delete;
  EchoOff& operator=(const EchoOff&) = delete;

 private:
  int fd_;
  termios saved_{};
  bool changed_ = false;
};

base::StatusOr<std::string> ReadLine(int fd, const std::string& source) {
  std::string line;
  char c = 0;
  for (;;) {
    const ssize_t got = read(fd, &c, 1);
    if (got < 0) {
      return base::Unavailable("cannot read the passphrase from " + source + ": " +
                               std::strerror(errno));
    }
    if (got == 0 || c == '\n') break;
    line.push_back(c);
    if (line.size() > kMaxPassphraseBytes) {
      return base::InvalidArgument("the passphrase from " + source + " is longer than 1 KiB");
    }
  }
  if (line.empty()) return base::InvalidArgument("the passphrase from " + source + " is empty");
  return line;
}

base::StatusOr<std::string> AskTerminal(const std::string& prompt, const char* else_use) {
  const int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (tty < 0) {
    return base::FailedPrecondition(
        std::string("the key needs a passphrase and there is no terminal to ask on: use ") +
        else_use);
  }
  const auto say = [tty](std::string_view text) {
    return write(tty, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  };
  base::StatusOr<std::string> line = base::Unavailable("cannot write to the terminal");
  if (say(prompt)) {
    const EchoOff quiet(tty);
    line = ReadLine(tty, "the terminal");
    say("\n");
  }
  close(tty);
  return line;
}

base::StatusOr<std::string> RawLine(const PassphraseOptions& options) {
  if (options.descriptor >= 0) return ReadLine(options.descriptor, options.descriptor_option);
  const int fd = open(options.file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return base::NotFound("cannot read passphrase file '" + options.file +
                          "': " + std::strerror(errno));
  }
  auto line = ReadLine(fd, "'" + options.file + "'");
  close(fd);
  return line;
}

// The line of a file as its writer meant it, on whatever system.
base::StatusOr<std::string> MeantBy(const std::string& raw, const PassphraseOptions& options) {
  const std::string source =
      options.descriptor >= 0 ? options.descriptor_option : "'" + options.file + "'";
  if (base::IsUtf16(raw)) {
    return base::InvalidArgument("the passphrase from " + source +
                                 " is text in UTF-16: save it as UTF-8");
  }
  std::string line = base::WithoutForeignMarks(raw + "\n");
  line.pop_back();
  if (line.empty()) return base::InvalidArgument("the passphrase from " + source + " is empty");
  return line;
}

base::StatusOr<std::string> FromOptions(const PassphraseOptions& options) {
  ASSIGN_OR_RETURN(const std::string raw, RawLine(options));
  return MeantBy(raw, options);
}

bool Given(const PassphraseOptions& options) {
  return options.descriptor >= 0 || !options.file.empty();
}

}  // namespace

void AddPassphraseOptions(CLI::App& command, PassphraseOptions& options, WhichPassphrase which) {
  const bool is_new = which == WhichPassphrase::kNew;
  const std::string prefix = is_new ? "--new-passphrase-" : "--passphrase-";
  const std::string read = is_new ? "read the new passphrase from " : "read the passphrase from ";
  options.descriptor_option = prefix + "fd";
  auto* file =
      command.add_option(prefix + "file", options.file, read + "the first line of this file");
  command
      .add_option(options.descriptor_option, options.descriptor, read + "this open file descriptor")
      ->excludes(file);
}

crypto::PassphraseSource MakePassphraseSource(const PassphraseOptions& options,
                                              const std::string& prompt) {
  return [options, prompt]() -> base::StatusOr<std::string> {
    return Given(options) ? FromOptions(options)
                          : AskTerminal(prompt, "--passphrase-file or --passphrase-fd");
  };
}

crypto::PassphraseSource MakeNewPassphraseSource(const PassphraseOptions& options) {
  return [options]() -> base::StatusOr<std::string> {
    if (Given(options)) return FromOptions(options);
    const std::string file = options.descriptor_option == "--passphrase-fd"
                                 ? "--passphrase-file"
                                 : "--new-passphrase-file";
    const std::string else_use = file + ", " + options.descriptor_option + " or --no-passphrase";
    ASSIGN_OR_RETURN(const std::string first,
                     AskTerminal("Passphrase for the new key: ", else_use.c_str()));
    ASSIGN_OR_RETURN(const std::string second, AskTerminal("Again: ", else_use.c_str()));
    if (first != second)
      return base::InvalidArgument("the two passphrases differ: nothing was written");
    return first;
  };
}

base::Status About(const std::string& path, const base::Status& status) {
  return base::MakeStatus(status.code(), path + ": " + base::MessageOf(status));
}

base::StatusOr<std::string> ReadKey(const std::string& path) {
  auto text = crypto::ReadKeyFile(path);
  if (text.ok() || text.status().code() != absl::StatusCode::kFailedPrecondition) return text;
  std::error_code error;  // a file that cannot be looked at keeps its first reason
  if (!std::filesystem::is_regular_file(path, error)) return text;
  std::ifstream file(path, std::ios::binary);
  std::string begin(crypto::kMaxKeyFileBytes, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (file.bad() || file.gcount() == 0) return text;
  begin.resize(static_cast<std::size_t>(file.gcount()));
  const auto info = crypto::InspectKeyFile(begin);
  if (!info.ok()) return About(path, info.status());
  return text;
}

base::StatusOr<crypto::SigningKey> LoadKey(const std::string& path,
                                           const PassphraseOptions& options) {
  ASSIGN_OR_RETURN(const std::string text, ReadKey(path));
  std::string raw;
  const auto source = [&]() -> base::StatusOr<std::string> {
    if (!Given(options)) return MakePassphraseSource(options, "Passphrase for " + path + ": ")();
    ASSIGN_OR_RETURN(raw, RawLine(options));
    return MeantBy(raw, options);
  };
  auto key = crypto::DecodeKeyFile(text, source);
  // The passphrase of an older key is the raw line, with its mark and its carriage return.
  if (!key.ok() && base::HasForeignMarks(raw + "\n")) {
    auto by_raw =
        crypto::DecodeKeyFile(text, [&raw]() -> base::StatusOr<std::string> { return raw; });
    if (by_raw.ok()) return by_raw;
  }
  if (!key.ok()) return About(path, key.status());
  return key;
}

}  // namespace ostraka::cli

#include "node/cli/terminal/exit_code.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "node/os/system_refusal.h"

namespace ostraka::cli {
namespace {

constexpr std::size_t kMaxLineBytes = 1000;

// Number of bytes of the printable character at the begin of `text`; 0 if there is none. Refuses
// overlong forms of ASCII, which would hide control characters, C1 controls (U+0080..9F), and what
// is no character of UTF-8: halves of surrogates, and what is above U+10FFFF.
std::size_t CharacterLength(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7f ? 1 : 0;
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  const bool control = byte(0) == 0xc2 && byte(1) < 0xa0;
  const bool none = (byte(0) == 0xed && byte(1) >= 0xa0) || (byte(0) == 0xf4 && byte(1) >= 0x90);
  return overlong || control || none ? 0 : length;
}

// True if `text` is the beginning of a character, and more bytes may end it.
bool MayGoOn(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0xc2 || byte(0) > 0xf4) return false;
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (text.size() >= length) return false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if ((byte(i) & 0xc0) != 0x80) return false;
  }
  return true;
}

constexpr const char* kNoMemory =
    "not enough memory: close other programs, or raise the limit (ulimit -v)";

std::terminate_handler before = nullptr;

void Say(const char* text) {
  // What cannot be written changes nothing about the end.
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text, std::strlen(text));
}

void OnTerminate() {
  const auto number = os::RefusalOf(std::current_exception());
  if (!number) {
    before();
    std::abort();
  }
  // Several threads may want memory at once, and one of them says so.
  static std::atomic_flag said;
  while (said.test_and_set()) pause();
  // To make the line may take more memory than there is.
  if (*number == ENOMEM) {
    Say("ostraka: ");
    Say(kNoMemory);
    Say("\n");
  } else {
    Say(("ostraka: " + ResourceMessage(*number) + "\n").c_str());
  }
  _exit(kEnvironment);
}

}  // namespace

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

std::string PrintableLine(std::string_view message) {
  std::string line;
  while (!message.empty() && line.size() < kMaxLineBytes) {
    const std::size_t length = CharacterLength(message);
    line += length == 0 ? "?" : message.substr(0, length);
    message.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return message.empty() ? line : line + "...";
}

std::string PrintableText(std::string_view& text, bool whole) {
  std::string result;
  while (!text.empty()) {
    if (!whole && MayGoOn(text)) break;
    const bool stays = text.front() == '\n' || text.front() == '\t';
    const std::size_t length = stays ? 1 : CharacterLength(text);
    result += length == 0 ? "?" : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

ExitCode Fail(const base::Status& status) {
  std::fprintf(stderr, "ostraka: %s\n", PrintableLine(base::MessageOf(status)).c_str());
  return ExitCodeOf(status);
}

std::string ResourceMessage(int number) {
  switch (number) {
    case EMFILE: {
      rlimit limit{};
      getrlimit(RLIMIT_NOFILE, &limit);  // cannot fail for this process
      return "its limit of " + std::to_string(limit.rlim_cur) +
             " open files and sockets is reached: raise it (ulimit -n)";
    }
    case ENFILE:
      return "the machine has no more open files to give: end other programs";
    case EAGAIN:
      return "the system gave no more threads: raise the limit of processes (ulimit -u) or of "
             "memory (ulimit -v)";
    case ENOMEM:
      return kNoMemory;
    default:
      return std::string("the system refused: ") + std::strerror(number);
  }
}

void EndInOneLineWithoutResources() { before = std::set_terminate(OnTerminate); }

}  // namespace ostraka::cli

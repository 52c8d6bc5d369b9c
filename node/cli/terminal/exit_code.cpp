#include "node/cli/terminal/exit_code.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

namespace ostraka::cli {
namespace {

constexpr std::size_t kMaxLineBytes = 1000;

// Number of bytes of the printable character at the begin of `text`; 0 if there is none. Refuses
// overlong forms of ASCII, which would hide control characters, and C1 controls (U+0080..9F).
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
  return overlong || control ? 0 : length;
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

ExitCode Fail(const base::Status& status) {
  std::fprintf(stderr, "ostraka: %s\n", PrintableLine(base::MessageOf(status)).c_str());
  return ExitCodeOf(status);
}

}  // namespace ostraka::cli

// What a process and the child with a device's driver (serve_device.h) say to each other. Each
// packet that asks has one that answers, in order; data lie in memory that both see. Both ends are
// of one program; the version refuses another.
//
// Launches are gathered: while the child works on one half of the launch area, the other is filled.
//
// What an attacker can do here: nothing comes from a peer. A driver that runs wild in the child may
// write anything into the shared memory and the answers, so the parent takes numbers and bounded
// text from them and trusts neither.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "node/base/status.h"

namespace ostraka::device {

inline constexpr std::uint32_t kHostVersion = 1;

// The child is `ostraka device-host WHAT`, where WHAT is a device's name (device_list.h), or list.
inline constexpr const char* kDeviceHost = "device-host";
inline constexpr const char* kListDevices = "list";

// The child's descriptors.
inline constexpr int kControl = 3;
inline constexpr int kMemory = 4;

inline constexpr std::size_t kLaunchBytes = 64 << 10;  // each half of the launch area
inline constexpr std::size_t kDataBytes = 8 << 20;     // of one upload or download
inline constexpr std::size_t kDataAt = 2 * kLaunchBytes;
inline constexpr std::size_t kAreaBytes = kDataAt + kDataBytes;

// A launch as words: kernel's place in the list, groups, number of arguments, then of each argument
// its tag and 32 bits.
inline constexpr std::uint32_t kLaunchHeadWords = 3;
enum class ArgumentTag : std::uint32_t { kBuffer, kInteger, kFloat };
inline constexpr std::uint32_t kMostArguments = 64;

enum class Ask : std::uint32_t {
  kAllocate = 1,  // bytes -> buffer
  kFree,          // buffer
  kUpload,        // buffer, offset, bytes of the data area
  kDownload,      // buffer, offset, bytes into the data area
  kLaunch,        // offset in the launch area, bytes; ends when they have run
  kFinish,
};

struct Request {
  Ask ask = Ask::kFinish;
  std::uint32_t buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// Also what the child says first (buffer: the version, then both sizes of memory, text: the name)
// and what it says of each device that it lists (buffer: 1 if it is a processor, first: its memory,
// text: its name and in a second line what its driver calls it).
struct Answer {
  std::uint32_t code = 0;  // of absl::StatusCode
  std::uint32_t buffer = 0;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::array<char, 1000> text = {};  // ends with a zero; the reason unless the code is 0
};

inline void SetText(Answer& answer, std::string_view text) {
  const std::size_t length = std::min(text.size(), answer.text.size() - 1);
  std::memcpy(answer.text.data(), text.data(), length);
  answer.text[length] = '\0';
}

// Control characters of a driver's text become spaces.
inline std::string TextIn(const Answer& answer) {
  const std::string_view all(answer.text.data(), answer.text.size());
  std::string text(all.substr(0, all.find('\0')));
  for (char& c : text) {
    if (c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)) c = ' ';
  }
  return text;
}

inline Answer AnswerOf(const base::Status& status) {
  Answer answer{.code = static_cast<std::uint32_t>(status.code())};
  SetText(answer, base::MessageOf(status));
  return answer;
}

// A code that is none of ours is Internal.
inline base::Status StatusIn(const Answer& answer) {
  if (answer.code == 0) return base::OkStatus();
  const bool known = answer.code <= static_cast<std::uint32_t>(absl::StatusCode::kUnauthenticated);
  return base::MakeStatus(
      known ? static_cast<absl::StatusCode>(answer.code) : absl::StatusCode::kInternal,
      TextIn(answer));
}

}  // namespace ostraka::device

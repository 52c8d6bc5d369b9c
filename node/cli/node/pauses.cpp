#include "node/cli/node/pauses.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "node/os/durable_file.h"
#include "node/store/ledger_reader.h"

namespace ostraka::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMinutesADay = 24 * 60;

base::Status BadHours(const std::string& text) {
  return base::InvalidArgument("--hours '" + text +
                               "': write two times of the day, for example 22-7 or 22:30-7:15");
}

// "22" or "22:30" as minutes since midnight; nullopt: neither. 24 is midnight.
std::optional<int> MinuteOf(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string parts[] = {text.substr(0, colon),
                               colon == std::string::npos ? "0" : text.substr(colon + 1)};
  std::array<int, 2> numbers{};
  for (std::size_t i = 0; i < 2; ++i) {
    const bool is_number = !parts[i].empty() && parts[i].size() <= 2 &&
                           parts[i].find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) return std::nullopt;
    numbers[i] = std::stoi(parts[i]);
  }
  const int minute = 60 * numbers[0] + numbers[1];
  if (numbers[1] >= 60 || minute > kMinutesADay) return std::nullopt;
  return minute % kMinutesADay;
}

std::string TimeText(int minute) {
  char text[8];
  std::snprintf(text, sizeof(text), "%02d:%02d", minute / 60 % 24, minute % 60);
  return text;
}

}  // namespace

base::StatusOr<Hours> Hours::Parse(const std::string& text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string::npos) return BadHours(text);
  const auto first = MinuteOf(text.substr(0, dash));
  const auto end = MinuteOf(text.substr(dash + 1));
  if (!first || !end || *first == *end) return BadHours(text);
  return Hours(*first, *end);
}

std::string Hours::Text() const { return TimeText(first_) + " to " + TimeText(end_); }

std::string PauseFileOf(const std::string& data_dir) { return data_dir + "/paused"; }

bool IsPaused(const std::string& data_dir) {
  std::error_code unreadable;  // a folder that cannot be read rests nobody
  return fs::exists(PauseFileOf(data_dir), unreadable);
}

base::Status Pause(const std::string& data_dir) {
  // Says in one line what is wrong with a folder that is no node's.
  RETURN_IF_ERROR(store::LedgerReader::Open(data_dir).status());
  const std::string text = "ostraka pause: the node of this folder rests until `ostraka resume`\n";
  const base::ByteView pieces[] = {base::AsBytes(text)};
  return os::WriteDurably(PauseFileOf(data_dir), pieces, os::IfExists::kReplace);
}

base::StatusOr<bool> Resume(const std::string& data_dir) {
  std::error_code error;
  const bool removed = fs::remove(PauseFileOf(data_dir), error);
  if (removed) return true;
  RETURN_IF_ERROR(store::LedgerReader::Open(data_dir).status());
  if (!error) return false;
  return base::Unavailable("cannot remove " + PauseFileOf(data_dir) + ": " + error.message());
}

std::optional<std::string> Pauses::WhyAt(std::time_t now) const {
  if (IsPaused(data_dir_)) return "paused: `ostraka resume " + data_dir_ + "` goes on";
  if (!hours_) return std::nullopt;
  std::tm local{};
  localtime_r(&now, &local);
  if (hours_->Has(60 * local.tm_hour + local.tm_min)) return std::nullopt;
  return "outside --hours: this node takes part from " + hours_->Text();
}

}  // namespace ostraka::cli

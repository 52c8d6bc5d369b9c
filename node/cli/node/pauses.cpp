#include "node/cli/node/pauses.h"

#include <fcntl.h>
#include <sys/file.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "node/os/durable_file.h"
#include "node/os/private_file.h"
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

std::string SignOf(const std::string& data_dir) { return data_dir + "/rests"; }

base::Status NoSign(const std::string& data_dir) {
  return base::Unavailable("cannot write " + SignOf(data_dir) + ": " +
                           std::generic_category().message(errno));
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

RestSign::RestSign(const std::string& data_dir) : data_dir_(data_dir) {}

RestSign::~RestSign() {
  std::error_code stays;  // unlocked, it says nothing
  if (file_.ok()) fs::remove(SignOf(data_dir_), stays);
}

base::Status RestSign::Open() {
  ASSIGN_OR_RETURN(const int opened, os::OpenPrivate(SignOf(data_dir_)));
  os::Descriptor file(opened);
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return NoSign(data_dir_);
    return base::FailedPrecondition(
        "a node rests in " + data_dir_ +
        " already: end that one first, or give this one its own folder");
  }
  file_ = std::move(file);
  return base::OkStatus();
}

base::Status RestSign::Show(const std::string& why) {
  std::error_code unreadable;  // counts as none
  if (!fs::is_directory(data_dir_, unreadable)) return base::OkStatus();
  if (!file_.ok()) RETURN_IF_ERROR(Open());
  return os::ReplaceText(file_.get(), why) ? base::OkStatus() : NoSign(data_dir_);
}

std::optional<std::string> WhyRestsIn(const std::string& data_dir) {
  const os::Descriptor file(open(SignOf(data_dir).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return std::nullopt;
  if (flock(file.get(), LOCK_SH | LOCK_NB) == 0) return std::nullopt;  // of a node that was killed
  return os::TextIn(file.get(), 1024);
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

#include "node/store/recording_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/little_endian.h"
#include "node/os/private_file.h"

namespace ostraka::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "ostraka recording ";
constexpr std::string_view kFirstLine = "ostraka recording 2 begun\n";
constexpr std::string_view kFirstLineWithSteps = "ostraka recording 2 steps\n";
static_assert(kFirstLine.size() == kFirstLineWithSteps.size());
constexpr std::string_view kEnding = ".recording";
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kCheckBytes = 4;

// Finds a copy that was damaged on its way, which would differ for no fault of a node's.
std::array<std::uint8_t, kCheckBytes> CheckOf(base::ByteView bytes) {
  const base::Digest digest = crypto::Hash(crypto::kDomainRecording, bytes);
  std::array<std::uint8_t, kCheckBytes> check{};
  std::copy_n(digest.bytes.begin(), kCheckBytes, check.begin());
  return check;
}

base::Bytes EntryOf(const base::Bytes& bytes) {
  base::Bytes entry;
  entry.reserve(kLengthBytes + kCheckBytes + bytes.size());
  base::AppendLittleEndian(entry, bytes.size(), kLengthBytes);
  const auto check = CheckOf(bytes);
  entry.insert(entry.end(), check.begin(), check.end());
  entry.insert(entry.end(), bytes.begin(), bytes.end());
  return entry;
}

// The number of such a file; 0 if it is none of them.
std::uint64_t NumberOf(const std::string& name, const std::string& beginning) {
  if (!name.starts_with(beginning) || !name.ends_with(kEnding)) return 0;
  const std::string digits =
      name.substr(beginning.size(), name.size() - beginning.size() - kEnding.size());
  const bool number =
      !digits.empty() && digits.size() < 10 &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return number ? std::stoull(digits) : 0;
}

// The numbers of this run and key, ascending.
base::StatusOr<std::vector<std::uint64_t>> NumbersIn(const std::string& folder,
                                                     const std::string& beginning) {
  std::vector<std::uint64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::uint64_t number = NumberOf(at->path().filename().string(), beginning);
    if (number > 0) numbers.push_back(number);
  }
  if (error) return base::Unavailable("cannot read " + folder + ": " + error.message());
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string PathOf(const std::string& folder, const std::string& beginning, std::uint64_t number) {
  return (fs::path(folder) / (beginning + std::to_string(number) + std::string(kEnding))).string();
}

bool HasSteps(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string first(kFirstLineWithSteps.size(), '\0');
  file.read(first.data(), static_cast<std::streamsize>(first.size()));
  return first == kFirstLineWithSteps;
}

// Before it is encoded, which takes no more than 512 MiB.
std::size_t BulkOf(const wire::RecordedInput& turn) {
  std::size_t bytes = turn.frame.size() + turn.blob.size();
  if (turn.result) bytes += turn.result->gradient.size();
  if (!turn.store) return bytes;
  const auto add = [&bytes](const wire::RecordedRow& row) {
    bytes += row.key.size() + row.value.size() + row.blob.size();
  };
  for (const auto* rows :
       {&turn.store->blocks, &turn.store->slots, &turn.store->results, &turn.store->state_parts}) {
    std::for_each(rows->begin(), rows->end(), add);
  }
  if (turn.store->state) add(*turn.store->state);
  if (turn.store->handover) add(*turn.store->handover);
  return bytes;
}

constexpr std::size_t kMostBulk = wire::kMaxRecordedBytes - (std::size_t{16} << 20);

}  // namespace

base::Status RecordingFile::Begin(const base::Digest& run_id, const wire::RecordingHead& head) {
  if (head.state.size() + head.manifest.size() > kMostBulk) {
    return base::InvalidArgument("the state of this model has " +
                                 std::to_string(head.state.size() >> 20) +
                                 " MiB, and a recording holds entries of at most " +
                                 std::to_string(kMostBulk >> 20) + ": leave out --record");
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return base::Unavailable("cannot make " + folder_ + ": " + error.message());
  beginning_ = run_id.Hex().substr(0, 16) + "-" + head.self.Short() + "-";
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> numbers, NumbersIn(folder_, beginning_));
  path_ = PathOf(folder_, beginning_, numbers.empty() ? 1 : numbers.back() + 1);
  ASSIGN_OR_RETURN(const int fd, os::OpenPrivate(path_));
  file_ = os::Descriptor(fd);
  base::Status written = Write(base::Bytes(kFirstLine.begin(), kFirstLine.end()));
  if (written.ok()) written = Write(EntryOf(wire::EncodeRecordingHead(head)));
  bytes_ = 0;
  RemoveOld();
  if (written.ok()) return written;
  return base::Unavailable("cannot write the recording " + path_ + ": " + base::MessageOf(written));
}

// What cannot be removed is tried again by the next start.
void RecordingFile::RemoveOld() {
  const auto numbers = NumbersIn(folder_, beginning_);
  if (!numbers.ok()) return;
  std::uint64_t with_steps = 0;
  std::uint64_t without = 0;
  for (auto number = numbers->rbegin(); number != numbers->rend(); ++number) {
    const std::string path = PathOf(folder_, beginning_, *number);
    std::uint64_t& kept = HasSteps(path) ? with_steps : without;
    std::error_code ignored;
    if (++kept > limits_.keep) fs::remove(path, ignored);
  }
}

base::Status RecordingFile::MarkSteps() {
  const auto size = static_cast<ssize_t>(kFirstLineWithSteps.size());
  const ssize_t written = ::pwrite(file_.get(), kFirstLineWithSteps.data(), size, 0);
  if (written == size) return base::OkStatus();
  return base::Unavailable(written < 0 ? std::strerror(errno) : "a short write");
}

base::Status RecordingFile::Write(const base::Bytes& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(file_.get(), bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return base::Unavailable(std::string(std::strerror(errno)));
    done += static_cast<std::size_t>(written);
  }
  bytes_ += bytes.size();
  return base::OkStatus();
}

bool RecordingFile::GoesOn(const base::Status& written) {
  if (written.ok()) return true;
  over_ = true;
  notice_ = "the recording " + path_ + " cannot be written (" + base::MessageOf(written) +
            "): it is cut, and the node goes on without one";
  return false;
}

bool RecordingFile::Append(const wire::RecordedInput& turn) {
  if (over_) return false;
  if (BulkOf(turn) > kMostBulk) {
    over_ = true;
    notice_ = "the recording " + path_ + " ends: an entry would have more than " +
              std::to_string(kMostBulk >> 20) + " MiB; the node goes on without one";
    return false;
  }
  if (!GoesOn(Write(EntryOf(wire::EncodeRecordedInput(turn))))) return false;
  if (turn.store) bytes_ = 0;
  return true;
}

bool RecordingFile::Append(const wire::RecordedOutcome& outcome, bool ends_step) {
  if (over_ || !GoesOn(Write(EntryOf(wire::EncodeRecordedOutcome(outcome))))) return false;
  if (ends_step && ++steps_ == 1) {
    if (!GoesOn(MarkSteps())) return false;
    RemoveOld();
  }
  const bool all_steps = limits_.steps > 0 && steps_ >= limits_.steps;
  const bool full = bytes_ >= limits_.bytes;
  // A step that does not end must not fill the disk.
  over_ = ((full || all_steps) && ends_step) || bytes_ >= 2 * limits_.bytes;
  if (over_) {
    notice_ = "the recording " + path_ + " has reached its limit after " + std::to_string(steps_) +
              " steps: the node goes on without one; start it again to record anew, or give a "
              "larger " +
              (full ? "--record-limit" : "--record-steps");
  }
  return !over_;
}

std::optional<std::string> RecordingFile::TakeNotice() {
  return std::exchange(notice_, std::nullopt);
}

base::StatusOr<RecordingContent> ReadRecording(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return base::Unavailable("cannot read " + path);
  const std::string begins = path + " is ";
  std::string first(kFirstLine.size(), '\0');
  file.read(first.data(), static_cast<std::streamsize>(first.size()));
  if (!first.starts_with(kMagic)) {
    return base::InvalidArgument(begins +
                                 "no recording: give a file that `ostraka node --record` wrote");
  }
  if (first != kFirstLine && first != kFirstLineWithSteps) {
    return base::InvalidArgument(begins +
                                 "a recording of another version of ostraka: replay it "
                                 "with that version");
  }
  RecordingContent content;
  std::array<std::uint8_t, kLengthBytes> length{};
  for (std::uint64_t entries = 0;; ++entries) {
    file.read(reinterpret_cast<char*>(length.data()), length.size());
    if (file.gcount() == 0) {
      if (entries > 0) return content;
      return base::InvalidArgument(begins + "cut before its first entry: copy it again");
    }
    const std::uint64_t size = base::ReadLittleEndian(length);
    const std::string where = " in entry " + std::to_string(entries);
    if (file && size > wire::kMaxRecordedBytes) {
      return base::InvalidArgument(begins + "damaged" + where + ": copy it again");
    }
    std::array<std::uint8_t, kCheckBytes> check{};
    file.read(reinterpret_cast<char*>(check.data()), check.size());
    base::Bytes bytes;
    // Grows with what is there, not with what the length claims.
    while (file && bytes.size() < size) {
      constexpr std::uint64_t kPiece = 1 << 20;
      const std::size_t had = bytes.size();
      bytes.resize(had + std::min(kPiece, size - had));
      file.read(reinterpret_cast<char*>(bytes.data() + had),
                static_cast<std::streamsize>(bytes.size() - had));
    }
    if (!file && entries == 0) {
      return base::InvalidArgument(begins + "cut in its first entry: copy it again");
    }
    if (!file) {
      content.cut = true;
      return content;
    }
    base::Status read;
    if (check != CheckOf(bytes)) {
      read = base::InvalidArgument("other bytes than were written");
    } else if (entries == 0) {
      auto head = wire::DecodeRecordingHead(bytes);
      read = head.status();
      if (head.ok()) content.head = *std::move(head);
    } else if (entries % 2 == 1) {
      auto turn = wire::DecodeRecordedInput(bytes);
      read = turn.status();
      if (turn.ok()) content.calls.push_back({*std::move(turn), std::nullopt});
    } else {
      auto outcome = wire::DecodeRecordedOutcome(bytes);
      read = outcome.status();
      if (outcome.ok()) content.calls.back().outcome = *std::move(outcome);
    }
    if (!read.ok()) {
      return base::InvalidArgument(begins + "damaged" + where + " (" + base::MessageOf(read) +
                                   "): copy it again");
    }
  }
}

}  // namespace ostraka::store

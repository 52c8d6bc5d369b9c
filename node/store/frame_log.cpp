#include "node/store/frame_log.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "node/base/little_endian.h"

namespace ostraka::store {
namespace {

constexpr std::size_t kLengthBytes = 4;

// Number of leading bytes, of a file of `size` bytes, that are whole frames.
std::uintmax_t WholeFrames(std::ifstream& file, std::uintmax_t size) {
  std::uintmax_t whole = 0;
  std::array<std::uint8_t, kLengthBytes> length{};
  while (file.seekg(static_cast<std::streamoff>(whole)) &&
         file.read(reinterpret_cast<char*>(length.data()), length.size())) {
    const std::uintmax_t end = whole + kLengthBytes + base::ReadLittleEndian(length);
    if (end > size) break;
    whole = end;
  }
  return whole;
}

}  // namespace

FrameLog::FrameLog(std::string path, std::ofstream file)
    : path_(std::move(path)), file_(std::move(file)) {}

base::StatusOr<FrameLog> FrameLog::Open(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > 0) {
    std::ifstream old(path, std::ios::binary);
    if (!old.is_open()) return base::Unavailable("cannot read " + path);
    std::filesystem::resize_file(path, WholeFrames(old, size), error);
  }
  std::ofstream file(path, std::ios::binary | std::ios::app);
  if (!file.is_open()) return base::Unavailable("cannot write " + path);
  return FrameLog(path, std::move(file));
}

base::Status FrameLog::Append(const base::Bytes& frame) {
  if (!file_.is_open()) return base::OkStatus();
  base::Bytes record;
  record.reserve(kLengthBytes + frame.size());
  base::AppendLittleEndian(record, frame.size(), kLengthBytes);
  record.insert(record.end(), frame.begin(), frame.end());
  file_.write(reinterpret_cast<const char*>(record.data()),
              static_cast<std::streamsize>(record.size()));
  if (file_.flush()) return base::OkStatus();
  file_.close();
  return base::Unavailable(path_ + " cannot be written: frames from here on are not recorded");
}

}  // namespace ostraka::store

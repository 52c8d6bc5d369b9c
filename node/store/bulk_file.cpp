#include "node/store/bulk_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "node/base/check.h"
#include "node/os/private_file.h"

namespace ostraka::store {
namespace {

base::Status Failed(const std::string& path, const char* verb, int error) {
  return base::Unavailable(path + ": cannot be " + verb + " (" +
                           std::generic_category().message(error) +
                           "): check the disk's free space and health");
}

bool Before(const Extent& a, const Extent& b) { return a.offset < b.offset; }

}  // namespace

BulkFile::BulkFile(std::string path, int fd, std::vector<Extent> used)
    : path_(std::move(path)), fd_(fd), taken_(std::move(used)) {}

BulkFile::BulkFile(BulkFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      unsynced_(other.unsynced_),
      taken_(std::move(other.taken_)),
      freed_(std::move(other.freed_)) {}

BulkFile& BulkFile::operator=(BulkFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(unsynced_, other.unsynced_);
  std::swap(taken_, other.taken_);
  std::swap(freed_, other.freed_);
  return *this;
}

// Everything that must be durable was synced, so the result of close does not matter.
BulkFile::~BulkFile() {
  if (fd_ >= 0) ::close(fd_);
}

base::StatusOr<BulkFile> BulkFile::Open(std::string path, std::vector<Extent> used) {
  std::sort(used.begin(), used.end(), Before);
  std::uint64_t end = 0;
  for (const Extent& extent : used) {
    if (extent.size == 0 || extent.offset < end || extent.offset + extent.size < extent.offset) {
      return base::InvalidArgument(path +
                                   ": the places in it that ledger.sqlite names cannot be: one of "
                                   "them is damaged; start with an empty data folder");
    }
    end = extent.offset + extent.size;
  }
  ASSIGN_OR_RETURN(const int fd, os::OpenPrivate(path));
  return BulkFile(std::move(path), fd, std::move(used));
}

base::StatusOr<Extent> BulkFile::Write(base::ByteView data) {
  OSTRAKA_CHECK(!data.empty());
  Extent extent{0, data.size()};
  auto next = taken_.begin();
  for (; next != taken_.end() && next->offset - extent.offset < extent.size; ++next) {
    extent.offset = next->offset + next->size;
  }
  std::uint64_t at = extent.offset;
  while (!data.empty()) {
    const ssize_t written = ::pwrite(fd_, data.data(), data.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed(path_, "written", errno);
    data = data.subspan(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  unsynced_ = true;
  taken_.insert(next, extent);
  return extent;
}

base::Status BulkFile::Sync() {
  if (!std::exchange(unsynced_, false)) return base::OkStatus();
  return ::fdatasync(fd_) == 0 ? base::OkStatus() : Failed(path_, "made durable", errno);
}

base::StatusOr<base::Bytes> BulkFile::Read(Extent extent) const {
  // The length comes from a row, which may be damaged too.
  const off_t length = ::lseek(fd_, 0, SEEK_END);
  if (length < 0) return Failed(path_, "read", errno);
  const auto end = static_cast<std::uint64_t>(length);
  if (extent.size > end || extent.offset > end - extent.size) {
    return base::InvalidArgument(path_ + ": is cut short");
  }
  base::Bytes data(extent.size);
  for (std::size_t done = 0; done < data.size();) {
    const ssize_t got = ::pread(fd_, data.data() + done, data.size() - done,
                                static_cast<off_t>(extent.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed(path_, "read", errno);
    if (got == 0) return base::InvalidArgument(path_ + ": is cut short");
    done += static_cast<std::size_t>(got);
  }
  return data;
}

void BulkFile::Free(Extent extent) {
  const auto at = std::lower_bound(taken_.begin(), taken_.end(), extent, Before);
  OSTRAKA_CHECK(at != taken_.end() && *at == extent);
  freed_.push_back(extent);
}

void BulkFile::Reclaim() {
  for (const Extent& extent : freed_) {
    const auto at = std::lower_bound(taken_.begin(), taken_.end(), extent, Before);
    OSTRAKA_CHECK(at != taken_.end() && *at == extent);
    taken_.erase(at);
  }
  freed_.clear();
}

}  // namespace ostraka::store

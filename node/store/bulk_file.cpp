#include "node/store/bulk_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <set>
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

// The open file, and who reads it. Closed with the last of them: everything that must be durable
// was synced, so the result of close does not matter. Thread safety: any thread.
class BulkFile::File {
 public:
  File(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(fd_); }

  const std::string& path() const { return path_; }
  int fd() const { return fd_; }

  base::Status Read(std::uint64_t at, std::span<std::uint8_t> out) const {
    while (!out.empty()) {
      const ssize_t got = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Failed(path_, "read", errno);
      if (got == 0) return base::InvalidArgument(path_ + ": is cut short");
      out = out.subspan(static_cast<std::size_t>(got));
      at += static_cast<std::uint64_t>(got);
    }
    return base::OkStatus();
  }

  // One for each that somebody holds. [A list that was cleared by each commit alone grew with what
  // peers asked for while a run waited.]
  using Holds = std::multiset<Extent, decltype(&Before)>;
  Holds::iterator Hold(Extent extent) {
    const std::lock_guard lock(mutex_);
    return holds_.insert(extent);
  }
  void Release(Holds::iterator hold) {
    const std::lock_guard lock(mutex_);
    holds_.erase(hold);
  }
  std::size_t hold_count() const {
    const std::lock_guard lock(mutex_);
    return holds_.size();
  }
  // What of the extent somebody holds, by offset, without overlaps.
  std::vector<Extent> HeldWithin(Extent whole) const {
    const std::lock_guard lock(mutex_);
    std::vector<Extent> merged;
    for (auto hold = holds_.lower_bound(whole);
         hold != holds_.end() && hold->offset < whole.offset + whole.size; ++hold) {
      if (merged.empty() || merged.back().offset + merged.back().size < hold->offset) {
        merged.push_back(*hold);
      } else {
        const std::uint64_t end = hold->offset + hold->size;
        merged.back().size = std::max(merged.back().size, end - merged.back().offset);
      }
    }
    return merged;
  }

  // The first of these stays.
  void SetFault(base::Status fault) {
    const std::lock_guard lock(mutex_);
    if (fault_.ok()) fault_ = std::move(fault);
  }
  base::Status fault() const {
    const std::lock_guard lock(mutex_);
    return fault_;
  }

 private:
  const std::string path_;
  const int fd_;
  mutable std::mutex mutex_;
  Holds holds_{&Before};
  base::Status fault_;
};

class BulkFile::Lent final : public crypto::BulkSource {
 public:
  Lent(std::shared_ptr<File> file, Extent extent)
      : file_(std::move(file)), extent_(extent), hold_(file_->Hold(extent)) {}
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() override { file_->Release(hold_); }
  std::uint64_t size() const override { return extent_.size; }
  base::Status Read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    OSTRAKA_CHECK(offset <= extent_.size && out.size() <= extent_.size - offset);
    base::Status read = file_->Read(extent_.offset + offset, out);
    if (!read.ok()) file_->SetFault(read);
    return read;
  }
  std::shared_ptr<const crypto::BulkSource> Slice(std::uint64_t offset,
                                                  std::uint64_t size) const override {
    OSTRAKA_CHECK(offset <= extent_.size && size <= extent_.size - offset);
    return std::make_shared<const Lent>(file_, Extent{extent_.offset + offset, size});
  }
  base::Status Spoilt() const override {
    base::Status fault = base::InvalidArgument(
        file_->path() + ": has other bytes than were written: check the disk's health");
    file_->SetFault(fault);
    return fault;
  }

 private:
  const std::shared_ptr<File> file_;
  const Extent extent_;
  const File::Holds::iterator hold_;
};

BulkFile::BulkFile(std::shared_ptr<File> file, std::vector<Extent> used)
    : file_(std::move(file)), taken_(std::move(used)) {}

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
  return BulkFile(std::make_shared<File>(std::move(path), fd), std::move(used));
}

Extent BulkFile::Take(std::uint64_t size) {
  OSTRAKA_CHECK(size > 0);
  Extent extent{0, size};
  auto next = taken_.begin();
  for (; next != taken_.end() && next->offset - extent.offset < extent.size; ++next) {
    extent.offset = next->offset + next->size;
  }
  taken_.insert(next, extent);
  return extent;
}

base::Status BulkFile::Put(Extent extent, std::uint64_t offset, base::ByteView data) {
  OSTRAKA_CHECK(offset <= extent.size && data.size() <= extent.size - offset);
  unsynced_ = true;
  std::uint64_t at = extent.offset + offset;
  while (!data.empty()) {
    const ssize_t written = ::pwrite(file_->fd(), data.data(), data.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed(file_->path(), "written", errno);
    data = data.subspan(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  return base::OkStatus();
}

base::Status BulkFile::Sync() {
  if (!std::exchange(unsynced_, false)) return base::OkStatus();
  return ::fdatasync(file_->fd()) == 0 ? base::OkStatus()
                                       : Failed(file_->path(), "made durable", errno);
}

base::StatusOr<base::Bytes> BulkFile::Read(Extent extent) const {
  // The length comes from a row, which may be damaged too.
  const off_t length = ::lseek(file_->fd(), 0, SEEK_END);
  if (length < 0) return Failed(file_->path(), "read", errno);
  const auto end = static_cast<std::uint64_t>(length);
  if (extent.size > end || extent.offset > end - extent.size) {
    return base::InvalidArgument(file_->path() + ": is cut short");
  }
  base::Bytes data(extent.size);
  RETURN_IF_ERROR(file_->Read(extent.offset, data));
  return data;
}

std::shared_ptr<const crypto::BulkSource> BulkFile::Lend(Extent extent) {
  const auto at = std::lower_bound(taken_.begin(), taken_.end(), extent, Before);
  OSTRAKA_CHECK(at != taken_.end() && *at == extent && !unsynced_);
  return std::make_shared<const Lent>(file_, extent);
}

std::size_t BulkFile::lent_count() const { return file_->hold_count(); }

base::Status BulkFile::fault() const { return file_->fault(); }

void BulkFile::Free(Extent extent) {
  const auto at = std::lower_bound(taken_.begin(), taken_.end(), extent, Before);
  OSTRAKA_CHECK(at != taken_.end() && *at == extent);
  freed_.push_back(extent);
}

void BulkFile::Reclaim() {
  for (const Extent& extent : std::exchange(freed_, {})) {
    auto at = std::lower_bound(taken_.begin(), taken_.end(), extent, Before);
    OSTRAKA_CHECK(at != taken_.end() && *at == extent);
    at = taken_.erase(at);
    const std::vector<Extent> held = file_->HeldWithin(extent);
    freed_.insert(freed_.end(), held.begin(), held.end());
    taken_.insert(at, held.begin(), held.end());
  }
}

}  // namespace ostraka::store

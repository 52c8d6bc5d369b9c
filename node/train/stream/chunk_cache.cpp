#include "node/train/stream/chunk_cache.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace ostraka::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDraft = ".part";
constexpr auto kLongestWrite = std::chrono::hours(1);

// The number that names a chunk's file; nullopt for any other file.
std::optional<std::uint64_t> ChunkOf(const std::string& name) {
  std::uint64_t chunk = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), chunk);
  if (error != std::errc() || std::to_string(chunk) != name) return std::nullopt;
  return chunk;
}

}  // namespace

base::Status WriteWhole(const std::string& folder, const std::string& name, base::ByteView bytes) {
  const std::string path = folder + "/" + name;
  // Of this call alone, so that two that fetch one chunk do not write into one file.
  std::random_device random;
  const std::string draft =
      path + std::string(kDraft) + std::to_string(random()) + "-" + std::to_string(random());
  std::ofstream file(draft, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (file) fs::rename(draft, path, error);
  if (file && !error) return base::OkStatus();
  std::error_code ignored;  // the first error is the one to tell
  fs::remove(draft, ignored);
  return base::Unavailable("the cache of data " + folder + " cannot be written: " +
                           (error ? error.message() : "is the disk full?"));
}

base::StatusOr<ChunkCache> ChunkCache::Open(const std::string& folder, std::uint64_t most_bytes) {
  ChunkCache cache(folder, most_bytes);
  if (most_bytes == 0) return cache;
  std::error_code error;
  fs::create_directories(folder, error);
  struct Found {
    fs::file_time_type used;
    std::uint64_t chunk;
    std::uint64_t bytes;
  };
  std::vector<Found> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const auto chunk = ChunkOf(name);
    std::error_code gone;  // another process removed it
    if (name.find(kDraft) != std::string::npos &&
        entry.last_write_time(gone) < fs::file_time_type::clock::now() - kLongestWrite) {
      fs::remove(entry.path(), gone);  // of a process that was killed
      continue;
    }
    const Found each = {entry.last_write_time(gone), chunk.value_or(0), entry.file_size(gone)};
    if (chunk && !gone) found.push_back(each);
  }
  if (error) {
    return base::Unavailable("the cache of data " + folder + " cannot be used: " + error.message() +
                             "; give another folder with --data-cache-dir");
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::pair(a.used, a.chunk) < std::pair(b.used, b.chunk);
  });
  for (const Found& each : found) {
    cache.used_.push_back(each.chunk);
    cache.kept_[each.chunk] = {each.bytes, std::prev(cache.used_.end())};
    cache.bytes_ += each.bytes;
  }
  while (cache.bytes_ > most_bytes) cache.Remove(cache.used_.front());
  return cache;
}

std::string ChunkCache::PathOf(std::uint64_t chunk) const {
  return folder_ + "/" + std::to_string(chunk);
}

std::optional<base::Bytes> ChunkCache::Get(std::uint64_t chunk, std::size_t size) {
  const auto kept = kept_.find(chunk);
  if (kept == kept_.end()) return std::nullopt;
  base::Bytes bytes(size);
  std::ifstream file(PathOf(chunk), std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!file || kept->second.bytes != size) {
    Remove(chunk);
    return std::nullopt;
  }
  used_.splice(used_.end(), used_, kept->second.place);
  std::error_code ignored;  // only the order after a restart depends on it
  fs::last_write_time(PathOf(chunk), fs::file_time_type::clock::now(), ignored);
  return bytes;
}

base::Status ChunkCache::Put(std::uint64_t chunk, base::ByteView bytes) {
  if (bytes.size() > most_bytes_) return base::OkStatus();
  Remove(chunk);
  while (bytes_ + bytes.size() > most_bytes_) Remove(used_.front());
  RETURN_IF_ERROR(WriteWhole(folder_, std::to_string(chunk), bytes));
  used_.push_back(chunk);
  kept_[chunk] = {bytes.size(), std::prev(used_.end())};
  bytes_ += bytes.size();
  return base::OkStatus();
}

void ChunkCache::Remove(std::uint64_t chunk) {
  const auto kept = kept_.find(chunk);
  if (kept == kept_.end()) return;
  std::error_code ignored;  // another process may have removed it
  fs::remove(PathOf(chunk), ignored);
  Forget(kept);
}

void ChunkCache::Forget(std::map<std::uint64_t, Kept>::iterator kept) {
  bytes_ -= kept->second.bytes;
  used_.erase(kept->second.place);
  kept_.erase(kept);
}

}  // namespace ostraka::train

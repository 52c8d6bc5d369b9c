#include "node/train/stream/chunk_store.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "node/base/check.h"

namespace ostraka::train {
namespace {

using SharedBytes = std::shared_ptr<const base::Bytes>;
using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr auto kAsk = std::chrono::milliseconds(100);  // between two questions whether it is wanted
constexpr seconds kLongestPause{60};
constexpr seconds kMembersAgain{1};  // while a source rests
constexpr std::size_t kMostNotices = 64;

std::vector<std::uint64_t> ChunksOf(std::span<const std::uint32_t> rows, std::uint32_t chunk_rows) {
  std::vector<std::uint64_t> chunks;
  for (const std::uint32_t row : rows) chunks.push_back(row / chunk_rows);
  std::sort(chunks.begin(), chunks.end());
  chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
  return chunks;
}

class ChunkStore final : public RowStore, private base::ChunkShelf {
 public:
  ChunkStore(StreamIndex index, std::vector<Source> sources, ChunkCache cache,
             std::vector<std::string> notices, std::shared_ptr<base::ChunkLenders> members)
      : index_(std::move(index)),
        hash_(HashOfStream(index_)),
        sources_(std::move(sources)),
        members_(std::move(members)),
        cache_(std::move(cache)),
        notices_(std::move(notices)) {
    OSTRAKA_CHECK(!sources_.empty());
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      OSTRAKA_CHECK(!sources_[i].readers.empty());
      for (const auto& reader : sources_[i].readers) {
        fetchers_.emplace_back([this, i, &reader] { FetchAll(i, *reader); });
      }
    }
    if (members_ != nullptr) members_->LendFrom(*this, index_.chunk_bytes());
  }

  ~ChunkStore() override {
    Abandon();
    if (members_ != nullptr) members_->EndLending();
    for (std::thread& fetcher : fetchers_) fetcher.join();
  }

  std::size_t size() const override { return index_.training(); }
  base::Digest DataHash() const override { return hash_; }

  std::vector<std::uint32_t> Draw(const base::Digest& batch_seed,
                                  std::uint32_t batch_size) const override {
    return DrawFromChunks(batch_seed, static_cast<std::uint32_t>(index_.leaves.size()),
                          index_.chunk_rows, batch_size);
  }

  void Expect(std::span<const std::uint32_t> rows) override {
    const std::lock_guard lock(mutex_);
    for (const std::uint64_t chunk : ChunksOf(rows, index_.chunk_rows)) {
      if (queue_.size() * index_.chunk_bytes() >= kMostChunkMemory / 2) return;
      if (!IsOnItsWay(chunk)) queue_.push_back(chunk);
    }
    changed_.notify_all();
  }

  base::Status Load(std::span<const std::uint32_t> rows, const CheckWanted& check_wanted) override {
    const std::vector<std::uint64_t> chunks = ChunksOf(rows, index_.chunk_rows);
    std::unique_lock lock(mutex_);
    loaded_.clear();
    for (auto chunk = chunks.rbegin(); chunk != chunks.rend(); ++chunk) Hurry(*chunk);
    changed_.notify_all();
    for (;;) {
      for (const std::uint64_t chunk : chunks) {
        const auto found = memory_.find(chunk);
        if (found != memory_.end()) loaded_.emplace(chunk, found->second);
        // It came, and went to make room for others of a large batch.
        if (!loaded_.contains(chunk) && !IsOnItsWay(chunk)) Hurry(chunk);
      }
      if (loaded_.size() == chunks.size()) return base::OkStatus();
      RETURN_IF_ERROR(failure_);
      if (abandoned_) return base::Unavailable("the data's rows are no longer wanted");
      lock.unlock();
      if (check_wanted) RETURN_IF_ERROR(check_wanted());
      lock.lock();
      changed_.wait_for(lock, kAsk);
    }
  }

  std::span<const std::uint8_t> row(std::uint32_t index) const override {
    const auto chunk = loaded_.find(index / index_.chunk_rows);
    OSTRAKA_CHECK(chunk != loaded_.end());
    return std::span(*chunk->second)
        .subspan(std::size_t{index % index_.chunk_rows} * index_.row_bytes, index_.row_bytes);
  }

  void Abandon() override {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    changed_.notify_all();
  }

  std::vector<std::string> TakeNotices() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(notices_, {});
  }

 private:
  // --- under mutex_ ---

  bool IsOnItsWay(std::uint64_t chunk) const {
    return memory_.contains(chunk) || fetched_.contains(chunk) ||
           std::find(queue_.begin(), queue_.end(), chunk) != queue_.end();
  }

  // Before all others.
  void Hurry(std::uint64_t chunk) {
    if (memory_.contains(chunk) || fetched_.contains(chunk)) return;
    std::erase(queue_, chunk);
    queue_.push_front(chunk);
  }

  void Keep(std::uint64_t chunk, base::Bytes bytes) {
    memory_[chunk] = std::make_shared<const base::Bytes>(std::move(bytes));
    used_.push_back(chunk);
    while (memory_.size() * index_.chunk_bytes() > kMostChunkMemory) {
      memory_.erase(used_.front());  // a batch at hand holds its own
      used_.pop_front();
    }
  }

  void Tell(const std::string& line) {
    if (notices_.size() < kMostNotices) notices_.push_back(line);
  }

  // --- threads of sources ---

  void FetchAll(std::size_t number, base::RangeReader& source) {
    const bool is_far = sources_[number].lent_from == nullptr;
    seconds pause{0};
    Clock::time_point rests_until{};  // the source; members are asked meanwhile
    std::unique_lock lock(mutex_);
    while (!abandoned_ && !left_.contains(number)) {
      if (queue_.empty()) {
        changed_.wait(lock);
        continue;
      }
      const std::uint64_t chunk = queue_.front();
      queue_.pop_front();
      fetched_.insert(chunk);
      lock.unlock();
      auto kept = FromHere(chunk, is_far);
      const bool asks = !kept && Clock::now() >= rests_until;
      base::StatusOr<base::Bytes> bytes = base::Unavailable("it rests");
      if (kept) bytes = *std::move(kept);
      if (asks) bytes = FromSource(source, chunk);
      lock.lock();
      fetched_.erase(chunk);
      if (bytes.ok()) {
        if (asks && pause.count() > 0) Tell("data come from " + source.place() + " again");
        if (asks) pause = seconds(0);
        Keep(chunk, *std::move(bytes));
        changed_.notify_all();
        continue;
      }
      queue_.push_front(chunk);
      changed_.notify_all();
      if (asks) {
        if (abandoned_ || IsTheLast(number, source, bytes.status())) return;
        if (pause.count() == 0) {
          Tell(base::MessageOf(bytes.status()) + ": " + source.place() +
               " is asked again, with longer and longer pauses");
        }
        pause = std::clamp(pause * 2, seconds(1), kLongestPause);
        rests_until = Clock::now() + pause;
      }
      const Clock::duration left = rests_until - Clock::now();
      const bool asks_members = is_far && members_ != nullptr;
      changed_.wait_for(lock, asks_members ? std::min<Clock::duration>(left, kMembersAgain) : left,
                        [this] { return abandoned_.load(); });
    }
  }

  // Whether the source is not asked again. Under mutex_.
  bool IsTheLast(std::size_t number, const base::RangeReader& source, const base::Status& status) {
    if (status.code() == absl::StatusCode::kFailedPrecondition) {
      failure_ = status;
    } else if (status.code() != absl::StatusCode::kInvalidArgument &&
               status.code() != absl::StatusCode::kNotFound) {
      return false;
    } else if (!left_.insert(number).second) {
      return true;  // another connection has found it
    } else if (left_.size() < sources_.size()) {
      Tell(source.place() + ": " + base::MessageOf(status) + ": it is not asked again");
    } else {
      failure_ = base::FailedPrecondition(source.place() + ": " + base::MessageOf(status) +
                                          ", and no other source of the data is left: name one "
                                          "with --data");
    }
    changed_.notify_all();
    return true;
  }

  // From what this machine has, or the members. Nullopt: a source must be asked.
  std::optional<base::Bytes> FromHere(std::uint64_t chunk, bool is_far) {
    auto bytes = FromCache(chunk);
    if (bytes || !is_far || members_ == nullptr) return bytes;
    bytes = FromMembers(chunk);
    if (bytes) Cache(chunk, *bytes);
    return bytes;
  }

  base::StatusOr<base::Bytes> FromSource(base::RangeReader& source, std::uint64_t chunk) {
    auto read = source.Read(index_.FileOf(chunk), index_.OffsetOf(chunk), index_.chunk_bytes(),
                            [this] { return abandoned_.load(); });
    if (absl::IsFailedPrecondition(read.status())) {
      // This machine lacks what this source needs, a list of authorities say; the others may do.
      return base::InvalidArgument(base::MessageOf(read.status()));
    }
    ASSIGN_OR_RETURN(base::Bytes bytes, std::move(read));
    RETURN_IF_ERROR(CheckChunk(index_, chunk, bytes));
    Cache(chunk, bytes);
    return bytes;
  }

  std::optional<base::Bytes> FromMembers(std::uint64_t chunk) {
    auto lent = members_->Borrow(chunk, index_.chunk_bytes(), [this] { return abandoned_.load(); });
    if (!lent) return std::nullopt;
    const base::Status wrong = CheckChunk(index_, chunk, lent->bytes);
    if (wrong.ok()) return std::move(lent->bytes);
    members_->Distrust(lent->lender);
    const std::lock_guard lock(mutex_);
    Tell("member " + lent->lender.Short() + ": " + base::MessageOf(wrong) +
         ": it is not asked for data again");
    return std::nullopt;
  }

  void Cache(std::uint64_t chunk, const base::Bytes& bytes) {
    const std::lock_guard lock(cache_mutex_);
    const base::Status kept = cache_.Put(chunk, bytes);
    if (!kept.ok() && !std::exchange(told_of_cache_, true)) {
      const std::lock_guard telling(mutex_);
      Tell(base::MessageOf(kept) + "; chunks are fetched again where they are needed again");
    }
  }

  std::optional<base::Bytes> FromCache(std::uint64_t chunk) {
    std::unique_lock lock(cache_mutex_);
    auto bytes = cache_.Get(chunk, index_.chunk_bytes());
    lock.unlock();  // the check hashes the chunk, and other connections need the cache meanwhile
    if (!bytes || CheckChunk(index_, chunk, *bytes).ok()) return bytes;
    lock.lock();
    cache_.Remove(chunk);
    return std::nullopt;
  }

  // --- the lending thread ---

  bool Has(std::uint64_t chunk) override {
    if (chunk >= index_.leaves.size()) return false;
    if (InMemory(chunk) != nullptr) return true;
    const std::lock_guard lock(cache_mutex_);
    return cache_.Has(chunk) ||
           (!folder_fails_ && std::any_of(sources_.begin(), sources_.end(), [](const Source& each) {
             return each.lent_from != nullptr;
           }));
  }

  std::optional<base::Bytes> Lend(std::uint64_t chunk) override {
    if (chunk >= index_.leaves.size()) return std::nullopt;
    if (const SharedBytes bytes = InMemory(chunk)) return *bytes;
    if (auto kept = FromCache(chunk)) return kept;
    for (const Source& source : sources_) {
      if (source.lent_from == nullptr) continue;
      auto bytes = source.lent_from->Read(index_.FileOf(chunk), index_.OffsetOf(chunk),
                                          index_.chunk_bytes(), nullptr);
      if (bytes.ok() && CheckChunk(index_, chunk, *bytes).ok()) return *std::move(bytes);
      folder_fails_ = true;
    }
    return std::nullopt;
  }

  SharedBytes InMemory(std::uint64_t chunk) {
    const std::lock_guard lock(mutex_);
    const auto found = memory_.find(chunk);
    return found == memory_.end() ? nullptr : found->second;
  }

  const StreamIndex index_;
  const base::Digest hash_;
  const std::vector<Source> sources_;
  const std::shared_ptr<base::ChunkLenders> members_;  // null: nobody is asked

  bool folder_fails_ = false;  // of the lending thread: nothing more is promised from folders

  std::mutex cache_mutex_;      // taken before mutex_
  ChunkCache cache_;            // guarded by cache_mutex_
  bool told_of_cache_ = false;  // guarded by cache_mutex_

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> abandoned_ = false;          // written under mutex_
  std::deque<std::uint64_t> queue_;              // to be fetched, in this order
  std::set<std::uint64_t> fetched_;              // at present
  std::map<std::uint64_t, SharedBytes> memory_;  // at most kMostChunkMemory
  std::deque<std::uint64_t> used_;               // the chunks of memory_, the oldest first
  base::Status failure_;                         // no source has the data
  std::set<std::size_t> left_;                   // sources that are not asked again
  std::vector<std::string> notices_;

  std::map<std::uint64_t, SharedBytes> loaded_;  // of the last Load; its thread's
  std::vector<std::thread> fetchers_;
};

}  // namespace

std::shared_ptr<RowStore> FetchChunks(StreamIndex index, std::vector<Source> sources,
                                      ChunkCache cache, std::vector<std::string> notices,
                                      std::shared_ptr<base::ChunkLenders> members) {
  return std::make_shared<ChunkStore>(std::move(index), std::move(sources), std::move(cache),
                                      std::move(notices), std::move(members));
}

}  // namespace ostraka::train

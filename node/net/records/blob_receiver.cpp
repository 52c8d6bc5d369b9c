#include "node/net/records/blob_receiver.h"

#include <algorithm>
#include <string>
#include <utility>

#include "node/base/check.h"
#include "node/base/little_endian.h"
#include "node/net/records/record.h"

namespace ostraka::net {
namespace {

// Reserves room for `added` more elements, never beyond `final_size`. Unwritten room costs address
// space, not memory, and growing by a large factor moves elements rarely.
template <typename T>
void GrowFor(std::vector<T>& vector, std::size_t added, std::size_t final_size) {
  constexpr std::size_t kFactor = 16;
  const std::size_t needed = vector.size() + added;
  if (needed > vector.capacity()) vector.reserve(std::min(final_size, kFactor * needed));
}

}  // namespace

base::Status BlobReceiver::Announce(base::ByteView body) {
  if (active_) return base::InvalidArgument("announced a blob within a blob");
  if (body.size() <= kAnnounceHeadBytes) return base::InvalidArgument("announced without a frame");
  const std::uint64_t blob_bytes = base::ReadLittleEndian(body.first(8));
  if (blob_bytes > max_blob_bytes_) {
    return base::InvalidArgument("announced a blob of " + std::to_string(blob_bytes) +
                                 " bytes, we take at most " + std::to_string(max_blob_bytes_));
  }
  root_ = *base::Digest::FromBytes(body.subspan(8, base::Digest::kSize));
  if (!hashed() && !allow_unhashed_)
    return base::InvalidArgument("announced a blob without a root");
  const base::ByteView frame = body.subspan(kAnnounceHeadBytes);
  frame_.assign(frame.begin(), frame.end());
  blob_bytes_ = static_cast<std::size_t>(blob_bytes);
  chunk_count_ = crypto::ChunkCount(blob_bytes_);
  active_ = true;
  return chunk_count_ == 0 && hashed() ? CheckLeaves() : base::OkStatus();
}

base::Status BlobReceiver::Leaves(base::ByteView body) {
  if (!active_ || leaves_complete()) return base::InvalidArgument("sent leaves that nobody awaits");
  const std::size_t count = std::min(kLeavesPerRecord, chunk_count_ - leaves_.size());
  if (body.size() != count * base::Digest::kSize) {
    return base::InvalidArgument("sent leaves of a wrong length");
  }
  GrowFor(leaves_, count, chunk_count_);
  for (std::size_t i = 0; i < count; ++i) {
    leaves_.push_back(
        *base::Digest::FromBytes(body.subspan(i * base::Digest::kSize, base::Digest::kSize)));
  }
  return leaves_complete() ? CheckLeaves() : base::OkStatus();
}

base::Status BlobReceiver::CheckLeaves() const {
  if (crypto::MerkleRoot(leaves_) == root_) return base::OkStatus();
  return base::InvalidArgument("sent leaves that do not make the announced root");
}

base::Status BlobReceiver::Chunk(base::ByteView body) {
  if (!active_ || !leaves_complete() || chunks_taken_ == chunk_count_) {
    return base::InvalidArgument("sent a chunk that nobody awaits");
  }
  if (body.size() != std::min(crypto::kChunkBytes, blob_bytes_ - data_.size())) {
    return base::InvalidArgument("sent a chunk of a wrong length");
  }
  if (hashed() && crypto::ChunkLeaf(body) != leaves_[chunks_taken_]) {
    return base::InvalidArgument("sent chunk " + std::to_string(chunks_taken_) +
                                 " that does not match its leaf");
  }
  GrowFor(data_, body.size(), blob_bytes_);
  data_.insert(data_.end(), body.begin(), body.end());
  ++chunks_taken_;
  CheckInvariants();
  return base::OkStatus();
}

std::optional<BlobReceiver::Message> BlobReceiver::Take() {
  if (!active_ || !leaves_complete() || chunks_taken_ != chunk_count_) return std::nullopt;
  Message message;
  message.frame = std::make_shared<const base::Bytes>(std::exchange(frame_, {}));
  message.blob = std::make_shared<const crypto::Blob>(
      crypto::Blob{std::exchange(data_, {}), root_, std::exchange(leaves_, {})});
  chunks_taken_ = 0;
  active_ = false;
  CheckInvariants();
  return message;
}

void BlobReceiver::CheckInvariants() const {
  OSTRAKA_CHECK(blob_bytes_ <= max_blob_bytes_);  // A2
  OSTRAKA_CHECK(data_.size() <= blob_bytes_ && leaves_.size() <= chunk_count_);
  OSTRAKA_CHECK(data_.size() == std::min(blob_bytes_, chunks_taken_ * crypto::kChunkBytes));
  OSTRAKA_CHECK(active_ || (data_.empty() && leaves_.empty() && chunks_taken_ == 0));  // A3
}

}  // namespace ostraka::net

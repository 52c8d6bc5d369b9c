#include "node/protocol/ground/stored_state.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {
namespace {

constexpr std::uint64_t kDimensionBytes = sizeof(std::uint64_t);

class SourceOfState final : public crypto::BulkSource {
 public:
  explicit SourceOfState(ModelState state)
      : state_(std::move(state)), dimension_(state_.parameters->size()) {
    for (const StateSlot& slot : state_.slots) OSTRAKA_CHECK(slot.values->size() == dimension_);
  }
  std::uint64_t size() const override {
    return kDimensionBytes + (1 + state_.slots.size()) * VectorBytes();
  }
  base::Status Read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    OSTRAKA_CHECK(offset <= size() && out.size() <= size() - offset);
    Copy(base::AsBytes(std::span(&dimension_, 1)), 0, offset, out);
    for (std::size_t k = 0; k <= state_.slots.size(); ++k) {
      Copy(base::AsBytes(std::span(*VectorOf(k))), kDimensionBytes + k * VectorBytes(), offset,
           out);
    }
    return base::OkStatus();
  }

 private:
  const SharedVector& VectorOf(std::size_t k) const {
    return k == 0 ? state_.parameters : state_.slots[k - 1].values;
  }
  std::uint64_t VectorBytes() const { return dimension_ * sizeof(float); }
  // Copies what of `bytes`, which stand at `place`, belongs to `out`, which begins at `offset`.
  static void Copy(base::ByteView bytes, std::uint64_t place, std::uint64_t offset,
                   std::span<std::uint8_t> out) {
    const std::uint64_t begin = std::max(place, offset);
    const std::uint64_t end = std::min(place + bytes.size(), offset + out.size());
    if (begin >= end) return;
    std::memcpy(out.data() + (begin - offset), bytes.data() + (begin - place), end - begin);
  }

  const ModelState state_;
  const std::uint64_t dimension_;
};

}  // namespace

std::shared_ptr<const crypto::BulkSource> StateSource(ModelState state) {
  return std::make_shared<const SourceOfState>(std::move(state));
}

base::Bytes EncodeState(const ModelState& state) {
  const SourceOfState source(state);
  base::Bytes data(source.size());
  OSTRAKA_CHECK(source.Read(0, data).ok());
  return data;
}

std::optional<ModelState> DecodeState(base::ByteView bytes, std::uint64_t dimension,
                                      const SlotNames& slots) {
  std::uint64_t stored = 0;
  const std::size_t size = dimension * sizeof(float);
  if (bytes.size() != sizeof(stored) + (1 + slots.size()) * size) return std::nullopt;
  std::memcpy(&stored, bytes.data(), sizeof(stored));
  if (stored != dimension) return std::nullopt;
  const auto vector = [&](std::size_t k) {
    auto values = std::make_shared<std::vector<float>>(dimension);
    std::memcpy(values->data(), bytes.data() + sizeof(stored) + k * size, size);
    return values;
  };
  ModelState state{vector(0), {}};
  for (std::size_t k = 0; k < slots.size(); ++k) state.slots.push_back({slots[k], vector(k + 1)});
  return state;
}

crypto::SharedBlob StoredPiece(const crypto::BulkSource& stored, std::uint64_t dimension,
                               const StatePiece& piece, const std::vector<Digest>& leaves) {
  OSTRAKA_CHECK(piece.first_leaf + piece.leaf_count <= leaves.size());
  const std::uint64_t begin =
      kDimensionBytes + (piece.vector * dimension + piece.begin) * sizeof(float);
  const std::uint64_t size = (piece.end - piece.begin) * sizeof(float);
  OSTRAKA_CHECK(begin + size <= stored.size());
  const auto first = leaves.begin() + static_cast<std::ptrdiff_t>(piece.first_leaf);
  auto blob = std::make_shared<crypto::Blob>();
  blob->leaves.assign(first, first + static_cast<std::ptrdiff_t>(piece.leaf_count));
  blob->root = crypto::MerkleRoot(blob->leaves);
  blob->source = stored.Slice(begin, size);
  return blob;
}

Record HeldInMemory(Record record) {
  record.blob = crypto::InMemory(std::move(record.blob));
  if (record.copy != nullptr) record.copy->Set(crypto::SourceOf(record.blob));
  return record;
}

}  // namespace ostraka::protocol

#include "node/protocol/sync/state_fetch.h"

#include <cstring>
#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {

StateFetch::StateFetch(std::uint64_t step, const Digest& root, base::TensorLayout layout,
                       SlotNames slots)
    : step_(step),
      root_(root),
      layout_(std::move(layout)),
      slots_(std::move(slots)),
      pieces_(StatePieces(layout_, slots_.size())),
      have_(pieces_.size(), false),
      left_(pieces_.size()) {
  for (std::size_t k = 0; k <= slots_.size(); ++k) {
    vectors_.push_back(std::make_shared<std::vector<float>>(base::ElementCount(layout_)));
  }
}

// Each piece that is in place was checked against its leaf, and the leaves against the root.
void StateFetch::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, step_, root_, leaves_.size(), have_, left_);
}

bool StateFetch::Lacks(std::uint64_t part) const {
  OSTRAKA_CHECK(part <= pieces_.size());
  return part == 0 ? leaves_.empty() : !have_[part - 1];
}

std::uint64_t StateFetch::BytesOf(std::uint64_t part) const {
  if (part == 0) return (pieces_.back().first_leaf + pieces_.back().leaf_count) * sizeof(Digest);
  return (pieces_[part - 1].end - pieces_[part - 1].begin) * sizeof(float);
}

bool StateFetch::Take(std::uint64_t part, const crypto::Blob& blob) {
  if (blob.data.empty() || part > pieces_.size() || !Lacks(part)) return false;
  if (part == 0) return TakeLeaves(blob);
  const StatePiece& piece = pieces_[part - 1];
  if (!PieceMatches(piece, blob.data, leaves_)) return false;
  std::memcpy(vectors_[piece.vector]->data() + piece.begin, blob.data.data(), blob.data.size());
  have_[part - 1] = true;
  --left_;
  return true;
}

bool StateFetch::TakeLeaves(const crypto::Blob& blob) {
  if (blob.data.size() % sizeof(Digest) != 0) return false;
  std::vector<Digest> leaves(blob.data.size() / sizeof(Digest));
  std::memcpy(leaves.data(), blob.data.data(), blob.data.size());
  if (StateRootOf(leaves, layout_, slots_) != root_) return false;
  leaves_ = std::move(leaves);
  return true;
}

ModelState StateFetch::Finish() const {
  OSTRAKA_CHECK(left_ == 0);
  ModelState state{vectors_[0], {}};
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    state.slots.push_back({slots_[k], vectors_[k + 1]});
  }
  return state;
}

void StateParts::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, step, parts); }

}  // namespace ostraka::protocol

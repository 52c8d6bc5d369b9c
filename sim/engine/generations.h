// A bounded cache that keeps the recently used entries: at most 2 x `capacity`.
//
// It has two generations. When the young one is full, the old one is discarded and the young one
// takes its place; a hit in the old one moves the entry to the young one.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <utility>

namespace ostraka::sim {

// Table: a std::unordered_set or std::unordered_map.
template <typename Table>
class Generations {
 public:
  explicit Generations(std::size_t capacity) : capacity_(capacity) {}

  // Null if the key is not in the cache. Valid until the next call.
  const typename Table::value_type* Find(const typename Table::key_type& key) {
    const auto young = young_.find(key);
    if (young != young_.end()) return &*young;
    auto old = old_.extract(key);
    if (old.empty()) return nullptr;
    MakeRoom();
    return &*young_.insert(std::move(old)).position;
  }

  // REQUIRES: Find has just returned null for its key.
  void Add(typename Table::value_type entry) {
    MakeRoom();
    young_.insert(std::move(entry));
  }

  std::size_t size() const { return young_.size() + old_.size(); }

 private:
  void MakeRoom() {
    if (young_.size() >= capacity_) old_ = std::exchange(young_, Table{});
  }

  std::size_t capacity_;
  Table young_;
  Table old_;
};

}  // namespace ostraka::sim

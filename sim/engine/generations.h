// The part of a growing table that is still asked for: at most 2 x `capacity` entries.
//
// Two generations: when the young one is full, the old one is forgotten as a whole; what is asked
// for moves back to the young one.
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

  // Null if it is forgotten or was never there. Valid until the next call.
  const typename Table::value_type* Find(const typename Table::key_type& key) {
    const auto young = young_.find(key);
    if (young != young_.end()) return &*young;
    auto old = old_.extract(key);
    if (old.empty()) return nullptr;
    MakeRoom();
    return &*young_.insert(std::move(old)).position;
  }

  // REQUIRES: Find has just said that its key is not there.
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

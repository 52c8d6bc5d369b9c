// Labelled examples in memory, split into what trains and what judges.
//
// Thread safety: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ostraka::train {

// INVARIANT: features.size() == labels.size() * feature_count.
struct Examples {
  std::uint32_t feature_count = 0;
  std::vector<float> features;       // row-major, one row an example
  std::vector<std::uint8_t> labels;  // 0..class_count-1

  std::size_t size() const { return labels.size(); }
  std::span<const float> row(std::size_t index) const {
    return std::span(features).subspan(index * feature_count, feature_count);
  }
};

struct Dataset {
  std::string name;
  std::uint32_t class_count = 0;
  Examples training;
  Examples test;
};

}  // namespace ostraka::train

// Arrays of numbers as nested JSON lists.
//
// Thread safety: pure functions.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

namespace ostraka::cli {

// A number with as many digits as its type needs, so that 0.1f prints as 0.1 and not 0.10000000149.
// Values that JSON cannot express (NaN, infinities) become null.
template <typename T>
nlohmann::json JsonOfNumber(T value) {
  if (!std::isfinite(value)) return nullptr;
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  double shortest = 0;
  std::from_chars(text, end, shortest);
  return shortest;
}

// Row-major. REQUIRES: the number of values is the product of `shape`.
template <typename T>
nlohmann::json JsonOfArray(std::span<const std::uint64_t> shape, std::span<const T> values) {
  if (shape.empty()) return JsonOfNumber(values.front());
  nlohmann::json list = nlohmann::json::array();
  const std::size_t each = shape.front() == 0 ? 0 : values.size() / shape.front();
  for (std::uint64_t i = 0; i < shape.front(); ++i) {
    list.push_back(JsonOfArray<T>(shape.subspan(1), values.subspan(i * each, each)));
  }
  return list;
}

}  // namespace ostraka::cli

// Records as text, and where two of them differ, field by field of their lists
// (node/wire/fields.h). Two records are equal if and only if their texts are: doubles show their
// bits too.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "node/wire/fields.h"

namespace ostraka::wire {

template <typename T>
std::string Show(const T& value) {
  if constexpr (std::is_same_v<T, double>) {
    return std::to_string(value) + " (bits " + std::to_string(std::bit_cast<std::uint64_t>(value)) +
           ")";
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<int>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "\"" + value + "\"";
  } else if constexpr (std::is_same_v<T, crypto::Signature>) {
    return base::ToHex(value.bytes);
  } else if constexpr (kIsVector<T> || requires { std::tuple_size<T>::value; }) {
    std::string list = "[";
    for (const auto& item : value) list += Show(item) + ", ";
    return list + "]";
  } else if constexpr (Record<T>) {
    std::string fields = "{";
    ForEachField<T>([&](const auto& field) {
      fields += std::string(field.name) + " " + Show(field.of(value)) + ", ";
    });
    return fields + "}";
  } else if constexpr (requires { value.Hex(); }) {
    return value.Hex();
  } else {
    return value ? Show(*value) : "none";
  }
}

// "" or the first field in which `a` and `b` differ, with both values.
template <typename T>
std::string FirstDifference(const std::string& name, const T& a, const T& b) {
  std::string difference;
  if constexpr (Record<T>) {
    ForEachField<T>([&](const auto& field) {
      if (!difference.empty()) return;
      const std::string path =
          name.empty() ? std::string(field.name) : name + "." + std::string(field.name);
      difference = FirstDifference(path, field.of(a), field.of(b));
    });
  } else if constexpr (kIsVector<T>) {
    const std::size_t both = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < both && difference.empty(); ++i) {
      difference = FirstDifference(name + "[" + std::to_string(i) + "]", a[i], b[i]);
    }
    if (!difference.empty() || a.size() == b.size()) return difference;
    difference =
        name + " has " + std::to_string(a.size()) + " entries and not " + std::to_string(b.size()) +
        "; the first beyond the shorter list: " + Show(a.size() > b.size() ? a[both] : b[both]);
  } else if (Show(a) != Show(b)) {
    difference = name + " is " + Show(a) + " and not " + Show(b);
  }
  return difference;
}

template <Record T>
bool AreEqual(const T& a, const T& b) {
  return FirstDifference("", a, b).empty();
}

}  // namespace ostraka::wire

// Reads values of a JSON object that this program made, perhaps of another version: json::exception
// if a key is missing or of another type.
//
// Thread safety: pure functions.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace ostraka::cli {

inline std::uint64_t CountAt(const nlohmann::json& object, const char* key) {
  return object.at(key).get<std::uint64_t>();
}
// JSON has no number that is not finite: it is null.
inline double NumberOf(const nlohmann::json& number) {
  return number.is_null() ? std::nan("") : number.get<double>();
}
inline double NumberAt(const nlohmann::json& object, const char* key) {
  return NumberOf(object.at(key));
}
inline std::string TextAt(const nlohmann::json& object, const char* key) {
  return object.at(key).get<std::string>();
}
// False if there is no such key.
inline bool IsSet(const nlohmann::json& object, const char* key) {
  return object.value(key, false);
}
inline std::optional<std::uint64_t> CountIn(const nlohmann::json& object, const char* key) {
  return object.contains(key) ? std::optional(CountAt(object, key)) : std::nullopt;
}
inline std::optional<double> NumberIn(const nlohmann::json& object, const char* key) {
  return object.contains(key) ? std::optional(NumberAt(object, key)) : std::nullopt;
}

}  // namespace ostraka::cli

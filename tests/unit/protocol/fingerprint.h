// Changes one field of an object at a time and sees its fingerprint change.
//
// Rationale: fields are reached by `friend struct FingerprintProbe`, which each room's
// fingerprint_test.cpp defines, and not through operations. Most operations change several fields
// at once, so a field that HashInto forgot would hide behind another one.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash_into.h"

namespace ostraka::protocol {

template <typename Object>
base::Digest FingerprintOf(const Object& object) {
  crypto::Hasher hasher(crypto::kDomainFingerprint);
  crypto::Feed(hasher, object);
  return hasher.Finish();
}

// Changes a value: a number by one, a list or map by one default entry more, an optional or pointer
// from nothing to a default value.
template <typename T>
void Alter(T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = !value;
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(static_cast<std::underlying_type_t<T>>(value) ^ 1);
  } else if constexpr (std::is_arithmetic_v<T>) {
    value += 1;
  } else if constexpr (requires { value.ns; }) {
    value.ns += 1;
  } else if constexpr (std::is_same_v<T, base::Digest> || std::is_same_v<T, base::PeerId>) {
    value.bytes[5] ^= 1;
  } else if constexpr (requires { value.push_back({}); }) {
    value.push_back({});
  } else if constexpr (requires { value.emplace_back(); }) {
    value.emplace_back();
  } else if constexpr (requires { typename T::mapped_type; }) {
    value.emplace(typename T::key_type{}, typename T::mapped_type{});
  } else if constexpr (requires { typename T::key_type; }) {
    value.emplace();
  } else if constexpr (requires { typename T::element_type; }) {
    value = std::make_shared<typename T::element_type>();
  } else {
    value = typename T::value_type{};  // [emplace: clang 14 refuses some nested classes]
  }
}

}  // namespace ostraka::protocol

// `change`: a statement that changes one field of `object`.
#define EXPECT_FEEDS_AFTER(object, change)                      \
  do {                                                          \
    const base::Digest before_change = FingerprintOf(object);   \
    change;                                                     \
    EXPECT_NE(FingerprintOf(object), before_change) << #change; \
  } while (false)
// `field`: the path of a field from `object`.
#define EXPECT_FEEDS(object, field) EXPECT_FEEDS_AFTER(object, Alter((object).field))

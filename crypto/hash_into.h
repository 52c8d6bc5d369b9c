// Feeds values into a Hasher so that different values feed different bytes: for fingerprints of
// state (Machine::Fingerprint), which are compared between runs and never sent.
//
// A class takes part with `void HashInto(crypto::Hasher&) const`, which feeds its fields:
//   void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, era_, next_, open_); }
// tests/lint.py `fingerprint` refuses a field that such a body leaves out without a reason. A plain
// struct of a lower layer takes part with a function HashValue(Hasher&, const T&) in its own
// namespace, which unpacks the struct, so that it does not compile once the struct has a new field.
//
// Cost: a blob counts by its root and a frame by its signature, so a fingerprint never reads bulk
// data. Consequence: blobs of unprotected runs, which have no root, count by their size alone.
// A float does not compile: a model's numbers are a function of data that is fed.
//
// Thread safety: pure.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "crypto/hash.h"
#include "crypto/merkle.h"
#include "crypto/sign.h"
#include "node/base/time.h"

namespace ostraka::crypto {

// Feeds the values in this order.
template <typename... Values>
void Feed(Hasher& hasher, const Values&... values);

inline void HashValue(Hasher& hasher, const Blob& blob) {
  // The root stands for the bytes, wherever they lie, and these for the leaves.
  const auto& [data, root, leaves, source] = blob;
  hasher.Update(root).UpdateU64(blob.size());
}

inline void HashValue(Hasher& hasher, const Signature& signature) { Feed(hasher, signature.bytes); }

namespace internal {

template <typename T>
concept HashesItself = requires(const T& value, Hasher& hasher) {
  value.HashInto(hasher);
};
template <typename T>
concept Number = std::is_integral_v<T> || std::is_enum_v<T>;
template <typename T>
concept Nullable = requires(const T& value) {
  *value;
  static_cast<bool>(value);
};
template <typename T>
concept Tuple = requires {
  std::tuple_size<T>::value;
}
&&!requires(const T& value) { value.begin(); };
template <typename T>
concept Range = requires(const T& value) {
  value.begin();
  value.end();
};

template <typename T>
concept Scalar = Number<T> || std::is_same_v<T, double> || std::is_same_v<T, base::Time> ||
    std::is_same_v<T, base::Duration>;
// Elements that lie in memory as they are fed: ids and numbers, without padding.
template <typename T>
concept Row = std::is_same_v<T, std::vector<typename T::value_type>> &&
              std::has_unique_object_representations_v<typename T::value_type> &&
              !std::is_pointer_v<typename T::value_type> &&
              !std::is_same_v<typename T::value_type, bool>;

template <Scalar T>
std::uint64_t NumberOf(const T& value) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else if constexpr (Number<T>) {
    return static_cast<std::uint64_t>(value);
  } else {
    return static_cast<std::uint64_t>(value.ns);
  }
}

// A signed frame begins with its signature, whose first half (a hash of the key and the content)
// belongs to this content alone.
inline constexpr std::size_t kNonceBytes = 32;
inline void FeedFrame(Hasher& hasher, const base::SharedBytes& frame) {
  const std::size_t size = frame == nullptr ? 0 : frame->size();
  hasher.UpdateU64(size);
  if (size > 0) hasher.Update(base::ByteView(*frame).first(std::min(size, kNonceBytes)));
}

template <typename T>
void FeedOne(Hasher& hasher, const T& value) {
  static_assert(!std::is_pointer_v<T>, "what a pointer shows belongs to another object");
  if constexpr (HashesItself<T>) {
    value.HashInto(hasher);
  } else if constexpr (std::is_same_v<T, Digest> || std::is_same_v<T, base::PeerId>) {
    hasher.Update(value.view());
  } else if constexpr (Scalar<T>) {
    hasher.UpdateU64(NumberOf(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    hasher.UpdateSized({reinterpret_cast<const std::uint8_t*>(value.data()), value.size()});
  } else if constexpr (std::is_same_v<T, base::SharedBytes>) {
    FeedFrame(hasher, value);
  } else if constexpr (Row<T>) {
    hasher.UpdateU64(value.size());
    hasher.Update({reinterpret_cast<const std::uint8_t*>(value.data()),
                   value.size() * sizeof(typename T::value_type)});
  } else if constexpr (Range<T>) {
    hasher.UpdateU64(value.size());
    for (const auto& element : value) Feed(hasher, element);
  } else if constexpr (Tuple<T>) {
    std::apply([&hasher](const auto&... parts) { Feed(hasher, parts...); }, value);
  } else if constexpr (Nullable<T>) {
    hasher.UpdateU64(value ? 1 : 0);
    if (value) Feed(hasher, *value);
  } else {
    HashValue(hasher, value);
  }
}

}  // namespace internal

template <typename... Values>
void Feed(Hasher& hasher, const Values&... values) {
  if constexpr (sizeof...(Values) > 1 && (internal::Scalar<Values> && ...)) {
    const std::array<std::uint64_t, sizeof...(Values)> numbers = {internal::NumberOf(values)...};
    hasher.Update({reinterpret_cast<const std::uint8_t*>(numbers.data()), sizeof numbers});
  } else {
    (internal::FeedOne(hasher, values), ...);
  }
}

}  // namespace ostraka::crypto

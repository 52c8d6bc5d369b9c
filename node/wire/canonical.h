// Internal to node/wire and dht/wire, included by their .cpp files only: the only code that touches
// Cap'n Proto directly. It stops Cap'n Proto's exceptions and sets its limits.
//
// Canonical means that a value has exactly one encoding. The decoder re-encodes what it read and
// compares the bytes. This one rule refuses trailing garbage, far or overlapping pointers, padding,
// fields of a later schema and null in place of empty. Attack: without it a peer could vary the
// bytes of a message, and so its digest, without varying its content.
//
// Thread safety: pure functions.
#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/wire/limits.h"

namespace ostraka::wire::internal {

using base::Bytes;
using base::ByteView;
using base::Digest;
using base::Status;
using base::StatusOr;

// "<what>: <problem>" as InvalidArgument.
Status Refuse(std::string_view what, std::string_view problem);
// The reason does not quote Cap'n Proto, whose texts name its source files and vary between
// versions.
Status RefuseException(std::string_view what);

// --- writing ------------------------------------------------------------------------------------

inline capnp::Data::Reader AsData(ByteView bytes) { return {bytes.data(), bytes.size()}; }

template <typename Tag>
capnp::Data::Reader AsData(const base::Id32<Tag>& id) {
  return AsData(id.view());
}

// The concatenated ids. Id32 is exactly its 32 bytes.
template <typename Tag>
capnp::Data::Reader AsData(const std::vector<base::Id32<Tag>>& ids) {
  static_assert(sizeof(base::Id32<Tag>) == base::Id32<Tag>::kSize);
  return AsData(base::AsBytes(std::span<const base::Id32<Tag>>(ids)));
}

inline std::uint64_t DoubleBits(double value) { return std::bit_cast<std::uint64_t>(value); }
inline double BitsDouble(std::uint64_t bits) { return std::bit_cast<double>(bits); }

// The canonical form of the message whose root `fill` writes. Takes any value: a value over the
// limits encodes to bytes that every decoder refuses. noexcept: Cap'n Proto throws here only for a
// value of more than 512 MiB, which can only be a local bug.
template <typename Schema, typename Fill>
Bytes EncodeCanonical(Fill fill) noexcept {
  // Cap'n Proto clears the first segment: 8 KiB by default, which was a sixth of all instructions
  // of a simulated run. Most messages fit half a kilobyte; segments double where one does not.
  capnp::MallocMessageBuilder message(/*firstSegmentWords=*/64);
  typename Schema::Builder root = message.initRoot<Schema>();
  fill(root);
  const kj::Array<capnp::word> words = capnp::canonicalize(root.asReader());
  const kj::ArrayPtr<const kj::byte> bytes = words.asBytes();
  return Bytes(bytes.begin(), bytes.end());
}

// --- reading ------------------------------------------------------------------------------------

// `bytes` as Cap'n Proto words, copied only if unaligned.
// REQUIRES: bytes.size() is a multiple of the word size, and `bytes` outlives this object.
class AlignedWords {
 public:
  explicit AlignedWords(ByteView bytes);
  kj::ArrayPtr<const capnp::word> words() const { return words_; }

 private:
  kj::Array<capnp::word> copy_;
  kj::ArrayPtr<const capnp::word> words_;
};

capnp::ReaderOptions BoundedOptions(std::size_t word_count);

// Decodes a canonical message of at most `max_bytes`. `read` builds the value from the root and
// checks limits; `encode` is its inverse, used to check the canonical form. Every error reason
// begins with `what`.
template <typename Schema, typename Value, typename Read, typename Encode>
StatusOr<Value> DecodeCanonical(std::string_view what, ByteView bytes, std::size_t max_bytes,
                                Read read, Encode encode) {
  if (bytes.size() > max_bytes) return Refuse(what, "too long");
  if (bytes.empty() || bytes.size() % sizeof(capnp::word) != 0) {
    return Refuse(what, "length is not a positive multiple of 8");
  }
  try {
    const AlignedWords aligned(bytes);
    const kj::ArrayPtr<const capnp::word> segments[] = {aligned.words()};
    capnp::SegmentArrayMessageReader message(segments, BoundedOptions(aligned.words().size()));
    StatusOr<Value> value = read(message.getRoot<Schema>());
    if (!value.ok()) return Refuse(what, base::MessageOf(value.status()));
    const Bytes canonical = encode(*value);
    if (!std::equal(canonical.begin(), canonical.end(), bytes.begin(), bytes.end())) {
      return Refuse(what, "not in canonical form");
    }
    return value;
  } catch (const kj::Exception&) {
    return RefuseException(what);
  }
}

// The field `name`: exactly 32 bytes.
template <typename Id>
Status ReadId(capnp::Data::Reader data, std::string_view name, Id& out) {
  const auto id = Id::FromBytes(ByteView(data.begin(), data.size()));
  if (!id) return Refuse(name, "must be 32 bytes");
  out = *id;
  return base::OkStatus();
}

// At most `max` concatenated ids.
template <typename Id>
Status ReadIds(capnp::Data::Reader data, std::string_view name, std::size_t max,
               std::vector<Id>& out) {
  if (data.size() % Id::kSize != 0) return Refuse(name, "must be 32 bytes each");
  const std::size_t count = data.size() / Id::kSize;
  if (count > max) return Refuse(name, "too many");
  out.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(data.begin() + i * Id::kSize, Id::kSize, out[i].bytes.begin());
  }
  return base::OkStatus();
}

Status ReadBytes(capnp::Data::Reader data, std::string_view name, std::size_t max, Bytes& out);

// Checks a list's length before anything is allocated for it.
Status CheckCount(std::size_t count, std::string_view name, std::size_t max);

// Checks that `key(item)` ascends strictly.
template <typename Item, typename Key>
Status CheckAscending(const std::vector<Item>& items, std::string_view name, Key key) {
  const auto not_ascending = [&](const Item& a, const Item& b) {
    return !(std::invoke(key, a) < std::invoke(key, b));
  };
  if (std::adjacent_find(items.begin(), items.end(), not_ascending) != items.end()) {
    return Refuse(name, "must be strictly ascending");
  }
  return base::OkStatus();
}

// Checks that `raw` is in [0, count). Cap'n Proto passes unknown enumerators through.
template <typename Enum, typename Raw>
Status ReadEnum(Raw raw, std::string_view name, unsigned count, Enum& out) {
  const auto number = static_cast<unsigned>(raw);
  if (number >= count) return Refuse(name, "unknown value");
  out = static_cast<Enum>(number);
  return base::OkStatus();
}

}  // namespace ostraka::wire::internal

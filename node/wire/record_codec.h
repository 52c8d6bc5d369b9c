// Internal to node/wire, included by its .cpp files only: converts records to and from their
// structs in a schema, field by field of their lists (node/wire/fields.h).
//
// Thread safety: pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "node/wire/canonical.h"
#include "node/wire/fields.h"

namespace ostraka::wire::internal {

template <typename T>
inline constexpr bool kIsId = std::is_same_v<T, Digest> || std::is_same_v<T, base::PeerId>;

// An element of a list that stands in the schema as Data, with a fixed number of bytes each.
template <typename T>
inline constexpr bool kIsPacked = kIsId<T> || std::is_enum_v<T> || std::is_same_v<T, std::uint8_t>;

template <typename T>
concept Checked = requires(const T& value) {
  Check(value);
};

// --- a list is complete -------------------------------------------------------------------------

// Stands for any member in the initializer of an aggregate.
struct Anything {
  template <typename T>
  operator T() const {  // NOLINT(google-explicit-constructor)
    return {};
  }
};

// Number of members of the aggregate T.
template <typename T, typename... Members>
consteval std::size_t MembersOf() {
  if constexpr (requires { T{Members{}..., Anything{}}; }) {
    return MembersOf<T, Members..., Anything>();
  } else {
    return sizeof...(Members);
  }
}

template <typename T>
consteval std::size_t Listed() {
  return std::tuple_size_v<decltype(FieldsOf(Of<T>{}))>;
}

template <typename T>
inline constexpr bool kIsList = kIsVector<T> || std::is_same_v<T, std::string>;
template <typename T>
inline constexpr bool kIsListOfLists = false;
template <typename T>
inline constexpr bool kIsListOfLists<std::vector<T>> = kIsList<T>;
template <typename T>
inline constexpr bool kHasValues = std::is_enum_v<T>;  // a value outside of which is none
template <typename T>
inline constexpr bool kHasValues<std::vector<T>> = std::is_enum_v<T>;

// A peer can make neither an enumeration take an unknown value nor a list grow without bound.
template <typename T>
consteval bool IsBounded() {
  bool bounded = true;
  ForEachField<T>([&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(field.of(std::declval<T&>()))>;
    if (kHasValues<Member>) bounded &= field.range.max != Range{}.max;
    if (kIsList<Member>) bounded &= field.count != kNoLimit;
    if (kIsListOfLists<Member>) bounded &= field.each != kNoLimit;
  });
  return bounded;
}

// --- writing ------------------------------------------------------------------------------------

template <Record T, typename Builder>
void WriteRecord(const T& record, Builder builder);
template <typename Builder, typename Access, typename Item>
void WriteItems(Builder builder, const Access& access, const std::vector<Item>& items);

// Writes `value` with `access`. An empty list or Data stays a null pointer.
template <typename Builder, typename Access, typename T>
void WriteValue(Builder builder, const Access& access, const T& value) {
  if constexpr (std::is_enum_v<T>) {
    access(builder, Do<Verb::kSet>{},
           static_cast<decltype(access(builder, Do<Verb::kGet>{}))>(value));
  } else if constexpr (std::is_integral_v<T>) {
    access(builder, Do<Verb::kSet>{}, value);
  } else if constexpr (std::is_same_v<T, double>) {
    access(builder, Do<Verb::kSet>{}, DoubleBits(value));
  } else if constexpr (kIsId<T>) {
    access(builder, Do<Verb::kSet>{}, AsData(value));
  } else if constexpr (std::is_same_v<T, crypto::Signature>) {
    access(builder, Do<Verb::kSet>{}, AsData(base::ByteView(value.bytes)));
  } else if constexpr (std::is_same_v<T, std::string>) {
    // Pass the size: Cap'n Proto would end a std::string at its first NUL.
    if (!value.empty()) {
      access(builder, Do<Verb::kSet>{}, capnp::Text::Reader(value.c_str(), value.size()));
    }
  } else if constexpr (kIsOptional<T>) {
    if (value) WriteValue(builder, access, *value);
  } else if constexpr (kIsVector<T>) {
    if (!value.empty()) WriteItems(builder, access, value);
  } else {
    WriteRecord(value, access(builder, Do<Verb::kInit>{}));
  }
}

template <typename Builder, typename Access, typename Item>
void WriteItems(Builder builder, const Access& access, const std::vector<Item>& items) {
  if constexpr (kIsPacked<Item>) {
    access(builder, Do<Verb::kSet>{}, AsData(base::AsBytes(std::span<const Item>(items))));
  } else {
    auto list = access(builder, Do<Verb::kInit>{}, static_cast<unsigned>(items.size()));
    for (unsigned i = 0; i < list.size(); ++i) {
      if constexpr (Record<Item>) {
        WriteRecord(items[i], list[i]);
      } else if constexpr (std::is_same_v<Item, Bytes>) {
        if (!items[i].empty()) list.set(i, AsData(items[i]));
      } else {
        list.set(i, items[i]);
      }
    }
  }
}

// Each field of the items as one list of `builder`.
template <typename Builder, Record Item>
void WriteColumns(Builder builder, const std::vector<Item>& items) {
  if (items.empty()) return;
  ForEachField<Item>([&](const auto& field) {
    std::vector<std::remove_cvref_t<decltype(field.of(items[0]))>> column;
    column.reserve(items.size());
    for (const Item& item : items) column.push_back(field.of(item));
    WriteItems(builder, field.access, column);
  });
}

// The codec of fields whose access is Custom: specialized in the source that needs it.
template <typename Builder, typename T>
void WriteCustom(Builder builder, const T& value);
template <typename Reader, typename T>
Status ReadCustom(Reader reader, T& out);

template <Record T, typename Builder>
void WriteRecord(const T& record, Builder builder) {
  static_assert(MembersOf<T>() == Listed<T>(), "the record's list leaves out a member");
  ForEachField<T>([&](const auto& field) {
    const auto& value = field.of(record);
    using Access = std::remove_cvref_t<decltype(field.access)>;
    if constexpr (std::is_same_v<Access, Inline>) {
      WriteRecord(value, builder);
    } else if constexpr (std::is_same_v<Access, Columnar>) {
      WriteColumns(builder, value);
    } else if constexpr (std::is_same_v<Access, Custom>) {
      WriteCustom(builder, value);
    } else if constexpr (requires { field.access.each; }) {
      auto next = value.begin();
      std::apply([&](const auto&... access) { (WriteValue(builder, access, *next++), ...); },
                 field.access.each);
    } else if constexpr (requires { field.access.flag; }) {
      WriteValue(builder, field.access.flag, value.has_value());
      WriteValue(builder, field.access.number, value.value_or(0));
    } else {
      WriteValue(builder, field.access, value);
    }
  });
}

// --- reading ------------------------------------------------------------------------------------

template <Record T, typename Reader>
Status ReadRecord(Reader reader, T& out);

// Cap'n Proto passes unknown enumerators through.
template <typename T, typename Raw>
Status ReadNumber(Raw raw, std::string_view name, const Range& range, T& out) {
  const auto number = static_cast<std::uint64_t>(raw);
  if (number < range.min || number > range.max) {
    return Refuse(name, std::is_enum_v<T> ? "unknown value" : "out of range");
  }
  out = static_cast<T>(raw);
  return base::OkStatus();
}

template <typename Field, typename Item>
Status ReadPacked(capnp::Data::Reader data, const Field& field, std::vector<Item>& out) {
  if constexpr (kIsId<Item>) {
    return ReadIds(data, field.name, field.count, out);
  } else {
    if (data.size() > field.count) {
      return Refuse(field.name, std::is_enum_v<Item> ? "too many" : "too long");
    }
    out.resize(data.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      RETURN_IF_ERROR(ReadNumber(data[i], field.name, field.range, out[i]));
    }
    return base::OkStatus();
  }
}

// Attack: elements without content take no room in a message, so a small message can claim a large
// count. So `out` grows element by element and is never sized by the count.
template <typename List, typename Field, typename Item>
Status ReadItems(List list, const Field& field, std::vector<Item>& out) {
  RETURN_IF_ERROR(CheckCount(list.size(), field.name, field.count));
  for (unsigned i = 0; i < list.size(); ++i) {
    if constexpr (Record<Item>) {
      RETURN_IF_ERROR(ReadRecord(list[i], out.emplace_back()));
    } else if constexpr (std::is_same_v<Item, Bytes>) {
      RETURN_IF_ERROR(ReadBytes(list[i], field.name, field.each, out.emplace_back()));
    } else {
      RETURN_IF_ERROR(ReadNumber(list[i], field.name, field.range, out.emplace_back()));
    }
  }
  return base::OkStatus();
}

template <typename Reader, typename Field, typename T>
Status ReadValue(Reader reader, const Field& field, T& out) {
  const auto get = [&] { return field.access(reader, Do<Verb::kGet>{}); };
  if constexpr (std::is_same_v<T, bool>) {
    out = get();
    return base::OkStatus();
  } else if constexpr (std::is_same_v<T, double>) {
    out = BitsDouble(get());
    return base::OkStatus();
  } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    return ReadNumber(get(), field.name, field.range, out);
  } else if constexpr (kIsId<T>) {
    return ReadId(get(), field.name, out);
  } else if constexpr (std::is_same_v<T, crypto::Signature>) {
    const capnp::Data::Reader data = get();
    if (data.size() != T::kSize) return Refuse(field.name, "must be 64 bytes");
    std::copy_n(data.begin(), T::kSize, out.bytes.begin());
    return base::OkStatus();
  } else if constexpr (std::is_same_v<T, std::string>) {
    const capnp::Text::Reader text = get();
    if (text.size() > field.count) return Refuse(field.name, "too long");
    out.assign(text.begin(), text.end());
    return base::OkStatus();
  } else if constexpr (kIsOptional<T>) {
    // A null pointer means none.
    if (!field.access(reader, Do<Verb::kHas>{})) return base::OkStatus();
    return ReadValue(reader, field, out.emplace());
  } else if constexpr (kIsVector<T>) {
    if constexpr (kIsPacked<typename T::value_type>) {
      return ReadPacked(get(), field, out);
    } else {
      return ReadItems(get(), field, out);
    }
  } else {
    return ReadRecord(get(), out);
  }
}

// The inverse of WriteColumns. All columns have one length.
template <typename Reader, Record Item>
Status ReadColumns(Reader reader, std::string_view name, std::size_t max, std::vector<Item>& out) {
  Status status = base::OkStatus();
  bool first = true;
  ForEachField<Item>([&](const auto& field) {
    if (!status.ok()) return;
    std::vector<std::remove_cvref_t<decltype(field.of(out[0]))>> column;
    const capnp::Data::Reader data = field.access(reader, Do<Verb::kGet>{});
    status = CheckCount(data.size() / sizeof(column[0]), name, max);
    if (status.ok()) status = ReadPacked(data, field, column);
    if (!status.ok()) return;
    if (first) out.resize(column.size());
    first = false;
    if (column.size() != out.size()) {
      status = Refuse(name, "lists of different lengths");
      return;
    }
    for (std::size_t i = 0; i < out.size(); ++i) field.of(out[i]) = column[i];
  });
  RETURN_IF_ERROR(status);
  if constexpr (Checked<Item>) {
    for (const Item& item : out) RETURN_IF_ERROR(Check(item));
  }
  return base::OkStatus();
}

template <typename Reader, typename Field, typename T>
Status ReadField(Reader reader, const Field& field, T& out) {
  using Access = std::remove_cvref_t<decltype(field.access)>;
  if constexpr (std::is_same_v<Access, Inline>) {
    return ReadRecord(reader, out);
  } else if constexpr (std::is_same_v<Access, Columnar>) {
    return ReadColumns(reader, field.name, field.count, out);
  } else if constexpr (std::is_same_v<Access, Custom>) {
    return ReadCustom(reader, out);
  } else if constexpr (requires { field.access.each; }) {
    static_assert(std::tuple_size_v<decltype(field.access.each)> == std::tuple_size_v<T>);
    auto next = out.begin();
    std::apply(
        [&](const auto&... access) {
          ((*next++ = BitsDouble(access(reader, Do<Verb::kGet>{}))), ...);
        },
        field.access.each);
    return base::OkStatus();
  } else if constexpr (requires { field.access.flag; }) {
    // A number without its flag breaks the canonical form.
    if (field.access.flag(reader, Do<Verb::kGet>{})) {
      out = field.access.number(reader, Do<Verb::kGet>{});
    }
    return base::OkStatus();
  } else {
    return ReadValue(reader, field, out);
  }
}

template <Record T, typename Reader>
Status ReadRecord(Reader reader, T& out) {
  static_assert(IsBounded<T>(), "a list without AtMost or Each, or an enumeration without Below");
  Status status = base::OkStatus();
  ForEachField<T>([&](const auto& field) {
    if (!status.ok()) return;
    auto& value = field.of(out);
    status = ReadField(reader, field, value);
    if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(field.order)>, Unordered>) {
      if (status.ok()) status = CheckAscending(value, field.name, field.order);
    }
  });
  RETURN_IF_ERROR(status);
  if constexpr (Checked<T>) RETURN_IF_ERROR(Check(out));
  return base::OkStatus();
}

// --- whole messages -----------------------------------------------------------------------------

template <typename Schema, Record T>
Bytes EncodeRecord(const T& record) {
  return EncodeCanonical<Schema>([&](typename Schema::Builder root) { WriteRecord(record, root); });
}

// Every reason begins with `what`.
template <typename Schema, Record T>
StatusOr<T> DecodeRecord(std::string_view what, ByteView bytes, std::size_t max_bytes) {
  const auto read = [](typename Schema::Reader root) -> StatusOr<T> {
    T record;
    RETURN_IF_ERROR(ReadRecord(root, record));
    return record;
  };
  return DecodeCanonical<Schema, T>(what, bytes, max_bytes, read, EncodeRecord<Schema, T>);
}

}  // namespace ostraka::wire::internal

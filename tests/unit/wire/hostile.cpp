#include "tests/unit/wire/hostile.h"

#include <algorithm>

#include "node/wire/limits.h"

namespace ostraka::wire {
namespace {

// PROOF's pointers, in the order of the schema.
enum Field : std::size_t {
  kColumns = 0,
  kAccusation = 1,
  kVotes = 3,
  kStateRoot = 4,
  kEvidence = 5,
  kFieldCount = 9,
};

// A PROOF with all fields null; word 1 + f is field f, and content follows.
Words EmptyProof() {
  Words words(1 + kFieldCount);
  words[0] = StructPointer(0, 0, kFieldCount);
  return words;
}

// The offset from field `field` of EmptyProof to what is appended next.
std::int32_t OffsetToEnd(const Words& words, std::size_t field) {
  return static_cast<std::int32_t>(words.size() - (field + 2));
}

base::Bytes WithHugeList(Field field, ElementSize size) {
  Words words = EmptyProof();
  words[1 + field] = ListPointer(OffsetToEnd(words, field), size, kMaxCount);
  words.resize(words.size() + 4);
  return ToBytes(words);
}

// A list of empty structs: no content at all, however many.
base::Bytes WithZeroSizedStructs(Field field, std::uint32_t count) {
  Words words = EmptyProof();
  words[1 + field] = ListPointer(OffsetToEnd(words, field), ElementSize::kStruct, 0);
  words.push_back(StructListTag(count, 0, 0));
  return ToBytes(words);
}

// `count` references to one piece of evidence of 16 KiB.
base::Bytes WithSharedEvidence(std::uint32_t count) {
  Words words = EmptyProof();
  words[1 + kEvidence] = ListPointer(OffsetToEnd(words, kEvidence), ElementSize::kPointer, count);
  for (std::uint32_t i = 0; i < count; ++i) {
    words.push_back(ListPointer(static_cast<std::int32_t>(count - 1 - i), ElementSize::kByte,
                                static_cast<std::uint32_t>(kMaxEvidenceBytes)));
  }
  words.resize(words.size() + kMaxEvidenceBytes / 8, 0x0101010101010101);
  return ToBytes(words);
}

// One more pointer, unknown to the schema, that opens a chain of `depth` structs.
base::Bytes WithDeepChain(std::size_t depth) {
  Words words(1 + kFieldCount);
  words[0] = StructPointer(0, 0, kFieldCount + 1);
  for (std::size_t i = 0; i < depth; ++i) words.push_back(StructPointer(0, 0, 1));
  words.push_back(0);
  return ToBytes(words);
}

// An accusation that points to the PROOF itself, again and again.
base::Bytes WithLoop() {
  Words words = EmptyProof();
  words[1 + kAccusation] = StructPointer(-2, 0, kFieldCount);
  words[1] = StructPointer(-2, 0, kFieldCount);
  return ToBytes(words);
}

}  // namespace

std::uint64_t StructPointer(std::int32_t offset, std::uint16_t data_words,
                            std::uint16_t pointer_words) {
  return static_cast<std::uint32_t>(offset) << 2 | std::uint64_t{data_words} << 32 |
         std::uint64_t{pointer_words} << 48;
}

std::uint64_t ListPointer(std::int32_t offset, ElementSize size, std::uint32_t count) {
  return (static_cast<std::uint32_t>(offset) << 2 | 1u) | static_cast<std::uint64_t>(size) << 32 |
         std::uint64_t{count} << 35;
}

std::uint64_t StructListTag(std::uint32_t count, std::uint16_t data_words,
                            std::uint16_t pointer_words) {
  return StructPointer(static_cast<std::int32_t>(count), data_words, pointer_words);
}

std::uint64_t FarPointer(std::uint32_t segment, std::uint32_t position) {
  return (position << 3 | 2u) | std::uint64_t{segment} << 32;
}

base::Bytes ToBytes(const Words& words) {
  const base::ByteView bytes = base::AsBytes(std::span<const std::uint64_t>(words));
  return base::Bytes(bytes.begin(), bytes.end());
}

std::vector<Bomb> ProofBombs() {
  return {
      {"half a gigabyte of state root", WithHugeList(kStateRoot, ElementSize::kByte)},
      {"four gigabytes of evidence pointers", WithHugeList(kEvidence, ElementSize::kPointer)},
      {"columns beyond the message", WithHugeList(kColumns, ElementSize::kStruct)},
      {"half a billion void columns", WithHugeList(kColumns, ElementSize::kVoid)},
      {"half a billion void pieces", WithHugeList(kEvidence, ElementSize::kVoid)},
      {"half a billion empty columns", WithZeroSizedStructs(kColumns, kMaxCount)},
      {"half a billion empty votes", WithZeroSizedStructs(kVotes, kMaxCount)},
      {"one empty column too many", WithZeroSizedStructs(kColumns, kMaxParts + 1)},
      {"as many empty votes as a PROOF may have", WithZeroSizedStructs(kVotes, kMaxVotes)},
      {"one piece of evidence twice", WithSharedEvidence(2)},
      {"one piece of evidence eight times", WithSharedEvidence(8)},
      {"a chain of 10,000 structs", WithDeepChain(10000)},
      {"a loop", WithLoop()},
  };
}

}  // namespace ostraka::wire

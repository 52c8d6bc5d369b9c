// Cap'n Proto messages that no encoder makes, word by word (capnproto.org/encoding.html).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/base/bytes.h"

namespace ostraka::wire {

using Words = std::vector<std::uint64_t>;

// `offset` is in words from the end of the pointer's own word.
std::uint64_t StructPointer(std::int32_t offset, std::uint16_t data_words,
                            std::uint16_t pointer_words);

enum class ElementSize : std::uint8_t {
  kVoid = 0,
  kByte = 2,
  kWord = 5,
  kPointer = 6,
  kStruct = 7
};
// For kStruct, `count` is the words of the list without its tag.
std::uint64_t ListPointer(std::int32_t offset, ElementSize size, std::uint32_t count);
// The tag of a list of structs: a struct pointer with the element count for an offset.
std::uint64_t StructListTag(std::uint32_t count, std::uint16_t data_words,
                            std::uint16_t pointer_words);
std::uint64_t FarPointer(std::uint32_t segment, std::uint32_t position);

base::Bytes ToBytes(const Words& words);

// The largest count that a list pointer can hold.
inline constexpr std::uint32_t kMaxCount = (1u << 29) - 1;

// PROOFs that ask for far more memory or work than their size.
struct Bomb {
  std::string name;
  base::Bytes proof;
};
std::vector<Bomb> ProofBombs();

}  // namespace ostraka::wire

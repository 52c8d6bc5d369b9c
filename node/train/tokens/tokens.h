// Tokens as records of one length: T + 1 tokens, of which the last T are the targets of the first
// T. A token is a byte, or a number below a larger vocabulary. Records stand in a packed file, or
// are cut from a text, whose bytes are the tokens.
//
// A packed file is one line and the records, in the order of training, validation, test:
//   ostraka-tokens 1 bytes CONTEXT TRAINING VALIDATION TEST
//   ostraka-tokens 2 u16 VOCABULARY CONTEXT TRAINING VALIDATION TEST
//   ostraka-tokens 2 u32 VOCABULARY CONTEXT TRAINING VALIDATION TEST
// CONTEXT is T; the last three count records. Numbers are decimal without leading zeros. Tokens of
// u16 and u32 are little-endian and below VOCABULARY; u32 is for those of more than 65,536.
//
// The hash of the data is H(kDomainTokens, u64 T | classes | counts of training, validation and
// test | Merkle root), whose leaves are the records' (crypto/merkle.h), so a path proves one
// record. Of u16 and u32 it is H(kDomainWideTokens, u64 T | vocabulary | bytes of a token | counts
// | Merkle root).
//
// What an attacker can do here: a file is an organiser's or a stranger's. Its size must be the one
// that its line states, so memory is bounded by the file.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::train {

inline constexpr std::uint32_t kMaxContext = 1U << 16;
// A graph's integers are i32.
inline constexpr std::uint32_t kMaxVocabulary = 0x7fffffff;
// Maximum number of records in the validation part and in the test part. It bounds an evaluation,
// whatever the length of the text.
inline constexpr std::size_t kMaxHeldOutRecords = 256;

// Cuts a text at every T-th byte: the first 8 tenths train, the next tenth is for validation and
// the last for tests, each with records at equal distances if there are more than
// kMaxHeldOutRecords. No record crosses a border. InvalidArgument: T out of range, or a tenth
// shorter than a record.
base::StatusOr<Dataset> RecordsOf(base::ByteView text, std::uint32_t context);
// As RecordsOf, of the tokens of a text, as u16 or u32. InvalidArgument: also a vocabulary of none
// or of more than kMaxVocabulary. REQUIRES: all tokens are below `vocabulary`.
base::StatusOr<Dataset> RecordsOfTokens(std::span<const std::uint32_t> tokens,
                                        std::uint32_t vocabulary, std::uint32_t context);

// Whether a file begins as a packed one does, or nearly so.
bool LooksPacked(base::ByteView file);
// The vocabulary that a packed file's line names; of any other file that of bytes. `file` may be
// its beginning alone.
std::uint32_t VocabularyIn(base::ByteView file);
// InvalidArgument: not the bytes that PackRecords gives for some data.
base::StatusOr<Dataset> ParseRecords(base::ByteView file);
// REQUIRES: `data` is of RecordsOf or ParseRecords.
base::Bytes PackRecords(const Dataset& data);

// Token `place` of record `index`, the last one being number T. REQUIRES: both in range.
std::uint32_t TokenOf(const Examples& records, std::size_t index, std::size_t place);

// The leaf of each record, in the order of the file.
std::vector<base::Digest> LeavesOfRecords(const Dataset& data);
base::Digest HashOfRecords(const Dataset& data);

}  // namespace ostraka::train

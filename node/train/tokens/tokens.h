// Tokens as records of one length: T + 1 tokens, of which the last T are the targets of the first
// T. A token is a byte. Records stand in a packed file, or are cut from a text.
//
// A packed file is one line and the records, in the order of training, validation, test:
//   ostraka-tokens 1 bytes CONTEXT TRAINING VALIDATION TEST
// CONTEXT is T; the others count records. Numbers are decimal without leading zeros.
//
// The hash of the data is H(kDomainTokens, u64 T | classes | counts of training, validation and
// test | Merkle root), whose leaves are the records' (crypto/merkle.h), so a path proves one
// record.
//
// What an attacker can do here: a file is an organiser's or a stranger's. Its size must be the one
// that its line states, so memory is bounded by the file.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::train {

inline constexpr std::uint32_t kMaxContext = 1U << 16;
// Maximum number of records in the validation part and in the test part. It bounds an evaluation,
// whatever the length of the text.
inline constexpr std::size_t kMaxHeldOutRecords = 256;

// Cuts a text at every T-th byte: the first 8 tenths train, the next tenth is for validation and
// the last for tests, each with records at equal distances if there are more than
// kMaxHeldOutRecords. No record crosses a border. InvalidArgument: T out of range, or a tenth
// shorter than a record.
base::StatusOr<Dataset> RecordsOf(base::ByteView text, std::uint32_t context);

// Whether a file begins as a packed one does, or nearly so.
bool LooksPacked(base::ByteView file);
// InvalidArgument: not the bytes that PackRecords gives for some data.
base::StatusOr<Dataset> ParseRecords(base::ByteView file);
// REQUIRES: `data` is of RecordsOf or ParseRecords.
base::Bytes PackRecords(const Dataset& data);

// The leaf of each record, in the order of the file.
std::vector<base::Digest> LeavesOfRecords(const Dataset& data);
base::Digest HashOfRecords(const Dataset& data);

}  // namespace ostraka::train

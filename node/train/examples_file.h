// Rows of named columns: examples for graphs of any inputs, such as classes of texts, pairs of
// texts, masked texts, images of any size.
//
// A file is lines, then the rows of training, validation and test, one after another:
//   ostraka-examples 1 COLUMNS TRAINING VALIDATION TEST
//   one line for each column (columns.h)
//
// The hash of the data is H(kDomainData, u64 0, which no image has as its channels | sized lines of
// the columns | u64 counts of training, validation and test | Merkle root), whose leaves are the
// rows (crypto/merkle.h).
//
// What an attacker can do here: a file is an organiser's or a stranger's. Its size must be the one
// that its lines state, so memory is bounded by the file; its lines are bounded.
//
// Thread safety: pure functions.
#pragma once

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::train {

// The name of such data.
inline constexpr char kExamples[] = "examples";
// InvalidArgument: a file in another form, with values out of their range, or without held-out
// rows.
base::StatusOr<Dataset> ParseExamples(base::ByteView file);
base::Digest HashOfExamples(const Dataset& data);

}  // namespace ostraka::train

// The numbers of a column (docs/protocol/numbers.md): their computation, the range of an honest
// peer's numbers, and the tolerances of the checks on them. Every peer must get equal bits.
//
// Promises (Measure):
//   M1  Of is a function of the column, tau and the part alone.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "crypto/merkle.h"
#include "node/protocol/ground/codec.h"
#include "node/protocol/ground/state.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

using crypto::SharedBlob;

// One column as every peer sees it after seal B.
struct Column {
  std::uint32_t part_index = 0;
  PartRange range;
  SharedBlob result;          // null: missing
  Digest direction_seed;      // from the coin of the step
  Codec codec = Codec::kRaw;  // of the result
};

// What the checks need of an aggregate.
struct ResultSize {
  double norm = 0;     // |ghat|
  double quantum = 0;  // of its codec: how far encoding may have moved it
};
ResultSize SizeOf(Codec codec, const crypto::Blob& result, std::uint64_t count);

// The numbers of parts against one column's aggregate, which is decoded once.
class Measure {
 public:
  // `column.result` outlives it. REQUIRES: column.range.size() >= 2; a result that holds as many
  // values, or none.
  Measure(const Column& column, double tau);
  // Without an aggregate they are `missing`, and only the size is set.
  // REQUIRES: part.size() == column.range.size().
  wire::ColumnNumbers Of(std::span<const float> part) const;

 private:
  double tau_;
  Values result_;  // none: missing
  std::vector<std::uint8_t> signs_;
};
wire::ColumnNumbers NumbersOf(std::span<const float> part, const Column& column, double tau);

// V1: equal in every bit.
bool SameBits(const wire::ColumnNumbers& a, const wire::ColumnNumbers& b);

// False if no honest peer states such numbers: non-finite or negative; a size beyond the largest
// float times sqrt(p), or a norm beyond twice that, which no part and no difference of two parts
// has; or |s| > min(1, 10/sqrt(p)) min(tau, norm), by chance with probability 2e^-50 for p > 100.
bool InHonestRange(const wire::ColumnNumbers& numbers, std::uint64_t part_length, double tau);

// V2's tolerance T = 8 |S_j| (eps + 2^-23 |ghat[j]| + quantum) / sqrt(p): false alarm probability
// 2e^-32.
double SumTolerance(std::size_t senders, double eps, const ResultSize& result,
                    std::uint64_t part_length);

// The largest deviation of `stated` from `recomputed`, as a multiple of the accusing thresholds of
// the tolerant profile: |ds| against 8 eps_g R / sqrt(p), |dnorm| and |dsize| against eps_g R,
// where R = max(|g'[j]|, tau). If either is `missing`, only the size counts. Accuse above 1,
// convict above 1/2.
double DeviationRatio(const wire::ColumnNumbers& stated, const wire::ColumnNumbers& recomputed,
                      double tau, double eps_g, std::uint64_t part_length);

// The exact profile: SameBits; but if either is `missing`, only the size counts.
bool AgreeToTheBit(const wire::ColumnNumbers& stated, const wire::ColumnNumbers& recomputed);

}  // namespace ostraka::protocol

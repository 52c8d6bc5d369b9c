// Which columns of a step are applied (docs/protocol/checks.md, docs/protocol/numbers.md), and tau
// of the next step.
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "tests/property/naive_step.h"

namespace ostraka::protocol::naive {

using wire::ColumnFate;

// S_j as the column's AGG states it: nullopt without a well-formed AGG, or if its bitmap is none
// over the members.
std::optional<std::vector<PeerId>> SendersOf(const Step& step, std::size_t column);
// The column's AGG is well formed and has a result.
bool HasResult(const Step& step, std::size_t column);
// The worker says "missing ghat[j]" of a column that has a result.
bool SaysMissing(const Step& step, const PeerId& worker, std::size_t column);

// Bans for numbers and AGGs that no honest member states (docs/protocol/numbers.md,
// docs/protocol/removals.md).
void BanForImpossibleContent(Step& step);
// By column; `norms[j]` is |ghat[j]|.
std::vector<ColumnFate> FatesOf(const Step& step, const std::vector<ResultSize>& results);
double NextTau(const Step& step, const std::vector<ColumnFate>& fates);

}  // namespace ostraka::protocol::naive

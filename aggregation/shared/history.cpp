#include "aggregation/shared/history.h"

#include <algorithm>
#include <string>

namespace ostraka::aggregation {

base::StatusOr<State> ResumeHistory(std::string_view owner, const State* state, std::size_t count,
                                    std::size_t d) {
  if (state == nullptr || state->calls == 0) {
    State fresh;
    fresh.vectors.assign(count, std::vector<double>(d, 0.0));
    return fresh;
  }
  const bool fits = state->vectors.size() == count &&
                    std::all_of(state->vectors.begin(), state->vectors.end(),
                                [&](const auto& vector) { return vector.size() == d; });
  if (!fits) return ForeignState(owner);
  return *state;
}

base::Status ForeignState(std::string_view owner) {
  return base::InvalidArgument(std::string(owner) +
                               ": the state is of another rule, another n or another d");
}

template <typename T>
void AddToHistory(const BasicRows<T>& rows, double decay, double scale, const Executor& executor,
                  State& state, std::size_t first) {
  executor.ParallelFor(rows.count(), [&](std::size_t i) {
    std::vector<double>& sum = state.vectors[first + i];
    for (std::size_t c = 0; c < rows.dimension; ++c) {
      sum[c] = decay * sum[c] + scale * static_cast<double>(rows.row[i][c]);
    }
  });
}

template void AddToHistory(const Rows&, double, double, const Executor&, State&, std::size_t);
template void AddToHistory(const DoubleRows&, double, double, const Executor&, State&, std::size_t);

DoubleRows HistoryRows(const State& state, std::size_t first, std::size_t count, std::size_t d) {
  DoubleRows rows;
  rows.dimension = d;
  for (std::size_t i = 0; i < count; ++i) rows.row.push_back(state.vectors[first + i].data());
  return rows;
}

}  // namespace ostraka::aggregation

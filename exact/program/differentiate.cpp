#include "exact/program/differentiate.h"

#include <vector>

#include "exact/program/lowering.h"

namespace ostraka::exact {
namespace {

// The instructions that the loss depends on.
std::vector<bool> LiveInstructions(const Graph& graph) {
  std::vector<bool> live(graph.value_count());
  live[graph.loss] = true;
  for (std::size_t i = graph.instructions.size(); i-- > 0;) {
    if (!live[graph.declared_count() + i]) continue;
    for (const ValueId operand : graph.instructions[i].operands) live[operand] = true;
  }
  return {live.begin() + static_cast<std::ptrdiff_t>(graph.declared_count()), live.end()};
}

}  // namespace

Program Differentiate(const Graph& graph) {
  const std::vector<bool> live = LiveInstructions(graph);
  Lowering lowering(graph);
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (live[i]) lowering.Forward(i);
  }
  lowering.BeginBackward();
  for (std::size_t i = live.size(); i-- > 0;) {
    if (live[i]) lowering.Backward(i);
  }
  lowering.BindGradients();
  return lowering.Finish();
}

}  // namespace ostraka::exact

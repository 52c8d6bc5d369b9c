// Each kind of step, over the memory of one run. Only runner.cpp and steps_*.cpp include this.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "exact/kernels/kernels.h"
#include "exact/kernels/product.h"
#include "exact/program/plan.h"

namespace ostraka::exact {

// Where the buffers of one run lie, and what computes. Pointers are the runner's and its caller's.
struct Site {
  const PlannedProgram& plan;
  const Kernels& kernels;
  const Executor& executor;
  ProductScratch& products;
  std::vector<const float*> floats = {};           // of each buffer; null for integers
  std::vector<const std::int32_t*> integers = {};  // of each buffer; null for floats
  std::vector<float*> outputs = {};                // of each buffer that steps write
  float* arena = nullptr;

  const float* read(const Step& step, std::size_t i) const { return floats[step.reads[i]]; }
  const std::int32_t* read_integers(const Step& step, std::size_t i) const {
    return integers[step.reads[i]];
  }
  float* write(const Step& step, std::size_t i = 0) const { return outputs[step.writes[i]]; }
  std::size_t count_written(const Step& step) const {
    return plan.program.buffers[step.writes[0]].count;
  }

  // Calls body(begin, end) over 0..count-1 in pieces, on the plan's threads if the work, in
  // elements, is worth it.
  template <typename Body>
  void Split(std::size_t count, std::size_t elements, const Body& body) const;
};

// One function for each alternative of StepKind.
void RunStep(const Site& site, const Step& step, const FillStep& fill);
void RunStep(const Site& site, const Step& step, const CopyStep& copy);
void RunStep(const Site& site, const Step& step, const GatherStep& gather);
void RunStep(const Site& site, const Step& step, const ReduceStep& reduce);
void RunStep(const Site& site, const Step& step, const MapStep& map);
void RunStep(const Site& site, const Step& step, const ProductStep& product);
void RunStep(const Site& site, const Step& step, const SumStep& sum);
void RunStep(const Site& site, const Step& step, const AddRowStep& add);
void RunStep(const Site& site, const Step& step, const EmbeddingStep& embedding);
void RunStep(const Site& site, const Step& step, const EmbeddingBackwardStep& embedding);
void RunStep(const Site& site, const Step& step, const SoftmaxStep& softmax);
void RunStep(const Site& site, const Step& step, const SoftmaxBackwardStep& softmax);
void RunStep(const Site& site, const Step& step, const CrossEntropyStep& loss);
void RunStep(const Site& site, const Step& step, const CrossEntropyBackwardStep& loss);
void RunStep(const Site& site, const Step& step, const NormStep& norm);
void RunStep(const Site& site, const Step& step, const NormBackwardStep& norm);
void RunStep(const Site& site, const Step& step, const NormColumnsStep& norm);
// `scratch`: ScratchOf(step) floats.
void RunAttention(const Site& site, const Step& step, const AttentionStep& attention,
                  float* scratch);
void RunAttentionBackward(const Site& site, const Step& step,
                          const AttentionBackwardStep& attention, float* scratch);

template <typename Body>
void Site::Split(std::size_t count, std::size_t elements, const Body& body) const {
  constexpr std::size_t kWorthAThread = 32 * 1024;
  const std::size_t pieces =
      std::max<std::size_t>(1, std::min({plan.threads, count, elements / kWorthAThread}));
  if (pieces == 1) return body(std::size_t{0}, count);
  executor.ParallelFor(pieces, [&](std::size_t piece) {
    body(count * piece / pieces, count * (piece + 1) / pieces);
  });
}

}  // namespace ostraka::exact

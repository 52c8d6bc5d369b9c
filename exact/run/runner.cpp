#include "exact/run/runner.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "exact/kernels/float_environment.h"
#include "exact/run/steps.h"
#include "node/base/check.h"

namespace ostraka::exact {
namespace {

// Fills in where each buffer lies.
void Locate(Site& site, std::span<const float> parameters, std::span<const InputValues> inputs,
            const std::vector<std::vector<float>>& constants, std::span<float> gradient) {
  const std::vector<Buffer>& buffers = site.plan.program.buffers;
  site.floats.resize(buffers.size());
  site.integers.resize(buffers.size());
  site.outputs.resize(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& buffer = buffers[i];
    switch (buffer.place) {
      case Place::kParameter:
        site.floats[i] = parameters.data() + buffer.offset;
        break;
      case Place::kConstant:
        site.floats[i] = constants[buffer.index].data();
        break;
      case Place::kInput:
        site.floats[i] = inputs[buffer.index].floats.data();
        site.integers[i] = inputs[buffer.index].integers.data();
        break;
      case Place::kGradient:
        site.outputs[i] = gradient.empty() ? nullptr : gradient.data() + buffer.offset;
        site.floats[i] = site.outputs[i];
        break;
      case Place::kArena:
        site.outputs[i] = site.arena + buffer.offset;
        site.floats[i] = site.outputs[i];
        break;
    }
  }
}

}  // namespace

Runner::Runner(PlannedProgram plan, std::vector<std::vector<float>> constants,
               const Kernels& kernels, const Executor& executor)
    : kernels_(&kernels), executor_(&executor) {
  const std::vector<std::size_t>& elements = plan.program.constant_elements;
  OSTRAKA_CHECK(constants.size() == elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    OSTRAKA_CHECK(constants[i].size() == elements[i]);
  }
  ProductScratch scratch(plan.threads);
  std::vector<float> arena(plan.arena_elements);
  held_ = std::make_shared<Held>(
      Held{std::move(plan), std::move(constants), std::move(scratch), std::move(arena)});
}

Runner Runner::By(const Kernels& kernels) const {
  Runner other = *this;
  other.kernels_ = &kernels;
  return other;
}

base::StatusOr<float> Runner::Gradient(std::span<const float> parameters,
                                       std::span<const InputValues> inputs,
                                       std::span<float> gradient) {
  OSTRAKA_CHECK(gradient.size() == held_->plan.program.parameter_count);
  return Run(parameters, inputs, gradient, held_->plan.program.steps.size());
}

base::StatusOr<float> Runner::Loss(std::span<const float> parameters,
                                   std::span<const InputValues> inputs) {
  return Run(parameters, inputs, {}, held_->plan.program.forward_steps);
}

std::span<const float> Runner::Logits() const {
  const Program& program = held_->plan.program;
  if (!program.logits) return {};
  const Buffer& buffer = program.buffers[*program.logits];
  if (buffer.place != Place::kArena) return {};
  return {held_->arena.data() + buffer.offset, buffer.count};
}

base::StatusOr<float> Runner::Run(std::span<const float> parameters,
                                  std::span<const InputValues> inputs, std::span<float> gradient,
                                  std::size_t step_count) {
  const Program& program = held_->plan.program;
  OSTRAKA_CHECK(parameters.size() == program.parameter_count);
  RETURN_IF_ERROR(CheckFloatEnvironment());
  RETURN_IF_ERROR(CheckInputs(program, inputs));
  Site site{.plan = held_->plan,
            .kernels = *kernels_,
            .executor = *executor_,
            .products = held_->scratch,
            .arena = held_->arena.data()};
  Locate(site, parameters, inputs, held_->constants, gradient);
  for (std::size_t s = 0; s < step_count; ++s) {
    if (abandoned_ != nullptr && abandoned_->load(std::memory_order_relaxed)) {
      return base::Unavailable("the run of the graph was abandoned");
    }
    const Step& step = program.steps[s];
    float* const scratch = held_->arena.data() + held_->plan.scratch[s];
    std::visit(
        [&](const auto& kind) {
          using Kind = std::decay_t<decltype(kind)>;
          if constexpr (std::is_same_v<Kind, AttentionStep>) {
            RunAttention(site, step, kind, scratch);
          } else if constexpr (std::is_same_v<Kind, AttentionBackwardStep>) {
            RunAttentionBackward(site, step, kind, scratch);
          } else {
            RunStep(site, step, kind);
          }
        },
        step.kind);
  }
  // The loss may be a parameter's own bits.
  const float loss = *site.floats[program.loss];
  return loss != loss ? kCanonicalNan : loss;
}

}  // namespace ostraka::exact

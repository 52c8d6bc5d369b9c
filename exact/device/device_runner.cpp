#include "exact/device/device_runner.h"

#include <algorithm>
#include <string>
#include <variant>

#include "exact/kernels/float_environment.h"
#include "node/base/check.h"

namespace ostraka::exact {
namespace {

template <typename T>
std::span<const std::byte> BytesOf(const T& values) {
  return std::as_bytes(std::span(values));
}

// starts[v]: where the positions of row v begin in `places`, and one entry more; then `places`:
// positions by row, ascending. A counting sort.
std::vector<std::uint32_t> PositionsByRow(std::span<const std::int32_t> rows,
                                          std::size_t table_rows) {
  std::vector<std::uint32_t> sorted(table_rows + 1 + rows.size());
  for (const std::int32_t row : rows) ++sorted[static_cast<std::size_t>(row) + 1];
  for (std::size_t v = 0; v < table_rows; ++v) sorted[v + 1] += sorted[v];
  std::vector<std::uint32_t> next(sorted.begin(),
                                  sorted.begin() + static_cast<std::ptrdiff_t>(table_rows));
  for (std::size_t position = 0; position < rows.size(); ++position) {
    const auto row = static_cast<std::size_t>(rows[position]);
    sorted[table_rows + 1 + next[row]++] = static_cast<std::uint32_t>(position);
  }
  return sorted;
}

}  // namespace

DeviceRunner::DeviceRunner(DevicePlan plan, Device& device)
    : plan_(std::move(plan)), device_(device) {}

DeviceRunner::~DeviceRunner() {
  for (const DeviceBuffer buffer : all_) device_.Free(buffer);
}

base::StatusOr<std::unique_ptr<DeviceRunner>> DeviceRunner::Make(
    DevicePlan plan, const std::vector<std::vector<float>>& constants, Device& device) {
  const std::vector<std::size_t>& elements = plan.planned.program.constant_elements;
  OSTRAKA_CHECK(constants.size() == elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    OSTRAKA_CHECK(constants[i].size() == elements[i]);
  }
  std::unique_ptr<DeviceRunner> runner(new DeviceRunner(std::move(plan), device));
  RETURN_IF_ERROR(runner->AllocateAll());
  RETURN_IF_ERROR(runner->UploadAll(constants));
  RETURN_IF_ERROR(device.Finish());
  return runner;
}

base::StatusOr<DeviceBuffer> DeviceRunner::Allocate(std::uint64_t elements) {
  if (elements == 0) return DeviceBuffer{};  // no launch is given it
  ASSIGN_OR_RETURN(const DeviceBuffer buffer, device_.Allocate(elements * sizeof(float)));
  all_.push_back(buffer);
  return buffer;
}

base::StatusOr<DeviceRunner::Vector> DeviceRunner::AllocateSlabs(const std::vector<Slab>& slabs) {
  Vector vector;
  for (const Slab& slab : slabs) {
    ASSIGN_OR_RETURN(const DeviceBuffer buffer, Allocate(slab.count));
    vector.push_back(buffer);
  }
  return vector;
}

base::Status DeviceRunner::AllocateAll() {
  const Program& program = plan_.planned.program;
  ASSIGN_OR_RETURN(parameters_, AllocateSlabs(plan_.parameters));
  ASSIGN_OR_RETURN(gradient_, AllocateSlabs(plan_.parameters));
  if (plan_.adds) {
    ASSIGN_OR_RETURN(sum_, AllocateSlabs(plan_.parameters));
  }
  ASSIGN_OR_RETURN(arena_, AllocateSlabs(plan_.arena));
  for (const std::size_t count : program.constant_elements) {
    ASSIGN_OR_RETURN(const DeviceBuffer buffer, Allocate(count));
    constants_.push_back(buffer);
  }
  for (const Input& input : program.inputs) {
    ASSIGN_OR_RETURN(const DeviceBuffer buffer,
                     Allocate(static_cast<std::uint64_t>(input.type.count())));
    inputs_.push_back(buffer);
  }
  ASSIGN_OR_RETURN(table_, Allocate(plan_.table.size()));
  ASSIGN_OR_RETURN(sorted_, Allocate(plan_.sorted_elements));
  ASSIGN_OR_RETURN(pairs_, Allocate(plan_.pair_elements));
  if (plan_.scratch_buffers > 0) {
    ASSIGN_OR_RETURN(scores_, Allocate(plan_.scratch_elements));
  }
  if (plan_.scratch_buffers > 1) {
    ASSIGN_OR_RETURN(score_gradients_, Allocate(plan_.scratch_elements));
  }
  return base::OkStatus();
}

base::Status DeviceRunner::UploadAll(const std::vector<std::vector<float>>& constants) {
  for (std::size_t i = 0; i < constants.size(); ++i) {
    RETURN_IF_ERROR(device_.Upload(constants_[i], 0, BytesOf(constants[i])));
  }
  if (plan_.table.empty()) return base::OkStatus();
  return device_.Upload(table_, 0, BytesOf(plan_.table));
}

base::Status DeviceRunner::SetParameters(std::span<const float> parameters) {
  OSTRAKA_CHECK(parameters.size() == plan_.planned.program.parameter_count);
  added_ = 0;
  batches_ = ended_ = 0;
  has_parameters_ = false;
  for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
    const Slab& slab = plan_.parameters[i];
    RETURN_IF_ERROR(device_.Upload(parameters_[i], 0,
                                   std::as_bytes(parameters.subspan(slab.begin, slab.count))));
  }
  has_parameters_ = true;
  return base::OkStatus();
}

base::Status DeviceRunner::CheckReady(std::span<const InputValues> inputs) const {
  if (!has_parameters_) return base::FailedPrecondition("the device has no parameters");
  RETURN_IF_ERROR(CheckFloatEnvironment());
  return CheckInputs(plan_.planned.program, inputs);
}

base::StatusOr<float> DeviceRunner::AddGradient(std::span<const InputValues> inputs) {
  RETURN_IF_ERROR(CheckReady(inputs));
  if (added_ > 0 && !plan_.adds) {
    return base::FailedPrecondition("the plan has no memory for a second gradient");
  }
  if (batches_ > 0 && ended_ == batches_) {
    return base::FailedPrecondition("all batches of the local step have ended");
  }
  auto loss = Checked(AddGradientUnchecked(inputs));
  if (loss.ok()) ++added_;
  return loss;
}

base::StatusOr<float> DeviceRunner::AddGradientUnchecked(std::span<const InputValues> inputs) {
  // The first gradient is the sum until the second one needs its place.
  if (added_ == 1) std::swap(gradient_, sum_);
  ASSIGN_OR_RETURN(const float loss, Run(inputs, plan_.planned.program.steps.size()));
  if (added_ > 0) RETURN_IF_ERROR(MapVector(Map::kAdd, sum_, gradient_, 2, 0));
  return loss;
}

base::Status DeviceRunner::TakeMean(std::span<float> mean) {
  OSTRAKA_CHECK(mean.size() == plan_.planned.program.parameter_count);
  if (added_ == 0) return base::FailedPrecondition("no gradient was added");
  auto from = Checked(MeanOfAdded());
  added_ = 0;
  RETURN_IF_ERROR(from.status());
  return Checked(Read(**from, 0, mean));
}

base::StatusOr<const DeviceRunner::Vector*> DeviceRunner::MeanOfAdded() {
  if (added_ == 1) return &gradient_;
  RETURN_IF_ERROR(MapVector(Map::kMulScalar, sum_, sum_, 1, 1 / static_cast<float>(added_)));
  return &sum_;
}

base::Status DeviceRunner::MapVector(Map map, const Vector& left, const Vector& right,
                                     std::uint32_t operands, float scalar) {
  const DeviceSite site{.device = device_, .plan = plan_};
  for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
    RETURN_IF_ERROR(LaunchMap(site, map, {left[i]}, {right[i]}, operands, scalar, {left[i]},
                              Short(plan_.parameters[i].count)));
  }
  return base::OkStatus();
}

base::Status DeviceRunner::Read(const Vector& from, std::uint64_t begin, std::span<float> values) {
  const std::uint64_t end = begin + values.size();
  for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
    const Slab& slab = plan_.parameters[i];
    const std::uint64_t first = std::max(begin, slab.begin);
    const std::uint64_t last = std::min(end, slab.begin + slab.count);
    if (first >= last) continue;
    RETURN_IF_ERROR(
        device_.Download(from[i], (first - slab.begin) * sizeof(float),
                         std::as_writable_bytes(values.subspan(first - begin, last - first))));
  }
  return base::OkStatus();
}

base::StatusOr<std::vector<float>> DeviceRunner::ReadAll(const Vector& from) {
  std::vector<float> values(plan_.planned.program.parameter_count);
  RETURN_IF_ERROR(Read(from, 0, values));
  return values;
}

base::StatusOr<float> DeviceRunner::Loss(std::span<const InputValues> inputs) {
  RETURN_IF_ERROR(CheckReady(inputs));
  return Checked(Run(inputs, plan_.planned.program.forward_steps));
}

base::StatusOr<std::vector<float>> DeviceRunner::Logits() {
  const Program& program = plan_.planned.program;
  std::vector<float> logits;
  if (!program.logits) return logits;
  const Buffer& buffer = program.buffers[*program.logits];
  if (buffer.place != Place::kArena) return logits;
  logits.resize(buffer.count);
  const Tensor tensor = InSlabs(arena_, plan_.arena, buffer.offset);
  RETURN_IF_ERROR(device_.Download(tensor.buffer, std::uint64_t{tensor.at} * sizeof(float),
                                   std::as_writable_bytes(std::span(logits))));
  return logits;
}

base::Status DeviceRunner::UploadInputs(std::span<const InputValues> inputs) {
  const Program& program = plan_.planned.program;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool of_integers = program.inputs[i].type.element == Element::kInt;
    RETURN_IF_ERROR(device_.Upload(
        inputs_[i], 0,
        of_integers ? std::as_bytes(inputs[i].integers) : std::as_bytes(inputs[i].floats)));
  }
  return base::OkStatus();
}

base::Status DeviceRunner::UploadSorted(std::span<const InputValues> inputs) {
  const Program& program = plan_.planned.program;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    const auto* const embedding = std::get_if<EmbeddingBackwardStep>(&step.kind);
    if (embedding == nullptr) continue;
    const std::size_t table_rows = program.buffers[step.writes[0]].count / embedding->width;
    const std::vector<std::uint32_t> sorted =
        PositionsByRow(inputs[program.buffers[step.reads[1]].index].integers, table_rows);
    RETURN_IF_ERROR(device_.Upload(sorted_, std::uint64_t{plan_.sorted_at[s]} * sizeof(float),
                                   BytesOf(sorted)));
  }
  return base::OkStatus();
}

base::StatusOr<float> DeviceRunner::Run(std::span<const InputValues> inputs,
                                        std::size_t step_count) {
  const Program& program = plan_.planned.program;
  RETURN_IF_ERROR(UploadInputs(inputs));
  if (step_count > program.forward_steps) RETURN_IF_ERROR(UploadSorted(inputs));
  const DeviceSite site = SiteFor(inputs);
  for (std::size_t s = 0; s < step_count; ++s) {
    if (abandoned_ != nullptr && abandoned_->load(std::memory_order_relaxed)) {
      return base::Unavailable("the run of the graph was abandoned");
    }
    RETURN_IF_ERROR(std::visit([&](const auto& kind) { return LaunchStep(site, s, kind); },
                               program.steps[s].kind));
  }
  float loss = 0;
  const Tensor& at = site.tensors[program.loss];
  RETURN_IF_ERROR(device_.Download(at.buffer, std::uint64_t{at.at} * sizeof(float),
                                   std::as_writable_bytes(std::span(&loss, 1))));
  // The loss may be a parameter's own bits.
  return loss != loss ? kCanonicalNan : loss;
}

Tensor DeviceRunner::InSlabs(const Vector& vector, const std::vector<Slab>& slabs,
                             std::uint64_t offset) const {
  const auto after =
      std::upper_bound(slabs.begin(), slabs.end(), offset,
                       [](std::uint64_t at, const Slab& slab) { return at < slab.begin; });
  const auto i = static_cast<std::size_t>(after - slabs.begin()) - 1;
  return {vector[i], static_cast<std::uint32_t>(offset - slabs[i].begin)};
}

DeviceSite DeviceRunner::SiteFor(std::span<const InputValues> inputs) const {
  DeviceSite site{.device = device_,
                  .plan = plan_,
                  .tile = tile_,
                  .inputs = inputs,
                  .scores = {scores_},
                  .score_gradients = {score_gradients_},
                  .pairs = {pairs_},
                  .table = table_,
                  .sorted = sorted_};
  for (const Buffer& buffer : plan_.planned.program.buffers) {
    switch (buffer.place) {
      case Place::kParameter:
        site.tensors.push_back(InSlabs(parameters_, plan_.parameters, buffer.offset));
        break;
      case Place::kConstant:
        site.tensors.push_back({constants_[buffer.index]});
        break;
      case Place::kInput:
        site.tensors.push_back({inputs_[buffer.index]});
        break;
      case Place::kGradient:
        site.tensors.push_back(InSlabs(gradient_, plan_.parameters, buffer.offset));
        break;
      case Place::kArena:
        site.tensors.push_back(InSlabs(arena_, plan_.arena, buffer.offset));
        break;
    }
  }
  return site;
}

}  // namespace ostraka::exact

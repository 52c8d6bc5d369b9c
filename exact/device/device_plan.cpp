#include "exact/device/device_plan.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <variant>

namespace ostraka::exact {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr uint64_t kFloatBytes = sizeof(float);
// Kernels count with 32 bits: places in a buffer, and elements of what one launch computes.
constexpr uint64_t kMostPlaces = (uint64_t{1} << 32) - 16;
constexpr uint64_t kMostElements = (uint64_t{1} << 31) - 1;

base::Status TooLarge(const std::string& what, uint64_t bytes, uint64_t limit) {
  return base::InvalidArgument(what + " takes " + std::to_string(bytes) +
                               " bytes on the device, more than " + std::to_string(limit));
}

// Cuts the flat vector of parameters between tensors, each slab as long as it may be.
base::StatusOr<std::vector<Slab>> CutParameters(const Program& program, uint64_t most) {
  std::vector<std::pair<uint64_t, uint64_t>> tensors;  // begin, end
  for (const Buffer& buffer : program.buffers) {
    if (buffer.place == Place::kParameter || buffer.place == Place::kGradient) {
      tensors.emplace_back(buffer.offset, buffer.offset + buffer.count);
    }
  }
  std::sort(tensors.begin(), tensors.end());
  std::vector<Slab> slabs;
  uint64_t begin = 0;  // of the slab
  uint64_t cut = 0;    // where it may end
  const auto grow_to = [&](uint64_t next) {
    if (next - begin > most) {
      if (cut > begin) slabs.push_back({begin, cut - begin});
      begin = cut;
    }
    cut = next;
    return next - begin <= most;
  };
  uint64_t reach = 0;
  for (const auto& [from, to] : tensors) {
    if (from >= reach && from > cut && !grow_to(from)) {
      return TooLarge("a parameter", (from - begin) * kFloatBytes, most * kFloatBytes);
    }
    reach = std::max(reach, to);
  }
  if (!grow_to(program.parameter_count)) {
    return TooLarge("a parameter", (cut - begin) * kFloatBytes, most * kFloatBytes);
  }
  if (cut > begin) slabs.push_back({begin, cut - begin});
  return slabs;
}

std::vector<Slab> CutArena(uint64_t elements, uint64_t slab) {
  std::vector<Slab> slabs;
  for (uint64_t begin = 0; begin < elements; begin += slab) {
    slabs.push_back({begin, std::min(slab, elements - begin)});
  }
  return slabs;
}

// Calls body(shape, backward) for each step of attention.
template <typename Body>
void ForEachAttention(const Program& program, const Body& body) {
  for (const Step& step : program.steps) {
    if (const auto* forward = std::get_if<AttentionStep>(&step.kind)) body(*forward, false);
    if (const auto* backward = std::get_if<AttentionBackwardStep>(&step.kind)) {
      body(*backward, true);
    }
  }
}

// Extents, then of each axis `second`.
void AppendTable(std::vector<uint32_t>& table, const std::vector<std::size_t>& extents,
                 const std::vector<std::size_t>& second) {
  for (const std::size_t extent : extents) table.push_back(static_cast<uint32_t>(extent));
  for (const std::size_t value : second) table.push_back(static_cast<uint32_t>(value));
}

// What steps need beside their operands. False: more than 32 bits count.
bool CountTables(DevicePlan& plan) {
  const Program& program = plan.planned.program;
  for (const Step& step : program.steps) {
    plan.table_at.push_back(static_cast<uint32_t>(plan.table.size()));
    plan.sorted_at.push_back(static_cast<uint32_t>(plan.sorted_elements));
    if (const auto* gather = std::get_if<GatherStep>(&step.kind)) {
      AppendTable(plan.table, gather->extents, gather->strides);
    } else if (const auto* reduce = std::get_if<ReduceStep>(&step.kind)) {
      std::vector<std::size_t> summed;
      for (const std::size_t stride : reduce->strides) summed.push_back(stride == 0 ? 1 : 0);
      AppendTable(plan.table, reduce->extents, summed);
    } else if (const auto* embedding = std::get_if<EmbeddingBackwardStep>(&step.kind)) {
      const uint64_t table_rows = program.buffers[step.writes[0]].count / embedding->width;
      plan.sorted_elements += table_rows + 1 + embedding->rows;
      if (plan.sorted_elements > kMostPlaces) return false;
    } else if (const auto* loss = std::get_if<CrossEntropyStep>(&step.kind)) {
      plan.pair_elements = std::max<uint64_t>(plan.pair_elements, 2 * uint64_t{loss->rows});
    }
  }
  return true;
}

// Bytes of all buffers but scores of attention. InvalidArgument: one is larger than a buffer.
base::StatusOr<uint64_t> FixedBytes(const DevicePlan& plan, const DeviceLimits& limits) {
  const Program& program = plan.planned.program;
  std::vector<uint64_t> whole = {plan.pair_elements, plan.table.size(), plan.sorted_elements};
  whole.insert(whole.end(), program.constant_elements.begin(), program.constant_elements.end());
  for (const Input& input : program.inputs) {
    whole.push_back(static_cast<uint64_t>(input.type.count()));
  }
  const uint64_t vectors = plan.adds ? 3 : 2;  // parameters, gradient, sum
  uint64_t elements = vectors * program.parameter_count + plan.planned.arena_elements;
  for (const uint64_t count : whole) {
    if (count * kFloatBytes > limits.buffer_bytes) {
      return TooLarge("a constant, an input or a table", count * kFloatBytes, limits.buffer_bytes);
    }
    elements += count;
  }
  return elements * kFloatBytes;
}

// Gives scores of attention what they need and `left` bytes have. InvalidArgument: that is not
// enough for one query.
base::Status PlanScratch(DevicePlan& plan, const DeviceLimits& limits, uint64_t left) {
  uint64_t one_query = 0;
  uint64_t all_queries = 0;
  ForEachAttention(plan.planned.program, [&](const AttentionShape& shape, bool backward) {
    plan.scratch_buffers = std::max<uint64_t>(plan.scratch_buffers, backward ? 2 : 1);
    const uint64_t scores = ScoresOfQuery(shape, backward);
    one_query = std::max(one_query, scores);
    all_queries =
        std::max(all_queries,
                 scores > kMostElements / shape.queries ? kMostElements : scores * shape.queries);
  });
  if (plan.scratch_buffers == 0) return base::OkStatus();
  const uint64_t bytes = std::min(limits.scratch_bytes, left) / plan.scratch_buffers;
  plan.scratch_elements = std::min(
      {all_queries, bytes / kFloatBytes, limits.buffer_bytes / kFloatBytes, kMostElements});
  if (plan.scratch_elements >= one_query) return base::OkStatus();
  return TooLarge("attention of one query", one_query * kFloatBytes * plan.scratch_buffers,
                  std::min({limits.scratch_bytes, left, limits.buffer_bytes}));
}

}  // namespace

uint64_t ScoresOfQuery(const AttentionShape& shape, bool backward) {
  return uint64_t{shape.batch} * (backward ? shape.groups : shape.heads) * shape.keys;
}

uint32_t CutOf(const DevicePlan& plan, const AttentionShape& shape, bool backward) {
  const uint64_t queries = plan.scratch_elements / ScoresOfQuery(shape, backward);
  return static_cast<uint32_t>(std::min<uint64_t>(queries, shape.queries));
}

base::StatusOr<DevicePlan> PlanDevice(Program program, const DeviceLimits& limits) {
  constexpr uint64_t kUnit = 16;  // of slabs: plan.h
  const uint64_t slab = std::min(limits.buffer_bytes / kFloatBytes, kMostPlaces) / kUnit * kUnit;
  if (slab == 0) {
    return base::InvalidArgument("a device with buffers of " + std::to_string(limits.buffer_bytes) +
                                 " bytes");
  }
  DevicePlan plan{.adds = limits.adds};
  ASSIGN_OR_RETURN(
      plan.planned,
      PlanMemory(std::move(program),
                 {.max_bytes = std::numeric_limits<uint64_t>::max(), .slab_elements = slab}, 1));
  plan.arena = CutArena(plan.planned.arena_elements, slab);
  ASSIGN_OR_RETURN(plan.parameters, CutParameters(plan.planned.program, slab));
  if (!CountTables(plan)) {
    return base::InvalidArgument("the graph's embeddings have more than 2^32 rows and positions");
  }
  ASSIGN_OR_RETURN(const uint64_t fixed, FixedBytes(plan, limits));
  if (fixed > limits.memory_bytes) return TooLarge("a gradient", fixed, limits.memory_bytes);
  RETURN_IF_ERROR(PlanScratch(plan, limits, limits.memory_bytes - fixed));
  plan.bytes = fixed + plan.scratch_buffers * plan.scratch_elements * kFloatBytes;
  plan.left = limits.memory_bytes - plan.bytes;
  return plan;
}

}  // namespace ostraka::exact

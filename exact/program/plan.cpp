#include "exact/program/plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"
#include "exact/program/cost.h"
#include "exact/program/differentiate.h"
#include "node/base/check.h"

namespace ostraka::exact {
namespace {

constexpr std::size_t kUnit = 16;  // elements: a cache line

std::size_t RoundUp(std::size_t count) { return (count + kUnit - 1) / kUnit * kUnit; }

// Free places of an arena that grows at its end. Best fit: the smallest place that is large enough,
// and of those the first.
//
// Promises:
//   A1  places handed out and not yet returned do not overlap.
//   A2  neighbouring free places are joined, if one slab holds both.
//   A3  no place lies in two slabs.
// Memory: proportional to the number of places.
// Thread safety: none; one owner.
class Arena {
 public:
  // `slab`: elements of a slab, a multiple of kUnit, or 0.
  explicit Arena(std::size_t slab) : slab_(slab) {}

  // REQUIRES: a slab holds `count`.
  std::size_t Take(std::size_t count) {
    count = RoundUp(count);
    OSTRAKA_CHECK(slab_ == 0 || count <= slab_);
    const auto found = by_size_.lower_bound({count, 0});
    if (found == by_size_.end()) return Grow(count);
    const auto [size, offset] = *found;
    Remove(offset, size);
    if (size > count) Insert(offset + count, size - count);
    return offset;
  }

  void Return(std::size_t offset, std::size_t count) {
    std::size_t size = RoundUp(count);
    auto next = by_offset_.lower_bound(offset);
    OSTRAKA_CHECK(next == by_offset_.end() || next->first >= offset + size);
    if (next != by_offset_.begin()) {
      const auto [before, before_size] = *std::prev(next);
      OSTRAKA_CHECK(before + before_size <= offset);
      if (before + before_size == offset && !BeginsSlab(offset)) {
        Remove(before, before_size);
        offset = before;
        size += before_size;
      }
    }
    next = by_offset_.lower_bound(offset + size);
    if (next != by_offset_.end() && next->first == offset + size && !BeginsSlab(next->first)) {
      const auto [after, after_size] = *next;
      Remove(after, after_size);
      size += after_size;
    }
    Insert(offset, size);
  }

  std::size_t end() const { return end_; }

 private:
  bool BeginsSlab(std::size_t offset) const { return slab_ != 0 && offset % slab_ == 0; }

  // Extends the free place at the end, if there is one. What is left of a slab that is too full
  // stays free.
  std::size_t Grow(std::size_t count) {
    std::size_t offset = end_;
    if (!by_offset_.empty() && !BeginsSlab(end_)) {
      const auto [last, size] = *by_offset_.rbegin();
      if (last + size == end_) {
        Remove(last, size);
        offset = last;
      }
    }
    if (slab_ != 0 && offset / slab_ != (offset + count - 1) / slab_) {
      const std::size_t next = (offset / slab_ + 1) * slab_;
      Insert(offset, next - offset);
      offset = next;
    }
    end_ = offset + count;
    return offset;
  }
  void Insert(std::size_t offset, std::size_t size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void Remove(std::size_t offset, std::size_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }

  std::size_t slab_;
  std::map<std::size_t, std::size_t> by_offset_;
  std::set<std::pair<std::size_t, std::size_t>> by_size_;  // (size, offset)
  std::size_t end_ = 0;
};

// How many of a step's first operands its result may lie over: kernels.h says which outputs may be
// inputs.
std::size_t OverwritableOperands(const Step& step) {
  if (std::holds_alternative<MapStep>(step.kind)) return step.reads.size();
  const bool first = std::holds_alternative<AddRowStep>(step.kind) ||
                     std::holds_alternative<SoftmaxStep>(step.kind) ||
                     std::holds_alternative<SoftmaxBackwardStep>(step.kind);
  return first ? 1 : 0;
}

// Gives the buffers of one program their places, step by step.
class Planner {
 public:
  Planner(Program& program, std::size_t threads, std::size_t slab)
      : program_(program),
        threads_(threads),
        last_use_(program.buffers.size(), 0),
        placed_(program.buffers.size(), false),
        arena_(slab) {
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
      for (const BufferId id : program.steps[s].reads) last_use_[id] = s;
      for (const BufferId id : program.steps[s].writes) last_use_[id] = std::max(last_use_[id], s);
    }
    last_use_[program.loss] = program.steps.size();
    if (program.logits) last_use_[*program.logits] = program.steps.size();
  }

  std::vector<std::size_t> PlaceAll() {
    std::vector<std::size_t> scratch;
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      const Step& step = program_.steps[s];
      for (const BufferId id : step.writes) Place(id, step, s);
      const std::size_t floats = ScratchOf(step, threads_);
      scratch.push_back(floats > 0 ? arena_.Take(floats) : 0);
      if (floats > 0) arena_.Return(scratch.back(), floats);
      for (const BufferId id : step.reads) ReturnIfDead(id, s);
      for (const BufferId id : step.writes) ReturnIfDead(id, s);
    }
    return scratch;
  }

  std::size_t end() const { return arena_.end(); }

 private:
  bool IsInArena(BufferId id) const {
    return program_.buffers[id].place == ostraka::exact::Place::kArena;
  }

  void Place(BufferId id, const Step& step, std::size_t s) {
    if (!IsInArena(id) || placed_[id]) return;
    placed_[id] = true;
    Buffer& buffer = program_.buffers[id];
    for (std::size_t i = 0; i < OverwritableOperands(step); ++i) {
      const BufferId read = step.reads[i];
      const Buffer& operand = program_.buffers[read];
      if (IsInArena(read) && placed_[read] && last_use_[read] == s &&
          operand.count == buffer.count) {
        buffer.offset = operand.offset;
        placed_[read] = false;  // its place has a new owner
        return;
      }
    }
    buffer.offset = arena_.Take(buffer.count);
  }

  void ReturnIfDead(BufferId id, std::size_t s) {
    if (!IsInArena(id) || !placed_[id] || last_use_[id] != s) return;
    placed_[id] = false;
    arena_.Return(program_.buffers[id].offset, program_.buffers[id].count);
  }

  Program& program_;
  std::size_t threads_;
  std::vector<std::size_t> last_use_;  // of each buffer: the last step that touches it
  std::vector<bool> placed_;           // of each buffer: it owns its place now
  Arena arena_;
};

std::uint64_t BytesOf(const Program& program, std::size_t arena_elements, std::size_t threads) {
  std::uint64_t elements = 2 * program.parameter_count + arena_elements + threads * kProductScratch;
  for (const std::size_t count : program.constant_elements) elements += count;
  for (const Input& input : program.inputs) {
    elements += static_cast<std::uint64_t>(input.type.count());
  }
  return elements * sizeof(float);
}

// InvalidArgument if something that goes into the arena is larger than a slab.
base::Status CheckSlabs(const Program& program, std::size_t threads, std::size_t slab) {
  OSTRAKA_CHECK(slab % kUnit == 0);
  std::size_t largest = 0;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.place == Place::kArena) largest = std::max(largest, RoundUp(buffer.count));
  }
  for (const Step& step : program.steps) {
    largest = std::max(largest, RoundUp(ScratchOf(step, threads)));
  }
  if (slab == 0 || largest <= slab) return base::OkStatus();
  return base::InvalidArgument("a tensor of " + std::to_string(largest * sizeof(float)) +
                               " bytes is larger than a slab of " +
                               std::to_string(slab * sizeof(float)));
}

}  // namespace

base::StatusOr<PlannedProgram> PlanMemory(Program program, const PlanLimits& limits,
                                          std::size_t threads) {
  OSTRAKA_CHECK(threads > 0);
  PlannedProgram planned{.program = std::move(program), .threads = threads};
  for (const Step& step : planned.program.steps) {
    const std::uint64_t operations = OperationsOf(planned.program, step);
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    planned.operations =
        operations > kMost - planned.operations ? kMost : planned.operations + operations;
  }
  if (planned.operations > limits.max_operations) {
    return base::InvalidArgument("a gradient takes " + std::to_string(planned.operations) +
                                 " floating-point operations, more than the limit of " +
                                 std::to_string(limits.max_operations));
  }
  RETURN_IF_ERROR(CheckSlabs(planned.program, threads, limits.slab_elements));
  Planner planner(planned.program, threads, limits.slab_elements);
  planned.scratch = planner.PlaceAll();
  planned.arena_elements = planner.end();
  planned.peak_bytes = BytesOf(planned.program, planned.arena_elements, threads);
  if (planned.peak_bytes > limits.max_bytes) {
    return base::InvalidArgument("a gradient takes " + std::to_string(planned.peak_bytes) +
                                 " bytes, more than the limit of " +
                                 std::to_string(limits.max_bytes));
  }
  return planned;
}

base::StatusOr<PlannedProgram> PrepareGraph(std::string_view text, const PlanLimits& limits,
                                            std::size_t threads) {
  ASSIGN_OR_RETURN(const Graph graph, ParseGraph(text));
  RETURN_IF_ERROR(CheckGraph(graph));
  return PlanMemory(Differentiate(graph), limits, threads);
}

}  // namespace ostraka::exact

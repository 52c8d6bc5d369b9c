#include "exact/program/recompute.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "node/base/check.h"

namespace ostraka::exact {
namespace {

// More stretches than this save nothing in models of up to some hundred layers.
constexpr std::size_t kMostStretches = 64;

// Where the forward pass writes and reads a buffer. Steps are counted from 0.
struct Life {
  bool written = false;
  std::size_t first_write = 0;
  std::size_t last_write = 0;
  std::size_t last_read = 0;
  bool read_backward = false;
};

std::vector<Life> LivesOf(const Program& program) {
  std::vector<Life> lives(program.buffers.size());
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const bool forward = s < program.forward_steps;
    for (const BufferId id : program.steps[s].reads) {
      if (forward) {
        lives[id].last_read = s;
      } else {
        lives[id].read_backward = true;
      }
    }
    if (!forward) continue;
    for (const BufferId id : program.steps[s].writes) {
      if (!lives[id].written) lives[id].first_write = s;
      lives[id].written = true;
      lives[id].last_write = s;
    }
  }
  return lives;
}

class Recomputing {
 public:
  Recomputing(const Program& program, std::span<const std::size_t> cuts)
      : program_(program),
        lives_(LivesOf(program)),
        cuts_(cuts.begin(), cuts.end()),
        again_(program.buffers.size()),
        ran_(cuts.size() + 1, false),
        result_(program) {
    result_.steps.resize(program.forward_steps);
  }

  Program Run() && {
    for (std::size_t s = program_.forward_steps; s < program_.steps.size(); ++s) {
      Step step = program_.steps[s];
      for (BufferId& id : step.reads) {
        if (IsForgotten(id)) RunAgain(StretchOf(lives_[id].first_write));
        id = again_[id].value_or(id);
      }
      result_.steps.push_back(std::move(step));
    }
    return std::move(result_);
  }

 private:
  std::size_t StretchOf(std::size_t step) const {
    const auto cut = std::upper_bound(cuts_.begin(), cuts_.end(), step);
    return static_cast<std::size_t>(cut - cuts_.begin());
  }

  // Written and read within one stretch, which is not the last.
  bool IsForgotten(BufferId id) const {
    const Life& life = lives_[id];
    if (program_.buffers[id].place != Place::kArena || !life.written) return false;
    if (id == program_.loss || id == program_.logits) return false;
    const std::size_t stretch = StretchOf(life.first_write);
    return stretch < cuts_.size() && stretch == StretchOf(life.last_write) &&
           (life.last_read <= life.last_write || stretch == StretchOf(life.last_read));
  }

  // Emits the steps of a stretch that give what the backward pass reads of it, once.
  void RunAgain(std::size_t stretch) {
    if (ran_[stretch]) return;
    ran_[stretch] = true;
    const std::size_t begin = stretch == 0 ? 0 : cuts_[stretch - 1];
    const std::size_t end = cuts_[stretch];
    std::vector<bool> wanted(program_.buffers.size());
    for (std::size_t id = 0; id < lives_.size(); ++id) {
      wanted[id] = lives_[id].read_backward && IsForgotten(static_cast<BufferId>(id));
    }
    std::vector<bool> runs(end - begin);
    for (std::size_t s = end; s-- > begin;) {
      const Step& step = program_.steps[s];
      runs[s - begin] = std::any_of(step.writes.begin(), step.writes.end(),
                                    [&](BufferId id) { return wanted[id]; });
      if (!runs[s - begin]) continue;
      for (const BufferId id : step.reads) wanted[id] = wanted[id] || IsForgotten(id);
    }
    for (std::size_t s = begin; s < end; ++s) {
      if (!runs[s - begin]) continue;
      Step step = program_.steps[s];
      for (BufferId& id : step.reads) id = again_[id].value_or(id);
      for (BufferId& id : step.writes) id = Again(id);
      result_.steps.push_back(std::move(step));
    }
  }

  BufferId Again(BufferId id) {
    if (!again_[id]) {
      again_[id] = static_cast<BufferId>(result_.buffers.size());
      result_.buffers.push_back(program_.buffers[id]);
    }
    return *again_[id];
  }

  const Program& program_;
  std::vector<Life> lives_;
  std::vector<std::size_t> cuts_;
  std::vector<std::optional<BufferId>> again_;  // of each buffer: where it is computed again
  std::vector<bool> ran_;                       // of each stretch
  Program result_;
};

// Cuts of the forward pass into `stretches` of about as much that the backward pass reads, each
// where the least is alive.
std::vector<std::size_t> CutsFor(const Program& program, std::size_t stretches) {
  const std::vector<Life> lives = LivesOf(program);
  // By step: elements that it is the last to write and the backward pass reads; and elements that
  // are alive before it.
  std::vector<std::uint64_t> saved(program.forward_steps);
  std::vector<std::int64_t> change(program.forward_steps + 1);
  for (std::size_t id = 0; id < lives.size(); ++id) {
    const Life& life = lives[id];
    if (!life.written || program.buffers[id].place != Place::kArena) continue;
    if (life.read_backward) saved[life.last_write] += program.buffers[id].count;
    if (life.last_read <= life.first_write) continue;
    change[life.first_write + 1] += static_cast<std::int64_t>(program.buffers[id].count);
    change[life.last_read + 1] -= static_cast<std::int64_t>(program.buffers[id].count);
  }
  std::uint64_t total = 0;
  for (const std::uint64_t count : saved) total += count;
  std::vector<std::size_t> cuts;
  std::uint64_t before = 0;  // saved by the steps before s
  std::int64_t alive = 0;    // before step s
  std::optional<std::size_t> best;
  std::int64_t least = 0;
  for (std::size_t s = 0; s < program.forward_steps && cuts.size() + 1 < stretches; ++s) {
    alive += change[s];
    // A window around the cut's ideal place, as wide as a stretch.
    const std::uint64_t middle = 2 * stretches * before;
    const std::uint64_t ideal = 2 * (cuts.size() + 1) * total;
    if (middle > ideal + total) {
      if (best) cuts.push_back(*best);
      best.reset();
    }
    if (s > 0 && middle + total >= ideal && (!best || alive < least)) {
      if (cuts.empty() || s > cuts.back()) {
        best = s;
        least = alive;
      }
    }
    before += saved[s];
  }
  if (best && cuts.size() + 1 < stretches && (cuts.empty() || *best > cuts.back())) {
    cuts.push_back(*best);
  }
  return cuts;
}

}  // namespace

Program Recompute(const Program& program, std::span<const std::size_t> cuts) {
  OSTRAKA_CHECK(std::is_sorted(cuts.begin(), cuts.end()));
  OSTRAKA_CHECK(cuts.empty() || (cuts.front() > 0 && cuts.back() < program.forward_steps));
  return Recomputing(program, cuts).Run();
}

base::StatusOr<PlannedProgram> PlanLeastMemory(Program program, const PlanLimits& limits,
                                               std::size_t threads) {
  base::StatusOr<PlannedProgram> best = PlanMemory(program, limits, threads);
  for (std::size_t stretches = 2; stretches <= kMostStretches; stretches += 1 + stretches / 4) {
    const std::vector<std::size_t> cuts = CutsFor(program, stretches);
    if (cuts.empty()) break;
    base::StatusOr<PlannedProgram> plan = PlanMemory(Recompute(program, cuts), limits, threads);
    if (!plan.ok()) continue;
    if (!best.ok() || plan->arena_elements < best->arena_elements) best = std::move(plan);
  }
  return best;
}

}  // namespace ostraka::exact

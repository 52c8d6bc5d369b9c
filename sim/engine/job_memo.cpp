#include "sim/engine/job_memo.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <variant>

namespace ostraka::sim {
namespace {

using protocol::GradientSpec;
using protocol::JobResult;
using protocol::JobSpec;
using protocol::RecomputeSpec;
using protocol::RootSpec;
using protocol::UpdateSpec;

bool Same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool Same(const protocol::SharedVector& a, const protocol::SharedVector& b) {
  if (a == b) return true;
  if (!a || !b || a->size() != b->size()) return false;
  return a->empty() || std::memcmp(a->data(), b->data(), a->size() * sizeof(float)) == 0;
}

bool Same(const protocol::SharedBlob& a, const protocol::SharedBlob& b) {
  if (a == b) return true;
  return a && b && a->root == b->root && a->data == b->data;
}

bool Same(const protocol::ModelState& a, const protocol::ModelState& b) {
  return Same(a.parameters, b.parameters) &&
         std::equal(a.slots.begin(), a.slots.end(), b.slots.begin(), b.slots.end(),
                    [](const auto& one, const auto& other) {
                      return one.name == other.name && Same(one.values, other.values);
                    });
}

bool Same(const wire::ColumnNumbers& a, const wire::ColumnNumbers& b) {
  if (a.missing != b.missing || !Same(a.norm, b.norm) || !Same(a.size, b.size)) return false;
  for (std::size_t k = 0; k < a.s.size(); ++k) {
    if (!Same(a.s[k], b.s[k])) return false;
  }
  return true;
}

bool Same(const protocol::Column& a, const protocol::Column& b) {
  return a.part_index == b.part_index && a.range == b.range &&
         a.direction_seed == b.direction_seed && Same(a.result, b.result);
}

// Cheap fields first: most comparisons end there.
bool Same(const GradientSpec& a, const GradientSpec& b) {
  return a.step == b.step && a.batch_seed == b.batch_seed && a.batches == b.batches &&
         a.owner == b.owner && a.again == b.again && a.local == b.local &&
         Same(a.parameters, b.parameters);
}

bool Same(const std::optional<RecomputeSpec::Committed>& a,
          const std::optional<RecomputeSpec::Committed>& b) {
  if (!a || !b) return !a && !b;
  return a->gradient_root == b->gradient_root && a->parameters_root == b->parameters_root &&
         a->parts == b->parts;
}

bool Same(const RecomputeSpec::Claim& a, const RecomputeSpec::Claim& b) {
  return Same(a.numbers, b.numbers) && Same(a.column, b.column);
}

bool Same(const std::vector<RecomputeSpec::Claim>& a, const std::vector<RecomputeSpec::Claim>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& left, const auto& right) { return Same(left, right); });
}

bool Same(const RecomputeSpec& a, const RecomputeSpec& b) {
  return Same(a.tau, b.tau) && Same(a.eps_g, b.eps_g) && Same(a.committed, b.committed) &&
         Same(a.gradient, b.gradient) && Same(a.claims, b.claims);
}

bool Same(const UpdateSpec& a, const UpdateSpec& b) {
  if (a.step != b.step || a.columns.size() != b.columns.size()) return false;
  for (std::size_t i = 0; i < a.columns.size(); ++i) {
    if (a.columns[i].range != b.columns[i].range ||
        !Same(a.columns[i].result, b.columns[i].result)) {
      return false;
    }
  }
  return Same(a.state, b.state) && a.layout == b.layout;
}

bool Same(const protocol::ParametersRootSpec& a, const protocol::ParametersRootSpec& b) {
  return Same(a.parameters, b.parameters);
}

bool Same(const RootSpec& a, const RootSpec& b) {
  return Same(a.state, b.state) && a.layout == b.layout;
}

template <typename Spec>
bool BothAre(const JobSpec& a, const JobSpec& b) {
  const Spec* left = std::get_if<Spec>(&a);
  const Spec* right = std::get_if<Spec>(&b);
  return left && right && Same(*left, *right);
}

template <typename T>
void PushBounded(std::deque<T>& newest_first, T entry, std::size_t limit) {
  newest_first.push_front(std::move(entry));
  if (newest_first.size() > limit) newest_first.pop_back();
}

}  // namespace

bool SameJob(const JobSpec& a, const JobSpec& b) {
  return BothAre<GradientSpec>(a, b) || BothAre<RecomputeSpec>(a, b) || BothAre<UpdateSpec>(a, b) ||
         BothAre<RootSpec>(a, b) || BothAre<protocol::ParametersRootSpec>(a, b);
}

JobMemo::JobMemo(JobFunction run, protocol::GradientFunction gradients, Limits limits)
    : run_(std::move(run)), compute_(std::move(gradients)), limits_(limits) {
  remembering_ = [this](const GradientSpec& spec) { return GradientOf(spec); };
}

base::StatusOr<std::vector<float>> JobMemo::GradientOf(const GradientSpec& spec) {
  for (const Gradient& known : gradients_) {
    if (Same(known.spec, spec)) return known.values;
  }
  ++gradients_computed_;
  ASSIGN_OR_RETURN(std::vector<float> values, compute_(spec));
  PushBounded(gradients_, {spec, values}, limits_.gradients);
  return values;
}

std::shared_ptr<const JobResult> JobMemo::Run(const std::shared_ptr<const JobSpec>& spec) {
  std::deque<Entry>* known = nullptr;
  if (std::holds_alternative<RecomputeSpec>(*spec)) known = &recomputations_;
  if (std::holds_alternative<UpdateSpec>(*spec)) known = &updates_;
  if (std::holds_alternative<RootSpec>(*spec)) known = &roots_;
  if (std::holds_alternative<protocol::ParametersRootSpec>(*spec)) known = &parameters_roots_;
  if (known) {
    for (const Entry& entry : *known) {
      if (SameJob(*entry.spec, *spec)) return entry.result;
    }
  }
  ++jobs_run_;
  auto result = std::make_shared<const JobResult>(run_(*spec, remembering_));
  if (known) PushBounded(*known, {spec, result}, limits_.others);
  return result;
}

}  // namespace ostraka::sim

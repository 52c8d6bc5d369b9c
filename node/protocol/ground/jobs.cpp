#include "node/protocol/ground/jobs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "aggregation/kernels/projection.h"
#include "aggregation/rules/centered_clip.h"
#include "aggregation/rules/mean.h"
#include "crypto/merkle.h"
#include "crypto/parameters_root.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/ground/schedule.h"

namespace ostraka::protocol {
namespace {

JobResult Failed(const base::Status& status) { return JobFailed{base::MessageOf(status)}; }

SharedBlob BlobOf(Codec codec, std::span<const float> values, bool hash) {
  base::Bytes bytes = Encode(codec, values);
  if (hash) return crypto::MakeBlob(std::move(bytes));
  return std::make_shared<const crypto::Blob>(crypto::Blob{std::move(bytes), Digest{}});
}

bool SameBytes(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class JobRunner {
 public:
  JobRunner(const GradientFunction& gradients, const aggregation::Executor& executor)
      : gradients_(gradients), executor_(executor) {}

  JobResult operator()(const GradientSpec& spec) const {
    auto gradient = gradients_(spec);
    if (!gradient.ok()) return Failed(gradient.status());
    if (gradient->size() != spec.parameters->size()) {
      return JobFailed{"the trainer returned a gradient of the wrong length"};
    }
    aggregation::ZeroNonFinite(*gradient);
    return GradientResult{std::make_shared<const std::vector<float>>(std::move(gradient).value())};
  }

  JobResult operator()(const PackSpec& spec) const {
    PackResult result;
    result.parts.reserve(spec.parts.size());
    for (const PartRange& range : spec.parts) {
      const auto values = std::span(*spec.gradient).subspan(range.begin, range.size());
      result.parts.push_back(BlobOf(spec.codec, values, spec.hash));
    }
    return result;
  }

  JobResult operator()(const AggregateSpec& spec) const {
    OSTRAKA_CHECK(!spec.parts.empty());
    std::vector<Values> decoded;
    aggregation::Rows rows;
    rows.dimension = spec.size;
    for (const SharedBlob& part : spec.parts) {
      decoded.emplace_back(spec.codecs.parts, *part, spec.size);
      rows.row.push_back(decoded.back().span().data());
    }
    std::vector<float> out(rows.dimension);
    const base::Status status = Aggregate(spec, rows, out);
    if (!status.ok()) return Failed(status);
    return AggregateResult{BlobOf(spec.codecs.results, out, spec.hash)};
  }

  JobResult operator()(const ProveSpec& spec) const {
    ProveResult result;
    result.columns.reserve(spec.columns.size());
    for (std::size_t j = 0; j < spec.columns.size(); ++j) {
      const Column& column = spec.columns[j];
      const Values part(spec.codec, *spec.parts[j], column.range.size());
      result.columns.push_back(NumbersOf(part, column, spec.tau));
    }
    return result;
  }

  JobResult operator()(const CrossCheckSpec& spec) const {
    CrossCheckResult result;
    const Measure measure(spec.column, spec.tau);
    for (const auto& claim : spec.claims) {
      const Values part(spec.codec, *claim.part, spec.column.range.size());
      if (SameBits(measure.Of(part), claim.numbers)) continue;
      if (LiesAgain(spec, claim)) result.liars.push_back(claim.peer);
    }
    return result;
  }

  JobResult operator()(const RecomputeSpec& spec) const {
    if (spec.committed) return JudgeExactly(spec);
    JobResult own = (*this)(spec.gradient);
    const auto* gradient = std::get_if<GradientResult>(&own);
    if (gradient == nullptr) return own;
    RecomputeResult result;
    for (const auto& claim : spec.claims) {
      const PartRange& range = claim.column.range;
      const auto part = std::span(*gradient->gradient).subspan(range.begin, range.size());
      const auto numbers = NumbersOf(part, claim.column, spec.tau);
      const double ratio =
          DeviationRatio(claim.numbers, numbers, spec.tau, spec.eps_g, range.size());
      result.worst_ratio = std::max(result.worst_ratio, ratio);
    }
    result.accuse = result.worst_ratio > 1.0;
    result.convict = result.worst_ratio > 0.5;
    return result;
  }

  JobResult operator()(const UpdateSpec& spec) const {
    auto parameters = std::make_shared<std::vector<float>>(*spec.state.parameters);
    ModelState after{parameters, {}};
    std::vector<std::span<float>> slots;
    for (const StateSlot& slot : spec.state.slots) {
      auto values = std::make_shared<std::vector<float>>(*slot.values);
      slots.emplace_back(*values);
      after.slots.push_back({slot.name, std::move(values)});
    }
    const float factor = FactorOf(spec);
    std::vector<aggregation::Extent> applied;
    for (const auto& column : spec.columns) {
      const std::size_t begin = column.range.begin;
      const std::size_t size = column.range.size();
      std::vector<std::span<float>> own;
      for (const auto& slot : slots) own.push_back(slot.subspan(begin, size));
      const Values result(spec.codec, *column.result, size);
      aggregation::Update(spec.step, factor, result, std::span(*parameters).subspan(begin, size),
                          own);
      applied.push_back({column.range.begin, column.range.end});
    }
    aggregation::MoveTensors(spec.step, spec.layout, applied, *parameters, slots);
    return UpdateResult{std::move(after)};
  }

  JobResult operator()(const RootSpec& spec) const {
    RootResult result;
    result.leaves = StateLeaves(spec.state, spec.layout);
    result.root = *StateRootOf(result.leaves, spec.layout, SlotNamesOf(spec.state));
    return result;
  }

  JobResult operator()(const ParametersRootSpec& spec) const {
    return ParametersRootResult{crypto::ParametersRoot(*spec.parameters)};
  }

 private:
  static float FactorOf(const UpdateSpec& spec) {
    if (spec.step.clip_norm == 0) return 1;
    aggregation::SquareSum sum;
    for (const auto& column : spec.columns) {
      sum.Add(column.range.begin, Values(spec.codec, *column.result, column.range.size()));
    }
    return aggregation::GradientClipFactor(sum.Norm(), spec.step.clip_norm);
  }

  // A member that finds a difference computes once more before it says so: an honest one whose
  // hardware slipped would lose by its own accusation.
  JobResult JudgeExactly(const RecomputeSpec& spec) const {
    if (crypto::ParametersRoot(*spec.gradient.parameters) != spec.committed->parameters_root) {
      return RecomputeResult{.unsure = true};
    }
    const JobResult first = (*this)(spec.gradient);
    const auto* gradient = std::get_if<GradientResult>(&first);
    if (gradient == nullptr) return first;
    if (Compare(*gradient->gradient, spec).all()) return RecomputeResult{};
    GradientSpec other_way = spec.gradient;
    other_way.again = true;
    const JobResult second = (*this)(other_way);
    const auto* check = std::get_if<GradientResult>(&second);
    if (check == nullptr) return second;
    const Agreement agreement = Compare(*check->gradient, spec);
    if (!SameBytes(*gradient->gradient, *check->gradient) || !AreIntact(spec.claims) ||
        agreement.all()) {  // also a hash or a number may have slipped
      return RecomputeResult{.unsure = true};
    }
    return RecomputeResult{.accuse = true,
                           .convict = true,
                           .worst_ratio = std::numeric_limits<double>::infinity(),
                           .false_gradient = !agreement.root};
  }

  // What a worker with this gradient says, against what the target said. The root covers every bit,
  // those of void columns too. The numbers say whether the target also proved what it committed to.
  struct Agreement {
    bool numbers = true;
    bool root = false;
    bool all() const { return numbers && root; }
  };
  static Agreement Compare(std::span<const float> gradient, const RecomputeSpec& spec) {
    Agreement agreement;
    std::vector<Digest> roots;
    for (std::size_t j = 0; j < spec.committed->parts.size(); ++j) {
      const PartRange& range = spec.committed->parts[j];
      const SharedBlob sent =
          BlobOf(spec.committed->codec, gradient.subspan(range.begin, range.size()), /*hash=*/true);
      roots.push_back(sent->root);
      const Values part(spec.committed->codec, *sent, range.size());
      for (const RecomputeSpec::Claim& claim : spec.claims) {
        if (claim.column.part_index != j) continue;
        const auto numbers = NumbersOf(part, claim.column, spec.tau);
        agreement.numbers = agreement.numbers && AgreeToTheBit(claim.numbers, numbers);
      }
    }
    agreement.root = crypto::MerkleRoot(roots) == spec.committed->gradient_root;
    return agreement;
  }

  // As JudgeExactly: a difference counts if it is there the second time, and what was compared is
  // still what was signed. (Unprotected runs hash nothing, and check nothing.)
  static bool LiesAgain(const CrossCheckSpec& spec, const CrossCheckSpec::Claim& claim) {
    const Values part(spec.codec, *claim.part, spec.column.range.size());
    return IsIntact(spec.column.result) && IsIntact(claim.part) &&
           !SameBits(NumbersOf(part, spec.column, spec.tau), claim.numbers);
  }

  static bool IsIntact(const SharedBlob& blob) {
    return blob == nullptr || crypto::MerkleRootOfData(blob->data) == blob->root;
  }

  // Whether the results that numbers are held against are still those that were sealed [a bit of a
  // held result that has flipped makes true numbers look false, however often they are computed].
  static bool AreIntact(const std::vector<RecomputeSpec::Claim>& claims) {
    return std::all_of(claims.begin(), claims.end(), [](const RecomputeSpec::Claim& claim) {
      return IsIntact(claim.column.result);
    });
  }

  base::Status Aggregate(const AggregateSpec& spec, const aggregation::Rows& rows,
                         std::span<float> out) const {
    const bool clip = spec.clip && !base::Planted(base::Bug::kMeanForClip);
    if (!clip) return aggregation::Mean().Aggregate(rows, executor_, out);
    return aggregation::CenteredClip({.tau = spec.tau, .eps = spec.eps})
        .Aggregate(rows, executor_, out);
  }

  const GradientFunction& gradients_;
  const aggregation::Executor& executor_;
};

}  // namespace

GradientSpec GradientDue(const Manifest& manifest, const BatchPlan& plan, std::uint64_t step,
                         const PeerId& worker, SharedVector parameters) {
  return {.step = step,
          .owner = worker,
          .parameters = std::move(parameters),
          .batch_seed =
              BatchSeed(manifest.run_id, manifest.training.data, plan.randomness, step, worker),
          .batches = BatchesOf(worker, plan.counts, manifest.training),
          .local = LocalStepsOf(manifest.training, step)};
}

JobResult RunJob(const JobSpec& spec, const GradientFunction& gradients,
                 const aggregation::Executor& executor) {
  return std::visit(JobRunner(gradients, executor), spec);
}

bool NeedsGradient(const JobSpec& spec) {
  return std::holds_alternative<GradientSpec>(spec) || std::holds_alternative<RecomputeSpec>(spec);
}

int UrgencyOf(const JobSpec& spec) {
  if (base::Planted(base::Bug::kLooksFirst)) return 0;  // in the order of their start
  const auto* recompute = std::get_if<RecomputeSpec>(&spec);
  return recompute == nullptr ? 0 : 1 + static_cast<int>(recompute->purpose);
}

}  // namespace ostraka::protocol

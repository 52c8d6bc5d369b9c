#include "sim/check/applied_checker.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <variant>

#include "crypto/stream.h"
#include "node/base/check.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/ground/schedule.h"
#include "node/wire/codec.h"
#include "sim/check/clipped_rows.h"
#include "sim/check/naive_codec.h"

namespace ostraka::sim {
namespace {

bool SameFloat(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

// A part of a gradient as a worker packs it: values that are not finite become zero.
std::vector<float> Cut(const std::vector<float>& gradient, const protocol::PartRange& range) {
  std::vector<float> part;
  part.reserve(range.size());
  for (std::uint64_t c = range.begin; c < range.end; ++c) {
    part.push_back(std::isfinite(gradient[c]) ? gradient[c] : 0.0F);
  }
  return part;
}

// <z_k, values> for the directions of a column.
std::vector<double> Project(const wire::Block& block, std::size_t column,
                            std::span<const double> values) {
  const std::size_t plane = (values.size() + 7) / 8;
  std::vector<std::uint8_t> signs(wire::kDirections * plane);
  const auto part_index = static_cast<std::uint32_t>(column);
  crypto::Stream("signs", protocol::DirectionSeed(block.randomness, block.step, part_index))
      .Fill(signs);
  std::vector<double> sums(wire::kDirections);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    for (std::size_t c = 0; c < values.size(); ++c) {
      const bool minus = ((signs[k * plane + c / 8] >> (c % 8)) & 1) != 0;
      sums[k] += minus ? -values[c] : values[c];
    }
    sums[k] /= std::sqrt(static_cast<double>(values.size()));
  }
  return sums;
}

constexpr std::size_t kNormLanes = 16;

// The norm of values whose squares are summed in `lanes`, by their place in the model.
double NaiveNorm(std::vector<double> lanes) {
  while (lanes.size() > 1) {
    const std::size_t half = lanes.size() / 2;
    for (std::size_t i = 0; i < half; ++i) lanes[i] = lanes[i] + lanes[i + half];
    lanes.resize(half);
  }
  return std::sqrt(lanes[0]);
}

float NaiveFactor(std::vector<double> lanes, double clip_norm) {
  const double norm = NaiveNorm(std::move(lanes));
  return clip_norm > 0 && norm > clip_norm ? static_cast<float>(clip_norm / norm) : 1;
}

// The slots after `g`, and the direction in which the parameter then moves.
float Turn(const aggregation::OptimizerStep& step, float g, float parameter,
           std::vector<float>& slot) {
  float u = 0;
  if (aggregation::HasMoments(step.optimizer)) {
    slot[0] = static_cast<float>(step.beta1) * slot[0] + static_cast<float>(1 - step.beta1) * g;
    slot[1] =
        static_cast<float>(step.beta2) * slot[1] + static_cast<float>(1 - step.beta2) * (g * g);
    const double left1 = 1 - aggregation::Power(step.beta1, step.updates);
    const double left2 = 1 - aggregation::Power(step.beta2, step.updates);
    const float size = std::sqrt(slot[1]) * static_cast<float>(1 / std::sqrt(left2)) +
                       static_cast<float>(step.epsilon);
    u = slot[0] * static_cast<float>(1 / left1) / size;
  } else {
    slot[0] = step.momentum * slot[0] + g;
    u = step.optimizer == aggregation::Optimizer::kNesterov ? g + step.momentum * slot[0] : slot[0];
  }
  return u + step.decay * parameter;
}

}  // namespace

Applied::Applied(const Roster& roster, std::shared_ptr<const protocol::Manifest> manifest,
                 base::TensorLayout layout, std::shared_ptr<wire::Opener> opener)
    : roster_(roster),
      manifest_(std::move(manifest)),
      layout_(std::move(layout)),
      opener_(opener),
      speech_(roster, opener) {}

bool Applied::IsHonest(const base::PeerId& peer) const {
  const auto index = roster_.IndexOf(peer);
  return index && roster_.IsHonest(*index);
}

void Applied::OnStep(const StepRecord& record) {
  const base::PeerId& self = roster_.ids[record.peer];
  if (std::holds_alternative<protocol::Started>(record.input)) {
    std::erase_if(training_, [&](const auto& job) { return job.first.first == record.peer; });
  } else if (const auto* done = std::get_if<protocol::JobDone>(&record.input)) {
    const auto job = training_.extract({record.peer, done->id});
    const auto* result = std::get_if<protocol::GradientResult>(done->result.get());
    if (!job.empty() && result) said_[job.mapped()].gradients[self] = result->gradient;
  }
  for (const protocol::Action& action : record.actions) {
    if (const auto* start = std::get_if<protocol::StartJob>(&action)) {
      const auto* spec = std::get_if<protocol::GradientSpec>(start->spec.get());
      if (spec && spec->owner == self && roster_.IsHonest(record.peer)) {
        training_[{record.peer, start->id}] = spec->step;
      }
    } else {
      Hear(record.peer, action);
    }
  }
}

void Applied::Hear(std::uint32_t peer, const protocol::Action& action) {
  const auto* send = std::get_if<protocol::Send>(&action);
  if (!send || !send->blob) return;
  // A colluder may withhold its RESULT and answer requests for it.
  const auto opened = opener_->Open(send->frame);
  if (opened.ok() && (*opened)->envelope.slot.type == wire::MessageType::kChunk) {
    const std::uint64_t step = (*opened)->envelope.slot.step;
    said_[step].results.try_emplace(send->blob->root, send->blob);
  }
  const auto said = speech_.Hear(peer, action);
  if (!said.ok() || *said == nullptr) return;
  const wire::Slot& slot = (*said)->envelope.slot;
  if (slot.type == wire::MessageType::kResult) {
    said_[slot.step].results.try_emplace(send->blob->root, send->blob);
  } else if (slot.type == wire::MessageType::kPart && !roster_.IsHonest(peer)) {
    auto& parts = said_[slot.step].parts[{roster_.ids[peer], slot.iteration}];
    const bool known = std::any_of(parts.begin(), parts.end(), [&](const auto& part) {
      return part->root == send->blob->root;
    });
    if (!known) parts.push_back(send->blob);
  }
}

base::Status Applied::OnAction(std::uint32_t, const protocol::Action& action) {
  const auto* done = Observed<protocol::StepDone>(action);
  if (!done) return base::OkStatus();
  const base::Status status = before_.IsFollowedBy(*done) ? JudgeStep(*done) : base::OkStatus();
  if (before_.MoveTo(*done) && !done->block->genesis) {
    said_.erase(said_.begin(), said_.upper_bound(done->block->step));
  }
  return status;
}

base::StatusOr<std::vector<Applied::Column>> Applied::AppliedColumns(const protocol::StepDone& done,
                                                                     const Said& said) const {
  const wire::Block& block = *done.block;
  const auto ranges = protocol::CutParts(done.state.parameters->size(),
                                         static_cast<std::uint32_t>(block.columns.size()));
  const protocol::Codec codec = manifest_->codecs.results;
  std::vector<Column> columns;
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    // The checker "columns" judges void ones.
    if (block.columns[j] != wire::ColumnFate::kApplied) continue;
    const auto result = said.results.find(block.result_roots[j]);
    if (result == said.results.end() ||
        !protocol::HoldsValues(codec, result->second->data, ranges[j].size())) {
      return base::FailedPrecondition(ColumnOf(block, j) +
                                      " is applied, and nobody sent its aggregate");
    }
    columns.push_back({block, j, ranges[j],
                       NaiveDecoded(codec, result->second->data, ranges[j].size()),
                       NaiveQuantum(codec, result->second->data, ranges[j].size()),
                       before_.block().tau, /*factor=*/1});
  }
  return columns;
}

base::Status Applied::JudgeStep(const protocol::StepDone& done) const {
  if (done.block->columns.empty()) return base::OkStatus();
  static const Said kNothing;
  const auto place = said_.find(done.block->step);
  const Said& said = place == said_.end() ? kNothing : place->second;
  ASSIGN_OR_RETURN(std::vector<Column> columns, AppliedColumns(done, said));
  std::vector<double> lanes(kNormLanes);
  for (const Column& column : columns) {
    for (std::uint64_t c = 0; c < column.range.size(); ++c) {
      const double value = column.result[c];
      lanes[(column.range.begin + c) % kNormLanes] += value * value;
    }
  }
  const float factor = NaiveFactor(std::move(lanes), manifest_->training.clip_norm);
  for (Column& column : columns) column.factor = factor;
  const aggregation::OptimizerStep step =
      protocol::OptimizerStepOf(manifest_->training, done.block->step);
  const std::vector<float> rates = RatesOf(columns, step);
  for (const Column& column : columns) {
    RETURN_IF_ERROR(JudgeState(column, step, rates, done.state));
    if (manifest_->clip) RETURN_IF_ERROR(JudgeClip(column, said));
  }
  return base::OkStatus();
}

Applied::Moved Applied::MoveOf(const Column& column, const aggregation::OptimizerStep& step,
                               std::uint64_t at) const {
  const protocol::ModelState& before = before_.state();
  const float value = column.result[at - column.range.begin];
  const float g = column.factor != 1 ? value * column.factor : value;
  Moved element{(*before.parameters)[at], {}, 0};
  for (const auto& slot : before.slots) element.slots.push_back((*slot.values)[at]);
  element.direction = Turn(step, g, element.parameter, element.slots);
  return element;
}

std::vector<float> Applied::RatesOf(const std::vector<Column>& columns,
                                    const aggregation::OptimizerStep& step) const {
  std::vector<float> rates(before_.state().parameters->size(), step.rate);
  if (step.optimizer != aggregation::Optimizer::kLamb) return rates;
  std::uint64_t begin = 0;
  for (const base::TensorSpec& tensor : layout_) {
    const std::uint64_t end = begin + tensor.element_count();
    std::vector<double> lengths(kNormLanes);
    std::vector<double> steps(kNormLanes);
    for (const Column& column : columns) {
      const std::uint64_t last = std::min(end, column.range.end);
      for (std::uint64_t at = std::max(begin, column.range.begin); at < last; ++at) {
        const Moved moved = MoveOf(column, step, at);
        lengths[at % kNormLanes] +=
            static_cast<double>(moved.parameter) * static_cast<double>(moved.parameter);
        steps[at % kNormLanes] +=
            static_cast<double>(moved.direction) * static_cast<double>(moved.direction);
      }
    }
    const double length = NaiveNorm(std::move(lengths));
    const double distance = NaiveNorm(std::move(steps));
    const double trust = length > 0 && distance > 0 ? std::min(length / distance, 10.0) : 1;
    for (; begin < end; ++begin) rates[begin] = step.rate * static_cast<float>(trust);
  }
  return rates;
}

// The optimizer's step in scalar code with one rounding for each operation, as docs/numerics.md, 9
// has it.
base::Status Applied::JudgeState(const Column& column, const aggregation::OptimizerStep& step,
                                 std::span<const float> rates,
                                 const protocol::ModelState& after) const {
  for (std::uint64_t at = column.range.begin; at < column.range.end; ++at) {
    Moved element = MoveOf(column, step, at);
    element.parameter -= rates[at] * element.direction;
    bool same = SameFloat((*after.parameters)[at], element.parameter);
    for (std::size_t k = 0; k < after.slots.size(); ++k) {
      same = same && SameFloat((*after.slots[k].values)[at], element.slots[k]);
    }
    if (same) continue;
    return base::FailedPrecondition(ColumnOf(column.block, column.index) + " changed coordinate " +
                                    std::to_string(at) + " otherwise than its aggregate says");
  }
  return base::OkStatus();
}

base::Status Applied::JudgeClip(const Column& column, const Said& said) const {
  const wire::Block::Column& aggregated = column.block.aggregated[column.index];
  const bool honest_owner = IsHonest(aggregated.owner);
  const protocol::Codec codec = manifest_->codecs.parts;
  std::vector<double> sum(column.range.size());
  std::size_t strangers = 0;  // senders whose sealed numbers may be false
  for (const base::PeerId& sender : aggregated.senders) {
    if (IsHonest(sender)) {
      const auto gradient = said.gradients.find(sender);
      if (gradient == said.gradients.end()) return Unsent(column, sender);
      AddClipped(NaiveRounded(codec, Cut(*gradient->second, column.range)), column.result,
                 column.tau, sum);
    } else if (honest_owner) {
      const auto parts = said.parts.find({sender, static_cast<std::uint32_t>(column.index)});
      if (parts == said.parts.end()) return Unsent(column, sender);
      // The owner holds one of the two parts that it sent, and the block does not say which.
      if (parts->second.size() != 1) return base::OkStatus();
      const crypto::Blob& part = *parts->second.front();
      if (!protocol::HoldsValues(codec, part.data, column.range.size())) {
        return Unsent(column, sender);
      }
      AddClipped(NaiveDecoded(codec, part.data, column.range.size()), column.result, column.tau,
                 sum);
    } else {
      ++strangers;
    }
  }
  return honest_owner ? JudgeHonest(column, sum) : JudgeByzantine(column, sum, strangers);
}

base::Status Applied::Unsent(const Column& column, const base::PeerId& sender) const {
  return base::FailedPrecondition(ColumnOf(column.block, column.index) +
                                  " is applied with a part of " + sender.Short() +
                                  " that it never made");
}

base::Status Applied::JudgeHonest(const Column& column, std::span<const double> sum) const {
  const std::size_t senders = column.block.aggregated[column.index].senders.size();
  const double allowed = ClipBound(senders, manifest_->eps,
                                   NormOf(std::span<const float>(column.result)), column.quantum);
  const double residual = NormOf(sum);
  if (residual <= allowed) return base::OkStatus();
  return base::FailedPrecondition(
      ColumnOf(column.block, column.index) + " is " + std::to_string(residual / allowed) +
      " times as far from CenteredClip of what its senders computed as is allowed");
}

base::Status Applied::JudgeByzantine(const Column& column, std::span<const double> sum,
                                     std::size_t strangers) const {
  const std::size_t senders = column.block.aggregated[column.index].senders.size();
  const double p = static_cast<double>(column.range.size());
  const double tolerance =
      8 *
      ClipBound(senders, manifest_->eps, NormOf(std::span<const float>(column.result)),
                column.quantum) /
      std::sqrt(p);
  const double lies =
      static_cast<double>(strangers) * std::min(1.0, 10 / std::sqrt(p)) * column.tau;
  for (const double projection : Project(column.block, column.index, sum)) {
    if (std::abs(projection) <= tolerance + lies * kRoundingSlack) continue;
    return base::FailedPrecondition(ColumnOf(column.block, column.index) +
                                    " is shifted by its aggregator, " +
                                    std::to_string(std::abs(projection) / (tolerance + lies)) +
                                    " times as far as its senders' numbers can have hidden");
  }
  return base::OkStatus();
}

}  // namespace ostraka::sim

#include "sim/check/column_checkers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <variant>

#include "node/protocol/ground/numbers.h"
#include "node/wire/codec.h"
#include "sim/check/clipped_rows.h"
#include "sim/check/naive_codec.h"

namespace ostraka::sim {
namespace {

constexpr std::uint64_t kColumnSteps = 4;

// |sum_i (g_i - v) min(1, tau / |g_i - v|)|.
double Residual(const protocol::AggregateSpec& spec, std::span<const float> v) {
  std::vector<double> sum(v.size());
  for (const protocol::SharedBlob& part : spec.parts) {
    AddClipped(NaiveDecoded(spec.codecs.parts, part->data, v.size()), v, spec.tau, sum);
  }
  return NormOf<double>(sum);
}

bool SameBits(const protocol::SharedVector& a, const protocol::SharedVector& b,
              const protocol::PartRange& range) {
  return std::memcmp(a->data() + range.begin, b->data() + range.begin,
                     range.size() * sizeof(float)) == 0;
}

bool SameBits(const protocol::ModelState& a, const protocol::ModelState& b,
              const protocol::PartRange& range) {
  return SameBits(a.parameters, b.parameters, range) &&
         std::equal(a.slots.begin(), a.slots.end(), b.slots.begin(), b.slots.end(),
                    [&](const auto& one, const auto& other) {
                      return SameBits(one.values, other.values, range);
                    });
}

// What the members with a role bear at least: all but those that the block admits and those that
// are leaving.
wire::Thresholds BoundsOf(const wire::Block& view, const protocol::Manifest& manifest) {
  return protocol::ThresholdsIn(manifest,
                                view.members.size() - view.joined.size() - view.leaving.size());
}

}  // namespace

// --- Aggregation --------------------------------------------------------------------------------

void Aggregation::OnStep(const StepRecord& record) {
  if (!roster_.IsHonest(record.peer)) return;
  if (std::holds_alternative<protocol::Started>(record.input)) {
    std::erase_if(running_, [&](const auto& job) { return job.first.first == record.peer; });
  }
  if (const auto* done = std::get_if<protocol::JobDone>(&record.input)) {
    const auto job = running_.extract({record.peer, done->id});
    const auto* result = std::get_if<protocol::AggregateResult>(done->result.get());
    if (!job.empty() && result && fault_.ok()) {
      const auto& spec = std::get<protocol::AggregateSpec>(*job.mapped());
      const protocol::Codec codec = spec.codecs.results;
      const base::ByteView bytes = result->result->data;
      const std::vector<float> values = NaiveDecoded(codec, bytes, spec.size);
      const double allowed =
          ClipBound(spec.parts.size(), spec.eps, NormOf(std::span<const float>(values)),
                    NaiveQuantum(codec, bytes, spec.size));
      const double residual = Residual(spec, values);
      if (!(residual <= allowed)) {
        fault_ = base::FailedPrecondition(
            Named(roster_, record.peer) + " aggregated " + std::to_string(spec.parts.size()) +
            " parts to what is " + std::to_string(residual / allowed) +
            " times as far from CenteredClip's fixed point as is allowed");
      }
    }
  }
  for (const protocol::Action& action : record.actions) {
    const auto* start = std::get_if<protocol::StartJob>(&action);
    const auto* spec = start ? std::get_if<protocol::AggregateSpec>(start->spec.get()) : nullptr;
    if (spec && spec->clip) running_[{record.peer, start->id}] = start->spec;
  }
}

base::Status Aggregation::OnAction(std::uint32_t, const protocol::Action&) { return fault_; }

// --- Columns ------------------------------------------------------------------------------------

Columns::Columns(const Roster& roster, std::shared_ptr<const protocol::Manifest> manifest,
                 std::shared_ptr<wire::Opener> opener)
    : roster_(roster), manifest_(std::move(manifest)), speech_(roster, std::move(opener)) {}

void Columns::OnStep(const StepRecord& record) {
  for (const protocol::Action& action : record.actions) Hear(record.peer, action);
}

void Columns::Hear(std::uint32_t peer, const protocol::Action& action) {
  const auto said = speech_.Hear(peer, action);
  if (!said.ok() || *said == nullptr) return;
  const wire::Slot& slot = (*said)->envelope.slot;
  const crypto::SharedBlob& blob = std::get<protocol::Send>(action).blob;
  if (slot.type == wire::MessageType::kResult && blob) {
    said_[slot.step].results[blob->root] = blob;
  }
  if (slot.type != wire::MessageType::kProof) return;
  std::vector<wire::SharedMessage>& proofs = said_[slot.step].proofs[roster_.ids[peer]];
  const bool known = std::any_of(proofs.begin(), proofs.end(), [&](const auto& proof) {
    return proof->digest == (*said)->digest;
  });
  if (!known) proofs.push_back(*said);
}

base::Status Columns::OnAction(std::uint32_t, const protocol::Action& action) {
  const auto* done = Observed<protocol::StepDone>(action);
  if (!done) return base::OkStatus();
  const base::Status status = before_.IsFollowedBy(*done) ? JudgeStep(*done) : base::OkStatus();
  before_.MoveTo(*done);
  std::erase_if(said_,
                [&](const auto& entry) { return entry.first + kColumnSteps < done->block->step; });
  return status;
}

base::Status Columns::JudgeStep(const protocol::StepDone& done) const {
  const wire::Block& block = *done.block;
  if (block.columns.empty()) return base::OkStatus();
  const auto ranges = protocol::CutParts(done.state.parameters->size(),
                                         static_cast<std::uint32_t>(block.columns.size()));
  const protocol::ModelState& before = before_.state();
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    if (block.columns[j] == wire::ColumnFate::kApplied) {
      RETURN_IF_ERROR(JudgeApplied(block, j, ranges[j].size()));
    } else if (!SameBits(before, done.state, ranges[j])) {
      return base::FailedPrecondition(ColumnOf(block, j) + " is void and changed the state");
    }
  }
  return base::OkStatus();
}

// 2b + 1, with the smallest b that the members outside S allow: those that are Byzantine, or that a
// fault hit, may all be sealed absent.
std::size_t Columns::LeastSenders(const std::vector<base::PeerId>& senders) const {
  const wire::Block& view = before_.block();
  std::uint32_t known = 0;
  for (const wire::Case& open : view.cases) known += open.id.kind != wire::CaseKind::kCover ? 1 : 0;
  for (const base::PeerId& member : view.members) {
    const auto peer = roster_.IndexOf(member);
    const bool faulty = peer && (!roster_.IsHonest(*peer) || roster_.IsUnlucky(*peer));
    known += faulty && !std::binary_search(senders.begin(), senders.end(), member) ? 1 : 0;
  }
  const wire::Thresholds bounds = BoundsOf(view, *manifest_);
  const std::uint32_t left = bounds.t_s > known ? bounds.t_s - known : 0;
  return 2 * std::size_t{std::max(bounds.t_a, left)} + 1;
}

base::Status Columns::JudgeApplied(const wire::Block& block, std::size_t column,
                                   std::uint64_t length) const {
  const std::vector<base::PeerId>& senders = block.aggregated[column].senders;
  const std::size_t least = LeastSenders(senders);
  if (senders.size() < least) {
    return base::FailedPrecondition(ColumnOf(block, column) + " is applied with " +
                                    std::to_string(senders.size()) + " senders of at least " +
                                    std::to_string(least));
  }
  return manifest_->clip ? JudgeSums(block, column, length) : base::OkStatus();
}

base::Status Columns::JudgeSums(const wire::Block& block, std::size_t column,
                                std::uint64_t length) const {
  const auto said = said_.find(block.step);
  if (said == said_.end()) return base::OkStatus();
  const auto result = said->second.results.find(block.result_roots[column]);
  if (result == said->second.results.end()) return base::OkStatus();  // withheld by its owner
  const std::vector<base::PeerId>& senders = block.aggregated[column].senders;
  double sums[wire::kDirections] = {};
  for (const base::PeerId& sender : senders) {
    const auto proofs = said->second.proofs.find(sender);
    // One of the two PROOFs that it signed is sealed, and the block does not say which.
    if (proofs == said->second.proofs.end() || proofs->second.size() != 1) return base::OkStatus();
    const auto* proof = proofs->second.front()->As<wire::Proof>();
    if (proof == nullptr || proof->columns.size() != block.columns.size() ||
        proof->columns[column].missing) {
      return base::FailedPrecondition(ColumnOf(block, column) + " is applied without numbers of " +
                                      sender.Short());
    }
    for (std::size_t k = 0; k < wire::kDirections; ++k) sums[k] += proof->columns[column].s[k];
  }
  const protocol::Codec codec = manifest_->codecs.results;
  const base::ByteView bytes = result->second->data;
  // That the members hold its values is for the checker "applied".
  if (bytes.size() != protocol::EncodedBytes(codec, length)) return base::OkStatus();
  const std::vector<float> values = NaiveDecoded(codec, bytes, length);
  const double tolerance =
      8 *
      ClipBound(senders.size(), manifest_->eps, NormOf(std::span<const float>(values)),
                NaiveQuantum(codec, bytes, length)) /
      std::sqrt(static_cast<double>(length));
  for (const double sum : sums) {
    if (std::abs(sum) <= tolerance) continue;
    return base::FailedPrecondition(ColumnOf(block, column) +
                                    " is applied with sealed numbers whose sum is " +
                                    std::to_string(std::abs(sum) / tolerance) + " tolerances");
  }
  return base::OkStatus();
}

}  // namespace ostraka::sim

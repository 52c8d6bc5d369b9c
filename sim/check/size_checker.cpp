#include "sim/check/size_checker.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <variant>

#include "node/protocol/ground/numbers.h"
#include "node/protocol/ground/roles.h"
#include "sim/check/clipped_rows.h"
#include "sim/check/naive_codec.h"
#include "sim/check/slack.h"

namespace ostraka::sim {
namespace {

// A worker packs values that are not finite as zero.
double SizeOf(protocol::Codec codec, const std::vector<float>& gradient,
              const protocol::PartRange& range) {
  std::vector<float> part(gradient.begin() + static_cast<std::ptrdiff_t>(range.begin),
                          gradient.begin() + static_cast<std::ptrdiff_t>(range.end));
  for (float& value : part) value = std::isfinite(value) ? value : 0;
  const std::vector<float> sent = NaiveRounded(codec, part);
  return NormOf(std::span<const float>(sent));
}

}  // namespace

Sizes::Sizes(const Roster& roster, std::shared_ptr<const protocol::Manifest> manifest,
             std::shared_ptr<wire::Opener> opener)
    : roster_(roster), manifest_(std::move(manifest)), speech_(roster, std::move(opener)) {}

void Sizes::OnStep(const StepRecord& record) {
  if (std::holds_alternative<protocol::Started>(record.input)) {
    std::erase_if(training_, [&](const auto& job) { return job.first.first == record.peer; });
  } else if (const auto* done = std::get_if<protocol::JobDone>(&record.input)) {
    const auto job = training_.extract({record.peer, done->id});
    const auto* result = std::get_if<protocol::GradientResult>(done->result.get());
    if (!job.empty() && result) {
      seen_[job.mapped()].gradients[roster_.ids[record.peer]] = result->gradient;
    }
  }
  for (const protocol::Action& action : record.actions) {
    if (const auto* start = std::get_if<protocol::StartJob>(&action)) {
      const auto* spec = std::get_if<protocol::GradientSpec>(start->spec.get());
      if (spec && spec->owner == roster_.ids[record.peer] && roster_.IsHonest(record.peer)) {
        training_[{record.peer, start->id}] = spec->step;
      }
      continue;
    }
    const auto* send = std::get_if<protocol::Send>(&action);
    if (!send || !send->blob) continue;
    const auto said = speech_.Hear(record.peer, action);
    if (!said.ok() || *said == nullptr) continue;
    const wire::Slot& slot = (*said)->envelope.slot;
    if (slot.type != wire::MessageType::kResult) continue;
    seen_[slot.step].results[send->blob->root] = send->blob;
  }
}

base::Status Sizes::OnAction(std::uint32_t, const protocol::Action& action) {
  const auto* done = Observed<protocol::StepDone>(action);
  if (!done) return base::OkStatus();
  // The rule promises its bound for as many Byzantine members as the block's thresholds bear. A cut
  // can end with fewer honest members than that [swarm seed 47993: one of five was dropped in a
  // cut, and two liars sent to a column of four].
  const bool promised = before_.IsFollowedBy(*done) && BearsItsByzantine(before_.block(), roster_);
  const base::Status status = promised ? JudgeStep(*done) : base::OkStatus();
  if (before_.MoveTo(*done) && !done->block->genesis) {
    seen_.erase(seen_.begin(), seen_.upper_bound(done->block->step));
  }
  return status;
}

base::Status Sizes::JudgeStep(const protocol::StepDone& done) const {
  const wire::Block& block = *done.block;
  const auto seen = seen_.find(block.step);
  if (block.columns.empty() || !manifest_->clip || seen == seen_.end()) return base::OkStatus();
  const auto ranges = protocol::CutParts(done.state.parameters->size(),
                                         static_cast<std::uint32_t>(block.columns.size()));
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    if (block.columns[j] != wire::ColumnFate::kApplied) continue;
    RETURN_IF_ERROR(JudgeColumn(block, j, ranges[j], seen->second));
  }
  return base::OkStatus();
}

// More faults than the block before bears among those that may work: members that are Byzantine,
// and honest ones that a fault hits or that are too slow and that did not send. While members leave
// or have just come, the others bear as many as they would alone (node/protocol/ground/roles.h,
// MembersInView) [swarm seed 223839432829609: six of sixteen lie, and the leave of one of fourteen
// is sealed].
bool Sizes::BearsTooFew(const std::vector<base::PeerId>& senders) const {
  const wire::Block& before = before_.block();
  const bool all = before.leaving.empty() && before.joined.empty();
  std::size_t faults = 0;
  for (const base::PeerId& member : before.members) {
    const auto peer = roster_.IndexOf(member);
    if (!peer || protocol::IsMember(before.leaving, member) ||
        protocol::IsMember(before.joined, member)) {
      continue;
    }
    const bool sent = std::find(senders.begin(), senders.end(), member) != senders.end();
    if (!roster_.IsHonest(*peer) || (roster_.IsUnlucky(*peer) && !sent)) ++faults;
  }
  return faults > (all ? before.thresholds.t_s : before.t_s_in_role);
}

base::Status Sizes::JudgeColumn(const wire::Block& block, std::size_t column,
                                const protocol::PartRange& range, const Seen& seen) const {
  const auto result = seen.results.find(block.result_roots[column]);
  if (result == seen.results.end()) return base::OkStatus();  // the checker "applied" asks for it
  double largest = 0;
  std::size_t honest = 0;
  const std::vector<base::PeerId>& senders = block.aggregated[column].senders;
  for (const base::PeerId& sender : senders) {
    const auto gradient = seen.gradients.find(sender);
    if (gradient == seen.gradients.end()) continue;
    largest = std::max(largest, SizeOf(manifest_->codecs.parts, *gradient->second, range));
    ++honest;
  }
  const double share = (static_cast<double>(senders.size() - honest) + 0.25) /
                       static_cast<double>(std::max<std::size_t>(honest, 1));
  if (honest == 0 || share >= 1) {
    if (BearsTooFew(senders)) return base::OkStatus();
    return base::FailedPrecondition(ColumnOf(block, column) + " is applied, and of " +
                                    std::to_string(senders.size()) + " senders only " +
                                    std::to_string(honest) + " are known to be honest");
  }
  const double allowed = std::max(largest + before_.block().tau * share,
                                  largest / std::sqrt((1 - share) * (1 + share))) *
                         kRoundingSlack;
  const base::ByteView bytes = result->second->data;
  const protocol::Codec codec = manifest_->codecs.results;
  if (bytes.size() != protocol::EncodedBytes(codec, range.size())) return base::OkStatus();
  const std::vector<float> values = NaiveDecoded(codec, bytes, range.size());
  const double norm = NormOf(std::span<const float>(values));
  if (norm <= allowed) return base::OkStatus();
  return base::FailedPrecondition(ColumnOf(block, column) + " is applied with an aggregate of " +
                                  std::to_string(norm) + ", beyond the " + std::to_string(allowed) +
                                  " that its honest rows allow");
}

}  // namespace ostraka::sim

#include "sim/report/step_diagram.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "node/wire/codec.h"
#include "sim/report/peer_names.h"

namespace ostraka::sim {
namespace {

constexpr std::uint64_t kKept = 2;  // newest steps, beside the chosen one

}  // namespace

StepRecorder::StepRecorder(Roster roster, std::optional<std::uint64_t> chosen)
    : roster_(std::move(roster)), chosen_(chosen) {}

void StepRecorder::OnStep(const StepRecord& record) {
  if (const auto* message = std::get_if<protocol::MessageReceived>(&record.input)) {
    OnArrival(record, *message);
  }
  for (const protocol::Action& action : record.actions) {
    if (const auto* send = std::get_if<protocol::Send>(&action)) OnSend(record, *send);
    const auto* observe = std::get_if<protocol::Observe>(&action);
    if (observe && roster_.IsHonest(record.peer)) OnObservation(record, observe->what);
  }
}

StepRecorder::InProgress* StepRecorder::At(std::uint64_t step) {
  const auto known = steps_.find(step);
  if (known != steps_.end()) return &known->second;
  if (step != chosen_ && step + kKept <= newest_) return nullptr;
  InProgress& fresh = steps_[step];
  fresh.recorded.step = step;
  newest_ = std::max(newest_, step);
  std::erase_if(steps_, [this](const auto& entry) {
    return entry.first != chosen_ && entry.first != last_done_ && entry.first + kKept <= newest_;
  });
  const auto kept = steps_.find(step);
  return kept == steps_.end() ? nullptr : &kept->second;
}

void StepRecorder::OnSend(const StepRecord& record, const protocol::Send& send) {
  if (send.frame != last_frame_) {
    last_frame_ = send.frame;
    const auto opened = wire::Open(send.frame);
    last_slot_ = opened.ok() ? std::optional(opened->envelope.slot) : std::nullopt;
    last_digest_ = opened.ok() ? opened->digest : base::Digest();
    last_signer_ = opened.ok() ? opened->envelope.sender : base::PeerId();
  }
  const auto to = roster_.IndexOf(send.to);
  const bool drawn = last_slot_ && last_slot_->phase != wire::Phase::kGenesis &&
                     !wire::IsService(last_slot_->type);
  if (!drawn || !to || *to == record.peer || last_signer_ != roster_.ids[record.peer]) return;
  InProgress* at = At(last_slot_->step);
  if (at == nullptr || !at->sent.insert({record.peer, *to, last_digest_}).second) return;
  at->under_way[{record.peer, *to}].emplace_back(send.frame, at->recorded.messages.size());
  at->recorded.messages.push_back(
      {record.peer, *to, last_slot_->type, last_slot_->phase, record.now, std::nullopt});
}

void StepRecorder::OnArrival(const StepRecord& record, const protocol::MessageReceived& message) {
  const auto from = roster_.IndexOf(message.from);
  if (!from) return;
  for (auto& [step, at] : steps_) {
    const auto sent = at.under_way.find({*from, record.peer});
    if (sent == at.under_way.end()) continue;
    const auto place = std::find_if(sent->second.begin(), sent->second.end(),
                                    [&](const auto& one) { return one.first == message.frame; });
    if (place == sent->second.end()) continue;
    at.recorded.messages[place->second].arrived = record.now;
    sent->second.erase(place);
    return;
  }
}

void StepRecorder::OnObservation(const StepRecord& record, const protocol::Observation& what) {
  if (const auto* sealed = std::get_if<protocol::Sealed>(&what)) {
    const auto phase = static_cast<wire::Phase>(sealed->phase);
    if (phase == wire::Phase::kGenesis) return;
    Note(record, sealed->step,
         std::string("seal ") + wire::PhaseName(phase) + " decided" +
             (sealed->draw > 0 ? ", draw " + std::to_string(sealed->draw) : "") +
             (sealed->iteration > 0 ? " in iteration " + std::to_string(sealed->iteration) : ""));
  } else if (const auto* slow = std::get_if<protocol::SlowSeal>(&what)) {
    // Each member waits for others of its own; the first one tells.
    const std::string which = std::string("seal ") +
                              wire::PhaseName(static_cast<wire::Phase>(slow->phase)) + " is slow: ";
    Note(record, slow->step, which + slow->reason, which.size() + slow->reason.find(','));
  } else if (const auto* suspicion = std::get_if<protocol::Suspicion>(&what)) {
    const auto peer = roster_.IndexOf(suspicion->peer);
    Note(record, suspicion->step,
         suspicion->check + ": " + (peer ? "peer " + std::to_string(*peer) + ", " : "") +
             suspicion->reason);
  } else if (const auto* done = std::get_if<protocol::StepDone>(&what)) {
    OnBlock(record, *done->block);
  }
}

void StepRecorder::OnBlock(const StepRecord& record, const wire::Block& block) {
  if (block.genesis) return;
  if (!block.removals.empty() && !chosen_) chosen_ = block.step;
  if (wire::Trained(block) && (!last_done_ || *last_done_ < block.step)) last_done_ = block.step;
  for (const wire::Removal& removal : block.removals) {
    const std::string how = wire::IsBan(removal.kind) ? " banned by " : " dropped: ";
    const std::string kind =
        wire::IsBan(removal.kind) ? std::string(wire::RemovalKindName(removal.kind)) + ": " : "";
    Note(record, block.step, removal.peer.Short() + how + kind + wire::TextOf(removal.reason));
    NoteRemoved(block.step, removal.peer);
  }
  Note(record, block.step, "block, " + std::to_string(block.members.size()) + " members");
}

void StepRecorder::Note(const StepRecord& record, std::uint64_t step, std::string text,
                        std::size_t differs_from) {
  InProgress* at = At(step);
  if (at == nullptr) return;
  text = WithPeerNumbers(text, roster_);
  const std::string_view key = std::string_view(text).substr(0, differs_from);
  std::vector<RecordedStep::Note>& notes = at->recorded.notes;
  const bool known = std::any_of(notes.begin(), notes.end(), [&](const RecordedStep::Note& note) {
    return differs_from == std::string::npos ? note.text == text : note.text.starts_with(key);
  });
  if (!known) notes.push_back({record.now, std::move(text)});
}

void StepRecorder::NoteRemoved(std::uint64_t step, const base::PeerId& id) {
  InProgress* at = At(step);
  const auto peer = roster_.IndexOf(id);
  if (at == nullptr || !peer) return;
  std::vector<std::uint32_t>& removed = at->recorded.removed;
  const auto place = std::lower_bound(removed.begin(), removed.end(), *peer);
  if (place == removed.end() || *place != *peer) removed.insert(place, *peer);
}

std::optional<RecordedStep> StepRecorder::Recorded() const {
  const auto which = chosen_ ? chosen_ : last_done_;
  const auto place = which ? steps_.find(*which) : steps_.end();
  return place == steps_.end() ? std::nullopt : std::optional(place->second.recorded);
}

}  // namespace ostraka::sim

#include "sim/check/checkers.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <variant>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/wire/codec.h"
#include "sim/check/recovery.h"

namespace ostraka::sim {
namespace {

constexpr std::uint64_t kRememberedSteps = 32;       // slots are kept for twice as long as by peers
constexpr std::uint64_t kComparedByBits = 8;         // newest steps whose whole states are kept
constexpr std::uint64_t kStoppedFor = 10;            // steps without a misdeed
constexpr std::size_t kRememberedRecords = 1 << 12;  // durable digests kept for a peer

std::string StepName(const wire::Block& block) {
  return block.genesis ? "genesis" : "step " + std::to_string(block.step);
}

std::uint32_t CountHonest(const Roster& roster) {
  return static_cast<std::uint32_t>(
      std::count(roster.byzantine.begin(), roster.byzantine.end(), false));
}

base::Digest DigestOf(const protocol::ModelState& state) {
  crypto::Hasher hasher(crypto::kDomainTrace);
  hasher.Update(base::AsBytes(std::span<const float>(*state.parameters)));
  for (const protocol::StateSlot& slot : state.slots) {
    hasher.Update(base::AsBytes(std::span<const float>(*slot.values)));
  }
  return hasher.Finish();
}

bool SameBits(const protocol::SharedVector& a, const protocol::SharedVector& b) {
  if (a == b) return true;
  if (!a || !b || a->size() != b->size()) return false;
  return a->empty() || std::memcmp(a->data(), b->data(), a->size() * sizeof(float)) == 0;
}

bool SameBits(const protocol::ModelState& a, const protocol::ModelState& b) {
  return SameBits(a.parameters, b.parameters) &&
         std::equal(a.slots.begin(), a.slots.end(), b.slots.begin(), b.slots.end(),
                    [](const auto& one, const auto& other) {
                      return one.name == other.name && SameBits(one.values, other.values);
                    });
}

}  // namespace

// --- HonestNeverRemoved -------------------------------------------------------------------------

base::Status HonestNeverRemoved::OnAction(std::uint32_t peer, const protocol::Action& action) {
  const auto* done = Observed<protocol::StepDone>(action);
  if (!done) return base::OkStatus();
  for (const wire::Removal& removal : done->block->removals) {
    const auto removed = roster_.IndexOf(removal.peer);
    if (!removed || !roster_.IsHonest(*removed)) continue;
    // It accused a liar, and no fault of its own is the reason.
    const bool is_accuser = removal.reason.cause == wire::Cause::kUndecidedAccusation;
    const bool is_drop = removal.kind == wire::RemovalKind::kDrop;
    if (is_drop && !is_accuser && roster_.IsUnlucky(*removed)) continue;
    return base::FailedPrecondition(Named(roster_, peer) + " removed honest " +
                                    Named(roster_, *removed) + " in " + StepName(*done->block) +
                                    ": " + wire::RemovalKindName(removal.kind) + ", " +
                                    wire::TextOf(removal.reason));
  }
  // A fault may cost an honest peer its place, and never marks it as one that computed falsely.
  for (const wire::Standing& standing : done->block->standings) {
    const auto marked = roster_.IndexOf(standing.peer);
    if (!standing.erred || !marked || !roster_.IsHonest(*marked)) continue;
    return base::FailedPrecondition(Named(roster_, peer) + " has suspended honest " +
                                    Named(roster_, *marked) + " in " + StepName(*done->block));
  }
  return base::OkStatus();
}

// --- HonestNeverSuspected -----------------------------------------------------------------------

base::Status HonestNeverSuspected::OnAction(std::uint32_t peer, const protocol::Action& action) {
  const auto* suspicion = Observed<protocol::Suspicion>(action);
  if (!suspicion) return base::OkStatus();
  const auto suspected = roster_.IndexOf(suspicion->peer);
  if (!suspected || !roster_.IsHonest(*suspected)) return base::OkStatus();
  return base::FailedPrecondition(
      Named(roster_, peer) + " suspects honest " + Named(roster_, *suspected) + " in step " +
      std::to_string(suspicion->step) + ": " + suspicion->check + ", " + suspicion->reason);
}

// --- Agreement ----------------------------------------------------------------------------------

base::Status Agreement::OnAction(std::uint32_t peer, const protocol::Action& action) {
  if (const auto* sealed = Observed<protocol::Sealed>(action)) return OnSealed(peer, *sealed);
  if (const auto* done = Observed<protocol::StepDone>(action)) return OnBlock(peer, *done->block);
  return base::OkStatus();
}

base::Status Agreement::OnSealed(std::uint32_t peer, const protocol::Sealed& sealed) {
  const base::Digest digest = crypto::Hasher(crypto::kDomainTrace)
                                  .UpdateU64(sealed.step)
                                  .UpdateU64(sealed.phase)
                                  .Update(sealed.decision)
                                  .Finish();
  // A member that was away may miss seals, but every seal that it decides equals the others'.
  const SealName name{sealed.step, sealed.phase, sealed.draw};
  const auto [first, is_first] = seals_.try_emplace(name, First{peer, digest});
  if (is_first || first->second.digest == digest) return base::OkStatus();
  return base::FailedPrecondition(Named(roster_, peer) + " and " +
                                  Named(roster_, first->second.peer) +
                                  " decided differently in step " + std::to_string(sealed.step) +
                                  ", phase " + std::to_string(sealed.phase));
}

base::Status Agreement::OnBlock(std::uint32_t peer, const wire::Block& block) {
  const base::Digest digest = crypto::Hash(crypto::kDomainTrace, wire::EncodeBlock(block));
  const auto [first, is_first] = blocks_.try_emplace(HeightOf(block), First{peer, digest});
  if (is_first || first->second.digest == digest) return base::OkStatus();
  return base::FailedPrecondition(Named(roster_, peer) + " and " +
                                  Named(roster_, first->second.peer) +
                                  " accepted different blocks in " + StepName(block));
}

// --- BansKept -----------------------------------------------------------------------------------

base::Status BansKept::OnAction(std::uint32_t peer, const protocol::Action& action) {
  const auto* done = Observed<protocol::StepDone>(action);
  if (!done || done->block->genesis) return base::OkStatus();
  const wire::Block& block = *done->block;
  for (const wire::Removal& removal : block.removals) {
    if (wire::IsBan(removal.kind)) banned_.try_emplace(removal.peer, block.step);
  }
  for (const auto& [banned, step] : banned_) {
    if (step > block.step) continue;  // this peer is behind the peer that reported it
    const auto standing =
        std::find_if(block.standings.begin(), block.standings.end(),
                     [&who = banned](const wire::Standing& s) { return s.peer == who; });
    const bool member = std::binary_search(block.members.begin(), block.members.end(), banned);
    if (standing != block.standings.end() && standing->banned && !member) continue;
    return base::FailedPrecondition(Named(roster_, peer) + " accepted " + StepName(block) +
                                    ", which does not know that " + banned.Short() +
                                    " was banned in step " + std::to_string(step));
  }
  return base::OkStatus();
}

// --- RebornRejoins ------------------------------------------------------------------------------

RebornRejoins::RebornRejoins(const Roster& roster, std::shared_ptr<wire::Opener> opener)
    : roster_(roster),
      lived_(roster.ids.size()),
      reborn_(roster.ids.size()),
      speech_(roster, std::move(opener)) {}

void RebornRejoins::OnStep(const StepRecord& record) {
  const auto* started = std::get_if<protocol::Started>(&record.input);
  if (started && lived_[record.peer] && started->restored == nullptr) reborn_[record.peer] = true;
}

base::Status RebornRejoins::OnAction(std::uint32_t peer, const protocol::Action& action) {
  if (Observed<protocol::StepStarted>(action)) lived_[peer] = true;
  if (const auto* done = Observed<protocol::StepDone>(action)) {
    const std::vector<base::PeerId>& joined = done->block->joined;
    if (std::find(joined.begin(), joined.end(), roster_.ids[peer]) != joined.end()) {
      reborn_[peer] = false;
    }
    lived_[peer] = true;
    return base::OkStatus();
  }
  if (!reborn_[peer]) return base::OkStatus();
  const auto said = speech_.Hear(peer, action);
  if (!said.ok() || *said == nullptr) return base::OkStatus();
  const wire::Slot& slot = (*said)->envelope.slot;
  if (wire::MayBeSaidAnew(slot)) return base::OkStatus();
  return base::FailedPrecondition(Named(roster_, peer) + " lost its disk and signed " +
                                  wire::MessageTypeName(slot.type) + " of step " +
                                  std::to_string(slot.step) + " before a block admitted it");
}

// --- StateEquality ------------------------------------------------------------------------------

base::Status StateEquality::OnAction(std::uint32_t peer, const protocol::Action& action) {
  const auto* done = Observed<protocol::StepDone>(action);
  if (!done) return base::OkStatus();
  const std::uint64_t height = HeightOf(*done->block);
  const auto [place, is_first] = first_.try_emplace(height, First{peer, done->state, {}});
  if (is_first) {
    const auto old =
        height < kComparedByBits ? first_.end() : first_.find(height - kComparedByBits);
    if (old != first_.end()) {
      old->second.digest = DigestOf(old->second.state);
      old->second.state = {};
    }
    return base::OkStatus();
  }
  const First& first = place->second;
  const bool same = first.state.parameters ? SameBits(first.state, done->state)
                                           : first.digest == DigestOf(done->state);
  if (same) return base::OkStatus();
  return base::FailedPrecondition(Named(roster_, peer) + " and " + Named(roster_, first.peer) +
                                  " hold different states after " + StepName(*done->block));
}

// --- NoSelfEquivocation -------------------------------------------------------------------------

NoSelfEquivocation::NoSelfEquivocation(const Roster& roster, std::shared_ptr<wire::Opener> opener)
    : roster_(roster), authors_(roster.ids.size()), speech_(roster, std::move(opener)) {}

void NoSelfEquivocation::OnStep(const StepRecord& record) {
  const auto* started = std::get_if<protocol::Started>(&record.input);
  if (!started || started->restored) return;
  for (auto& [step, slots] : authors_[record.peer].signed_slots) {
    std::erase_if(slots, [](const auto& entry) { return wire::MayBeSaidAnew(entry.first); });
  }
}

base::Status NoSelfEquivocation::OnAction(std::uint32_t peer, const protocol::Action& action) {
  const auto said = speech_.Hear(peer, action);
  if (!said.ok()) {
    return base::FailedPrecondition(Named(roster_, peer) + " sent a frame that does not open: " +
                                    base::MessageOf(said.status()));
  }
  if (*said == nullptr) return base::OkStatus();
  const wire::Envelope& envelope = (*said)->envelope;
  const base::Digest& digest = (*said)->digest;
  Author& author = authors_[peer];
  Forget(author, envelope.slot.step);
  const auto [known, is_first] =
      author.signed_slots[envelope.slot.step].try_emplace(envelope.slot, digest);
  if (is_first || known->second == digest) return base::OkStatus();
  return base::FailedPrecondition(Named(roster_, peer) + " signed two bodies for step " +
                                  std::to_string(envelope.slot.step) + ", message type " +
                                  std::to_string(static_cast<int>(envelope.slot.type)));
}

void NoSelfEquivocation::Forget(Author& author, std::uint64_t step) {
  if (step <= author.newest_step) return;
  author.newest_step = step;
  if (step < kRememberedSteps) return;
  author.signed_slots.erase(author.signed_slots.begin(),
                            author.signed_slots.lower_bound(step - kRememberedSteps));
}

// --- WriteAhead ---------------------------------------------------------------------------------

WriteAhead::WriteAhead(const Roster& roster, std::shared_ptr<wire::Opener> opener)
    : roster_(roster), disks_(roster.ids.size()), speech_(roster, std::move(opener)) {}

void WriteAhead::OnStep(const StepRecord& record) {
  const auto* stored = std::get_if<protocol::Stored>(&record.input);
  if (!roster_.IsHonest(record.peer)) return;
  Disk& disk = disks_[record.peer];
  // Records that were on their way to the disk at a crash are lost.
  if (std::holds_alternative<protocol::Started>(record.input)) disk.waiting.clear();
  if (!stored) return;
  const auto batch = disk.waiting.find(stored->id);
  if (batch == disk.waiting.end()) return;
  for (const base::Digest& digest : batch->second) {
    if (disk.durable.insert(digest).second) disk.durable_order.push_back(digest);
  }
  disk.waiting.erase(batch);
  if (disk.durable_order.size() < 2 * kRememberedRecords) return;
  for (std::size_t i = 0; i < kRememberedRecords; ++i) disk.durable.erase(disk.durable_order[i]);
  disk.durable_order.erase(disk.durable_order.begin(),
                           disk.durable_order.begin() + kRememberedRecords);
}

base::Status WriteAhead::OnAction(std::uint32_t peer, const protocol::Action& action) {
  Disk& disk = disks_[peer];
  if (const auto* store = std::get_if<protocol::Store>(&action)) {
    std::vector<base::Digest>& digests = disk.waiting[store->id];
    for (const protocol::Record& record : store->records) {
      if (record.kind != protocol::RecordKind::kSlot) continue;
      digests.push_back(crypto::Hash(crypto::kDomainEnvelope, record.value));
    }
    return base::OkStatus();
  }
  const auto said = speech_.Hear(peer, action);
  if (!said.ok() || *said == nullptr || disk.durable.contains((*said)->digest)) {
    return base::OkStatus();
  }
  const wire::Slot& slot = (*said)->envelope.slot;
  return base::FailedPrecondition(
      Named(roster_, peer) + " signed a message of step " + std::to_string(slot.step) + ", type " +
      std::to_string(static_cast<int>(slot.type)) + ", before its record was durable");
}

// --- CheatersRemoved ----------------------------------------------------------------------------

base::Status CheatersRemoved::OnAction(std::uint32_t, const protocol::Action& action) {
  slack_.OnAction(action);
  if (const auto* done = Observed<protocol::StepDone>(action)) {
    for (const wire::Removal& removal : done->block->removals) removed_.insert(removal.peer);
    // Nobody validates in a step that closes the run.
    if (wire::Trained(*done->block)) newest_step_ = std::max(newest_step_, done->block->step);
  }
  return base::OkStatus();
}

base::Status CheatersRemoved::AtEnd() {
  if (!slack_.Borne()) return base::OkStatus();
  for (const auto& [cheater, deeds] : coven_->deeds()) {
    if (removed_.contains(cheater)) continue;
    if (in_time_ && deeds.last_step + kStoppedFor < newest_step_) continue;
    return base::FailedPrecondition("peer " + cheater.Short() + " cheated " +
                                    std::to_string(deeds.count) + " times in steps " +
                                    std::to_string(deeds.first_step) + ".." +
                                    std::to_string(deeds.last_step) + " and was not removed");
  }
  return base::OkStatus();
}

// --- Progress -----------------------------------------------------------------------------------

Progress::Progress(const Roster& roster, const Recovery* recovery)
    : roster_(roster),
      recovery_(recovery),
      honest_(CountHonest(roster)),
      slack_(roster),
      done_(roster.ids.size()),
      steps_(roster.ids.size()) {
  for (std::uint32_t peer = 0; peer < roster.ids.size(); ++peer) {
    if (roster.Comes(peer) && roster.IsHonest(peer)) away_.emplace(peer, std::nullopt);
  }
}

base::Status Progress::OnAction(std::uint32_t peer, const protocol::Action& action) {
  slack_.OnAction(action);
  if (Observed<protocol::StepStarted>(action)) begun_ = true;
  if (const auto* done = Observed<protocol::StepDone>(action)) {
    begun_ = true;
    ++steps_[peer];
    OnBlock(*done->block);
  }
  if (const auto away = away_.find(peer); away != away_.end() && !away->second) {
    away->second = height_;  // it has started again
  }
  const auto* halted = Observed<protocol::Halted>(action);
  if (!halted) return base::OkStatus();
  const bool too_late = halted->why == protocol::Halted::Why::kRefused && closing_;
  if (halted->why == protocol::Halted::Why::kLeft || too_late) {
    away_[peer] = std::nullopt;
    return base::OkStatus();
  }
  if (halted->why != protocol::Halted::Why::kFinished) {
    return base::FailedPrecondition(Named(roster_, peer) + " halted in step " +
                                    std::to_string(halted->step) + ": " + halted->reason);
  }
  if (!done_[peer]) ++finished_;
  done_[peer] = true;
  return base::OkStatus();
}

void Progress::OnBlock(const wire::Block& block) {
  height_ = std::max(height_, HeightOf(block));
  closing_ |= block.closing > 0;
  std::erase_if(away_, [&](const auto& away) {
    const base::PeerId& id = roster_.ids[away.first];
    return std::find(block.joined.begin(), block.joined.end(), id) != block.joined.end();
  });
}

bool Progress::ComesTooLate(std::uint32_t peer) const {
  const auto away = away_.find(peer);
  if (away == away_.end() || done_[peer]) return false;
  return !away->second || height_ - *away->second < kBlocksToReturn;
}

bool Progress::AllFinished() const {
  std::uint32_t late = 0;
  for (const auto& [peer, since] : away_) late += ComesTooLate(peer) ? 1 : 0;
  return finished_ + late == honest_;
}

base::Status Progress::AtEnd() {
  if (!slack_.Borne()) return base::OkStatus();
  if (!begun_ && honest_ < roster_.ids.size()) return base::OkStatus();
  if (recovery_ != nullptr && recovery_->NobodyIsLeft()) return base::OkStatus();
  for (std::uint32_t peer = 0; peer < done_.size(); ++peer) {
    if (!roster_.IsHonest(peer) || done_[peer] || ComesTooLate(peer)) continue;
    return base::FailedPrecondition(Named(roster_, peer) + " did not finish: it accepted " +
                                    std::to_string(steps_[peer]) + " blocks");
  }
  return base::OkStatus();
}

}  // namespace ostraka::sim

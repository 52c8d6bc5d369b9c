#include "node/protocol/seal/inside/slow_path.h"

#include <utility>

#include "node/base/planted.h"
#include "node/protocol/seal/inside/window.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;

SealSlowPath::SealSlowPath(const SealSetup& setup) : setup_(setup), certificates_(setup.quorum()) {}

// --- messages ------------------------------------------------------------------------------------

bool SealSlowPath::NoteReached(const PeerId& sender, std::uint32_t iteration) {
  return rounds_.NoteReached(sender, iteration);
}

SealSlowPath::StatusTaken SealSlowPath::OnStatus(const wire::SignedEnvelope& message,
                                                 std::uint32_t current) {
  const std::uint32_t k = message.envelope.slot.iteration;
  const PeerId& sender = message.envelope.sender;
  StatusTaken taken;
  const auto* status = message.As<wire::SealStatus>();
  if (status == nullptr || !InWindow(k, current)) return taken;
  if (!rounds_.AddStatus(k, sender, {*status, message.digest, message.frame})) return taken;
  const Statuses& statuses = rounds_.StatusesOf(k);
  if (statuses.TwoFaced(sender)) {  // show both to all, so that no leader relies on the sender
    for (const StatusSeen& seen : statuses.all().at(sender)) taken.rivals.push_back(seen.frame);
  }
  taken.claims_lock = k == current && status->rank > 0 && status->rank <= k;
  if (taken.claims_lock) certificates_.Name({status->rank, status->value}, k + 1);
  return taken;
}

const wire::Propose* SealSlowPath::OnPropose(const wire::SignedEnvelope& message,
                                             std::uint32_t current) {
  const std::uint32_t k = message.envelope.slot.iteration;
  const PeerId& sender = message.envelope.sender;
  const auto* propose = message.As<wire::Propose>();
  if (propose == nullptr || !InWindow(k, current) || sender != setup_.LeaderOf(k)) return nullptr;
  if (!rounds_.AddProposal(k, {sender, *propose, message.digest, message.frame})) {
    return nullptr;
  }
  const wire::Propose& body = rounds_.ProposalsOf(k).back().body;
  certificates_.Name({k + 1, body.value}, k + 1);  // its VOTEs
  if (k != current) return nullptr;
  if (body.rank > 0 && body.rank <= k) certificates_.Name({body.rank, body.value}, k + 1);
  return &body;
}

void SealSlowPath::OnVote(const wire::SignedEnvelope& message, std::uint32_t current) {
  const std::uint32_t k = message.envelope.slot.iteration;
  const auto* vote = message.As<wire::SealVote>();
  if (vote == nullptr) return;
  if (!InWindow(k, current) && !certificates_.IsNeeded(k, vote->value)) return;
  certificates_.AddVote(k, message.envelope.sender, vote->value, message.frame);
}

bool SealSlowPath::OnLock(const wire::SignedEnvelope& message, std::uint32_t current) {
  const std::uint32_t k = message.envelope.slot.iteration;
  const auto* lock = message.As<wire::Lock>();
  if (lock == nullptr) return false;
  return certificates_.AddLock(k, message.envelope.sender, lock->value, message.frame, current) &&
         InWindow(k, current);
}

void SealSlowPath::Recall(const wire::SignedEnvelope& own, std::uint32_t current) {
  const wire::Slot& slot = own.envelope.slot;
  if (slot.type == MessageType::kStatus) {
    const auto* status = own.As<wire::SealStatus>();
    if (status != nullptr) certificates_.Raise({status->rank, status->value}, current);
  } else if (slot.type == MessageType::kLock) {
    const auto* lock = own.As<wire::Lock>();
    if (lock != nullptr) certificates_.Raise({slot.iteration + 1, lock->value}, current);
  }
}

void SealSlowPath::AddEcho(const PeerId& sender, const Digest& value, base::SharedBytes frame) {
  certificates_.AddEcho(sender, value, std::move(frame));
}

void SealSlowPath::NameOwnEcho(const Digest& value) { certificates_.Name({1, value}, UINT32_MAX); }

// --- steps ---------------------------------------------------------------------------------------

void SealSlowPath::MoveTo(std::uint32_t current) {
  rounds_.Forget(current);
  certificates_.Forget(current);
}

wire::SealStatus SealSlowPath::BeginIteration(std::uint32_t current, const Digest& echoed) {
  certificates_.Raise(certificates_.HighestCertified(), current);
  for (const SealLock& claim : rounds_.ClaimsOf(current)) certificates_.Name(claim, current + 1);
  MoveTo(current);
  CheckInvariants(current);
  const SealLock& lock = certificates_.lock();
  return {lock.rank, lock.rank > 0 ? lock.value : echoed};
}

std::optional<SealSlowPath::Proposal> SealSlowPath::Propose(std::uint32_t current,
                                                            const SealValues& values) const {
  Proposal proposal;
  wire::Propose& propose = proposal.body;
  SealLock highest = certificates_.HighestCertified();
  const SealLock& own = certificates_.lock();
  if (certificates_.IsCertified(own) && own.rank == highest.rank) highest = own;
  if (highest.rank > 0) {
    // Votes of this iteration may arrive before its proposal; a proposal cannot rest on them.
    if (highest.rank > current) return std::nullopt;
    propose.rank = highest.rank;
    propose.value = highest.value;
    return proposal;
  }
  const Statuses& statuses = rounds_.StatusesOf(current);
  const auto chosen = ChooseStatuses(statuses, setup_.quorum());
  if (!chosen) return std::nullopt;
  propose.statuses = wire::BitmapOf(*chosen, setup_.members());
  propose.statuses_root = StatusesRoot(statuses, *chosen);
  if (const auto forced = ForcedValue(statuses, *chosen, setup_.force_count())) {
    propose.value = *forced;
    return proposal;
  }
  proposal.merged = values.HeldNow();
  propose.value = HashOf(*proposal.merged);
  return proposal;
}

std::string SealSlowPath::FaultOf(const wire::Propose& propose, std::uint32_t current,
                                  const SealValues& values,
                                  const std::optional<SealVector>& own_vector) const {
  const bool passed_over =
      propose.rank < certificates_.lock().rank && !base::Planted(base::Bug::kLockIgnored);
  if (passed_over) return "it passes over my lock";
  if (propose.rank > current) return "it names a lock of this iteration or a later one";
  if (propose.rank > 0) {
    const bool certified = certificates_.IsCertified({propose.rank, propose.value});
    return certified ? "" : "the certificate of its lock did not come";
  }
  const auto chosen = wire::SendersOf(propose.statuses, setup_.members());
  if (!chosen) return "it names statuses of nobody";
  std::string why;
  switch (JudgeStatuses(rounds_.StatusesOf(current), *chosen, propose, setup_.quorum(),
                        setup_.force_count(), why)) {
    case StatusRule::kRefused:
      return why;
    case StatusRule::kForced:
      return "";
    case StatusRule::kMerge:
      break;
  }
  const SealVector* merged = values.Find(propose.value);
  if (merged == nullptr) return "its vector did not come";
  if (!own_vector) return "I do not know any more what I echoed";
  return MergeFault(*own_vector, *merged, values.messages());
}

const ProposeSeen* SealSlowPath::Vote(std::uint32_t current, const SealValues& values,
                                      const std::optional<SealVector>& own_vector) {
  const std::vector<ProposeSeen>& proposals = rounds_.ProposalsOf(current);
  std::string fault;
  if (proposals.empty()) {
    fault = "no proposal came";
  } else if (proposals.size() > 1) {
    fault = "its leader signed two proposals";
  } else {
    fault = FaultOf(proposals.front().body, current, values, own_vector);
  }
  const bool valid = fault.empty();
  rounds_.Refuse(current, std::move(fault));
  return valid ? &rounds_.ProposalsOf(current).front() : nullptr;
}

// Requires exactly one proposal: votes for a value that was never proposed are not honest, and with
// a second proposal others may have voted for that one.
std::optional<wire::Lock> SealSlowPath::LockIn(std::uint32_t current) {
  const std::vector<ProposeSeen>& proposals = rounds_.ProposalsOf(current);
  if (proposals.size() != 1) return std::nullopt;
  const SealLock lock{current + 1, proposals.front().body.value};
  if (!certificates_.IsCertified(lock)) return std::nullopt;
  // VOTEs of a later iteration came before this member was there, or another process signs with
  // this key.
  if (certificates_.lock().rank > lock.rank) return std::nullopt;
  certificates_.LockOn(lock, current);
  return wire::Lock{lock.value};
}

// --- reads ---------------------------------------------------------------------------------------

std::vector<SealFrame> SealSlowPath::Frames(MessageType type) const {
  switch (type) {
    case MessageType::kEcho:
    case MessageType::kVote:
    case MessageType::kLock:
      return certificates_.Frames(type);
    case MessageType::kStatus:
    case MessageType::kPropose:
      return rounds_.Frames(type);
    default:
      return {};
  }
}

void SealSlowPath::CheckInvariants(std::uint32_t current) const {
  certificates_.CheckInvariants(current);
  rounds_.CheckInvariants(current);
}

void SealSlowPath::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, certificates_, rounds_);
}

}  // namespace ostraka::protocol

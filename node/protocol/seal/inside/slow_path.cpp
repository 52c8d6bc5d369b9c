#include "node/protocol/seal/inside/slow_path.h"

#include <utility>

#include "node/base/planted.h"
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
  const auto status = wire::DecodeStatus(message.envelope.body);
  if (!status.ok() || !SealRounds::InWindow(k, current)) return taken;
  if (!rounds_.AddStatus(k, sender, {*status, message.digest, message.frame})) return taken;
  const Statuses& statuses = rounds_.StatusesOf(k);
  if (statuses.TwoFaced(sender)) {  // show both to all, so that no leader relies on the sender
    for (const StatusSeen& seen : statuses.all().at(sender)) taken.rivals.push_back(seen.frame);
  }
  taken.claims_lock = k == current && status->rank > 0 && status->rank <= k;
  if (taken.claims_lock) certificates_.Claim({status->rank, status->value});
  return taken;
}

const wire::Propose* SealSlowPath::OnPropose(const wire::SignedEnvelope& message,
                                             std::uint32_t current) {
  const std::uint32_t k = message.envelope.slot.iteration;
  const PeerId& sender = message.envelope.sender;
  auto propose = wire::DecodePropose(message.envelope.body);
  if (!propose.ok() || !SealRounds::InWindow(k, current) || sender != setup_.LeaderOf(k)) {
    return nullptr;
  }
  if (!rounds_.AddProposal(k,
                           {sender, std::move(propose).value(), message.digest, message.frame})) {
    return nullptr;
  }
  if (k != current) return nullptr;
  const wire::Propose& body = rounds_.ProposalsOf(k).back().body;
  if (body.rank > 0 && body.rank <= k) certificates_.Claim({body.rank, body.value});
  return &body;
}

void SealSlowPath::OnVote(const wire::SignedEnvelope& message, std::uint32_t current) {
  const std::uint32_t k = message.envelope.slot.iteration;
  const auto vote = wire::DecodeSealVote(message.envelope.body);
  if (!vote.ok()) return;
  const bool proposed = rounds_.IsProposed(k, vote->value);
  if (!SealRounds::InWindow(k, current) && !proposed && !certificates_.IsNeeded(k, vote->value)) {
    return;
  }
  certificates_.AddVote(k, message.envelope.sender, vote->value, message.frame, proposed);
}

bool SealSlowPath::OnLock(const wire::SignedEnvelope& message, std::uint32_t current) {
  const std::uint32_t k = message.envelope.slot.iteration;
  const auto lock = wire::DecodeLock(message.envelope.body);
  if (!lock.ok()) return false;
  return certificates_.AddLock(k, message.envelope.sender, lock->value, message.frame) &&
         SealRounds::InWindow(k, current);
}

void SealSlowPath::Recall(const wire::SignedEnvelope& own) {
  const wire::Slot& slot = own.envelope.slot;
  if (slot.type == MessageType::kStatus) {
    const auto status = wire::DecodeStatus(own.envelope.body);
    if (status.ok()) certificates_.Raise({status->rank, status->value});
  } else if (slot.type == MessageType::kLock) {
    const auto lock = wire::DecodeLock(own.envelope.body);
    if (lock.ok()) certificates_.Raise({slot.iteration + 1, lock->value});
  }
}

void SealSlowPath::AddEcho(const PeerId& sender, const Digest& value, base::SharedBytes frame,
                           bool own) {
  certificates_.AddEcho(sender, value, std::move(frame), own);
}

// --- steps ---------------------------------------------------------------------------------------

wire::Status SealSlowPath::BeginIteration(std::uint32_t current, const Digest& echoed) {
  certificates_.Raise(certificates_.HighestCertified());
  rounds_.Forget(current);
  certificates_.Forget(current);
  for (const SealLock& claim : rounds_.ClaimsOf(current)) certificates_.Claim(claim);
  CheckInvariants();
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
  if (const auto forced = ForcedValue(statuses, *chosen, setup_.enough())) {
    propose.value = *forced;
    return proposal;
  }
  proposal.merged = values.HeldNow();
  propose.value = EchoOf(*proposal.merged).vector;
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
                        setup_.enough(), why)) {
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
  certificates_.Hold(lock);
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

void SealSlowPath::CheckInvariants() const {
  certificates_.CheckInvariants();
  rounds_.CheckInvariants();
}

}  // namespace ostraka::protocol

#include "tests/property/world/admission_coverage.h"

#include <algorithm>

#include "node/protocol/ground/invite.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/rules/coming.h"
#include "node/protocol/rules/disputes.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {
namespace {

using wire::Block;

// A piece of the line that says why a key does not come in (RefusalOf), and the situation's name.
struct Reason {
  const char* text;
  const char* name;
};
constexpr Reason kRefusals[] = {
    {"it is a member", "not let in: a member"},
    {"it was banned", "not let in: banned"},
    {"it is barred", "not let in: barred"},
    {"it may return", "not let in: its seat is kept"},
    {"the run ends", "not let in: the run ends"},
    {"takes no invites", "not let in: no invites here"},
    {"no moderator", "not let in: signed by no moderator"},
    {"its invite ended", "not let in: the invite ended"},
    {"is used up", "not let in: the invite is used up"},
    {"lets it follow", "not let in: the invite lets nobody in"},
    {"was revoked", "not let in: the invite was revoked"},
    {"has revoked all", "not let in: the moderator revoked all"},
    {"have let in all", "not let in: the moderator's quota"},
    {"the run is closed", "not let in: closed"},
    {"shows no invite", "not let in: no invite"},
    {"does not have its key", "not let in: not in the list"},
    {"seats are taken", "not let in: no seat"},
};

constexpr const char* kOthers[] = {
    "admitted: returns",
    "admitted: named by the manifest",
    "admitted: by an invite",
    "admitted: a former member whose seat was not kept",
    "admitted: again by the invite that it used",
    "admitted: again, and others used the invite up",
    "admitted: again, and its moderator has no quota left",
    "not let in: seats are kept for others",
    "not let in: more than there are uses left",
    "not let in: the slots of its invite are taken",
    "not let in: all slots are taken",
    "candidate: with another voucher than before",
    "candidate: of two vouchers",
    "invite: used and not ended",
    "invite: forgotten at its end",
    "invite: revoked when some have used it",
    "invite: revoked unused",
    "invite: revoked when it is used up",
    "invite: a candidate's is revoked",
    "dispute: of a newcomer with an older member",
    "dispute: too many, but for those with newcomers",
    "peak: higher than what the run bears",
    "peak: falls",
    "wait: a quiet step takes from it",
    "wait: doubles",
    "wait: is the manifest's again",
    "wait: a drop that is not counted",
    "wait: a void that is not counted",
    "wait: an aggregate that many miss and nobody is dropped for",
};

class AdmissionNotes {
 public:
  AdmissionNotes(const Block& head, const Manifest& manifest, const naive::Sealed& sealed,
                 const Block& block, Coverage& coverage)
      : head_(head),
        manifest_(manifest),
        sealed_(sealed),
        block_(block),
        coverage_(coverage),
        proofs_(ProofsOf(sealed)) {}
  void OfArrivals();
  void OfFreshDisputes();
  void OfTheWait();

 private:
  void OfArrival(const wire::Arrival& arrival);
  void OfAdmitted();
  void OfUser(const PeerId& peer, const wire::Voucher& voucher);
  void OfRevoked(const wire::UsedInvite& used);
  void If(bool met, const std::string& name) { coverage_.at(name) += met ? 1 : 0; }

  const Block& head_;
  const Manifest& manifest_;
  const naive::Sealed& sealed_;
  const Block& block_;
  Coverage& coverage_;
  std::vector<wire::Proof> proofs_;
};

void AdmissionNotes::OfArrivals() {
  std::map<wire::Arrival, std::size_t> stated;
  for (const wire::Proof& proof : proofs_) {
    for (const wire::Arrival& arrival : proof.arrivals) ++stated[arrival];
  }
  std::map<PeerId, std::size_t> vouchers;
  for (const auto& [arrival, count] : stated) {
    if (count <= FaultBound(head_.thresholds)) continue;
    OfArrival(arrival);
    If(++vouchers[arrival.peer] == 2 && EntryOf(block_.candidates, arrival.peer) != nullptr,
       "candidate: of two vouchers");
  }
  OfAdmitted();
}

void AdmissionNotes::OfAdmitted() {
  for (const PeerId& peer : block_.joined) {
    const bool came = EntryOf(block_.standings, peer)->came_step == block_.step;
    const wire::Candidate* before = EntryOf(head_.candidates, peer);
    If(!came, "admitted: returns");
    If(came && before != nullptr && !before->voucher, "admitted: named by the manifest");
    If(came && before != nullptr && before->voucher, "admitted: by an invite");
    If(came && EntryOf(head_.standings, peer) != nullptr,
       "admitted: a former member whose seat was not kept");
    if (came && before != nullptr && before->voucher) OfUser(peer, *before->voucher);
  }
  for (const wire::Candidate& candidate : block_.candidates) {
    const wire::Candidate* before = EntryOf(head_.candidates, candidate.peer);
    If(before != nullptr && before->voucher != candidate.voucher,
       "candidate: with another voucher than before");
  }
  If(!block_.invites.empty(), "invite: used and not ended");
  for (const wire::UsedInvite& used : head_.invites) {
    If(used.ends_step == block_.step, "invite: forgotten at its end");
  }
  for (const wire::UsedInvite& used : block_.invites) {
    const bool before =
        std::any_of(head_.invites.begin(), head_.invites.end(),
                    [&](const auto& one) { return one.invite == used.invite && one.revoked; });
    If(used.revoked && !before && used.used > 0, "invite: revoked when some have used it");
    If(used.revoked && !before && used.used == 0, "invite: revoked unused");
    if (used.revoked && !before) OfRevoked(used);
    for (const wire::Candidate& one : head_.candidates) {
      If(used.revoked && !before && one.voucher && one.voucher->invite == used.invite,
         "invite: a candidate's is revoked");
    }
  }
  If(block_.peak_t_s > block_.thresholds.t_s, "peak: higher than what the run bears");
  If(block_.peak_t_s < head_.peak_t_s, "peak: falls");
}

void AdmissionNotes::OfUser(const PeerId& peer, const wire::Voucher& voucher) {
  for (const wire::UsedInvite& used : head_.invites) {
    if (used.invite != voucher.invite || !IsMember(used.users, peer)) continue;
    const wire::Moderator* moderator = EntryOf(head_.moderators, voucher.moderator);
    If(true, "admitted: again by the invite that it used");
    If(used.used >= voucher.uses, "admitted: again, and others used the invite up");
    If(moderator->admitted >= manifest_.join.quota,
       "admitted: again, and its moderator has no quota left");
  }
}

void AdmissionNotes::OfRevoked(const wire::UsedInvite& used) {
  for (const naive::Entry& entry : sealed_.commits) {
    if (entry.message == nullptr) continue;
    const auto commit = wire::Decode<wire::Commit>(entry.message->envelope.body);
    if (!commit.ok() || !commit->revokes || !commit->revokes->invite) continue;
    const wire::Invite& invite = *commit->revokes->invite;
    If(InviteDigest(manifest_.run_id, invite) == used.invite && used.used >= invite.uses,
       "invite: revoked when it is used up");
  }
}

// REQUIRES: more than F members state it.
void AdmissionNotes::OfArrival(const wire::Arrival& arrival) {
  const auto refusal = RefusalOf(head_, manifest_, arrival, block_.step);
  for (const Reason& reason : kRefusals) {
    If(refusal && refusal->find(reason.text) != std::string::npos, reason.name);
  }
  const bool full = refusal && refusal->find("seats are taken") != std::string::npos;
  If(full && head_.members.size() < SeatsIn(manifest_), "not let in: seats are kept for others");
  const bool in = IsMember(block_.joined, arrival.peer) ||
                  EntryOf(block_.candidates, arrival.peer) != nullptr ||
                  EntryOf(block_.removals, arrival.peer) != nullptr;
  if (refusal || in) return;
  std::size_t all = 0;
  std::size_t same = 0;
  for (const wire::Candidate& candidate : block_.candidates) {
    const wire::Standing* standing = EntryOf(head_.standings, candidate.peer);
    if (standing != nullptr) continue;
    ++all;
    same += arrival.voucher && candidate.voucher == arrival.voucher ? 1 : 0;
  }
  If(all >= wire::kMaxArrivals, "not let in: all slots are taken");
  If(same == kPlacesOfInvite, "not let in: the slots of its invite are taken");
  If(same > 0 && same < kPlacesOfInvite, "not let in: more than there are uses left");
}

void AdmissionNotes::OfFreshDisputes() {
  std::map<PeerId, std::set<PeerId>> with;
  for (const wire::Dispute& dispute : block_.disputes) {
    const bool worker = IsFresh(head_, dispute.worker, block_.step);
    const bool aggregator = IsFresh(head_, dispute.aggregator, block_.step);
    If(worker != aggregator, "dispute: of a newcomer with an older member");
    with[dispute.worker].insert(dispute.aggregator);
    with[dispute.aggregator].insert(dispute.worker);
  }
  for (const auto& [peer, others] : with) {
    If(others.size() > std::max(1U, head_.peak_t_s) && IsMember(block_.members, peer),
       "dispute: too many, but for those with newcomers");
  }
}

void AdmissionNotes::OfTheWait() {
  if (!manifest_.adaptive) return;
  If(block_.part_us < head_.part_us, "wait: a quiet step takes from it");
  If(block_.part_us > head_.part_us && block_.part_us < 2 * head_.part_us,
     "wait: is the manifest's again");
  if (block_.part_us != 2 * head_.part_us) return;
  If(true, "wait: doubles");
  for (const wire::Removal& removal : block_.removals) {
    const wire::Standing* before = EntryOf(head_.standings, removal.peer);
    const wire::Standing* after = EntryOf(block_.standings, removal.peer);
    If(removal.kind == wire::RemovalKind::kDrop &&
           after->drops == (before == nullptr ? 0 : before->drops),
       "wait: a drop that is not counted");
  }
  for (std::size_t j = 0; j < block_.columns.size(); ++j) {
    const PeerId& owner = block_.aggregated[j].owner;
    if (!IsMember(block_.members, owner)) continue;  // as it is if its AGG is sealed absent
    If(block_.columns[j] == wire::ColumnFate::kNoAggregate, "wait: a void that is not counted");
    const auto missing =
        std::count_if(proofs_.begin(), proofs_.end(), [&](const wire::Proof& proof) {
          return j < proof.columns.size() && proof.columns[j].missing;
        });
    If(static_cast<std::size_t>(missing) > FaultBound(head_.thresholds),
       "wait: an aggregate that many miss and nobody is dropped for");
  }
}

}  // namespace

std::vector<const char*> AdmissionSituations() {
  std::vector<const char*> names(std::begin(kOthers), std::end(kOthers));
  for (const Reason& reason : kRefusals) names.push_back(reason.name);
  return names;
}

void NoteAdmissions(const Block& head, const Manifest& manifest, const naive::Sealed& sealed,
                    const Block& block, Coverage& coverage) {
  AdmissionNotes admissions(head, manifest, sealed, block, coverage);
  admissions.OfArrivals();
  admissions.OfFreshDisputes();
  admissions.OfTheWait();
}

}  // namespace ostraka::protocol

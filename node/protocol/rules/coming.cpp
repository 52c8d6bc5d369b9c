#include "node/protocol/rules/coming.h"

#include <algorithm>
#include <set>
#include <utility>

#include "node/base/planted.h"
#include "node/protocol/rules/invite_book.h"

namespace ostraka::protocol {
namespace {

// What of a run the admissions of one block use up.
struct Ledger {
  std::size_t seats_taken = 0;
  std::size_t keys = 0;
  InviteBook book;
};

Ledger LedgerOf(const Block& head, std::uint64_t step) {
  return {SeatsTaken(head, step), KeysOf(head).size(), InviteBook(head, step)};
}

// Of a key without a voucher.
std::optional<std::string> RefusalByList(const Manifest& manifest, const PeerId& peer) {
  if (IsAllowed(manifest, peer)) return std::nullopt;
  if (!IsOpen(manifest)) return "the run is closed: nobody comes in";
  return manifest.join.policy == JoinPolicy::kInvite
             ? "it shows no invite: give the one that it has (--invite), or ask a moderator for one"
             : "the run's list does not have its key";
}

// Of who has come in by the voucher before, or has not.
std::optional<std::string> RefusalByVoucher(const InviteBook& book, const Manifest& manifest,
                                            const PeerId& peer, const Voucher& voucher,
                                            std::uint64_t step) {
  return book.HasUsed(voucher.invite, peer) ? book.RefusalToUserOf(voucher, manifest, step)
                                            : book.RefusalOf(voucher, manifest, step);
}

std::optional<std::string> RefusalBy(const Block& head, const Manifest& manifest,
                                     const Arrival& arrival, const Ledger& ledger,
                                     std::uint64_t step) {
  const PeerId& peer = arrival.peer;
  const Standing* standing = StandingOf(head.standings, peer);
  if (IsMember(head.members, peer)) return "it is a member";
  if (standing != nullptr && standing->banned) return "it was banned";
  if (standing != nullptr && step < standing->barred_until) {
    return "it is barred until step " + std::to_string(standing->barred_until);
  }
  if (MayReturn(head, peer, step)) return "it may return, and needs no voucher";
  if (head.closing > 0) return "the run ends";
  auto refusal = arrival.voucher
                     ? RefusalByVoucher(ledger.book, manifest, peer, *arrival.voucher, step)
                     : RefusalByList(manifest, peer);
  if (refusal) return refusal;
  if (ledger.seats_taken >= SeatsIn(manifest)) {
    return "all " + std::to_string(SeatsIn(manifest)) +
           " seats are taken: try again when one is free, " + std::to_string(kSeatSteps) +
           " steps after a member has left or was dropped, or when one is banned";
  }
  if (standing == nullptr && ledger.keys >= wire::kMaxKeys) {
    return "the run has known " + std::to_string(wire::kMaxKeys) + " keys, and takes no more";
  }
  return std::nullopt;
}

// How many members state each. Naming one twice is naming it once.
template <typename What, typename StatedBy>
std::map<What, std::size_t> CountOf(const SealedStep& sealed, const Block& head, StatedBy stated) {
  std::map<What, std::size_t> count;
  for (const auto& [member, proof] : sealed.proofs) {
    if (!IsMember(head.members, member)) continue;
    const auto& list = stated(proof);
    for (const What& one : std::set<What>(list.begin(), list.end())) ++count[one];
  }
  return count;
}

// Since when it has been confirmed in every block by what it shows now; nullopt if it is new, or
// shows something else: a gap starts again.
std::optional<std::uint64_t> SinceOf(const Block& head, const Arrival& one) {
  const Candidate* before = CandidateOf(head, one.peer);
  if (before == nullptr || before->voucher != one.voucher) return std::nullopt;
  return before->since;
}

// Who gets a slot, one after the other. A candidate has a use of its invite reserved, unless it has
// used it before.
class Slots {
 public:
  explicit Slots(InviteBook book) : book_(std::move(book)) {}
  bool Take(const Arrival& one) {
    if (left_ == 0) return false;
    if (one.voucher && !TakeOf(*one.voucher, one.peer)) return false;
    --left_;
    return true;
  }

 private:
  struct Taken {
    std::size_t places = 0;
    std::size_t uses = 0;
    std::size_t again = 0;
  };
  bool TakeOf(const Voucher& voucher, const PeerId& peer) {
    Taken& taken = taken_[voucher.invite];
    if (taken.places == kPlacesOfInvite) return false;
    const bool again = book_.HasUsed(voucher.invite, peer);
    if (again ? !HasPlaceAgain(taken.again) : !HasUseLeft(voucher, taken.uses)) return false;
    ++taken.places;
    ++(again ? taken.again : taken.uses);
    again_ += again ? 1 : 0;
    return true;
  }
  bool HasPlaceAgain(std::size_t by_its_invite) const {
    return again_ < kPlacesOfUsers && by_its_invite < kPlacesOfUsers / 2;
  }
  bool HasUseLeft(const Voucher& voucher, std::size_t reserved) const {
    if (base::Planted(base::Bug::kInvitesAreNotCounted)) return true;
    return book_.UsesOf(voucher.invite) + reserved < voucher.uses;
  }

  InviteBook book_;                // as it is before any of them comes in
  std::map<Digest, Taken> taken_;  // by invite
  std::size_t again_ = 0;          // by who has used its invite
  std::size_t left_ = wire::kMaxArrivals;
};

// One pass over the confirmations of a block.
class Desk {
 public:
  Desk(const SealedStep& sealed, const Block& head, const Manifest& manifest)
      : step_(sealed.step), head_(head), manifest_(manifest), ledger_(LedgerOf(head, step_)) {
    for (const wire::Revocation& revocation : RevocationsIn(sealed, manifest)) {
      ledger_.book.Revoke(revocation, manifest, step_);
    }
  }

  void Confirm(const Arrival& one, bool comes) {
    const std::uint64_t since = SinceOf(head_, one).value_or(step_);
    if (step_ - since + 1 < manifest_.probation) {
      admissions_.candidates.push_back({one.peer, since, step_, one.voucher});
      return;
    }
    admissions_.joined.push_back(one.peer);
    if (comes) Count(one);
  }
  // REQUIRES: `arrivals` ascend.
  void ConfirmArrivals(const std::vector<Arrival>& arrivals) {
    std::set<PeerId> seen;
    Slots slots(ledger_.book);
    for (const bool old : {true, false}) {
      for (const Arrival& one : arrivals) {
        if (SinceOf(head_, one).has_value() != old || seen.contains(one.peer)) continue;
        if (RefusalBy(head_, manifest_, one, ledger_, step_) || !slots.Take(one)) continue;
        seen.insert(one.peer);
        Confirm(one, true);
      }
    }
  }
  Admissions Take() {
    const auto by_peer = [](const Candidate& a, const Candidate& b) { return a.peer < b.peer; };
    std::sort(admissions_.candidates.begin(), admissions_.candidates.end(), by_peer);
    std::sort(admissions_.joined.begin(), admissions_.joined.end());
    std::sort(admissions_.came.begin(), admissions_.came.end());
    ledger_.book.CheckInvariants();
    admissions_.invites = ledger_.book.invites();
    admissions_.moderators = ledger_.book.moderators();
    return std::move(admissions_);
  }

 private:
  void Count(const Arrival& one) {
    admissions_.came.push_back(one.peer);
    ++ledger_.seats_taken;
    if (StandingOf(head_.standings, one.peer) == nullptr) ++ledger_.keys;
    if (!one.voucher || ledger_.book.HasUsed(one.voucher->invite, one.peer)) return;
    ledger_.book.Count(*one.voucher, one.peer);
  }

  std::uint64_t step_;
  const Block& head_;
  const Manifest& manifest_;
  Ledger ledger_;
  Admissions admissions_;
};

}  // namespace

std::size_t SeatsTaken(const Block& head, std::uint64_t step) {
  std::size_t taken = head.members.size();
  for (const Standing& standing : head.standings) {
    const bool kept = !standing.banned && KeepsSeat(standing, step);
    if (kept && !IsMember(head.members, standing.peer)) ++taken;
  }
  return taken;
}

const Candidate* CandidateOf(const Block& head, const PeerId& peer) {
  const auto found = std::find_if(head.candidates.begin(), head.candidates.end(),
                                  [&](const Candidate& one) { return one.peer == peer; });
  return found == head.candidates.end() ? nullptr : &*found;
}

std::optional<std::string> RefusalOf(const Block& head, const Manifest& manifest,
                                     const Arrival& arrival, std::uint64_t step) {
  return RefusalBy(head, manifest, arrival, LedgerOf(head, step), step);
}

std::optional<std::string> LastingRefusalOf(const Block& head, const Manifest& manifest,
                                            const Arrival& arrival, std::uint64_t step) {
  if (!arrival.voucher) return RefusalByList(manifest, arrival.peer);
  const InviteBook book(head, step);
  const Voucher& voucher = *arrival.voucher;
  return book.HasUsed(voucher.invite, arrival.peer)
             ? book.RefusalToUserOf(voucher, manifest, step)
             : book.LastingRefusalOf(voucher, manifest, step);
}

WayBack WayBackOf(const Block& head, const Manifest& manifest, const PeerId& peer,
                  const std::optional<Voucher>& shown) {
  const std::uint64_t step = HeightOf(head);
  WayBack way;
  const Standing* standing = StandingOf(head.standings, peer);
  if (standing != nullptr && standing->banned) return way;
  way.from = standing == nullptr ? 0 : standing->barred_until;
  if (IsMember(head.members, peer)) {
    const bool barred = standing != nullptr && standing->drops > 0;
    way.seat_until = step + (barred ? kBarredSteps : 0) + kSeatSteps;
  } else if (standing != nullptr && KeepsSeat(*standing, step)) {
    way.seat_until = SeatIsKeptUntil(*standing);
  }
  if (IsAllowed(manifest, peer)) {
    way.door_until = kNoStep;
    return way;
  }
  if (shown) {
    const bool admits = shown->kind == wire::InviteKind::kAdmit &&
                        !LastingRefusalOf(head, manifest, {peer, shown}, step);
    way.door_until = admits ? shown->ends_step : 0;
    return way;
  }
  // Whose invites these are the block does not say.
  const bool is_one_out = std::any_of(head.moderators.begin(), head.moderators.end(),
                                      [](const wire::Moderator& one) { return one.revoked; });
  if (is_one_out) return way;
  const InviteBook book(head, step);
  for (const wire::UsedInvite& used : book.invites()) {
    const bool is_user = std::binary_search(used.users.begin(), used.users.end(), peer);
    if (is_user) way.door_until = std::max(way.door_until, used.ends_step);
  }
  return way;
}

bool MayCome(const Block& head, const Manifest& manifest, const Arrival& arrival,
             std::uint64_t step) {
  return !RefusalOf(head, manifest, arrival, step);
}

std::vector<PeerId> JoinsToState(const Block& head, const Asking& asking, std::uint64_t step) {
  std::vector<PeerId> joins;
  for (const auto& [peer, voucher] : asking) {
    if (MayReturn(head, peer, step)) joins.push_back(peer);
  }
  return joins;
}

std::vector<Arrival> ArrivalsToState(const Block& head, const Manifest& manifest,
                                     const Asking& asking, std::uint64_t step) {
  const Ledger ledger = LedgerOf(head, step);
  Slots slots(ledger.book);
  std::vector<Arrival> arrivals;
  for (const bool candidates : {true, false}) {
    for (const auto& [peer, voucher] : asking) {
      const Arrival arrival{peer, voucher};
      if (SinceOf(head, arrival).has_value() != candidates) continue;
      if (RefusalBy(head, manifest, arrival, ledger, step) || !slots.Take(arrival)) continue;
      arrivals.push_back(arrival);
    }
  }
  std::sort(arrivals.begin(), arrivals.end());
  return arrivals;
}

Admissions AdmissionsAfter(const SealedStep& sealed, const Block& head, const Manifest& manifest,
                           const std::map<PeerId, FaultKind>& losers) {
  const std::size_t bound = FaultBound(head.thresholds);
  Desk desk(sealed, head, manifest);
  const auto joins = CountOf<PeerId>(sealed, head, [](const wire::Proof& p) { return p.joins; });
  for (const auto& [peer, count] : joins) {
    if (count <= bound || losers.contains(peer) || !MayReturn(head, peer, sealed.step)) continue;
    desk.Confirm({peer, std::nullopt}, false);
  }
  const auto stated =
      CountOf<Arrival>(sealed, head, [](const wire::Proof& p) { return p.arrivals; });
  std::vector<Arrival> arrivals;
  for (const auto& [arrival, count] : stated) {
    if (count > bound && !losers.contains(arrival.peer)) arrivals.push_back(arrival);
  }
  desk.ConfirmArrivals(arrivals);
  return desk.Take();
}

}  // namespace ostraka::protocol

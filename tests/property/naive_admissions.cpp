#include "tests/property/naive_admissions.h"

#include <tuple>

#include "node/protocol/ground/invite.h"

namespace ostraka::protocol::naive {
namespace {

using wire::Arrival;
using wire::Standing;
using wire::Voucher;

const Standing* StandingIn(const Block& block, const PeerId& peer) {
  for (const Standing& standing : block.standings) {
    if (standing.peer == peer) return &standing;
  }
  return nullptr;
}

// "Who left or was dropped keeps its seat for 1000 steps, counted from when it may come back. A
// banned key keeps none."
bool IsSeatKept(const Standing& standing, std::uint64_t step) {
  if (standing.banned) return false;
  if (standing.left_step > standing.last_drop_step) return step - standing.left_step < 1000;
  const std::uint64_t may = std::max(standing.barred_until, standing.last_drop_step);
  return step < may + 1000;
}

bool MayReturn(const Step& step, const PeerId& peer) {
  const Standing* standing = StandingIn(*step.last, peer);
  if (standing == nullptr || IsMember(step, peer)) return false;
  return step.number >= standing->barred_until && IsSeatKept(*standing, step.number);
}

// What more than F members state, each counted once.
std::vector<PeerId> StatedReturns(const Step& step) {
  std::vector<PeerId> stated;
  for (const Standing& standing : step.last->standings) {
    std::size_t count = 0;
    for (const auto& [member, proof] : step.proofs) {
      count += Has(proof.joins, standing.peer) ? 1 : 0;
    }
    if (count > step.fault_bound) stated.push_back(standing.peer);
  }
  return stated;
}

// Of two lines for one key first that without a voucher, then that of the smaller invite.
std::vector<Arrival> StatedArrivals(const Step& step) {
  std::vector<Arrival> stated;
  for (const auto& [stater, lines] : step.proofs) {
    for (const Arrival& line : lines.arrivals) {
      std::size_t count = 0;
      for (const auto& [member, proof] : step.proofs) count += Has(proof.arrivals, line) ? 1 : 0;
      if (count > step.fault_bound && !Has(stated, line)) stated.push_back(line);
    }
  }
  const auto order = [](const Arrival& line) {
    const Voucher voucher = line.voucher.value_or(Voucher{});
    return std::tuple(line.peer, line.voucher.has_value(), voucher.invite, voucher.moderator,
                      voucher.uses, voucher.ends_step, voucher.kind);
  };
  std::sort(stated.begin(), stated.end(),
            [&](const Arrival& a, const Arrival& b) { return order(a) < order(b); });
  return stated;
}

// What of the run is given away, with what this block gives away so far.
struct Given {
  std::size_t seats = 0;
  std::size_t keys = 0;
  std::map<Digest, wire::UsedInvite> invites;  // that have not ended
  std::map<PeerId, std::uint32_t> by_moderator;
  std::vector<PeerId> moderators_out;  // that took all of their invites back
};

Given GivenBefore(const Step& step) {
  const Block& last = *step.last;
  Given given;
  given.seats = last.members.size();
  given.keys = last.members.size();
  for (const Standing& standing : last.standings) {
    if (IsMember(step, standing.peer)) continue;
    ++given.keys;
    given.seats += IsSeatKept(standing, step.number) ? 1 : 0;
  }
  for (const wire::UsedInvite& used : last.invites) {
    if (used.ends_step > step.number) given.invites[used.invite] = used;
  }
  for (const wire::Moderator& moderator : last.moderators) {
    given.by_moderator[moderator.peer] = moderator.admitted;
    if (moderator.revoked) given.moderators_out.push_back(moderator.peer);
  }
  return given;
}

// "The manifest names it, as a member of the genesis or in its list."
bool IsNamed(const Manifest& manifest, const PeerId& peer) {
  bool named = Has(manifest.join.allow, peer);
  for (const Member& member : manifest.members) named = named || member.id == peer;
  return named;
}

// "A key that came in by an invite comes in by it again, at no use and no quota."
bool CameBy(const Given& given, const Arrival& line) {
  const auto used = given.invites.find(line.voucher->invite);
  return used != given.invites.end() && Has(used->second.users, line.peer);
}

// "An invite counts if a moderator of the run signed it, it has not ended, it has uses left, and
// its moderator has quota left."
bool IsGood(const Step& step, const Arrival& line, const Given& given) {
  const Voucher& voucher = *line.voucher;
  const JoinPlan& join = step.manifest->join;
  if (join.policy != JoinPolicy::kInvite || !Has(join.moderators, voucher.moderator)) return false;
  if (voucher.ends_step <= step.number) return false;
  if (Has(given.moderators_out, voucher.moderator)) return false;
  if (CameBy(given, line)) return !given.invites.at(voucher.invite).revoked;
  if (voucher.kind != wire::InviteKind::kAdmit) return false;
  const auto admitted = given.by_moderator.find(voucher.moderator);
  if (admitted != given.by_moderator.end() && admitted->second >= join.quota) return false;
  const auto used = given.invites.find(voucher.invite);
  if (used == given.invites.end()) return given.invites.size() < 1024;
  return !used->second.revoked && used->second.used < voucher.uses;
}

// "A revocation counts if the moderator whose invite it is signed it, and the invite has not ended.
// One that the block does not list yet costs the moderator one of its quota."
void RevokeOne(const Step& step, const wire::Invite& invite, Given& given) {
  const Digest name = InviteDigest(step.manifest->run_id, invite);
  const bool listed = given.invites.contains(name);
  if (invite.ends_step <= step.number) return;
  if (!listed) {
    const std::uint32_t quota = step.manifest->join.quota;
    if (given.invites.size() >= 1024 || given.by_moderator[invite.moderator] >= quota) return;
    ++given.by_moderator[invite.moderator];
  }
  const std::uint32_t used = listed ? given.invites[name].used : 0;
  given.invites[name] = {name, used, invite.ends_step, true, {}};
}

void RevokeAll(const Step& step, Given& given) {
  const JoinPlan& join = step.manifest->join;
  if (join.policy != JoinPolicy::kInvite) return;
  // First those that name no invite: nothing of such a moderator counts any more.
  std::vector<wire::Revocation> words;
  for (const auto& [member, commit] : step.commits) {
    if (!commit.revokes || !Has(join.moderators, commit.revokes->moderator)) continue;
    crypto::PlainVerifier verifier;
    if (IsSigned(step.manifest->run_id, *commit.revokes, verifier))
      words.push_back(*commit.revokes);
  }
  for (const wire::Revocation& word : words) {
    if (!word.invite && !Has(given.moderators_out, word.moderator))
      given.moderators_out.push_back(word.moderator);
  }
  std::sort(words.begin(), words.end());
  for (const wire::Revocation& word : words) {
    if (word.invite && !Has(given.moderators_out, word.moderator))
      RevokeOne(step, *word.invite, given);
  }
}

bool MayCome(const Step& step, const Arrival& line, const Given& given) {
  const Standing* standing = StandingIn(*step.last, line.peer);
  if (IsMember(step, line.peer) || MayReturn(step, line.peer)) return false;
  if (standing != nullptr && (standing->banned || step.number < standing->barred_until)) {
    return false;
  }
  if (step.last->closing != 0) return false;
  if (line.voucher ? !IsGood(step, line, given) : !IsNamed(*step.manifest, line.peer)) {
    return false;
  }
  if (given.seats >= SeatsOf(*step.manifest)) return false;
  return standing != nullptr || given.keys < 1024;
}

// "By one invite at most 8 of the 16 places, and not more than it has uses left; those that come
// again have 8 at most, by one invite 4." `placed` are those that have one, and `before` is what
// was given before the block.
bool HasPlace(const Arrival& line, const Given& before, const std::vector<Arrival>& placed) {
  std::size_t same = 0;   // by the same invite
  std::size_t first = 0;  // of these for the first time
  std::size_t again = 0;  // by any
  std::size_t same_again = 0;
  for (const Arrival& one : placed) {
    if (!one.voucher) continue;
    const bool is_same = line.voucher && one.voucher->invite == line.voucher->invite;
    const bool was_in = CameBy(before, one);
    again += was_in ? 1 : 0;
    same += is_same ? 1 : 0;
    first += is_same && !was_in ? 1 : 0;
    same_again += is_same && was_in ? 1 : 0;
  }
  if (placed.size() >= 16) return false;
  if (!line.voucher) return true;
  if (same >= 8) return false;
  if (CameBy(before, line)) return again < 8 && same_again < 4;
  const auto used = before.invites.find(line.voucher->invite);
  return first + (used == before.invites.end() ? 0 : used->second.used) < line.voucher->uses;
}

// The first step of its present candidacy: a gap, or another voucher, begins anew.
std::uint64_t Since(const Step& step, const Arrival& line) {
  for (const wire::Candidate& before : step.last->candidates) {
    if (before.peer == line.peer && before.voucher == line.voucher) return before.since;
  }
  return step.number;
}

// True if the block admits it, and does not only make it a candidate.
bool Confirm(const Step& step, const Arrival& line, Block& block) {
  const std::uint64_t since = Since(step, line);
  const bool enough = step.number - since + 1 >= step.manifest->probation;
  if (enough) {
    block.joined.push_back(line.peer);
  } else {
    block.candidates.push_back({line.peer, since, step.number, line.voucher});
  }
  return enough;
}

void GiveTo(const Step& step, const Arrival& line, Given& given) {
  ++given.seats;
  if (StandingIn(*step.last, line.peer) == nullptr) ++given.keys;
  if (!line.voucher || CameBy(given, line)) return;
  wire::UsedInvite& used = given.invites[line.voucher->invite];
  used = {line.voucher->invite, used.used + 1, line.voucher->ends_step, false, used.users};
  used.users.push_back(line.peer);
  std::sort(used.users.begin(), used.users.end());
  ++given.by_moderator[line.voucher->moderator];
}

}  // namespace

std::size_t SeatsOf(const Manifest& manifest) {
  return std::max<std::size_t>(manifest.join.seats, manifest.members.size());
}

std::vector<PeerId> Admit(const Step& step, Block& block) {
  const std::vector<PeerId> losers = Losers(step);
  for (const PeerId& peer : StatedReturns(step)) {
    if (MayReturn(step, peer) && !Has(losers, peer)) Confirm(step, {peer, std::nullopt}, block);
  }
  Given given = GivenBefore(step);
  RevokeAll(step, given);
  const Given before = given;
  Block newcomers;  // beside those that return
  std::vector<Arrival> placed;
  std::vector<PeerId> done;
  for (const bool candidates : {true, false}) {
    for (const Arrival& line : StatedArrivals(step)) {
      if (candidates != (Since(step, line) < step.number)) continue;
      if (Has(done, line.peer) || Has(losers, line.peer)) continue;
      if (!MayCome(step, line, given) || !HasPlace(line, before, placed)) continue;
      done.push_back(line.peer);
      placed.push_back(line);
      if (Confirm(step, line, newcomers)) GiveTo(step, line, given);
    }
  }
  std::sort(newcomers.joined.begin(), newcomers.joined.end());
  for (const PeerId& peer : newcomers.joined) block.joined.push_back(peer);
  std::sort(block.joined.begin(), block.joined.end());
  for (const wire::Candidate& one : newcomers.candidates) block.candidates.push_back(one);
  std::sort(block.candidates.begin(), block.candidates.end(),
            [](const auto& a, const auto& b) { return a.peer < b.peer; });
  for (const auto& [invite, used] : given.invites) block.invites.push_back(used);
  for (const PeerId& out : given.moderators_out) given.by_moderator.try_emplace(out, 0);
  for (const auto& [peer, admitted] : given.by_moderator) {
    const bool out = Has(given.moderators_out, peer);
    if (admitted > 0 || out) block.moderators.push_back({peer, admitted, out});
  }
  return newcomers.joined;
}

}  // namespace ostraka::protocol::naive

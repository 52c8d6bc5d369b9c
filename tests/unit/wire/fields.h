// The fields in which two messages must agree to be equal: all of them, doubles by their bits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <tuple>
#include <vector>

#include "node/wire/block.h"
#include "node/wire/evidence_codec.h"
#include "node/wire/messages.h"

namespace ostraka::wire {

// Fields of each element of a list.
template <typename T>
auto FieldsOfAll(const std::vector<T>& items) {
  std::vector<decltype(Fields(items[0]))> all;
  for (const T& item : items) all.push_back(Fields(item));
  return all;
}

inline auto Fields(const Boot& b) { return std::tuple(b.boot_id, b.protocol_version); }

inline auto Fields(const Revocation& r) {
  return std::tuple(r.moderator, r.invite, r.by_moderator.bytes);
}

inline auto Fields(const Commit& c) {
  return std::tuple(c.coins_root, c.coin_count, c.gradient_root, c.parameters_root, c.only_dials,
                    c.leaving, Fields(c.revokes.value_or(Revocation{})));
}

inline auto Fields(const TensorHeader& h) { return std::tuple(h.element, h.codec, h.shape); }

inline auto Fields(const Part& p) { return std::tuple(Fields(p.header), p.root, p.path); }

inline auto Fields(const Aggregate& a) {
  return std::tuple(a.part_index, a.result_root, a.included, a.leaves_root, a.commits_root,
                    a.slowest);
}

inline auto Fields(const Result& r) { return std::tuple(Fields(r.header), r.root); }

inline auto Fields(const Reveal& r) {
  return std::tuple(r.opening.coin.value, r.opening.coin.salt, r.opening.path);
}

inline auto Fields(const ColumnNumbers& c) {
  std::array<std::uint64_t, kDirections> s{};
  for (std::size_t k = 0; k < kDirections; ++k) s[k] = std::bit_cast<std::uint64_t>(c.s[k]);
  return std::tuple(c.missing, s, std::bit_cast<std::uint64_t>(c.norm),
                    std::bit_cast<std::uint64_t>(c.size));
}

inline auto Fields(const Accusation& a) { return std::tuple(a.target, a.step); }

inline auto Fields(const Naming& n) { return std::tuple(n.target, n.step, n.column); }

inline auto Fields(const Vote& v) { return std::tuple(v.about, v.verdict); }

inline auto Fields(const Proof& p) {
  const Accusation accusation = p.accusation.value_or(Accusation{});
  const Naming naming = p.naming.value_or(Naming{});
  return std::tuple(FieldsOfAll(p.columns), p.accusation.has_value(), Fields(accusation),
                    p.naming.has_value(), Fields(naming), FieldsOfAll(p.votes), p.state_root,
                    p.evidence, p.held, p.silent, p.joins, p.lag_us, p.hasty, p.unshown, p.late_ms,
                    p.arrivals);
}

inline auto Fields(const Echo& e) { return std::tuple(e.vector, e.present, e.equivocated); }

inline auto Fields(const Status& s) { return std::tuple(s.rank, s.value); }

inline auto Fields(const Propose& p) {
  return std::tuple(p.rank, p.value, p.statuses, p.statuses_root);
}

inline auto Fields(const SealVote& v) { return std::tuple(v.value, v.rank); }

inline auto Fields(const Lock& l) { return std::tuple(l.value); }

inline auto Fields(const Close& /*c*/) { return std::tuple(); }

inline auto Fields(const Rejoin& r) {
  const Credential c = r.credential.value_or(Credential{});
  return std::tuple(r.nonce, r.credential.has_value(), c.invite.moderator, c.invite.holder,
                    c.invite.uses, c.invite.ends_step, c.invite.kind, c.invite.anchor,
                    c.by_moderator, c.by_holder);
}

inline auto Fields(const Pull& p) {
  return std::tuple(p.kind, p.type, p.members, p.digests, p.index);
}

inline auto Fields(const VectorEntry& e) { return std::tuple(e.state, e.digest); }

inline auto Fields(const Vector& v) { return FieldsOfAll(v.entries); }

inline auto Fields(const BlockMessage& b) { return std::tuple(b.digest, b.head); }

inline auto Fields(const Chunk& c) { return std::tuple(c.step, c.index, c.count); }

inline auto Fields(const Envelope& e) { return std::tuple(e.slot, e.entry, e.sender, e.body); }

inline auto Fields(const Removal& r) { return std::tuple(r.peer, r.kind, r.step, r.reason); }

inline auto Fields(const Case::Ballot& b) { return std::tuple(b.voter, b.verdict); }

inline auto Fields(const Covering& c) { return std::tuple(c.column, c.owner); }

inline auto Fields(const Case& c) {
  return std::tuple(c.id, c.opened_step, FieldsOfAll(c.ballots), FieldsOfAll(c.covering),
                    c.fault_bound);
}

inline auto Fields(const Block::Column& c) { return std::tuple(c.owner, c.senders); }

inline auto Fields(const Assignment& a) {
  return std::tuple(a.validator, a.target, a.step, FieldsOfAll(a.covering));
}

inline auto Fields(const Dispute& d) { return std::tuple(d.worker, d.aggregator, d.since); }

inline auto Fields(const Standing& s) {
  return std::tuple(s.peer, s.banned, s.drops, s.last_drop_step, s.barred_until, s.erred,
                    s.left_step, s.returned_step, s.came_step);
}

inline auto Fields(const Candidate& c) {
  return std::tuple(c.peer, c.since, c.confirmed, c.voucher);
}

inline auto Fields(const UsedInvite& i) {
  return std::tuple(i.invite, i.used, i.ends_step, i.revoked, i.users);
}

inline auto Fields(const Moderator& m) { return std::tuple(m.peer, m.admitted, m.revoked); }

inline auto Fields(const Lateness& l) { return std::tuple(l.peer, l.ms); }

inline auto Fields(const Reach& r) { return std::tuple(r.peer, r.only_dials, r.changes_from); }
inline auto Fields(const Forward& f) { return std::tuple(f.from, f.to, f.frame); }
inline auto Fields(const Voids& v) { return std::tuple(v.peer, v.count, v.last_step); }

inline auto Fields(const Block& b) {
  return std::tuple(
      b.step, b.genesis, b.decision, b.previous, b.randomness, b.members, b.thresholds.n,
      b.thresholds.t_s, b.thresholds.t_a, std::bit_cast<std::uint64_t>(b.tau), b.columns,
      FieldsOfAll(b.removals), FieldsOfAll(b.cases), b.state_root, b.result_roots,
      FieldsOfAll(b.aggregated), FieldsOfAll(b.drawn), b.proven, b.owing, FieldsOfAll(b.disputes),
      FieldsOfAll(b.standings), FieldsOfAll(b.candidates), b.joined, b.last_removal_step,
      b.delta_us, FieldsOfAll(b.lateness), FieldsOfAll(b.voids), b.closing, FieldsOfAll(b.reach),
      b.leaving, b.left, b.t_s_in_role, FieldsOfAll(b.invites), FieldsOfAll(b.moderators),
      b.peak_t_s, b.peak_step, b.part_us);
}

inline auto Fields(const EvidenceFile& f) {
  return std::tuple(f.kind, f.accused, f.slot, f.frames, f.attachments);
}

}  // namespace ostraka::wire

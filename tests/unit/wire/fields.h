// What two messages must agree in to be the same: all fields, doubles by their bits.
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

inline auto Fields(const Commit& c) {
  return std::tuple(c.coins_root, c.coin_count, c.gradient_root);
}

inline auto Fields(const TensorHeader& h) { return std::tuple(h.element, h.codec, h.shape); }

inline auto Fields(const Part& p) { return std::tuple(Fields(p.header), p.root, p.path); }

inline auto Fields(const Aggregate& a) {
  return std::tuple(a.part_index, a.result_root, a.included, a.leaves_root, a.commits_root);
}

inline auto Fields(const Result& r) { return std::tuple(Fields(r.header), r.root); }

inline auto Fields(const Reveal& r) {
  return std::tuple(r.opening.coin.value, r.opening.coin.salt, r.opening.path);
}

inline auto Fields(const ColumnNumbers& c) {
  std::array<std::uint64_t, kDirections> s{};
  for (std::size_t k = 0; k < kDirections; ++k) s[k] = std::bit_cast<std::uint64_t>(c.s[k]);
  return std::tuple(c.missing, s, std::bit_cast<std::uint64_t>(c.norm));
}

inline auto Fields(const Accusation& a) { return std::tuple(a.target, a.step); }

inline auto Fields(const Vote& v) { return std::tuple(v.accuser, v.target, v.step, v.verdict); }

inline auto Fields(const Confirmation& c) { return std::tuple(c.evidence, c.valid); }

inline auto Fields(const Proof& p) {
  const Accusation accusation = p.accusation.value_or(Accusation{});
  return std::tuple(FieldsOfAll(p.columns), p.accusation.has_value(), Fields(accusation),
                    FieldsOfAll(p.votes), p.state_root, p.evidence, FieldsOfAll(p.confirmations));
}

inline auto Fields(const Echo& e) { return std::tuple(e.vector, e.present, e.equivocated); }

inline auto Fields(const Envelope& e) { return std::tuple(e.slot, e.entry, e.sender, e.body); }

inline auto Fields(const Removal& r) { return std::tuple(r.peer, r.kind, r.step, r.reason); }

inline auto Fields(const Case::Ballot& b) { return std::tuple(b.voter, b.verdict); }

inline auto Fields(const Case& c) {
  return std::tuple(c.accuser, c.target, c.accused_step, c.opened_step, FieldsOfAll(c.ballots));
}

inline auto Fields(const Block& b) {
  return std::tuple(b.step, b.genesis, b.decision, b.previous, b.randomness, b.members,
                    b.thresholds.n, b.thresholds.t_s, b.thresholds.t_a,
                    std::bit_cast<std::uint64_t>(b.tau), b.columns, FieldsOfAll(b.removals),
                    FieldsOfAll(b.cases), b.state_root);
}

inline auto Fields(const EvidenceFile& f) {
  return std::tuple(f.kind, f.accused, f.slot, f.frames, f.attachments);
}

}  // namespace ostraka::wire

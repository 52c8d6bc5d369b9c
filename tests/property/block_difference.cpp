#include "tests/property/block_difference.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace ostraka::protocol {
namespace {

using wire::Block;

// --- values for people ---

template <typename Integer>
requires std::is_integral_v<Integer> std::string Show(Integer value) {
  return std::to_string(value);
}
std::string Show(const std::string& text) { return "\"" + text + "\""; }
std::string Show(const base::PeerId& peer) { return peer.Short(); }
std::string Show(const base::Digest& digest) { return digest.Short(); }
// Bits: values that differ in the last one must look different.
std::string Show(double value) {
  return std::to_string(value) + " (bits " + std::to_string(std::bit_cast<std::uint64_t>(value)) +
         ")";
}
std::string Show(wire::ColumnFate fate) { return wire::ColumnFateName(fate); }

std::string Show(const wire::Voucher& voucher) {
  return Show(voucher.invite) + " by " + Show(voucher.moderator) + " uses " + Show(voucher.uses) +
         " ends " + Show(voucher.ends_step) + " kind " +
         std::to_string(static_cast<int>(voucher.kind));
}

template <typename T>
std::string Show(const std::optional<T>& value) {
  return value ? Show(*value) : "none";
}
std::string Show(const wire::Thresholds& t) {
  return "n " + Show(t.n) + ", t_s " + Show(t.t_s) + ", t_a " + Show(t.t_a);
}
std::string Show(const wire::Removal& removal) {
  return Show(removal.peer) + " " + wire::RemovalKindName(removal.kind) + " step " +
         Show(removal.step) + " " + Show(removal.reason);
}
std::string Show(const wire::Covering& covering) {
  return Show(covering.column) + " of " + Show(covering.owner);
}
std::string Show(const wire::Case::Ballot& ballot) {
  return Show(ballot.voter) + " " + std::to_string(static_cast<int>(ballot.verdict));
}
template <typename T>
std::string Show(const std::vector<T>& list);
std::string Show(const wire::Case& open) {
  return std::string(wire::CaseKindName(open.id.kind)) + " by " + Show(open.id.accuser) + " of " +
         Show(open.id.target) + " step " + Show(open.id.step) + " column " + Show(open.id.column) +
         " opened " + Show(open.opened_step) + " ballots " + Show(open.ballots) + " covering " +
         Show(open.covering);
}
std::string Show(const wire::Assignment& drawn) {
  return Show(drawn.validator) + " of " + Show(drawn.target) + " step " + Show(drawn.step) +
         " covering " + Show(drawn.covering);
}
std::string Show(const Block::Column& column) {
  return Show(column.owner) + " senders " + Show(column.senders);
}
std::string Show(const wire::Dispute& dispute) {
  return Show(dispute.worker) + " and " + Show(dispute.aggregator) + " since " +
         Show(dispute.since);
}
std::string Show(const wire::Standing& standing) {
  return Show(standing.peer) + (standing.banned ? " banned" : "") + " drops " +
         Show(standing.drops) + " last " + Show(standing.last_drop_step) + " barred until " +
         Show(standing.barred_until) + " left " + Show(standing.left_step) + " returned " +
         Show(standing.returned_step) + " came " + Show(standing.came_step);
}
std::string Show(const wire::UsedInvite& invite) {
  return Show(invite.invite) + " used " + Show(invite.used) + " ends " + Show(invite.ends_step) +
         " revoked " + Show(invite.revoked) + " users " + Show(invite.users);
}
std::string Show(const wire::Moderator& moderator) {
  return Show(moderator.peer) + " admitted " + Show(moderator.admitted) + " revoked " +
         Show(moderator.revoked);
}
std::string Show(const wire::Candidate& candidate) {
  return Show(candidate.peer) + " since " + Show(candidate.since) + " confirmed " +
         Show(candidate.confirmed) + " voucher " + Show(candidate.voucher);
}
std::string Show(const wire::Lateness& late) { return Show(late.peer) + " " + Show(late.ms); }
std::string Show(const wire::Reach& reach) {
  return Show(reach.peer) + (reach.only_dials ? " only dials" : " can be dialed") + " until " +
         Show(reach.changes_from);
}
std::string Show(const wire::Voids& voids) {
  return Show(voids.peer) + " " + Show(voids.count) + " last " + Show(voids.last_step);
}
template <typename T>
std::string Show(const std::vector<T>& list) {
  std::string shown = "[";
  for (const T& one : list) shown += "\n    " + Show(one);
  return shown + "]";
}

// --- fields ---

class Comparison {
 public:
  template <typename T>
  void Field(const std::string& name, const T& block, const T& expected) {
    if (!difference.empty()) return;
    const std::string shown = Show(block);
    const std::string wanted = Show(expected);
    if (shown == wanted) return;
    difference = name + " is " + shown + "\n  and by the naive writing " + wanted;
  }
  // The first entry that differs, or the lists if one begins with the other.
  template <typename T>
  void Field(const std::string& name, const std::vector<T>& block, const std::vector<T>& expected) {
    for (std::size_t i = 0; i < std::min(block.size(), expected.size()); ++i) {
      const T one = block[i];
      const T wanted = expected[i];
      Field(name + "[" + std::to_string(i) + "]", one, wanted);
    }
    if (block.size() == expected.size() || !difference.empty()) return;
    const bool more = block.size() > expected.size();
    const std::vector<T>& longer = more ? block : expected;
    const T first = longer[std::min(block.size(), expected.size())];
    difference = name + " has " + std::to_string(block.size()) + " entries, and by the naive " +
                 "writing " + std::to_string(expected.size()) + "; the first of the longer list " +
                 "that is not in the other: " + Show(first);
  }
  std::string difference;
};

}  // namespace

std::string FirstDifference(const Block& a, const Block& b) {
  Comparison compare;
  compare.Field("step", a.step, b.step);
  compare.Field("genesis", a.genesis, b.genesis);
  compare.Field("decision", a.decision, b.decision);
  compare.Field("previous", a.previous, b.previous);
  compare.Field("randomness", a.randomness, b.randomness);
  compare.Field("columns", a.columns, b.columns);
  compare.Field("removals", a.removals, b.removals);
  compare.Field("last_removal_step", a.last_removal_step, b.last_removal_step);
  compare.Field("joined", a.joined, b.joined);
  compare.Field("leaving", a.leaving, b.leaving);
  compare.Field("left", a.left, b.left);
  compare.Field("t_s in role", a.t_s_in_role, b.t_s_in_role);
  compare.Field("members", a.members, b.members);
  compare.Field("thresholds", a.thresholds, b.thresholds);
  compare.Field("standings", a.standings, b.standings);
  compare.Field("candidates", a.candidates, b.candidates);
  compare.Field("invites", a.invites, b.invites);
  compare.Field("moderators", a.moderators, b.moderators);
  compare.Field("peak t_s", a.peak_t_s, b.peak_t_s);
  compare.Field("peak step", a.peak_step, b.peak_step);
  compare.Field("part us", a.part_us, b.part_us);
  compare.Field("cases", a.cases, b.cases);
  compare.Field("disputes", a.disputes, b.disputes);
  compare.Field("lateness", a.lateness, b.lateness);
  compare.Field("voids", a.voids, b.voids);
  compare.Field("owing", a.owing, b.owing);
  compare.Field("proven", a.proven, b.proven);
  compare.Field("drawn", a.drawn, b.drawn);
  compare.Field("aggregated", a.aggregated, b.aggregated);
  compare.Field("result_roots", a.result_roots, b.result_roots);
  compare.Field("tau", a.tau, b.tau);
  compare.Field("delta_us", a.delta_us, b.delta_us);
  compare.Field("state_root", a.state_root, b.state_root);
  compare.Field("closing", a.closing, b.closing);
  compare.Field("reach", a.reach, b.reach);
  const bool equal = wire::EncodeBlock(a) == wire::EncodeBlock(b);
  if (compare.difference.empty() && !equal) return "a field that FirstDifference does not know";
  return compare.difference;
}

}  // namespace ostraka::protocol

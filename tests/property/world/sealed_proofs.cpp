// Seal C of a drawn world: what PROOFs state.
#include <algorithm>
#include <cmath>
#include <limits>

#include "node/wire/bitmap.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"
#include "tests/property/world/sealed_world.h"

namespace ostraka::protocol {

using naive::Entry;
using wire::MessageType;
using wire::Phase;

namespace {

std::uint64_t Milliseconds(base::Duration duration) {
  return static_cast<std::uint64_t>(duration.ns / 1'000'000);
}

void SetBit(base::Bytes& bits, std::size_t bit) {
  if (bits.size() <= bit / 8) bits.resize(bit / 8 + 1);
  bits[bit / 8] = static_cast<std::uint8_t>(bits[bit / 8] | 1U << (bit % 8));
}

}  // namespace

// --- numbers ------------------------------------------------------------------------------------

// |ghat| and the sizes of all workers, near the places where the size check turns.
double SealedWorld::NormForSizes(std::size_t column, std::vector<double>& sizes) {
  const std::size_t senders = wire::SendersOf(agreed_[column].included, head_.members)
                                  .value_or(std::vector<PeerId>{})
                                  .size();
  const double m = senders > 0 ? static_cast<double>(senders) : 1.0;
  const double tau = head_.tau;
  const double blind = (tau / 4 / m - manifest_.eps) * 0x1.0p23;  // the largest that is not blind
  const std::uint64_t how = rng_.Below(5);
  if (how == 0) {  // equal rows, and an aggregate a little or much longer
    const double size = tau * 4;
    const double residual = manifest_.eps + 0x1.0p-23 * size;
    for (double& one : sizes) one = size;
    return size + residual * AnyOf<double>({0.5, 0.9, 1.1, 10, 1e5});
  }
  if (how == 1) {  // rows around the aggregate
    for (double& one : sizes) one = tau * (1 + 3 * rng_.Unit());
    return tau * (1 + 3 * rng_.Unit());
  }
  const double g = blind * AnyOf<double>({0.999, 1.001, 2, 8, 64});
  for (double& one : sizes) one = how == 2 ? g * (1 + rng_.Unit()) : g;
  if (how == 2) return g;
  // About half of the rows are small: there the size check of a blind column turns.
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i < (sizes.size() + rng_.Below(3)) / 2) sizes[i] = g / 16 * AnyOf<double>({0, 0.99, 1.01});
  }
  return g;
}

void SealedWorld::DrawColumn(std::size_t column, ResultSize& result) {
  double& norm = result.norm;
  const std::vector<PeerId>& workers = roles_.workers;
  const double tau = head_.tau;
  std::vector<double> sizes(workers.size());
  norm = tau * (0.5 + 4 * rng_.Unit());
  for (double& size : sizes) size = norm * (1 + 0.5 * rng_.Unit());
  if (today_.contains(Mischief::kSizes) && Luck(50)) norm = NormForSizes(column, sizes);
  if (manifest_.codecs.results != Codec::kRaw) {
    base::Rng codes = rng_.Fork("codes", step_ * 1000 + column);
    result.quantum = norm * codes.Unit() * (codes.Chance(1, 8) ? 1.0 : 0x1.0p-12);
  }
  const bool moves = today_.contains(Mischief::kNorms) && Luck(80);
  const double far = moves ? AnyOf<double>({0.01, 8, step_ % 3 == 0 ? 8 : 1e13}) : 1;
  // V3 and medians turn where half of the rows are near and half are far.
  const bool halves = moves && Luck(40);
  const std::size_t half = (workers.size() + rng_.Below(3)) / 2;
  const double middle = manifest_.delta_max > 0 ? manifest_.delta_max : tau;
  const double root = std::sqrt(static_cast<double>(roles_.parts[column].size()));
  const double tolerance = 8 * static_cast<double>(workers.size()) *
                           ((manifest_.eps + 0x1.0p-23 * norm) + result.quantum) / root;
  const bool sums = today_.contains(Mischief::kSums) && Luck(40);
  const std::uint64_t how = sums ? rng_.Below(3) : 3;
  const std::size_t direction = rng_.Below(wire::kDirections);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    wire::ColumnNumbers& numbers = proofs_[workers[i]].columns[column];
    numbers.size = sizes[i];
    numbers.norm = tau * far * (0.25 + rng_.Unit());
    if (halves) numbers.norm = middle * (i < half ? 1.5 : 0.5);
    const double bound = std::min(1.0, 10 / root) * std::min(tau, numbers.norm);
    const double share = 0.4 * tolerance / static_cast<double>(workers.size());
    for (double& s : numbers.s) s = std::min(bound, share) * (2 * rng_.Unit() - 1);
    if (how == 0) numbers.s[direction] = Luck(90) ? bound : -bound;
    if (how == 1) numbers.s[direction] = i > 0 ? 0 : std::min(bound, tolerance * (1 - 1e-12));
    if (how == 2) numbers.s[direction] = i > 0 ? 0 : -std::min(bound, tolerance * (1 + 1e-12));
  }
}

// Numbers just inside and just outside of what is possible.
void SealedWorld::SpoilNumbers() {
  if (!today_.contains(Mischief::kNumbers)) return;
  for (const PeerId& worker : roles_.workers) {
    if (!Luck(20)) continue;
    const std::size_t column = rng_.Below(roles_.parts.size());
    wire::ColumnNumbers& numbers = proofs_[worker].columns[column];
    if (numbers.missing) continue;
    const double root = std::sqrt(static_cast<double>(roles_.parts[column].size()));
    const double largest = double{std::numeric_limits<float>::max()} * root;
    const double bound = std::min(1.0, 10 / root) * std::min(head_.tau, numbers.norm);
    const double beside = 1 + AnyOf<double>({-0x1.0p-41, 0x1.0p-41, 0x1.0p-39});
    switch (rng_.Below(8)) {
      case 0:
        numbers.size = std::numeric_limits<double>::quiet_NaN();
        break;
      case 1:
        numbers.norm = -1e-9;
        break;
      case 2:
        numbers.size = largest * beside;
        break;
      case 3:
        numbers.norm = 2 * largest * beside;
        break;
      case 4:
        numbers.s[2] = std::numeric_limits<double>::infinity();
        break;
      case 5:
        numbers.norm = std::numeric_limits<double>::infinity();
        break;
      default:
        numbers.s[1] = (Luck(50) ? -1 : 1) * bound * beside;
    }
  }
}

void SealedWorld::Miss(const PeerId& worker, std::size_t column) {
  if (!roles_.IsWorker(worker)) return;
  wire::ColumnNumbers& numbers = proofs_[worker].columns[column];
  numbers = {.missing = true, .s = {}, .norm = 0, .size = numbers.size};
}

// Some or all workers miss a column, its owner among them or not; and of disputed pairs the worker.
void SealedWorld::DrawMissing() {
  if (!mischief_.contains(Mischief::kMissing)) return;
  for (const wire::Dispute& dispute : head_.disputes) {
    const auto column = roles_.PartOwnedBy(dispute.aggregator);
    if (column && Luck(25)) Miss(dispute.worker, *column);
  }
  if (!today_.contains(Mischief::kMissing)) return;
  for (std::size_t j = 0; j < roles_.parts.size(); ++j) {
    if (!Luck(30)) continue;
    for (const PeerId& worker : Luck(50) ? AroundTheBound() : Some(head_.members, 1)) {
      Miss(worker, j);
    }
  }
}

void SealedWorld::DrawNumbers(naive::Sealed& sealed) {
  sealed.results.resize(roles_.parts.size());
  for (std::size_t j = 0; j < roles_.parts.size(); ++j) DrawColumn(j, sealed.results[j]);
  DrawMissing();
  SpoilNumbers();
}

// --- verdicts -----------------------------------------------------------------------------------

void SealedWorld::DrawAccusations() {
  if (!mischief_.contains(Mischief::kAccuse)) return;
  for (const Assignment& drawn : roles_.validators) {
    if (Luck(40)) continue;
    wire::Accusation accusation{drawn.target, drawn.step};
    if (Luck(8)) accusation.target = Anybody();
    if (Luck(8)) ++accusation.step;
    proofs_[drawn.validator].accusation = accusation;
  }
  if (Luck(5)) proofs_[AnyOf(head_.members)].accusation = wire::Accusation{Anybody(), head_.step};
}

// An owner that owes a name mostly gives one; others do so now and then.
void SealedWorld::DrawNamings() {
  if (!mischief_.contains(Mischief::kName)) return;
  for (std::size_t j = 0; j < head_.aggregated.size(); ++j) {
    const wire::Block::Column& column = head_.aggregated[j];
    const auto proof = proofs_.find(column.owner);
    if (proof == proofs_.end()) continue;
    const bool owes = IsMember(head_.owing, column.owner);
    if (!Luck(owes ? 60 : 12)) continue;
    wire::Naming naming{Anybody(), head_.step, static_cast<std::uint32_t>(j)};
    if (!column.senders.empty() && Luck(85)) naming.target = AnyOf(column.senders);
    if (Luck(5)) naming.target = column.owner;
    if (Luck(5)) ++naming.step;
    if (Luck(8)) naming.column = static_cast<std::uint32_t>(rng_.Below(head_.members.size() + 1));
    proof->second.naming = naming;
  }
}

// Most cover cases end by votes: if many did not, as many drops would all be forgiven.
std::vector<PeerId> SealedWorld::VotersOn(const wire::Case& open) {
  if (open.id.accuser == strangers_[0] && !Luck(1)) return {};  // of a crowd
  if (open.id.kind == wire::CaseKind::kCover && Luck(95)) {
    return open.id.column % 8 == 0 ? std::vector<PeerId>{} : head_.members;
  }
  if (Luck(25)) return head_.members;
  if (Luck(40)) return Some(head_.members, rng_.Below(head_.members.size() + 1));
  return Luck(40) ? AroundTheBound() : std::vector<PeerId>{};
}

void SealedWorld::DrawVotes() {
  if (!mischief_.contains(Mischief::kVote)) return;
  for (const wire::Case& open : head_.cases) {
    const bool guilty = Luck(open.id.kind == wire::CaseKind::kCover ? 15 : 60);
    const bool twice = Luck(50);
    for (const PeerId& voter : VotersOn(open)) {
      const bool with_most = Luck(90);
      const wire::Verdict worse =
          twice && Luck(80) ? wire::Verdict::kTwice : wire::Verdict::kGuilty;
      const wire::Verdict verdict = guilty == with_most ? worse : wire::Verdict::kInnocent;
      std::vector<wire::Vote>& votes = proofs_[voter].votes;
      if (Luck(4)) votes.push_back({open.id, wire::Verdict::kAbstain});
      votes.push_back({open.id, verdict});
      if (Luck(8)) votes.push_back({open.id, wire::Verdict::kInnocent});
      if (Luck(4)) {
        votes.push_back({open.id, wire::Verdict::kGuilty});
        ++votes.back().about.step;
      }
    }
  }
}

// --- what members saw of others ------------------------------------------------------------------

void SealedWorld::DrawWitnesses() {
  const std::size_t disputes = head_.disputes.size();
  if (mischief_.contains(Mischief::kHeld)) {
    for (std::size_t bit = 0; bit < 2 * disputes; ++bit) {
      if (Luck(30)) continue;
      for (const PeerId& member : AroundTheBound()) SetBit(proofs_[member].held, bit);
    }
  }
  if (!today_.contains(Mischief::kEchoes)) return;
  for (base::Bytes wire::Proof::*bits :
       {&wire::Proof::silent, &wire::Proof::hasty, &wire::Proof::unshown}) {
    if (Luck(40)) continue;
    for (const PeerId& member : AroundTheBound()) {
      SetBit(proofs_[member].*bits, (step_ + member.bytes[0] % 5 / 4) % head_.members.size());
      if (Luck(10)) SetBit(proofs_[member].*bits, rng_.Below(40));
    }
  }
}

void SealedWorld::DrawLateness() {
  if (!today_.contains(Mischief::kLate)) return;
  const std::size_t n = head_.members.size();
  const std::uint64_t once = Milliseconds(manifest_.part_timeout) + 2 * head_.delta_us / 1000;
  const std::uint64_t deadline = once + Milliseconds(manifest_.part_timeout);
  std::vector<std::uint64_t> figures(2 * n);
  for (std::uint64_t& figure : figures) {
    if (!Luck(25)) continue;
    figure = AnyOf<std::uint64_t>({1, 3, deadline / 2, deadline, deadline * 2, deadline * 2 + 1,
                                   once, once + 1, once + 7, deadline * 5, ~std::uint64_t{0}});
  }
  for (const PeerId& witness : Luck(70) ? head_.members : AroundTheBound()) {
    std::vector<std::uint64_t>& late = proofs_[witness].late_ms;
    late = figures;
    for (std::uint64_t& figure : late) {
      if (figure > 0 && Luck(20)) figure -= 1;
      if (Luck(5)) figure = 0;
    }
    if (Luck(5)) late.resize(n);
  }
}

// Members that are away ask to come back in nearly every step.
void SealedWorld::DrawJoins() {
  if (!mischief_.contains(Mischief::kJoin)) return;
  std::map<PeerId, std::set<PeerId>> joins;
  std::vector<PeerId> keys = door_.guests();
  for (const Member& key : manifest_.members) keys.push_back(key.id);
  for (const PeerId& key : keys) {
    if (IsMember(head_.members, key) || door_.Comes(key)) continue;
    const std::uint64_t most = Luck(88) ? bound_ + 1 + rng_.Below(2) : bound_;
    for (const PeerId& member : Some(head_.members, most)) joins[member].insert(key);
  }
  if (Luck(15)) {
    const PeerId asks = Anybody();
    for (const PeerId& member : AroundTheBound()) joins[member].insert(asks);
  }
  for (const auto& [member, peers] : joins)
    proofs_[member].joins.assign(peers.begin(), peers.end());
}

// --- evidence and reports ------------------------------------------------------------------------

// Two COMMITs of one slot by anybody, mostly of this run; or bytes that prove nothing.
base::Bytes SealedWorld::EvidenceFile() {
  if (Luck(15)) return {1, 2, 3, 4, 5, 6, 7, 8};
  const PeerId accused = Anybody();
  wire::Slot slot{.run_id = manifest_.run_id,
                  .incarnation = 0,
                  .step = step_ / 2,
                  .phase = Phase::kA,
                  .type = MessageType::kCommit,
                  .draw = 0,
                  .iteration = 0};
  if (Luck(15)) slot.run_id = Digest{{7}};
  const auto frame = [&](std::uint8_t content) {
    const wire::Commit commit{
        .coins_root = Digest{{content}}, .coin_count = 1, .gradient_root = {}};
    return *wire::Seal({slot, head_.decision, accused, wire::Encode(commit)}, *keys_.at(accused))
                .frame;
  };
  const auto file = evidence::MakeEquivocation(frame(1), frame(2));
  base::Bytes bytes = file.ok() ? *file : base::Bytes{};
  if (Luck(10)) bytes.back() ^= 1;
  return bytes;
}

void SealedWorld::DrawEvidence() {
  if (!today_.contains(Mischief::kEvidence)) return;
  for (const PeerId& member : Some(head_.members, 1 + rng_.Below(2))) {
    const std::size_t files = 1 + rng_.Below(2);
    for (std::size_t i = 0; i < files; ++i) proofs_[member].evidence.push_back(EvidenceFile());
  }
}

void SealedWorld::DrawReports() {
  if (today_.contains(Mischief::kStateRoots)) {
    for (std::uint8_t root = 1; root <= 2; ++root) {
      for (const PeerId& member : AroundTheBound()) {
        Digest stated;
        stated.bytes[0] = Luck(90) ? root : 3;
        proofs_[member].state_root = stated;
      }
    }
  }
  if (!today_.contains(Mischief::kLag)) return;
  const auto delta = static_cast<std::uint64_t>(manifest_.delta.ns / 1000);
  const std::vector<std::uint64_t> lags = {delta / 8,  delta / 4,        delta / 4 + 1,
                                           delta / 2,  delta * 2,        delta * 9 / 4,
                                           delta * 30, ~std::uint64_t{0}};
  const std::uint64_t most = AnyOf(lags);
  for (const PeerId& member : AroundTheBound()) {
    proofs_[member].lag_us = Luck(70) ? most : AnyOf(lags);
  }
}

// --- the seal -----------------------------------------------------------------------------------

void SealedWorld::DrawProofs(naive::Sealed& sealed) {
  for (const PeerId& member : head_.members) {
    wire::Proof& proof = proofs_[member];
    if (roles_.IsWorker(member)) proof.columns.resize(roles_.parts.size());
  }
  DrawNumbers(sealed);
  DrawAccusations();
  DrawNamings();
  DrawVotes();
  DrawWitnesses();
  DrawLateness();
  DrawJoins();
  if (mischief_.contains(Mischief::kCome)) {
    for (const auto& [member, vouchers] : door_.Draw(head_, manifest_, step_)) {
      wire::Proof& proof = proofs_[member];
      proof.arrivals = door_.Fitting(vouchers, proof.joins);
    }
  }
  DrawEvidence();
  DrawReports();
  const bool mass = today_.contains(Mischief::kMass) && Luck(50);
  const std::vector<PeerId> here = mass ? AroundTheBound() : head_.members;
  for (const PeerId& member : head_.members) {
    Entry& entry = sealed.proofs.emplace_back();
    const bool is_here = std::find(here.begin(), here.end(), member) != here.end();
    if (!is_here || (today_.contains(Mischief::kAbsent) && Luck(6))) continue;
    if (today_.contains(Mischief::kTwice) && Luck(6)) {
      entry = {Entry::State::kEquivocated, nullptr};
      continue;
    }
    wire::Proof& proof = proofs_[member];
    const bool spoilt = today_.contains(Mischief::kMalformed) && Luck(8);
    if (spoilt && Luck(50)) proof.columns.emplace_back();
    base::Bytes body = wire::Encode(proof);
    if (spoilt && Luck(40)) body = {1, 2, 3};
    entry = Signed(member, Phase::kC, MessageType::kProof, body);
  }
}

}  // namespace ostraka::protocol

#include "tests/property/world/sealed_world.h"

#include <algorithm>

#include "crypto/commitment.h"
#include "crypto/merkle.h"
#include "crypto/set_root.h"
#include "node/protocol/ground/reach.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"
#include "tests/unit/protocol/keys.h"

namespace ostraka::protocol {

using naive::Entry;
using wire::MessageType;
using wire::Phase;

namespace {

Digest DrawnDigest(base::Rng& rng) {
  Digest digest;
  for (std::uint8_t& byte : digest.bytes) byte = static_cast<std::uint8_t>(rng.Next());
  return digest;
}

bool Bans(Mischief mischief) {
  return mischief == Mischief::kTwice || mischief == Mischief::kMalformed ||
         mischief == Mischief::kFalseReveal || mischief == Mischief::kNumbers ||
         mischief == Mischief::kEvidence || mischief == Mischief::kSenders;
}

}  // namespace

SealedWorld::SealedWorld(std::uint64_t seed, std::uint32_t n, Mode mode,
                         std::set<Mischief> mischief)
    : rng_(seed), mischief_(std::move(mischief)), door_(base::Rng(seed).Fork("door")) {
  for (std::uint32_t i = 0; i < n + 2; ++i) {
    const Key key = scene::KeyNumber(i);
    keys_[key->id()] = key;
    if (i >= n) strangers_.push_back(key->id());
  }
  DrawManifest(n, mode);
  manifest_.adaptive = base::Rng(seed).Fork("adaptive").Chance(1, 4);
  manifest_.part_floor = base::Milliseconds(manifest_.part_timeout.ns / 1'000'000 / 16);
  std::vector<PeerId> guests;
  for (std::uint32_t i = door_.DrawGuestCount(); i > 0; --i) {
    const Key key = scene::KeyNumber(n + 1 + i);
    keys_[key->id()] = key;
    guests.push_back(key->id());
  }
  door_.Open(guests, strangers_[0], strangers_[1], manifest_);
  dimension_ = std::max<std::uint64_t>(dimension_, 2 * SeatsIn(manifest_));
  head_.genesis = true;
  head_.decision = DrawnDigest(rng_);
  head_.randomness = DrawnDigest(rng_);
  for (const Member& member : manifest_.members) head_.members.push_back(member.id);
  head_.thresholds = GenesisThresholds(manifest_);
  head_.reach = ReachAtGenesis(manifest_);
  head_.tau = manifest_.tau > 0 ? manifest_.tau : manifest_.tau_initial;
  head_.delta_us = static_cast<std::uint64_t>(manifest_.delta.ns / 1000);
  head_.peak_t_s = head_.thresholds.t_s;
  if (manifest_.adaptive) {
    head_.part_us = static_cast<std::uint64_t>(manifest_.part_timeout.ns / 1000) / 16;
  }
}

void SealedWorld::DrawManifest(std::uint32_t n, Mode mode) {
  manifest_.run_id = DrawnDigest(rng_);
  manifest_.mode = mode;
  for (const auto& [id, key] : keys_) {
    const bool stranger = std::find(strangers_.begin(), strangers_.end(), id) != strangers_.end();
    if (!stranger) manifest_.members.push_back({id, ""});
  }
  dimension_ = 2 * n + rng_.Below(40 * n);
  manifest_.members[0].only_dials = Luck(70);
  manifest_.clip = !Luck(5);
  manifest_.tau = Luck(40) ? 0x1.0p-6 : 0;
  if (manifest_.tau == 0 && rng_.Fork("codecs").Chance(1, 3)) {
    manifest_.codecs.results = Codec::kI16;
  }
  manifest_.tau_multiple = Luck(50) ? 1.0 : 0.5;
  manifest_.delta_max = Luck(30) ? 0x1.0p-5 : 0;
  manifest_.validators = static_cast<std::uint32_t>(1 + rng_.Below(3));
  if (rng_.Fork("alarm").Chance(1, 2)) {
    manifest_.alarm_validators = 2;
    manifest_.alarm_steps = 3;
  }
  manifest_.probation = 3 + rng_.Below(2);
  manifest_.part_timeout = base::Milliseconds(Luck(50) ? 200 : 20'000);
  manifest_.patience = base::Milliseconds(AnyOf<std::int64_t>({1, 45, 1000}));
  manifest_.delta = base::Microseconds(AnyOf<std::int64_t>({1'000, 10'500, 1'000'000}));
  manifest_.delta_ceiling = base::Microseconds(manifest_.delta.ns / 1000 * 9 + 3);
  manifest_.training.steps = Luck(30) ? 3 + rng_.Below(25) : 100'000'000;
  manifest_.training.steps_after_ban = rng_.Below(4);
  if (Luck(50)) {
    manifest_.compute_profile = kExact;
    manifest_.eps_g = 0;
    DrawCounts(rng_.Fork("counts"));
  }
}

void SealedWorld::DrawCounts(base::Rng rng) {
  manifest_.training.batches = static_cast<std::uint32_t>(1 + rng.Below(3));
  manifest_.training.most_batches =
      manifest_.training.batches * static_cast<std::uint32_t>(1 + rng.Below(2));
}

// --- chance -------------------------------------------------------------------------------------

bool SealedWorld::Happens(Mischief mischief, std::uint64_t percent) {
  return mischief_.contains(mischief) && Luck(percent);
}

std::vector<PeerId> SealedWorld::Some(std::vector<PeerId> of, std::size_t count) {
  while (of.size() > count) {
    of.erase(of.begin() + static_cast<std::ptrdiff_t>(rng_.Below(of.size())));
  }
  return of;
}

std::vector<PeerId> SealedWorld::AroundTheBound() {
  if (Luck(20)) return head_.members;
  const std::uint64_t count = bound_ + rng_.Below(4);
  return Some(head_.members, count > 0 ? count - 1 : 0);
}

PeerId SealedWorld::Anybody() {
  if (Luck(10)) return AnyOf(strangers_);
  if (Luck(10)) return AnyOf(door_.guests());
  return AnyOf(manifest_.members).id;
}

// --- before the step ----------------------------------------------------------------------------

// Moves the head beside a step at which something that it remembers runs out.
void SealedWorld::LetTimePass() {
  std::vector<std::uint64_t> ends = {head_.step + 100, head_.step + 1000};
  for (const wire::Dispute& dispute : head_.disputes) ends.push_back(dispute.since + 100);
  for (const wire::Voids& voids : head_.voids) ends.push_back(voids.last_step + 1000);
  for (const wire::Standing& standing : head_.standings) {
    ends.push_back(standing.barred_until);
    ends.push_back(standing.left_step + 1000);
    ends.push_back(std::max(standing.last_drop_step, standing.barred_until) + 1000);
    if (standing.came_step > 0) ends.push_back(standing.came_step + 1000);
  }
  for (const wire::UsedInvite& invite : head_.invites) ends.push_back(invite.ends_step);
  ends.push_back(head_.peak_step + 1000);
  // One of many, or hardly any other end would come.
  if (!head_.reach.empty()) ends.push_back(AnyOf(head_.reach).changes_from);
  for (const wire::Case& open : head_.cases) {
    ends.push_back(open.opened_step + (open.id.kind == wire::CaseKind::kGradient ? 8 : 3));
  }
  const std::uint64_t next = AnyOf(ends) + rng_.Below(2);
  if (head_.genesis || next < head_.step + 3) return;
  head_.step = next - 2 + rng_.Below(2);
  head_.candidates.clear();
}

// Cover cases about a member that has long left, each with an id of its own.
void SealedWorld::OpenCrowd() {
  const std::size_t room = rng_.Below(3);
  for (std::uint32_t i = 0; head_.cases.size() + room < wire::kMaxCases; ++i) {
    wire::Case open;
    open.id = {wire::CaseKind::kCover, strangers_[0], AnyOf(head_.members), 1000 * head_.step + i,
               i % 8};
    open.opened_step = head_.step;
    head_.cases.push_back(open);
  }
}

// --- seal A -------------------------------------------------------------------------------------

Entry SealedWorld::Signed(const PeerId& sender, Phase phase, MessageType type, base::Bytes body,
                          std::uint32_t draw) {
  const wire::Slot slot{.run_id = manifest_.run_id,
                        .incarnation = 0,
                        .step = step_,
                        .phase = phase,
                        .type = type,
                        .draw = draw,
                        .iteration = 0};
  return {
      Entry::State::kPresent,
      wire::Share(wire::Seal({slot, head_.decision, sender, std::move(body)}, *keys_.at(sender)))};
}

std::vector<Digest> SealedWorld::CoinsOf(const PeerId& member) const {
  std::vector<Digest> coins;
  for (std::uint32_t draw = 0; draw < head_.members.size(); ++draw) {
    const crypto::Coin coin = crypto::DeriveCoin(member.view(), step_, draw);
    coins.push_back(crypto::CommitCoin(member, step_, draw, coin));
  }
  return coins;
}

Digest SealedWorld::ParametersOf(const PeerId& member, const std::vector<PeerId>& others) {
  if (std::find(others.begin(), others.end(), member) == others.end()) return Digest{{7}};
  elsewhere_.insert(member);
  return Luck(70) ? Digest{{5}} : DrawnDigest(rng_);
}

void SealedWorld::DrawCommits(naive::Sealed& sealed) {
  const bool mass = today_.contains(Mischief::kMass) && Luck(15);
  const std::vector<PeerId> here = mass ? AroundTheBound() : head_.members;
  const std::vector<PeerId> in_roles = InRole(head_);
  quarantined_away_ = false;
  // About as many as make a root the run's; now and then more than F name each of two.
  const bool astray = today_.contains(Mischief::kParameters);
  const std::vector<PeerId> others = astray ? AroundTheBound() : std::vector<PeerId>();
  for (const PeerId& member : head_.members) {
    Entry& entry = sealed.commits.emplace_back();
    wire::Commit commit;
    commit.coin_count = static_cast<std::uint32_t>(head_.members.size());
    commit.coins_root = crypto::MerkleRoot(CoinsOf(member));
    if (roles_.IsWorker(member)) commit.gradient_root = DrawnDigest(rng_);
    const bool only_dials = OnlyDials(head_, member);
    commit.only_dials = only_dials != Luck(only_dials ? 80 : 1);
    commit.leaving = today_.contains(Mischief::kLeave) && Luck(10);
    if (Luck(1)) commit.revokes = door_.DrawRevocation(manifest_, keys_);
    if (BatchesVary(manifest_.training)) {
      base::Rng counts = rng_.Fork("count", sealed.commits.size());
      const TrainingPlan& plan = manifest_.training;
      commit.next_batches =
          static_cast<std::uint16_t>(counts.Between(plan.batches, plan.most_batches));
    }
    if (manifest_.compute_profile == kExact) commit.parameters_root = ParametersOf(member, others);
    const bool is_away = std::find(here.begin(), here.end(), member) == here.end();
    const bool in_role = IsMember(in_roles, member);
    const bool tired = !in_role && mischief_.contains(Mischief::kAbsent) && Luck(15);
    if (tired) quarantined_away_ = true;
    if (is_away || tired || (today_.contains(Mischief::kAbsent) && Luck(10))) continue;
    if (today_.contains(Mischief::kTwice) && Luck(8)) {
      entry = {Entry::State::kEquivocated, nullptr};
      continue;
    }
    const bool spoilt = today_.contains(Mischief::kMalformed) && Luck(8);
    base::Bytes body;
    switch (spoilt ? rng_.Below(5) : 5) {
      case 0:
        body = {1, 2, 3};
        break;
      case 1:
        commit.coin_count += Luck(50) ? 1 : -1;
        break;
      case 2:
        commit.gradient_root = commit.gradient_root ? std::nullopt : std::optional(Digest{{1}});
        break;
      case 3:
        commit.parameters_root = commit.parameters_root ? std::nullopt : std::optional(Digest{{1}});
        break;
      case 4:
        commit.next_batches = static_cast<std::uint16_t>(
            BatchesVary(manifest_.training) ? manifest_.training.most_batches + 1 : 1);
        break;
      default:
        reveal_.insert(member);
    }
    if (body.empty()) body = wire::Encode(commit);
    entry = Signed(member, Phase::kA, MessageType::kCommit, body);
    commits_[member] = entry.message->digest;
  }
}

// The AGG of `owner`: the senders that it includes, and the root over their COMMITs.
wire::Aggregate SealedWorld::AggregateOf(std::size_t column, const PeerId& owner) {
  std::vector<PeerId> senders;
  for (const PeerId& worker : roles_.workers) {
    const bool useless = elsewhere_.contains(worker) && !Luck(20);
    if (commits_.contains(worker) && !useless) senders.push_back(worker);
  }
  const bool leaves_out = today_.contains(Mischief::kLeaveOut) && Luck(40);
  const bool for_the_quarantined = mischief_.contains(Mischief::kLeaveOut) && quarantined_away_;
  if (leaves_out || (for_the_quarantined && Luck(60))) {
    // The column rule turns at 2b + 1 senders, b being at most t_s.
    const std::size_t near = 2 * rng_.Below(bound_ + 1) + rng_.Below(2);
    senders = Some(senders, Luck(40) && !senders.empty() ? senders.size() - 1 : near);
    if (Luck(30)) std::erase(senders, owner);
  }
  for (const wire::Dispute& dispute : head_.disputes) {
    const bool again = mischief_.contains(Mischief::kLeaveOut) && Luck(25);
    if (dispute.aggregator == owner && again) std::erase(senders, dispute.worker);
  }
  const bool strange = today_.contains(Mischief::kSenders) && Luck(20);
  const std::uint64_t how = strange ? rng_.Below(4) : 4;
  if (how == 0) {  // a member that does not work, or a worker without a COMMIT
    for (const PeerId& other : Some(head_.members, 2)) {
      if (std::find(senders.begin(), senders.end(), other) == senders.end()) {
        senders.push_back(other);
      }
    }
    std::sort(senders.begin(), senders.end());
  }
  std::vector<Digest> digests;
  for (const PeerId& sender : senders) {
    const auto digest = commits_.find(sender);
    digests.push_back(digest == commits_.end() ? Digest{} : digest->second);
  }
  wire::Aggregate aggregate;
  aggregate.part_index = static_cast<std::uint32_t>(column);
  aggregate.result_root = DrawnDigest(rng_);
  aggregate.leaves_root = DrawnDigest(rng_);
  aggregate.included = wire::BitmapOf(senders, head_.members);
  if (how == 1 || how == 3) digests.push_back({});
  aggregate.commits_root = crypto::SetRoot(digests);
  if (how == 2) aggregate.included.push_back(1);
  const bool lazy = mischief_.contains(Mischief::kLeaveOut) && owner == manifest_.members[0].id;
  if (lazy && Luck(40)) aggregate.result_root = {};
  if (today_.contains(Mischief::kLate) && Luck(60)) {
    aggregate.slowest = Luck(80) && !roles_.workers.empty() ? AnyOf(roles_.workers) : Anybody();
  }
  return aggregate;
}

void SealedWorld::DrawAggregates(naive::Sealed& sealed) {
  agreed_.resize(roles_.parts.size());
  for (const PeerId& member : head_.members) {
    Entry& entry = sealed.aggregates.emplace_back();
    const auto owned = roles_.PartOwnedBy(member);
    const std::uint32_t column = owned.value_or(0);
    wire::Aggregate aggregate = AggregateOf(column, member);
    if (owned) agreed_[column] = aggregate;
    // The AGG of a member that owns nothing says nothing.
    if (!owned && !Luck(5)) continue;
    if (today_.contains(Mischief::kAbsent) && Luck(10)) {
      if (owned) reveal_.erase(member);
      continue;
    }
    if (today_.contains(Mischief::kTwice) && Luck(8)) {
      entry = {Entry::State::kEquivocated, nullptr};
      continue;
    }
    const bool spoilt = today_.contains(Mischief::kMalformed) && Luck(10);
    const bool garbled = spoilt && Luck(50);
    if (spoilt) ++aggregate.part_index;
    entry = Signed(member, Phase::kA, MessageType::kAggregate,
                   garbled ? base::Bytes{1, 2, 3} : wire::Encode(aggregate));
  }
}

// --- seal B -------------------------------------------------------------------------------------

wire::Reveal SealedWorld::RevealOf(const PeerId& member, std::uint32_t draw) const {
  wire::Reveal reveal;
  reveal.opening.coin = crypto::DeriveCoin(member.view(), step_, draw);
  reveal.opening.path = crypto::MerklePath(CoinsOf(member), draw);
  return reveal;
}

// Draws until one is good. Members that owe no REVEAL any more may send one all the same.
void SealedWorld::DrawReveals(naive::Sealed& sealed) {
  bool good = false;
  for (std::uint32_t draw = 0; !good && draw < head_.members.size(); ++draw) {
    std::vector<Entry>& entries = sealed.reveals.emplace_back();
    std::set<PeerId> spoilers;
    for (const PeerId& member : head_.members) {
      Entry& entry = entries.emplace_back();
      const bool owes = reveal_.contains(member);
      if (!owes && !Luck(5)) continue;
      const bool last = reveal_.size() == spoilers.size() + 1;
      const std::uint64_t luck = rng_.Below(100);
      wire::Reveal reveal = RevealOf(member, draw);
      base::Bytes body;
      if (owes && !last) {
        spoilers.insert(member);
        if (today_.contains(Mischief::kAbsent) && luck < 7) continue;
        if (today_.contains(Mischief::kTwice) && luck >= 10 && luck < 15) {
          entry = {Entry::State::kEquivocated, nullptr};
          continue;
        }
        if (today_.contains(Mischief::kFalseReveal) && luck >= 20 && luck < 30) {
          reveal =
              RevealOf(member, (draw + 1) % static_cast<std::uint32_t>(CoinsOf(member).size()));
        } else if (today_.contains(Mischief::kFalseReveal) && luck >= 30 && luck < 34) {
          body = {1, 2, 3};
        } else {
          spoilers.erase(member);
        }
      }
      if (body.empty()) body = wire::Encode(reveal);
      entry = Signed(member, Phase::kB, MessageType::kReveal, body, draw);
    }
    good = spoilers.empty() && !reveal_.empty();
    for (const PeerId& spoiler : spoilers) reveal_.erase(spoiler);
  }
}

naive::Sealed SealedWorld::Draw() {
  if (Happens(Mischief::kTime, 20)) LetTimePass();
  if (!head_.genesis && Happens(Mischief::kCrowd, 3)) OpenCrowd();
  step_ = head_.genesis ? 0 : head_.step + 1;
  bound_ = FaultBound(head_.thresholds);
  roles_ = AssignRoles(head_, dimension_);
  commits_.clear();
  elsewhere_.clear();
  reveal_.clear();
  agreed_.clear();
  proofs_.clear();
  today_.clear();
  const bool many = mischief_.size() > 6;
  for (std::uint8_t m = 0; m < kMischiefCount; ++m) {
    const auto mischief = static_cast<Mischief>(m);
    // Bans are for ever: a world with many of them is soon empty.
    const std::uint64_t percent = Bans(mischief) ? (many ? 4 : 12) : (many ? 25 : 50);
    if (Happens(mischief, percent)) today_.insert(mischief);
  }
  naive::Sealed sealed;
  sealed.decision = DrawnDigest(rng_);
  DrawCommits(sealed);
  DrawAggregates(sealed);
  DrawReveals(sealed);
  DrawProofs(sealed);
  return sealed;
}

}  // namespace ostraka::protocol

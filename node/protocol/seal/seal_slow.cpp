// SEAL's slow path: the messages of a member in each step of an iteration (docs/seal.md, 4).
#include <algorithm>
#include <bit>
#include <functional>

#include "node/base/planted.h"
#include "node/protocol/seal/seal_impl.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;

void Seal::Impl::RunClock(SealOutput& out) {
  if (!HasVoice()) return;
  JoinThoseAhead(out);
  do {
    if (clock_.step() == SealClock::Step::kStatus && IsGathered()) {
      clock_.Gathered(now_);
      say_again_.reset();
    }
    if (!clock_.Advance(now_)) break;
    BeginStep(out);
  } while (undecided());
  SayAgain(out);
}

// Fault bound + 1 members have reached an iteration, so an honest one has; and in a timely network
// no honest member is more than Delta ahead of another.
void Seal::Impl::JoinThoseAhead(SealOutput& out) {
  std::vector<std::uint32_t> others;
  for (const auto& [member, iteration] : reached_) {
    if (member != options_.self) others.push_back(iteration);
  }
  if (others.size() <= faults_) return;
  std::sort(others.begin(), others.end(), std::greater<>());
  if (others[faults_] <= clock_.iteration()) return;
  clock_.Enter(others[faults_], now_);
  BeginStep(out);
}

bool Seal::Impl::IsGathered() const {
  std::size_t here = 1;
  for (const auto& [member, iteration] : reached_) {
    if (member != options_.self && iteration >= clock_.iteration()) ++here;
  }
  return here >= quorum_;
}

// The own CLOSE or STATUS, for which this member waits for a quorum of others. Null if it is not
// durable yet. REQUIRES: the step is kClosed or kStatus.
const base::SharedBytes* Seal::Impl::OwnFrameToRepeat() {
  if (clock_.step() == SealClock::Step::kClosed) {
    const auto own = gate_.closers().find(options_.self);
    return own == gate_.closers().end() ? nullptr : &own->second;
  }
  const StatusSeen* own = rounds_[clock_.iteration()].statuses.FirstOf(options_.self);
  return own == nullptr ? nullptr : &own->frame;
}

// While too few members have reached this point, the own CLOSE or STATUS may have been lost: it is
// repeated once a step.
void Seal::Impl::SayAgain(SealOutput& out) {
  const bool closed = clock_.step() == SealClock::Step::kClosed;
  const bool alone_in_status = clock_.step() == SealClock::Step::kStatus && !clock_.gathered();
  if (!undecided() || !(closed || alone_in_status)) {
    say_again_.reset();
    repeats_ = 0;
    alone_ = false;
    return;
  }
  const base::Duration length = StepLength(options_.delta, clock_.iteration());
  if (!say_again_) say_again_ = clock_.began() + length;
  if (*say_again_ > now_) return;
  say_again_ = now_ + length;
  if (const base::SharedBytes* own = OwnFrameToRepeat()) {
    out.forward.push_back(*own);
    // The gate may stay shut for all members until the deadline of the phase: `unhelped`, at which
    // the caller asks the others for their newest blocks, then becomes rarer.
    ++repeats_;
    const bool rarely = std::has_single_bit(repeats_) || repeats_ % 16 == 0;
    out.unhelped = !closed || rarely;
    alone_ = true;
  }
  asked_.clear();
  TickAt(now_);
}

void Seal::Impl::BeginStep(SealOutput& out) {
  switch (clock_.step()) {
    case SealClock::Step::kIdle:
    case SealClock::Step::kEchoed:
    case SealClock::Step::kRest:
      return;
    case SealClock::Step::kClosed:
      out.say.push_back({MessageType::kClose, 0, wire::Encode(wire::Close{})});
      break;
    case SealClock::Step::kStatus:
      BeginIteration(out);
      break;
    case SealClock::Step::kPropose:
      if (LeaderOf(clock_.iteration()) == options_.self) Propose(out);
      break;
    case SealClock::Step::kVote:
      if (!clock_.IsLate(now_)) Vote(out);
      break;
    case SealClock::Step::kLock:
      if (!clock_.IsLate(now_)) LockIn(out);
      break;
  }
  TickAt(now_);
}

void Seal::Impl::BeginIteration(SealOutput& out) {
  if (!slow) {
    for (const PeerId& member : OthersAwake()) {
      if (!echoes_.contains(member)) silent.insert(member);
    }
  }
  slow = true;
  const std::uint32_t k = clock_.iteration();
  const SealLock highest = HighestCertified();
  if (highest.rank > lock_.rank) lock_ = highest;
  Forget();
  CheckParts();
  for (const auto& [sender, statuses] : rounds_[k].statuses.all()) {
    for (const StatusSeen& seen : statuses) {
      if (seen.body.rank > 0 && seen.body.rank <= k) {
        claims_.insert({seen.body.rank, seen.body.value});
      }
    }
  }
  for (const ProposeSeen& seen : rounds_[k].proposals) {
    if (seen.body.rank > 0 && seen.body.rank <= k) {
      claims_.insert({seen.body.rank, seen.body.value});
    }
  }
  const wire::Status status{lock_.rank, lock_.rank > 0 ? lock_.value : own_value_};
  out.say.push_back({MessageType::kStatus, k, wire::Encode(status)});
}

void Seal::Impl::Forget() {
  const std::uint32_t k = clock_.iteration();
  claims_.clear();
  asked_.clear();
  std::erase_if(rounds_, [&](const auto& entry) { return entry.first + 1 < k; });
  // The votes that certify the own lock stay: others may ask for them.
  std::erase_if(ballots_, [&](const auto& entry) {
    return entry.first > 0 && entry.first + 1 < k && entry.first + 1 != lock_.rank;
  });
  if (lock_.rank > 1 && lock_.rank < k) ballots_[lock_.rank - 1].ForgetAllBut(lock_.value);
  const std::set<Digest> relevant = RelevantVectors();
  std::erase_if(vectors_, [&](const auto& entry) { return !relevant.contains(entry.first); });
}

bool Seal::Impl::Certified(const SealLock& lock) const {
  const auto ballots = ballots_.find(lock.rank - 1);
  return ballots != ballots_.end() && ballots->second.For(lock.value).size() >= quorum_;
}

SealLock Seal::Impl::HighestCertified() const {
  for (auto it = ballots_.rbegin(); it != ballots_.rend(); ++it) {
    for (const auto& [value, signers] : it->second.by_value()) {
      if (signers.size() >= quorum_) return {it->first + 1, value};
    }
  }
  return {};
}

void Seal::Impl::Propose(SealOutput& out) {
  const std::uint32_t k = clock_.iteration();
  wire::Propose propose;
  SealLock highest = HighestCertified();
  if (Certified(lock_) && lock_.rank == highest.rank) highest = lock_;
  if (highest.rank > 0) {
    // Votes of this iteration may arrive before its proposal; a proposal cannot rest on them.
    if (highest.rank > k) return;
    propose.rank = highest.rank;
    propose.value = highest.value;
  } else {
    const Statuses& statuses = rounds_[k].statuses;
    const auto chosen = ChooseStatuses(statuses, quorum_);
    if (!chosen) return;
    propose.statuses = wire::BitmapOf(*chosen, options_.members);
    propose.statuses_root = StatusesRoot(statuses, *chosen);
    if (const auto forced = ForcedValue(statuses, *chosen, enough_)) {
      propose.value = *forced;
    } else {
      SealVector merged = HeldNow();
      propose.value = EchoOf(merged).vector;
      vectors_[propose.value] = std::move(merged);
    }
  }
  out.say.push_back({MessageType::kPropose, k, wire::Encode(propose)});
}

std::string Seal::Impl::FaultOf(const wire::Propose& propose) const {
  const std::uint32_t k = clock_.iteration();
  const bool passed_over = propose.rank < lock_.rank && !base::Planted(base::Bug::kLockIgnored);
  if (passed_over) return "it passes over my lock";
  if (propose.rank > k) return "it names a lock of this iteration or a later one";
  if (propose.rank > 0) {
    return Certified({propose.rank, propose.value}) ? ""
                                                    : "the certificate of its lock did not come";
  }
  const auto chosen = wire::SendersOf(propose.statuses, options_.members);
  if (!chosen) return "it names statuses of nobody";
  std::string why;
  switch (JudgeStatuses(rounds_.at(k).statuses, *chosen, propose, quorum_, enough_, why)) {
    case StatusRule::kRefused:
      return why;
    case StatusRule::kForced:
      return "";
    case StatusRule::kMerge:
      break;
  }
  const auto merged = vectors_.find(propose.value);
  if (merged == vectors_.end()) return "its vector did not come";
  if (own_vector_) return MergeFault(*own_vector_, merged->second, *messages_);
  if (echo_time_) return "I do not know any more what I echoed";
  return MergeFault(HeldNow(), merged->second, *messages_);
}

void Seal::Impl::Vote(SealOutput& out) {
  Iteration& round = rounds_[clock_.iteration()];
  if (round.proposals.empty()) {
    round.refusal = "no proposal came";
    return;
  }
  if (round.proposals.size() > 1) {
    round.refusal = "its leader signed two proposals";
    return;
  }
  const ProposeSeen& proposal = round.proposals.front();
  round.refusal = FaultOf(proposal.body);
  if (!round.refusal.empty()) return;
  const wire::SealVote vote{proposal.body.value, proposal.body.rank};
  out.say.push_back({MessageType::kVote, clock_.iteration(), wire::Encode(vote)});
  out.forward.push_back(proposal.frame);
}

// Requires exactly one proposal: votes for a value that was never proposed are not honest, and with
// a second proposal others may have voted for that one.
void Seal::Impl::LockIn(SealOutput& out) {
  const std::uint32_t k = clock_.iteration();
  const std::vector<ProposeSeen>& proposals = rounds_[k].proposals;
  if (proposals.size() != 1) return;
  const SealLock lock{k + 1, proposals.front().body.value};
  if (!Certified(lock)) return;
  lock_ = lock;
  out.say.push_back({MessageType::kLock, k, wire::Encode(wire::Lock{lock.value})});
}

}  // namespace ostraka::protocol

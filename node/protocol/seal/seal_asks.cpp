// The things that a seal lacks, their sources, and the requests to them (docs/seal.md, 5).
//
// Of the members that have shown that they hold a thing, fault bound + 1 are asked at once, so an
// honest one is among them if there is one. The others follow Delta/2 later. Each is asked once an
// iteration. ECHOs before the slow path are an exception: all members are asked, every Delta/2.
#include <algorithm>

#include "node/base/check.h"
#include "node/protocol/seal/seal_impl.h"
#include "node/wire/bitmap.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {
namespace {

using State = SealEntry::State;
using wire::MessageType;
using wire::PullKind;

constexpr base::Duration Part(base::Duration delta, std::int64_t of) { return {delta.ns / of}; }

// All requests to one peer.
struct Request {
  std::set<Digest> vectors;
  std::set<Digest> digests;
  std::map<MessageType, std::set<std::size_t>> messages;
};

wire::Pull PullOf(PullKind kind, std::vector<Digest> digests) {
  wire::Pull pull;
  pull.kind = kind;
  pull.digests = std::move(digests);
  return pull;
}

void Emit(const PeerId& to, const Request& request, const std::vector<PeerId>& members,
          std::vector<SealAsk>& out) {
  for (const Digest& value : request.vectors) {
    out.push_back({to, PullOf(PullKind::kVector, {value})});
  }
  std::vector<Digest> some;
  for (const Digest& digest : request.digests) {
    some.push_back(digest);
    if (some.size() < wire::kMaxPullDigests) continue;
    out.push_back({to, PullOf(PullKind::kDigests, std::move(some))});
    some.clear();
  }
  if (!some.empty()) out.push_back({to, PullOf(PullKind::kDigests, std::move(some))});
  for (const auto& [type, indices] : request.messages) {
    std::vector<PeerId> of;
    for (const std::size_t index : indices) of.push_back(members[index]);
    wire::Pull pull = PullOf(PullKind::kMessages, {});
    pull.type = type;
    pull.members = wire::BitmapOf(of, members);
    out.push_back({to, std::move(pull)});
  }
}

}  // namespace

void Seal::Impl::TickAt(base::Time at) {
  if (!tick_ || at < *tick_) tick_ = at;
}

void Seal::Impl::Ask(SealOutput& out) {
  tick_.reset();
  const Lacks lacks = FindLacks();
  std::map<PeerId, Request> requests;
  bool more = false;
  for (const auto& [lack, sources] : lacks.sources) {
    // No message shows which ECHOs or CLOSEs a member holds, so every source is asked.
    const bool of_all = (lack.type == MessageType::kEcho && lack.digest.is_zero()) ||
                        lack.type == MessageType::kClose;
    std::size_t room = of_all ? sources.size() : faults_ + 1;
    std::set<PeerId>& asked = asked_[lack];
    for (const PeerId& source : sources) {
      if (source == options_.self || asked.contains(source)) continue;
      if (room == 0) {
        more = true;
        break;
      }
      --room;
      if (!of_all || slow) asked.insert(source);
      Request& request = requests[source];
      if (lack.kind == PullKind::kVector) request.vectors.insert(lack.digest);
      if (lack.kind == PullKind::kDigests) request.digests.insert(lack.digest);
      if (lack.kind == PullKind::kMessages) request.messages[lack.type].insert(lack.member);
    }
  }
  for (const auto& [to, request] : requests) Emit(to, request, options_.members, out.ask);
  if (lacks.later) TickAt(*lacks.later);
  const bool ask_again = undecided() && !slow && !lacks.sources.empty() && begun_at_;
  if (more || ask_again) {
    // A member that closed long ago may wait for the gate until the deadline of the phase.
    const bool waits =
        clock_.step() == SealClock::Step::kClosed && now_ - clock_.began() > options_.delta;
    TickAt(now_ + (waits ? options_.delta * 2 : Part(options_.delta, 2)));
  } else if (!lacks.sources.empty() && (!undecided() || options_.muted)) {
    // No later iteration will ask again: repeat the requests every 2 Delta.
    asked_.clear();
    TickAt(now_ + options_.delta * 2);
    if (undecided()) return;
    out.unhelped = asked_for_decision_;
    alone_ = asked_for_decision_;
    asked_for_decision_ = true;
  }
}

Seal::Impl::Lacks Seal::Impl::FindLacks() const {
  Lacks lacks;
  if (!undecided()) {
    LackForDecision(lacks);
    return lacks;
  }
  if (begun_at_) LackEchoes(lacks);
  if (options_.muted) {
    if (!begun_at_) return lacks;
    for (const PeerId& member : awake_) {
      lacks.sources[{PullKind::kMessages, MessageType::kLock, IndexOf(member), {}}] = OthersAwake();
    }
    return lacks;
  }
  LackPhaseMessages(lacks);
  if (!passed_) LackCloses(lacks);
  if (!HasVoice()) return lacks;
  LackVectors(lacks);
  if (clock_.step() <= SealClock::Step::kRest) return lacks;
  LackStatuses(lacks);
  LackCertificates(lacks);
  LackOfProposal(lacks);
  return lacks;
}

// Messages that others hold, and equivocations that they saw, by the bitmaps of their ECHOs.
void Seal::Impl::LackPhaseMessages(Lacks& lacks) const {
  const SealVector mine = HeldNow();
  for (const auto& [sender, echo] : echoes_) {
    if (sender == options_.self || (echo_time_ && echo.body.vector == own_value_)) continue;
    const base::Time due = echo.at + options_.moment;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const State theirs = StateIn(echo.body, i);
      if (theirs == State::kAbsent || theirs == mine[i].state) continue;
      if (mine[i].state == State::kEquivocated) continue;
      if (due > now_) {
        if (!lacks.later || due < *lacks.later) lacks.later = due;
        break;
      }
      LackEntry(lacks, i, {sender});
    }
  }
}

// Values that others echoed, and the messages in them: a leader's merge needs them all.
void Seal::Impl::LackVectors(Lacks& lacks) const {
  std::map<Digest, std::vector<PeerId>> echoers;
  for (const auto& [sender, echo] : echoes_) {
    if (echo.body.vector == own_value_ && own_vector_) continue;
    const base::Time due = echo.at + options_.moment;
    if (sender != options_.self && due <= now_) {
      echoers[echo.body.vector].push_back(sender);
    } else if (sender != options_.self && (!lacks.later || due < *lacks.later)) {
      lacks.later = due;
    }
  }
  for (const auto& [value, sources] : echoers) {
    const auto known = vectors_.find(value);
    if (known == vectors_.end()) {
      lacks.sources[{PullKind::kVector, MessageType::kBoot, 0, value}] = sources;
    } else {
      LackOfVector(lacks, known->second, sources);
    }
  }
}

// ECHOs that are missing, and ECHOs of members whose ECHO here differs from the leading value: they
// may have sent the leading value to others. A member that decided by the fast path holds equal
// ECHOs of all, so the others that ask it decide within Delta of it.
void Seal::Impl::LackEchoes(Lacks& lacks) const {
  const base::Time due = *begun_at_ + Part(options_.delta, 2);
  if (due > now_) {
    if (!lacks.later || due < *lacks.later) lacks.later = due;
    return;
  }
  const auto ballots = ballots_.find(0);
  const Digest leading = ballots == ballots_.end() ? Digest{} : ballots->second.Leading();
  for (const PeerId& member : awake_) {
    if (member == options_.self) continue;
    if (ballots != ballots_.end() && ballots->second.For(leading).contains(member)) continue;
    lacks.sources[{PullKind::kMessages, MessageType::kEcho, IndexOf(member), {}}] = OthersAwake();
  }
}

// A member in an iteration has passed the gate and holds Q CLOSEs. Once the own CLOSE has waited
// for 2 Delta, all members are asked.
void Seal::Impl::LackCloses(Lacks& lacks) const {
  const bool long_closed =
      clock_.step() == SealClock::Step::kClosed && now_ - clock_.began() >= options_.delta * 2;
  std::vector<PeerId> sources;
  for (const PeerId& member : OthersAwake()) {
    const auto reached = reached_.find(member);
    if (long_closed || (reached != reached_.end() && reached->second >= 1)) {
      sources.push_back(member);
    }
  }
  if (sources.empty()) return;
  for (const PeerId& member : gate_.Lacking()) {
    if (member == options_.self) continue;
    lacks.sources[{PullKind::kMessages, MessageType::kClose, IndexOf(member), {}}] = sources;
  }
}

// STATUSes of members that have reached this iteration. If too few have after a step's length, all
// members are asked.
void Seal::Impl::LackStatuses(Lacks& lacks) const {
  const base::Time due = clock_.began() + StepLength(options_.delta, clock_.iteration());
  const bool of_all =
      clock_.step() == SealClock::Step::kStatus && !clock_.gathered() && due <= now_;
  const auto round = rounds_.find(clock_.iteration());
  for (const PeerId& member : OthersAwake()) {
    const auto reached = reached_.find(member);
    const bool here = reached != reached_.end() && reached->second >= clock_.iteration();
    if (!here && !of_all) continue;
    if (round != rounds_.end() && round->second.statuses.FirstOf(member) != nullptr) continue;
    lacks.sources[{PullKind::kMessages, MessageType::kStatus, IndexOf(member), {}}] = {member};
  }
}

// Certificates of locks that members claim, of a rank not below the own lock's.
void Seal::Impl::LackCertificates(Lacks& lacks) const {
  const std::uint32_t k = clock_.iteration();
  std::map<SealLock, std::vector<PeerId>> claimants;
  if (lock_.rank > 0) claimants[lock_] = OthersAwake();  // the own lock, after a restart
  const auto round = rounds_.find(k);
  if (round != rounds_.end()) {
    for (const auto& [sender, statuses] : round->second.statuses.all()) {
      for (const StatusSeen& seen : statuses) {
        if (seen.body.rank > 0 && seen.body.rank <= k) {
          claimants[{seen.body.rank, seen.body.value}].push_back(sender);
        }
      }
    }
  }
  for (const auto& [group, signers] : locks_.groups()) {
    if (group.iteration != k && group.iteration + 1 != k) continue;
    for (const auto& [sender, frame] : signers) {
      claimants[{group.iteration + 1, group.value}].push_back(sender);
    }
  }
  for (const auto& [lock, sources] : claimants) {
    if (lock.rank < lock_.rank || Certified(lock)) continue;
    LackBallots(lacks, lock, sources);
  }
}

void Seal::Impl::LackOfProposal(Lacks& lacks) const {
  const std::uint32_t k = clock_.iteration();
  const auto round = rounds_.find(k);
  if (round == rounds_.end() || round->second.proposals.size() != 1) return;
  const wire::Propose& propose = round->second.proposals.front().body;
  if (propose.rank < lock_.rank || propose.rank > k) return;
  std::vector<PeerId> sources = {LeaderOf(k)};
  const auto ballots = ballots_.find(k);
  if (ballots != ballots_.end()) {
    for (const auto& [sender, frame] : ballots->second.For(propose.value)) {
      sources.push_back(sender);
    }
  }
  if (propose.rank > 0) {
    const SealLock lock{propose.rank, propose.value};
    if (!Certified(lock)) LackBallots(lacks, lock, sources);
    return;
  }
  if (const auto chosen = wire::SendersOf(propose.statuses, options_.members)) {
    for (const PeerId& member :
         StatusesToAskFor(round->second.statuses, *chosen, propose.statuses_root)) {
      lacks.sources[{PullKind::kMessages, MessageType::kStatus, IndexOf(member),
                     propose.statuses_root}] = sources;
    }
  }
  const auto vector = vectors_.find(propose.value);
  if (vector == vectors_.end()) {
    lacks.sources[{PullKind::kVector, MessageType::kBoot, 0, propose.value}] = sources;
  } else {
    LackOfVector(lacks, vector->second, sources);
  }
}

void Seal::Impl::LackForDecision(Lacks& lacks) const {
  const auto vector = vectors_.find(*decided_value_);
  if (vector == vectors_.end()) {
    lacks.sources[{PullKind::kVector, MessageType::kBoot, 0, *decided_value_}] = witnesses_;
    return;
  }
  for (std::size_t i = 0; i < vector->second.size(); ++i) {
    const SealEntry& entry = vector->second[i];
    if (entry.state != State::kPresent || messages_->Holds(i, entry.digest)) continue;
    lacks.sources[{PullKind::kDigests, MessageType::kBoot, 0, entry.digest}] = witnesses_;
  }
}

void Seal::Impl::LackBallots(Lacks& lacks, const SealLock& lock,
                             const std::vector<PeerId>& sources) const {
  const MessageType type = lock.rank == 1 ? MessageType::kEcho : MessageType::kVote;
  const auto ballots = ballots_.find(lock.rank - 1);
  // The own ballot too: its iteration may have been forgotten.
  for (const PeerId& member : awake_) {
    if (ballots != ballots_.end() && ballots->second.For(lock.value).contains(member)) continue;
    lacks.sources[{PullKind::kMessages, type, IndexOf(member), lock.value}] = sources;
  }
}

void Seal::Impl::LackOfVector(Lacks& lacks, const SealVector& vector,
                              const std::vector<PeerId>& sources) const {
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const SealEntry& entry = vector[i];
    if (entry.state == State::kAbsent) continue;
    if (entry.state == State::kEquivocated) {
      if (messages_->EntryNow(i).state != State::kEquivocated) LackEntry(lacks, i, sources);
    } else if (!messages_->Holds(i, entry.digest)) {
      // Several vectors may name the message: add the sources of each. Attack: with the sources of
      // one vector only, a liar's vector hid those of an honest member, which was then never asked
      // for its message and was named as unshown.
      std::vector<PeerId>& all =
          lacks.sources[{PullKind::kDigests, MessageType::kBoot, 0, entry.digest}];
      all.insert(all.end(), sources.begin(), sources.end());
    }
  }
}

void Seal::Impl::LackEntry(Lacks& lacks, std::size_t index,
                           const std::vector<PeerId>& sources) const {
  const std::size_t member = index % options_.members.size();
  std::vector<PeerId>& all =
      lacks.sources[{PullKind::kMessages, TypeOfEntry(index), member, Digest{}}];
  all.insert(all.end(), sources.begin(), sources.end());
}

MessageType Seal::Impl::TypeOfEntry(std::size_t index) const {
  switch (options_.slot.phase) {
    case wire::Phase::kGenesis:
      return MessageType::kBoot;
    case wire::Phase::kA:
      return index < options_.members.size() ? MessageType::kCommit : MessageType::kAggregate;
    case wire::Phase::kB:
      return MessageType::kReveal;
    case wire::Phase::kC:
      return MessageType::kProof;
  }
  return MessageType::kBoot;
}

std::size_t Seal::Impl::IndexOf(const PeerId& member) const {
  const auto at = std::lower_bound(options_.members.begin(), options_.members.end(), member);
  OSTRAKA_CHECK(at != options_.members.end() && *at == member);
  return static_cast<std::size_t>(at - options_.members.begin());
}

std::vector<PeerId> Seal::Impl::OthersAwake() const {
  std::vector<PeerId> others;
  for (const PeerId& member : awake_) {
    if (member != options_.self) others.push_back(member);
  }
  return others;
}

}  // namespace ostraka::protocol

#include "node/protocol/seal/inside/lacks.h"

#include "node/wire/bitmap.h"

namespace ostraka::protocol {
namespace {

using State = SealEntry::State;
using Step = SealClock::Step;
using wire::MessageType;
using wire::PullKind;

// Collects the lacks of one seal at one moment.
class Search {
 public:
  Search(const SealView& seal, base::Time now) : seal_(seal), now_(now) {}
  SealLacks Run();

 private:
  void PhaseMessages();
  void Vectors();
  void Echoes();
  void LocksForObserver();
  void Closes();
  void StatusesHere();
  void Certificates();
  void OfProposal();
  void ForDecision();

  void Add(const SealLack& lack, const std::vector<PeerId>& sources);
  void Ballots(const SealLock& lock, const std::vector<PeerId>& sources);
  void Vector(const Digest& value, const std::vector<PeerId>& sources);
  void OfVector(const SealVector& vector, const std::vector<PeerId>& sources);
  void Entry(std::size_t index, const std::vector<PeerId>& sources);
  // The frame of `type` by `member`.
  void Frame(MessageType type, const PeerId& member, const Digest& value,
             const std::vector<PeerId>& sources);
  void Later(base::Time due);

  const SealView& seal_;
  const base::Time now_;
  SealLacks lacks_;
};

SealLacks Search::Run() {
  if (seal_.decision.made()) {
    ForDecision();
    return std::move(lacks_);
  }
  if (seal_.echoes.wait_ended_at()) Echoes();
  if (seal_.setup.muted()) {
    if (seal_.echoes.wait_ended_at()) LocksForObserver();
    return std::move(lacks_);
  }
  PhaseMessages();
  if (!seal_.gate.passed()) Closes();
  if (!seal_.HasVoice()) return std::move(lacks_);
  Vectors();
  if (seal_.clock.step() <= Step::kRest) return std::move(lacks_);
  StatusesHere();
  Certificates();
  OfProposal();
  return std::move(lacks_);
}

void Search::Add(const SealLack& lack, const std::vector<PeerId>& sources) {
  std::vector<PeerId>& all = lacks_.sources[lack];
  all.insert(all.end(), sources.begin(), sources.end());
}

void Search::Later(base::Time due) {
  if (!lacks_.later || due < *lacks_.later) lacks_.later = due;
}

// Messages that others hold, and equivocations that they saw, by the bitmaps of their ECHOs.
void Search::PhaseMessages() {
  const SealVector mine = seal_.values.HeldNow();
  for (const auto& [sender, echo] : seal_.echoes.all()) {
    const bool as_mine = seal_.echoes.sent_at() && echo.body.vector == seal_.echoes.own_value();
    if (sender == seal_.setup.self() || as_mine) continue;
    const base::Time due = echo.at + seal_.setup.moment();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const State theirs = StateIn(echo.body, i);
      if (theirs == State::kAbsent || theirs == mine[i].state) continue;
      if (mine[i].state == State::kEquivocated) continue;
      if (due > now_) {
        Later(due);
        break;
      }
      Entry(i, {sender});
    }
  }
}

// Values that others echoed, and the messages in them: a leader's merge needs them all.
void Search::Vectors() {
  const SealEchoes& echoes = seal_.echoes;
  std::map<Digest, std::vector<PeerId>> echoers;
  for (const auto& [sender, echo] : echoes.all()) {
    if (sender == seal_.setup.self()) continue;
    if (echo.body.vector == echoes.own_value() && echoes.own_vector_known()) continue;
    const base::Time due = echo.at + seal_.setup.moment();
    if (due <= now_) {
      echoers[echo.body.vector].push_back(sender);
    } else {
      Later(due);
    }
  }
  for (const auto& [value, sources] : echoers) {
    if (const SealVector* known = seal_.values.Find(value)) {
      OfVector(*known, sources);
    } else {
      Vector(value, sources);
    }
  }
}

// ECHOs that are missing, and ECHOs of members whose ECHO here differs from the leading value: they
// may have sent the leading value to others. A member that decided by the fast path holds equal
// ECHOs of all, so the others that ask it decide within Delta of it.
void Search::Echoes() {
  const base::Time due = *seal_.echoes.wait_ended_at() + base::Duration{seal_.setup.delta().ns / 2};
  if (due > now_) return Later(due);
  const SealCertificates& certificates = seal_.slow_path.certificates();
  const Signers& leading = certificates.SignersOf({1, certificates.LeadingEcho()});
  for (const PeerId& member : seal_.setup.others()) {
    if (!leading.contains(member)) Frame(MessageType::kEcho, member, {}, seal_.setup.others());
  }
}

// A muted member takes no part in the slow path; it learns what LOCKs decide.
void Search::LocksForObserver() {
  for (const PeerId& member : seal_.setup.unmuted()) {
    Frame(MessageType::kLock, member, {}, seal_.setup.others());
  }
}

// A member in an iteration has passed the gate and holds Q CLOSEs. Once the own CLOSE has waited
// for 2 Delta, all members are asked.
void Search::Closes() {
  const SealClock& clock = seal_.clock;
  const bool long_closed =
      clock.step() == Step::kClosed && now_ - clock.began() >= seal_.setup.delta() * 2;
  std::vector<PeerId> sources;
  for (const PeerId& member : seal_.setup.others()) {
    if (long_closed || seal_.slow_path.rounds().ReachedBy(member) > 0) sources.push_back(member);
  }
  if (sources.empty()) return;
  for (const PeerId& member : seal_.gate.Lacking()) {
    if (member != seal_.setup.self()) Frame(MessageType::kClose, member, {}, sources);
  }
}

// STATUSes of members that have reached this iteration. If too few have after a step's length, all
// members are asked.
void Search::StatusesHere() {
  const SealClock& clock = seal_.clock;
  const SealRounds& rounds = seal_.slow_path.rounds();
  const std::uint32_t k = clock.iteration();
  const base::Time due = clock.began() + StepLength(seal_.setup.delta(), k);
  const bool of_all = clock.step() == Step::kStatus && !clock.gathered() && due <= now_;
  for (const PeerId& member : seal_.setup.others()) {
    if (rounds.ReachedBy(member) < k && !of_all) continue;
    if (rounds.StatusesOf(k).FirstOf(member) != nullptr) continue;
    Frame(MessageType::kStatus, member, {}, {member});
  }
}

// Certificates of locks that members claim, of a rank not below the own lock's.
void Search::Certificates() {
  const std::uint32_t k = seal_.clock.iteration();
  const SealCertificates& certificates = seal_.slow_path.certificates();
  const SealLock& own = certificates.lock();
  std::map<SealLock, std::vector<PeerId>> claimants;
  if (own.rank > 0) claimants[own] = seal_.setup.others();  // the own lock, after a restart
  for (const auto& [sender, statuses] : seal_.slow_path.rounds().StatusesOf(k).all()) {
    for (const StatusSeen& seen : statuses) {
      if (seen.body.rank == 0 || seen.body.rank > k) continue;
      claimants[{seen.body.rank, seen.body.value}].push_back(sender);
    }
  }
  for (const auto& [group, signers] : certificates.locks().groups()) {
    if (group.iteration != k && group.iteration + 1 != k) continue;
    for (const auto& [sender, frame] : signers) {
      claimants[{group.iteration + 1, group.value}].push_back(sender);
    }
  }
  for (const auto& [lock, sources] : claimants) {
    if (lock.rank < own.rank || certificates.IsCertified(lock)) continue;
    Ballots(lock, sources);
  }
}

void Search::OfProposal() {
  const std::uint32_t k = seal_.clock.iteration();
  const SealCertificates& certificates = seal_.slow_path.certificates();
  const SealRounds& rounds = seal_.slow_path.rounds();
  if (rounds.ProposalsOf(k).size() != 1) return;
  const wire::Propose& propose = rounds.ProposalsOf(k).front().body;
  if (propose.rank < certificates.lock().rank || propose.rank > k) return;
  std::vector<PeerId> sources = {seal_.setup.LeaderOf(k)};
  for (const auto& [voter, frame] : certificates.SignersOf({k + 1, propose.value})) {
    sources.push_back(voter);
  }
  if (propose.rank > 0) {
    const SealLock lock{propose.rank, propose.value};
    if (!certificates.IsCertified(lock)) Ballots(lock, sources);
    return;
  }
  if (const auto chosen = wire::SendersOf(propose.statuses, seal_.setup.members())) {
    for (const PeerId& member :
         StatusesToAskFor(rounds.StatusesOf(k), *chosen, propose.statuses_root)) {
      Frame(MessageType::kStatus, member, propose.statuses_root, sources);
    }
  }
  if (const SealVector* vector = seal_.values.Find(propose.value)) {
    OfVector(*vector, sources);
  } else {
    Vector(propose.value, sources);
  }
}

void Search::ForDecision() {
  const SealDecision& decision = seal_.decision;
  const std::vector<PeerId>& sources =
      decision.asked_in_vain() ? seal_.setup.others() : decision.witnesses();
  const SealVector* vector = seal_.values.Find(decision.value());
  if (vector == nullptr) return Vector(decision.value(), sources);
  for (std::size_t i = 0; i < vector->size(); ++i) {
    const SealEntry& entry = (*vector)[i];
    if (entry.state != State::kPresent || seal_.values.messages().Holds(i, entry.digest)) continue;
    Add({PullKind::kDigests, MessageType::kBoot, 0, entry.digest}, sources);
  }
}

void Search::Ballots(const SealLock& lock, const std::vector<PeerId>& sources) {
  const MessageType type = lock.rank == 1 ? MessageType::kEcho : MessageType::kVote;
  const Signers& here = seal_.slow_path.certificates().SignersOf(lock);
  // The own ballot too: its iteration may have been forgotten.
  for (const PeerId& member : seal_.setup.unmuted()) {
    if (!here.contains(member)) Frame(type, member, lock.value, sources);
  }
}

void Search::Vector(const Digest& value, const std::vector<PeerId>& sources) {
  Add({PullKind::kVector, MessageType::kBoot, 0, value}, sources);
}

void Search::OfVector(const SealVector& vector, const std::vector<PeerId>& sources) {
  const SealMessages& messages = seal_.values.messages();
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const SealEntry& entry = vector[i];
    if (entry.state == State::kAbsent) continue;
    if (entry.state == State::kEquivocated) {
      if (messages.EntryNow(i).state != State::kEquivocated) Entry(i, sources);
    } else if (!messages.Holds(i, entry.digest)) {
      Add({PullKind::kDigests, MessageType::kBoot, 0, entry.digest}, sources);
    }
  }
}

void Search::Entry(std::size_t index, const std::vector<PeerId>& sources) {
  const std::size_t member = index % seal_.setup.members().size();
  Add({PullKind::kMessages, seal_.setup.TypeOfEntry(index), member, Digest{}}, sources);
}

void Search::Frame(MessageType type, const PeerId& member, const Digest& value,
                   const std::vector<PeerId>& sources) {
  Add({PullKind::kMessages, type, seal_.setup.IndexOf(member), value}, sources);
}

}  // namespace

SealLacks FindLacks(const SealView& seal, base::Time now) { return Search(seal, now).Run(); }

void SealLack::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, kind, type, member, digest);
}

}  // namespace ostraka::protocol

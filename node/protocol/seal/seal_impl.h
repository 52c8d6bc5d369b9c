// The state of a Seal; seal.h is its contract and numbers its invariants. seal.cpp handles inputs
// and the decision, seal_slow.cpp the slow path, seal_asks.cpp the requests, seal_describe.cpp the
// line for people.
//
// Thread safety: none; one owner.
#pragma once

#include <compare>
#include <functional>

#include "node/base/planted.h"
#include "node/protocol/seal/seal.h"
#include "node/protocol/seal/seal_ballots.h"
#include "node/protocol/seal/seal_clock.h"
#include "node/protocol/seal/seal_gate.h"
#include "node/protocol/seal/seal_proposal.h"

namespace ostraka::protocol {

class Seal::Impl {
 public:
  Impl(SealOptions options, const SealMessages* messages);

  // --- seal.cpp ---
  void Opened(base::Time now, SealOutput& out);
  void Echo(base::Time now, SealOutput& out);
  void OnMessage(base::Time now, const wire::SignedEnvelope& message, SealOutput& out);
  void OnVector(base::Time now, const wire::Vector& vector, SealOutput& out);
  void OnHeld(base::Time now, SealOutput& out);
  void OnTimer(base::Time now, SealOutput& out);
  std::optional<base::Time> wake() const;
  std::optional<wire::Vector> VectorFor(const Digest& value) const;
  std::vector<SealFrame> Frames(wire::MessageType type) const;

  // --- seal_describe.cpp ---
  std::string Describe(base::Time now) const;

  // Outcome, as in seal.h.
  std::optional<SealVector> decision;
  std::vector<base::SharedBytes> certificate;
  std::set<PeerId> silent;
  std::map<PeerId, base::Duration> lags;
  bool slow = false;
  std::uint32_t iteration() const { return clock_.iteration(); }
  bool alone() const { return alone_; }
  bool echoed() const { return begun_at_.has_value(); }
  bool gate_passed() const { return passed_; }

 private:
  struct EchoSeen {
    wire::Echo body;
    base::Time at;
  };
  struct ProposeSeen {
    wire::Propose body;
    Digest digest;
    base::SharedBytes frame;
  };
  struct Iteration {
    Statuses statuses;
    std::vector<ProposeSeen> proposals;  // of its leader; at most two: a second one voids it
    std::string refusal;                 // why this member did not vote
  };
  // A thing that this member lacks. It asks each source for it at most once an iteration.
  struct Lack {
    wire::PullKind kind = wire::PullKind::kMessages;
    wire::MessageType type = wire::MessageType::kBoot;
    std::size_t member = 0;  // kMessages: index among the members
    Digest digest;           // kDigests, kVector; kMessages of ballots: the value
    auto operator<=>(const Lack&) const = default;
  };
  struct Lacks {
    std::map<Lack, std::vector<PeerId>> sources;
    std::optional<base::Time> later;  // when something is due that is too young to ask for now
  };

  // --- seal.cpp ---
  void OnEcho(const wire::SignedEnvelope& message);
  void OnStatus(const wire::SignedEnvelope& message, SealOutput& out);
  void OnPropose(const wire::SignedEnvelope& message, SealOutput& out);
  void OnVote(const wire::SignedEnvelope& message);
  void OnLock(const wire::SignedEnvelope& message);
  // If Q members have closed: passes the gate, forwards the CLOSEs and starts the slow path's
  // clock.
  void TryGate(SealOutput& out);
  void Begin(SealOutput& out);
  // An own frame: after a restart it binds this member to what it said before.
  void Remember(const wire::SignedEnvelope& own);
  // Rests until `until`, when `iteration` is over. No effect once the seal is decided: its clock is
  // not advanced any more, so a due time there would wake the owner without end while messages that
  // the decision names are lacking.
  void Rest(std::uint32_t iteration, base::Time until);
  void RebuildOwnVector();
  // After each input: invariants 1, 4 and 5 of seal.h, in constant time.
  void CheckInvariants() const;
  // The parts: when an iteration begins and when the seal is decided.
  void CheckParts() const;
  void Drive(SealOutput& out);
  void Decide(SealOutput& out);
  void DecideOn(const Digest& value, const Signers& signers, SealOutput& out);
  void Resolve();
  SealVector HeldNow() const;
  // May send messages of the slow path: it has echoed, or was too late to echo.
  bool HasVoice() const {
    return !options_.muted && (echo_time_ || passed_ || clock_.iteration() > 0);
  }
  bool IsAwake(const PeerId& peer) const;
  bool undecided() const { return !decided_value_; }
  void NoteReached(const PeerId& sender, std::uint32_t iteration);
  bool InWindow(std::uint32_t iteration) const;
  // A lock of some member may rest on ballots of `iteration` for `value`.
  bool Needed(std::uint32_t iteration, const Digest& value) const;
  std::set<Digest> RelevantVectors() const;
  const PeerId& LeaderOf(std::uint32_t iteration) const {
    if (base::Planted(base::Bug::kLeaderStays)) return leaders_.front();
    return leaders_[(iteration - 1) % leaders_.size()];
  }

  // --- seal_slow.cpp ---
  void RunClock(SealOutput& out);
  void JoinThoseAhead(SealOutput& out);
  bool IsGathered() const;
  void SayAgain(SealOutput& out);
  const base::SharedBytes* OwnFrameToRepeat();
  void BeginStep(SealOutput& out);
  void BeginIteration(SealOutput& out);
  void Forget();
  void Propose(SealOutput& out);
  void Vote(SealOutput& out);
  void LockIn(SealOutput& out);
  // Empty if this member may vote for `propose`; else the reason, for people.
  std::string FaultOf(const wire::Propose& propose) const;
  bool Certified(const SealLock& lock) const;
  SealLock HighestCertified() const;

  // --- seal_asks.cpp ---
  void TickAt(base::Time at);
  void Ask(SealOutput& out);
  Lacks FindLacks() const;
  void LackPhaseMessages(Lacks& lacks) const;
  void LackVectors(Lacks& lacks) const;
  void LackEchoes(Lacks& lacks) const;
  void LackCloses(Lacks& lacks) const;
  void LackStatuses(Lacks& lacks) const;
  void LackCertificates(Lacks& lacks) const;
  void LackOfProposal(Lacks& lacks) const;
  void LackForDecision(Lacks& lacks) const;
  void LackBallots(Lacks& lacks, const SealLock& lock, const std::vector<PeerId>& sources) const;
  void LackOfVector(Lacks& lacks, const SealVector& vector,
                    const std::vector<PeerId>& sources) const;
  void LackEntry(Lacks& lacks, std::size_t index, const std::vector<PeerId>& sources) const;
  wire::MessageType TypeOfEntry(std::size_t index) const;
  std::size_t IndexOf(const PeerId& member) const;
  std::vector<PeerId> OthersAwake() const;

  const SealOptions options_;
  const SealMessages* const messages_;
  std::vector<PeerId> awake_;    // by key
  std::vector<PeerId> leaders_;  // of iterations 1, 2, ..., repeating
  const std::size_t quorum_;
  const std::size_t enough_;  // supporters that force a value: Q - t_a
  const std::size_t faults_;  // fault bound: max(t_s, t_a)

  base::Time now_;
  bool opened_ = false;                   // Opened was called
  std::optional<base::Time> begun_at_;    // when Echo was called, or the gate passed
  std::optional<base::Time> echo_time_;   // when the own ECHO was said; none if muted or too late
  Digest own_value_;                      // of the own ECHO
  std::optional<SealVector> own_vector_;  // after a restart unknown until it can be rebuilt
  bool passed_ = false;                   // the gate

  std::map<PeerId, EchoSeen> echoes_;          // the first of each member
  std::map<std::uint32_t, Ballots> ballots_;   // 0: ECHOs; k: VOTEs of iteration k
  std::map<std::uint32_t, Iteration> rounds_;  // by iteration, those in the window
  Locks locks_;
  std::map<PeerId, std::uint32_t> reached_;  // the latest iteration in which a member spoke
  std::set<SealLock> claims_;                // locks claimed in this iteration
  std::map<Digest, SealVector> vectors_;

  SealGate gate_;
  SealClock clock_;
  SealLock lock_;  // changes only when an iteration begins and when LOCK is said
  std::optional<base::Time> say_again_;
  std::uint32_t repeats_ = 0;  // of the own CLOSE or STATUS
  bool alone_ = false;
  bool asked_for_decision_ = false;

  std::optional<Digest> decided_value_;
  std::vector<PeerId> witnesses_;  // signers of the frames that decided

  std::map<Lack, std::set<PeerId>> asked_;  // in this iteration
  std::optional<base::Time> tick_;          // when to look again for what is lacking
};

}  // namespace ostraka::protocol

// The parts of a Seal (seal.h), one .cpp each: seal.cpp takes what comes in, seal_slow.cpp runs the
// slow path, seal_asks.cpp asks for what is lacking, seal_describe.cpp says what it waits for.
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
  // One thing that is lacking. Asked of each source at most once an iteration.
  struct Lack {
    wire::PullKind kind = wire::PullKind::kMessages;
    wire::MessageType type = wire::MessageType::kBoot;
    std::size_t member = 0;  // kMessages: index in the view
    Digest digest;           // kDigests, kVector; kMessages of ballots: the value
    auto operator<=>(const Lack&) const = default;
  };
  struct Lacks {
    std::map<Lack, std::vector<PeerId>> sources;
    std::optional<base::Time> later;  // when something that is too young to be missed is not
  };

  // --- seal.cpp ---
  void OnEcho(const wire::SignedEnvelope& message);
  void OnStatus(const wire::SignedEnvelope& message, SealOutput& out);
  void OnPropose(const wire::SignedEnvelope& message, SealOutput& out);
  void OnVote(const wire::SignedEnvelope& message);
  void OnLock(const wire::SignedEnvelope& message);
  // The gate, if Q have closed: forwards it, and begins what follows it.
  void TryGate(SealOutput& out);
  void Begin(SealOutput& out);
  // After a restart: what I said in a life before binds me.
  void Remember(const wire::SignedEnvelope& own);
  // Waits until `until` for iteration `iteration` to be over; not in a seal that is decided, whose
  // clock is never looked at again [who lacked what the decision names was woken without end].
  void Rest(std::uint32_t iteration, base::Time until);
  void RebuildOwnVector();
  void Drive(SealOutput& out);
  void Decide(SealOutput& out);
  void DecideOn(const Digest& value, const Signers& signers, SealOutput& out);
  void Resolve();
  SealVector HeldNow() const;
  // Says words of the slow path: has echoed, or was too late to.
  bool HasVoice() const {
    return !options_.muted && (echo_time_ || passed_ || clock_.iteration() > 0);
  }
  bool IsAwake(const PeerId& peer) const;
  bool undecided() const { return !decided_value_; }
  void NoteReached(const PeerId& sender, std::uint32_t iteration);
  bool InWindow(std::uint32_t iteration) const;
  // Somebody may rest on ballots of that iteration for that value.
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
  // Empty if I may vote for it.
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
  std::vector<PeerId> leaders_;  // of iterations 1, 2, ..., over and over
  const std::size_t quorum_;
  const std::size_t enough_;  // supporters that force a value: Q - t_a
  const std::size_t faults_;  // more members than that cannot all be faulty

  base::Time now_;
  bool opened_ = false;                  // Opened was called
  std::optional<base::Time> begun_at_;   // when Echo was called, or the gate passed
  std::optional<base::Time> echo_time_;  // the same if not muted: I have a voice
  Digest own_value_;
  std::optional<SealVector> own_vector_;  // unknown after a restart until it can be rebuilt
  bool passed_ = false;                   // the gate

  std::map<PeerId, EchoSeen> echoes_;          // the first of each member
  std::map<std::uint32_t, Ballots> ballots_;   // 0: ECHOs; k: VOTEs of iteration k
  std::map<std::uint32_t, Iteration> rounds_;  // by iteration, those in the window
  Locks locks_;
  std::map<PeerId, std::uint32_t> reached_;  // the latest iteration that a member spoke in
  std::set<SealLock> claims_;                // locks that members of this iteration rest on
  std::map<Digest, SealVector> vectors_;

  SealGate gate_;
  SealClock clock_;
  SealLock lock_;  // changes only when an iteration begins and when LOCK is said
  std::optional<base::Time> say_again_;
  std::uint32_t repeats_ = 0;  // of the word that is said again
  bool alone_ = false;
  bool asked_for_decision_ = false;

  std::optional<Digest> decided_value_;
  std::vector<PeerId> witnesses_;  // whose frames decided

  std::map<Lack, std::set<PeerId>> asked_;  // in this iteration
  std::optional<base::Time> tick_;          // when to look for what is lacking
};

}  // namespace ostraka::protocol

// What this member owes to cases and disputes: its votes, the exhibits that it needs for them, and
// the name of whoever lied to it as an owner.
//
// Promises:
//   D1  A member votes once in a case, and in none that it is a party to.
//   D2  It votes only by what it recomputed or compared itself. Members that do not hold what the
//       case is about abstain.
//   D3  A PROOF is ready (AwaitsCrossCheck, AwaitsExhibits) when nothing that it owes can come in
//       time; the caller ends the wait at the deadline for bulk data.
//   D4  A verdict that is still looked into (NextLook) is stated from the kLookBlocks-th block on
//       after its case began, as it is then: a case must not end undecided for that.
//
// May not know: the step in progress, seals, or which jobs run.
//
// Memory: a verdict for each open case (wire::kMaxCases).
//
// What an attacker can do here: open cases, at most one a step that it validates, and have each
// member recompute one gradient for each, and six more beside later steps if it lied; show its
// exhibit to few members, which costs the others some half Deltas of asking.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "node/protocol/ground/jobs.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/lasting/chain.h"
#include "node/protocol/rules/cases.h"
#include "node/wire/hash_into.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

class Duties {
 public:
  Duties(const PeerId& self, std::shared_ptr<const Manifest> manifest, const Chain& chain)
      : self_(self), manifest_(std::move(manifest)), chain_(chain) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- recomputing a gradient: validators, and voters in gradient cases ---
  // What to recompute of `target`'s `step`; nullopt if the step is not held any more, or the target
  // proved nothing.
  std::optional<RecomputeSpec> Recomputation(std::uint64_t step, const PeerId& target) const;
  // Open gradient cases in which this member has not voted and is no party.
  std::vector<wire::CaseId> GradientCases() const;

  // --- V1: the numbers of all workers against the parts that this member holds as an owner ---
  void BeginCrossCheck(std::uint64_t step);
  void ForgetCrossCheck();
  bool AwaitsCrossCheck() const { return cross_checking_.has_value(); }
  // One of the liars is named. Returns false if steps have passed since: it is too late to name
  // anybody.
  bool OnCrossChecked(std::uint64_t step, const std::vector<PeerId>& liars);

  // --- exhibits: the parts that covers and numbers cases are about ---
  // Whom to ask for a part, now.
  struct Ask {
    std::set<PeerId> sources;
    std::uint64_t step = 0;
    PartKey exhibit;
  };
  // Of each exhibit that is missing: the member that must show it, and more and more of those that
  // may have seen it. It may have been shown to few, and PROOFs wait for it [with one member asked
  // at a time those to whom it was not shown were late by n Delta/2].
  std::vector<Ask> AskForExhibits();
  bool AwaitsExhibits() const;
  // The PART is an exhibit that is missing, under its author's sealed COMMIT. Its signature is not
  // looked at.
  bool IsExhibit(const wire::SignedEnvelope& part, const SharedBlob& blob) const;
  // Cases whose exhibits are there, with the job that judges each. Numbers that do not follow from
  // the part that is shown are guilty in either kind of case.
  std::vector<std::pair<wire::CaseId, CrossCheckSpec>> ExhibitsToJudge();

  // --- votes ---
  // The vote is being worked out; or (false) nothing is held to work it out from, so this member
  // abstains.
  void BeginVote(const wire::CaseId& about, bool begun);
  // Nothing if the case is closed by now.
  void TakeVerdict(const wire::CaseId& about, const JobResult& result);

  // In profile exact/1 a guilty verdict on a gradient is looked into: the target's two steps after
  // and four before are recomputed too, one at a time, as who lies in more than one of them is no
  // victim of its hardware. Meanwhile the vote is not stated, but no longer than D4 says. A key
  // that a second fault bans anyway is not looked into.
  struct Look {
    wire::CaseId about;
    std::uint64_t step = 0;
    RecomputeSpec spec;
  };
  // What to recompute next; nullopt if nothing is left.
  std::optional<Look> NextLook();
  // The verdict is `twice` if the result is guilty. What could not be computed counts as true: it
  // would only make the verdict graver. Nothing if the case is closed by now.
  void TakeLook(const wire::CaseId& about, const JobResult& result);
  // This member itself found that the gradient of the case is false.
  bool FoundFalseGradient(const wire::CaseId& about) const;

  // Fills in votes and naming.
  void StateIn(wire::Proof& proof) const;
  // Forgets cases that `block` closes.
  void OnBlock(const wire::Block& block);
  // This member leaves the step.
  void Clear();

 private:
  GradientSpec GradientOf(const PastStep& past, std::uint64_t step, const PeerId& worker) const;
  // One of the steps around that of a case: its gradient, and as far as they are held its numbers.
  std::optional<RecomputeSpec> OtherStep(std::uint64_t step, const PeerId& target) const;
  // What `worker` stated of each column. Nullopt if no PROOF of it is sealed, or a result is not
  // held that its numbers are about.
  static std::optional<std::vector<RecomputeSpec::Claim>> ClaimsOf(const PastStep& past,
                                                                   const PeerId& worker);
  bool MayVote(const wire::CaseId& about) const;
  bool ExhibitMissing(const wire::Case& open) const;
  // The part that a case is about.
  static PartKey ExhibitOf(const wire::CaseId& id);

  struct Finding {
    std::optional<wire::Verdict> verdict = {};  // nullopt: being worked out
    bool false_gradient = false;
    std::vector<std::uint64_t> to_look_at = {};  // steps, the next one last
    bool looking = false;                        // at one of them, now
    void HashInto(crypto::Hasher& hasher) const {
      crypto::Feed(hasher, verdict, false_gradient, to_look_at, looking);
    }
  };
  std::vector<wire::Naming> NamingsInHaste() const;
  std::optional<wire::Naming> NamingOfOne() const;
  bool MayState(const wire::Case& open, const Finding& finding) const;

  PeerId self_;
  std::shared_ptr<const Manifest> manifest_;
  const Chain& chain_;
  std::map<wire::CaseId, Finding> verdicts_;
  std::vector<wire::Naming> namings_;  // of liars that V1 found, of which a PROOF states one
  std::optional<std::uint64_t> cross_checking_;  // the step of which V1 is not done yet
  std::uint32_t exhibit_attempts_ = 0;
};

}  // namespace ostraka::protocol

// The run has split: proofs of both branches are gathered and shown to all, the members that signed
// on both are named, and nothing is signed any more (fork_watch.h, fork_trial.h;
// docs/protocol/network.md).
//
// Promises:
//   K1  A split is found only from verified messages that prove two decisions of one seal.
//   K2  After Freeze everything that this class does is to gather, show and store evidence.
//   K3  The line of a split is stored twice: a crash in between leaves the member frozen, and the
//       last line says who is named.
//
// May not know: the stage, jobs, or what a message of a healthy run says.
//
// Memory: that of ForkWatch and ForkTrial.
//
// What an attacker can do here: have messages of another history verified, within a ration, and be
// asked for their proofs.
//
// Thread safety: none; one owner.
#pragma once

#include <optional>
#include <string>

#include "crypto/hash_into.h"
#include "node/protocol/lasting/chain_server.h"
#include "node/protocol/lasting/charges.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/followers.h"
#include "node/protocol/mail/signature_check.h"
#include "node/protocol/member/step_now.h"
#include "node/protocol/watch/fork_trial.h"

namespace ostraka::protocol {

class Forks {
 public:
  Forks(Core& core, const StepNow& step, const Followers& followers, Charges& charges,
        SignatureCheck& check, ChainServer& server, ForkWatch& watch)
      : core_(core),
        step_(step),
        followers_(followers),
        charges_(charges),
        check_(check),
        server_(server),
        watch_(watch) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- while the run is one ---
  enum class Finding : std::uint8_t { kNone, kForged, kSplit };
  // Looks at a message for another history. kForged: nothing more is to be done with it.
  Finding Watch(const wire::SignedEnvelope& message, const PeerId& from);
  // `from` shows a block: does it build on another history?
  void OnBlock(const PeerId& from, const Block& block);
  // A dropped member may be on the other branch of a fork, and neither branch sends to the other.
  // So each dropped member is asked for its head. Followers are on our branch, and skipped.
  void AskHeadsOfDropped() const;
  void Answer(const PeerId& from, std::uint64_t step) const;

  // --- after the split ---
  bool split() const { return trial_.has_value(); }
  // Gathers messages of the split seal for kTrialLasts, and shows them to all: each branch holds
  // what the other needs to name the members that signed on both. REQUIRES: Watch gave kSplit.
  void Freeze();
  // Each branch has to see the other's proof, and may be linked to no other member that has it.
  void Show(const PeerId& to) const;
  void Hear(const wire::SignedEnvelope& message, const PeerId& from);
  // The trial is over: the line that says what was found.
  std::string End();

  // Between two calls of the machine.
  void CheckInvariants() const;

 private:
  bool IsOtherHistory(std::uint64_t step, const Digest& parent) const;
  void Trace(const PeerId& from, std::uint64_t step);
  void StoreLine(bool last);

  Core& core_;
  const StepNow& step_;
  const Followers& followers_;
  Charges& charges_;
  SignatureCheck& check_;
  ChainServer& server_;
  ForkWatch& watch_;
  std::optional<Fork> found_;  // between Watch and Freeze
  std::optional<ForkTrial> trial_;
};

}  // namespace ostraka::protocol

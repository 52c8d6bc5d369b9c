// A member that is away from the run: the way back (node/protocol/sync/catch_up.h), and the REJOIN
// that ends the absence. It says nothing new but REJOIN.
//
// Promises:
//   F1  It is a member again when a block admits it; or, if no block dropped it meanwhile, as soon
//       as it has the newest block. What it signed before it left belongs to steps that are over.
//   F2  A store that was lost, or is younger than the run, signs in the run only after an admission
//       that this store asked for: blocks of the past hold admissions of the stores before it.
//   F3  Blocks are applied one after the other, and each is stored before it is applied.
//   F4  A key that the genesis does not list says first by what it may come in, in a REJOIN that
//       names no block, so that members answer it; and asks to come in when it has the newest
//       block. What keeps it out it says, and ends.
//   F5  A stranger asks to come in only while it has links with all members but F that it can have
//       one with: with those that can be dialed, if it only dials itself. [One that knew no address
//       of two of four was let in, and all waited for it.] One that is left out by more than F has
//       no honest majority to work with.
//
//   F6  Who is shown two histories (histories.h) signs nothing more, and says what it was shown.
//       What it has fetched is stored and applied once members have had their say about that.
//   F7  Who shows an invite to follow the run never asks to come in.
//
// May not know: seals, roles, or why the member left.
//
// Memory: that of CatchUp, and the results of one block.
//
// What an attacker can do here: see catch_up.h; no answer is believed for its sender.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/tensor_layout.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/lasting/chain.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/outcome.h"
#include "node/protocol/lasting/replay.h"
#include "node/protocol/mail/inbox.h"
#include "node/protocol/mail/post.h"
#include "node/protocol/mail/secrets.h"
#include "node/protocol/mail/signature_check.h"
#include "node/protocol/mail/voice.h"
#include "node/protocol/rules/coming.h"

namespace ostraka::protocol {

class Follower {
 public:
  Follower(Core& core, SignatureCheck& check, const Post& post,
           std::optional<wire::Credential> credential)
      : core_(core), check_(check), post_(post), credential_(std::move(credential)) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- what the store knows ---
  // The store was lost, or is younger than the run (F2).
  void MustRejoin() { must_rejoin_ = true; }
  // The store has asked before: height of the first block that can count its REJOINs.
  void AskedSince(std::optional<std::uint64_t> height) { asks_since_ = height; }
  // What an earlier process had of a state that it fetched (catch_up.h, C7).
  void GoOnFrom(StateParts kept) { kept_ = std::move(kept); }
  // The block after the head is known to be the run's: the next Leave goes on from there.
  void Trust(SharedBlock next) { next_ = std::move(next); }
  bool MustBeAdmitted() const;
  // Of a key of the run that came in by an invite, once a height; nothing for others.
  void ShowCredentialAsKey();

  // --- away ---
  // The member leaves, in `step` if it was at work on one. Unless `trust_state`, a state is
  // fetched.
  void Leave(std::optional<std::uint64_t> step, bool trust_state);
  bool away() const { return catch_up_.has_value(); }
  // A link came up: its peer may have restarted, or not have heard before. Attack: if all were
  // asked anew, a liar that lets its link flap would use up what they answer this member in a
  // second.
  void Follow(const PeerId& key) const;
  // As far as what has come allows. kBeginStep: a member again. REQUIRES: away.
  Outcome Advance();
  bool Owns(JobId id) const { return replay_.Owns(id); }
  void OnJob(JobId id, const JobResult& result);

  // --- answers. REQUIRES: away ---
  // A COMMIT names the block before its step: enough of these prove the block.
  void NoteAttestation(const wire::SignedEnvelope& message, const PeerId& from);
  CatchUp::Look LookAt(const PeerId& from, const Digest& block) {
    return catch_up_->LookAt(from, block);
  }
  void OnBlock(const PeerId& from, Block block, const SharedBlob& encoded) {
    catch_up_->OnBlock(from, std::move(block), encoded);
  }
  void OnChunk(const PeerId& from, const wire::Slot& slot, const wire::Chunk& chunk,
               const SharedBlob& blob);

  void CheckInvariants() const;

 private:
  struct Links {  // with members of the newest block
    std::size_t could = 0;
    std::size_t linked = 0;
    std::size_t may_lack = 0;
    bool enough() const { return linked + may_lack >= could; }
  };
  Links CountLinks() const;
  void FollowAll() const;
  void Send(const CatchUp::Request& request) const;
  void StoreFresh();
  void ForgetBefore(std::uint64_t height);
  void StoreParts();
  void SayHowFar();
  void NameLiars();
  void TakeState();
  void Ask();
  Outcome ApplyNext();
  Outcome AtHead();
  bool AdmitsThisStore(const Block& block) const;
  Arrival OwnArrival() const;
  void ShowCredential();
  Outcome SendRejoin();
  std::optional<std::string> RefusalByNewest();
  void AskOnTheWay();
  void AskToBeAdmitted(std::uint64_t newest);
  void SayRejoin(std::uint64_t step, const Digest& block);
  void SayBarred();
  void SayUnconfirmed();

  Core& core_;
  SignatureCheck& check_;
  const Post& post_;
  const std::optional<wire::Credential> credential_;
  std::optional<CatchUp> catch_up_;
  Replay replay_;
  bool said_barred_ = false;
  // Height from which on it has asked to come in, and was no candidate.
  std::optional<std::uint64_t> unconfirmed_since_;
  bool said_unconfirmed_ = false;  // once a process
  std::uint64_t judged_ = 0;       // height of the last block that RefusalByNewest looked at
  // The step in which this member was muted: it takes no part in it any more.
  std::optional<std::uint64_t> left_step_;
  bool must_rejoin_ = false;
  std::optional<std::uint64_t> asks_since_;
  std::optional<StateParts> kept_;  // until the next Leave
  SharedBlock next_;                // likewise
};

}  // namespace ostraka::protocol

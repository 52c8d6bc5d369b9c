// What each class of a member needs: who it is, the run, the call in progress, and what the member
// says, keeps and works on. Handed by reference; a class lists beside it only what else it needs.
//
// Promises: those of its members.
//
// Memory: that of its members.
//
// What an attacker can do here: see the members.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <utility>

#include "crypto/hash_into.h"
#include "node/base/tensor_layout.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/reach.h"
#include "node/protocol/lasting/chain.h"
#include "node/protocol/lasting/own_pace.h"
#include "node/protocol/mail/inbox.h"
#include "node/protocol/mail/job_desk.h"
#include "node/protocol/mail/journal.h"
#include "node/protocol/mail/secrets.h"
#include "node/protocol/mail/turn.h"
#include "node/protocol/mail/voice.h"

namespace ostraka::protocol {

struct Core {
  // The member begins at the genesis of `manifest`, with `state`.
  Core(std::shared_ptr<const Manifest> run, std::shared_ptr<const crypto::SigningKey> key,
       base::TensorLayout tensors, ModelState state, std::unique_ptr<Secrets> drawn);
  Core(const Core&) = delete;  // its members point at each other
  Core& operator=(const Core&) = delete;
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  const PeerId self;
  const std::shared_ptr<const Manifest> manifest;
  const base::TensorLayout layout;
  Turn turn;
  const std::unique_ptr<Secrets> secrets;
  Journal journal;
  Voice voice;
  JobDesk jobs;
  Chain chain;
  Inbox inbox;
  OwnPace own_pace;

  // Keeps an aggregate, durably before anything that is said from then on: when a PROOF helps to
  // seal the step, its author can still apply and serve the aggregate after a crash of all. It
  // takes the place of another one of its column: one that was spoilt on the disk, or the own one
  // of before a crash, whose AGG was never said. Nothing if the chain keeps that very result
  // already.
  void KeepResult(std::uint64_t step, std::uint32_t column, const SharedBlob& blob);
  // Stores the state that follows the head.
  void StoreState();

  void CheckInvariants() const;
};

}  // namespace ostraka::protocol

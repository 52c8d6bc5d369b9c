// The root machine of one member: BTARD over a sealed broadcast (docs/protocol.md).
//
//   genesis: BOOT -> seal -> r^-1
//   step t:  COMMIT + PARTs -> AGG + RESULT -> SEAL A -> REVEAL -> SEAL B -> PROOF + VERDICT
//            -> SEAL C -> block t, update, next step
//
// Thread safety: none; one owner (node/protocol/ground/machine.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "crypto/sign.h"
#include "node/base/tensor_layout.h"
#include "node/protocol/ground/machine.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/mail/secrets.h"
#include "node/wire/opener.h"

namespace ostraka::protocol {

// Of a node's line all keys that are no members have one part in so many: as answers here, and as
// turns of bulk data (node/net/link/pacer.h).
inline constexpr std::uint64_t kGuestsOneIn = 8;

struct PeerOptions {
  std::shared_ptr<const Manifest> manifest;  // REQUIRES: Validate(*manifest).ok()
  // REQUIRES: a genesis member's, or others may come (IsOpen).
  std::shared_ptr<const crypto::SigningKey> key;
  std::shared_ptr<crypto::Verifier> verifier;
  base::TensorLayout layout;  // of the trainer that the manifest names
  SharedVector initial_parameters;
  std::vector<StateSlot> initial_slots = {};  // empty: zero; else those of the run's optimizer
  std::shared_ptr<wire::Opener> opener = std::make_shared<wire::PlainOpener>();
  // The machine gives what it sends to members without a link to carriers. False: whoever drives it
  // does so, after it has changed what the machine sends (sim/adversary).
  bool routes = true;
  // By which a key comes in that the manifest does not name.
  std::optional<wire::Credential> credential = {};
  // A later block than the genesis, of a source as good as the manifest's: where a key that comes
  // in begins if its store is empty. Its members attest to the head then. Null: the genesis.
  std::shared_ptr<const wire::Block> anchor = nullptr;
  // Of answers to all keys that are no members, together; 0, and at most, what one member may have
  // (Ration). It is this member's own affair what it gives to those.
  std::uint64_t guest_bytes_a_second = 0;
  // Makes the secrets of the machine. Empty: those of the seed that it starts with. A replay takes
  // what a recording shows.
  std::function<std::unique_ptr<Secrets>(const PeerId& self)> secrets = {};
};

// Takes the initial state, which is one of `optimizer`, out of the options.
ModelState InitialStateOf(PeerOptions& options, aggregation::Optimizer optimizer);

// A signing member of a protected run.
std::unique_ptr<Machine> MakePeer(PeerOptions options);

// The same training without protection: a butterfly all-reduce with the mean, no signatures,
// Merkle trees, seals or validators. For comparison only (`swarm --unprotected`).
std::unique_ptr<Machine> MakePlainPeer(PeerOptions options);

}  // namespace ostraka::protocol

// The write-ahead rule: a slot is signed only after the record that it will be signed, and with
// which digest, survives a crash. So a restarted honest peer can never equivocate.
//
//   Prepare(drafts) -> Store{slot records} ... Stored(id) -> Release(id) -> signed messages
//   Restore(records) -> the same messages, after a crash: Ed25519 signs equal bytes equally
//
// Promises:
//   G1  A slot is signed only by Release, after a Prepare whose records the caller has stored.
//   G2  A slot is prepared at most once in the life of a store: not again if it was prepared or
//       restored, until ForgetBefore.
//   G3  Only slots of this key are signed. [C: CHECKed in Prepare]
//   G4  Each number of a store is used once. [C: CHECKed in Prepare]
//
// May not know: what a message means, to whom it goes, how a record is stored.
//
// Memory: the drafts of stores under way, with their bulk data, and a key of 22 bytes for each slot
// since the last ForgetBefore.
//
// What an attacker can do here: nothing. Only own drafts and own records come here.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "crypto/sign.h"
#include "node/protocol/ground/machine.h"
#include "node/wire/codec.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

struct Draft {
  wire::Envelope envelope;
  SharedBlob blob;         // may be null
  std::vector<PeerId> to;  // may hold the sender itself: delivered locally
  void HashInto(crypto::Hasher& hasher) const;
};

struct SignedDraft {
  wire::SignedEnvelope message;
  SharedBlob blob;
  std::vector<PeerId> to;
};

// A record key that sorts by step and names the slot within a run: step, phase, type, draw,
// iteration, incarnation, big-endian.
base::Bytes SlotKey(const wire::Slot& slot);

class Signer {
 public:
  explicit Signer(std::shared_ptr<const crypto::SigningKey> key) : key_(std::move(key)) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  const PeerId& id() const { return key_->id(); }

  // The records to store before these drafts may be signed, all in one transaction.
  // A draft of a slot that is restored or prepared already is left out: what was said stays said.
  Store Prepare(StoreId id, std::vector<Draft> drafts);
  // Signs what was prepared under `id`, in order; nullopt if nothing was.
  std::optional<std::vector<SignedDraft>> Release(StoreId id);

  // Messages that records of kSlot stand for. A crash may have come before the signature, or after
  // it was sent: saying it again, to the byte, is right in both cases. InvalidArgument if a record
  // cannot be read.
  base::StatusOr<std::vector<wire::SignedEnvelope>> Restore(const std::vector<Record>& records);
  bool Said(const wire::Slot& slot) const { return said_.contains(SlotKey(slot)); }
  // Slots of steps before this one will not be prepared again.
  void ForgetBefore(std::uint64_t step);

  std::size_t pending() const { return pending_.size(); }

 private:
  std::shared_ptr<const crypto::SigningKey> key_;
  std::map<StoreId, std::vector<Draft>> pending_;
  std::set<base::Bytes> said_;  // keys of slots prepared or restored
};

// Big-endian height of a block: 0 for genesis, step + 1 after.
base::Bytes BlockKey(bool genesis, std::uint64_t step);
// The height that such a key is. REQUIRES: BlockKey made it.
std::uint64_t HeightOfBlockKey(const base::Bytes& key);
// The least key of a slot that a store still needs once it has that block.
base::Bytes FirstSlotKept(const base::Bytes& block_key);
// BlockKey, then the column, big-endian.
base::Bytes ResultKey(std::uint64_t step, std::uint32_t column);
// Step and column of such a key; nullopt if it is none.
std::optional<std::pair<std::uint64_t, std::uint32_t>> PlaceOfResult(const base::Bytes& key);
// The height of the block that a state follows, then the number of a part of it, big-endian.
base::Bytes StatePartKey(std::uint64_t height, std::uint32_t part);
// Height and part of such a key; nullopt if it is none.
std::optional<std::pair<std::uint64_t, std::uint32_t>> PlaceOfStatePart(const base::Bytes& key);

}  // namespace ostraka::protocol

// The write-ahead rule: a slot is signed only after the record that it will be signed, and with
// which digest, survives a crash. So a restarted honest peer can never equivocate.
//
//   Prepare(drafts) -> Store{slot records} ... Stored(id) -> Release(id) -> signed messages
//
// Thread safety: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "crypto/sign.h"
#include "node/protocol/machine.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

struct Draft {
  wire::Envelope envelope;
  SharedBlob blob;         // may be null
  std::vector<PeerId> to;  // may hold the sender itself: delivered locally
};

struct SignedDraft {
  wire::SignedEnvelope message;
  SharedBlob blob;
  std::vector<PeerId> to;
};

class Signer {
 public:
  explicit Signer(std::shared_ptr<const crypto::SigningKey> key) : key_(std::move(key)) {}

  const PeerId& id() const { return key_->id(); }

  // The records to store before these drafts may be signed, all in one transaction.
  // REQUIRES: no slot is prepared twice.
  Store Prepare(StoreId id, std::vector<Draft> drafts);
  // Signs what was prepared under `id`, in order; nullopt if nothing was.
  std::optional<std::vector<SignedDraft>> Release(StoreId id);

  std::size_t pending() const { return pending_.size(); }

 private:
  std::shared_ptr<const crypto::SigningKey> key_;
  std::map<StoreId, std::vector<Draft>> pending_;
};

// A record key that sorts by step and names the slot within a run: step, phase, type, draw,
// iteration, incarnation, big-endian.
base::Bytes SlotKey(const wire::Slot& slot);
// Big-endian height of a block: 0 for genesis, step + 1 after.
base::Bytes BlockKey(bool genesis, std::uint64_t step);

}  // namespace ostraka::protocol

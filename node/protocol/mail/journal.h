// All that this member says and stores. Every signed message and every record leaves through here.
//
// Promises:
//   J1  A slot is signed only after the record of it is durable (signer.h); after a crash the
//       restored message is said again, to the byte.
//   J2  Each store has a number of its own; one number is never used twice.
//   J3  What was sent since the step of the last ForgetBefore stays here, in the order in which it
//       was sent, so that a link that comes up gets it.
//
// May not know: what a message means. The caller decides what is said, to whom, and when.
//
// Memory: the messages of two steps, with their bulk data (a model's size for PARTs, a column for
// RESULT): the caller says ForgetBefore in each step, and for each block while it follows.
//
// What an attacker can do here: let its link come up again and again, and get what was sent to it
// again; the caller's ration bounds that.
//
// Thread safety: none; one owner.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crypto/hash.h"
#include "node/protocol/mail/signer.h"
#include "node/protocol/mail/turn.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

class Journal {
 public:
  struct Sent {
    wire::Slot slot;  // of the frame, so that nobody has to decode it
    SharedBytes frame;
    SharedBlob blob;
    std::vector<PeerId> to;
    bool bulk = false;  // a PART or RESULT: says nothing without its blob, which a crash loses
    void HashInto(crypto::Hasher& hasher) const {
      crypto::Feed(hasher, slot.step, frame, blob, to, bulk);
    }
  };
  // A message of this member that is addressed to itself too.
  struct Own {
    wire::SharedMessage message;
    SharedBlob blob;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, message, blob); }
  };

  Journal(std::shared_ptr<const crypto::SigningKey> key, const Turn& turn)
      : turn_(turn), signer_(std::move(key)) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- saying ---
  // If the slot was said before a crash, and with these bytes: its restored frame goes out with the
  // bulk data that belongs to it. The message comes back if this member is to take it in.
  std::optional<Own> SayAgain(const Draft& draft);
  // Stores the slots of all other drafts. Returns the number of the store that releases them;
  // nullopt if there is nothing to store.
  std::optional<StoreId> Prepare(std::vector<Draft> drafts);
  // What the store of that number releases, signed; nullopt if nothing waits for it.
  std::optional<std::vector<SignedDraft>> Release(StoreId id) { return signer_.Release(id); }
  // Sends a released message and keeps it. The message comes back if this member is to take it in.
  std::optional<Own> Say(SignedDraft draft);
  // To a link that came up: what was sent to it and may still be of use.
  void Repeat(const PeerId& to) const;
  bool Said(const wire::Slot& slot) const { return signer_.Said(slot); }
  // The messages that the records stand for. `to`: who may have to get them again.
  base::StatusOr<std::vector<wire::SignedEnvelope>> Restore(const std::vector<Record>& slots,
                                                            const Digest& run_id,
                                                            const std::vector<PeerId>& to);
  void ForgetBefore(std::uint64_t step);
  const std::deque<Sent>& sent() const { return sent_; }

  // --- storing ---
  void StoreBlock(const wire::Block& block, Bytes encoded);
  void StoreBlocks(std::vector<Record> blocks);
  // From the block's height on this key signs from this store.
  void StoreMembership(const wire::Block& block);
  // Returns where the store will say that it has the state.
  std::shared_ptr<const crypto::DiskCopy> StoreState(const wire::Block& block,
                                                     const ModelState& state);
  // Both or neither are durable: a state whose block is missing cannot be read.
  std::shared_ptr<const crypto::DiskCopy> StoreBlockAndState(const wire::Block& block,
                                                             const ModelState& state);
  // Parts of the state that follows the block of `height`, by number (catch_up.h).
  void StoreStateParts(std::uint64_t height, const std::map<std::uint64_t, SharedBlob>& parts);
  // As StoreState.
  std::shared_ptr<const crypto::DiskCopy> StoreResult(std::uint64_t step, std::uint32_t column,
                                                      const SharedBlob& blob);
  void StoreEvidence(const Bytes& file);
  void StoreHandover(const wire::Block& block, const Bytes& file);
  // The first REJOIN of this store is signed in `step`.
  void StoreAsks(std::uint64_t step);
  // `last`: the line after which nothing more is found out.
  void StoreForkLine(std::uint64_t step, const std::string& line, bool last);

  static Record RecordOf(bool genesis, std::uint64_t step, Bytes encoded);
  void CheckInvariants() const;

 private:
  void Keep(const wire::SignedEnvelope& message, SharedBlob blob, std::vector<PeerId> to);
  void StoreOne(Record record);

  const Turn& turn_;
  Signer signer_;
  StoreId next_store_ = 1;
  std::deque<Sent> sent_;
};

}  // namespace ostraka::protocol

// The messages of each member in one seal, kept beyond the decision. Rationale: two messages of one
// member may each be valid and together prove that it lied, and the second may come only with a
// fork (fork_watch.h). The frames of a certificate are not enough: they are LOCKs of one iteration,
// and a member may lock another value in another iteration. The VOTE in between convicts it
// (proofs/evidence, broken_lock).
//
// Promises [C: CHECKed by CheckInvariants]:
//   W1  At most kMessagesOfOne messages of one member and type, and at most two of one slot. [C]
//   W2  bytes() is the size of all frames held. [C]
//   W3  A message displaces only messages of its signer and type.
//
// May not know: thresholds, the decision, the content of messages but a VOTE's rank.
//
// Memory: kMessagesOfOne frames of each member and type; the caller adds messages of members only.
//
// What an attacker can do here: use up its own share of the memory. Of its VOTEs those with the
// widest reach stay. A VOTE of iteration k and rank r convicts its signer together with any own
// LOCK of iterations r to k - 1; so a member that sends many VOTEs to push one out sends a more
// telling one. Of other types the highest iterations stay; two messages of one slot are dropped
// last.
//
// Thread safety: none; one owner.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

class SealTranscript {
 public:
  static constexpr std::size_t kMessagesOfOne = 8;  // of one type
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // True iff the message is kept and was not held before. Two different messages of one slot are
  // both kept, a third is not. REQUIRES: a message of this seal (ECHO to LOCK, or CLOSE), with
  // a verified signature.
  bool Add(const wire::SignedEnvelope& message);

  bool Holds(const wire::SignedEnvelope& message) const;
  // Some member sent more than an ECHO.
  bool slow() const { return slow_; }
  // Ordered by signer.
  std::vector<base::SharedBytes> Frames() const;
  std::vector<base::SharedBytes> FramesOf(const base::PeerId& signer) const;
  std::size_t bytes() const { return bytes_; }  // of all frames
  void CheckInvariants() const;                 // aborts if W1 or W2 is broken

 private:
  struct Shelf {  // of one member and type
    base::PeerId signer;
    wire::MessageType type = wire::MessageType::kEcho;
    auto operator<=>(const Shelf&) const = default;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, signer, type); }
  };
  struct Place {
    std::uint32_t iteration = 0;
    base::Digest digest;
    auto operator<=>(const Place&) const = default;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, iteration, digest); }
  };
  struct Kept {
    base::SharedBytes frame;
    std::uint32_t reach = 0;  // of a VOTE: the number of iterations whose LOCKs it contradicts
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, frame, reach); }
  };
  using Messages = std::map<Place, Kept>;
  static std::size_t CountOf(const Messages& messages, std::uint32_t iteration);
  static Messages::iterator LeastOf(Messages& messages);

  std::map<Shelf, Messages> shelves_;
  std::size_t bytes_ = 0;
  bool slow_ = false;
};

}  // namespace ostraka::protocol

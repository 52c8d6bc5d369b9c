// What goes into a Seal and what comes out of it (seal.h): its options, the messages of the phase
// that its caller holds, and what the caller has to sign, send and request.
//
// Thread safety: plain values; SealMessages is called by one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/protocol/seal/seal_vector.h"
#include "node/wire/block.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

// What this member holds of the phase. Answers may change between two calls into Seal.
class SealMessages {
 public:
  virtual ~SealMessages() = default;
  // Entry `index` as this member would echo it now: the message received first; equivocated if two
  // are held; absent for a member that fills no such entry.
  virtual SealEntry EntryNow(std::size_t index) const = 0;
  // True iff the message with that digest is held for that entry.
  virtual bool Holds(std::size_t index, const Digest& digest) const = 0;
};

struct SealOptions {
  wire::Slot slot;                 // of its ECHO: run, incarnation, step, phase, draw
  PeerId self;                     // only watches, unless it is an unmuted member
  std::vector<PeerId> members;     // all members, by key
  std::set<PeerId> muted_members;  // sealed absent earlier in this step
  wire::Thresholds thresholds;     // of the last block: n is the number of members
  base::Duration delta;
  base::Duration moment;    // how long a message may still be under way before it is asked for
  Digest leader_seed;       // draws the permutation of leaders
  std::size_t entries = 0;  // 2 n for seal A, else n
};

// When this member sends CLOSE, "I echo nothing more here" (docs/seal.md 3, G1).
enum class CloseTime : std::uint8_t {
  kAfterEcho,  // 2 Delta after its ECHO: what was sent in time may still be under way
  kWithEcho,   // at once: its deadline has passed, and what was sent in time is here
};

// A message for the caller to sign and to send to all members. Once it is durable, the caller hands
// it back through OnMessage.
struct SealSay {
  wire::MessageType type = wire::MessageType::kEcho;
  std::uint32_t iteration = 0;
  base::Bytes body;
};
// A request for the caller to send to `to`.
struct SealAsk {
  PeerId to;
  wire::Pull pull;
};
// A frame that this member holds, and its signer.
struct SealFrame {
  PeerId sender;
  base::SharedBytes frame;
};
struct SealOutput {
  std::vector<SealSay> say;
  // Signed frames to send to all: of others (CLOSEs of the gate, both STATUSes of a two-faced
  // member, the PROPOSE that this member votes for, a certificate), or own ones again (CLOSE,
  // STATUS, a certificate).
  std::vector<base::SharedBytes> forward;
  // Nobody helps (Seal::alone): ask the others for their newest block.
  bool unhelped = false;
  // The vector of the own proposal, sent without a request.
  std::vector<std::pair<PeerId, wire::Vector>> answer_vector;
  std::vector<SealAsk> ask;
};

}  // namespace ostraka::protocol

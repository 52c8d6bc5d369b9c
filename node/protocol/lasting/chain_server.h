// What a member serves to others from its chain: the head, blocks, aggregates, states; and frames
// that were asked for. Nothing here is signed: an answer proves itself by its signature or its
// hash.
//
// Promises:
//   A1  What is sent to a peer because it asked is taken from that peer's ration first, and so is
//       what is looked at and not sent. No frame is decoded to answer.
//   A2  A head is shown with the COMMITs that attest to it, as far as they are held.
//
// May not know: seals, the step in progress, or why a peer asks.
//
// Memory: none of its own.
//
// What an attacker can do here: ask, as often as its ration lasts.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>

#include "node/base/tensor_layout.h"
#include "node/protocol/lasting/chain.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/mail/inbox.h"
#include "node/protocol/mail/ration.h"
#include "node/protocol/mail/voice.h"

namespace ostraka::protocol {

// Chunks of phase A are results, those of phase C pieces of a state.
inline constexpr wire::Phase kResultChunk = wire::Phase::kA;
inline constexpr wire::Phase kStateChunk = wire::Phase::kC;

class ChainServer {
 public:
  ChainServer(Core& core, Ration& ration) : core_(core), ration_(ration) {}

  // False: its ration has no room for it, and it is not sent.
  bool SendFrame(const PeerId& to, const base::SharedBytes& frame);
  // So many things are looked at to answer `to`, whether they are sent or not. False: its ration
  // has no room for that.
  bool TakeLooks(const PeerId& to, std::uint64_t looks);
  // A message with its bulk data.
  void SendBulk(const PeerId& to, const base::SharedBytes& frame, const SharedBlob& blob);

  // The head with its attestations, rationed; nothing before the genesis block.
  void AnswerHead(const PeerId& to);
  // As AnswerHead, but unasked, so that only the attestations are rationed.
  void ShowHead(const PeerId& to);
  // To a key that is no member, in its share of what all these have together.
  void ShowHeadAsGuest(const PeerId& to, const GuestShare& share);
  // The run has not begun here. Not said to a member that has begun without this one, though its
  // store may be gone.
  void SayWaiting(const PeerId& to);
  // Up to `count` blocks, from that of the slot backwards.
  void AnswerBlocks(const PeerId& to, const wire::Slot& slot, std::uint64_t count);
  // False: it is not held, or the ration has no room for it.
  bool AnswerResult(const PeerId& to, std::uint64_t step, std::uint64_t column);
  // Index 0: the leaves of the state's root; above: a piece of it.
  void AnswerState(const PeerId& to, std::uint64_t step, std::uint64_t index);

 private:
  bool Take(const PeerId& to, std::uint64_t bytes);
  void AnswerChunk(const PeerId& to, wire::Phase kind, const wire::Chunk& chunk, SharedBlob blob);

  Core& core_;
  Ration& ration_;
};

}  // namespace ostraka::protocol

#include "node/protocol/lasting/chain_server.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "node/protocol/ground/stored_state.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

bool ChainServer::Take(const PeerId& to, std::uint64_t bytes) {
  return ration_.Take(core_.turn.now(), to, bytes);
}

bool ChainServer::TakeLooks(const PeerId& to, std::uint64_t looks) {
  return ration_.TakeLooks(core_.turn.now(), to, looks);
}

bool ChainServer::SendFrame(const PeerId& to, const base::SharedBytes& frame) {
  if (!Take(to, frame->size())) return false;
  core_.turn.Do(Send{to, frame, nullptr});
  return true;
}

void ChainServer::SendBulk(const PeerId& to, const base::SharedBytes& frame,
                           const SharedBlob& blob) {
  if (Take(to, blob->size())) core_.turn.Do(Send{to, frame, blob});
}

void ChainServer::AnswerHead(const PeerId& to) {
  if (core_.chain.head().decision.is_zero()) return;
  if (Take(to, core_.chain.Shown().blob->data.size())) ShowHead(to);
}

void ChainServer::ShowHeadAsGuest(const PeerId& to, const GuestShare& share) {
  ration_.Host(to, share);
  AnswerHead(to);
  ration_.EndHost();
}

void ChainServer::SayWaiting(const PeerId& to) {
  if (core_.inbox.Find({0, Phase::kA, MessageType::kCommit, 0, 0}, to) != nullptr) return;
  core_.voice.SendService(to, ServiceSlot(0, Phase::kGenesis, MessageType::kBlock),
                          wire::Encode(wire::BlockMessage{Digest{}, true}));
}

void ChainServer::ShowHead(const PeerId& to) {
  const Block& block = core_.chain.head();
  const auto phase = block.genesis ? Phase::kGenesis : Phase::kC;
  const Chain::ShownHead& head = core_.chain.Shown();
  core_.voice.SendService(to, ServiceSlot(block.step, phase, MessageType::kBlock),
                          wire::Encode(wire::BlockMessage{head.digest, true}), head.blob);
  // COMMITs of the step after attest to it; those of the step itself to the block before.
  const std::uint64_t next = HeightOf(block);
  const Inbox::Place commits{next, Phase::kA, MessageType::kCommit, 0, 0};
  for (const auto& [sender, item] : core_.inbox.At(commits)) {
    if (sender != core_.self && !SendFrame(to, item.message->frame)) return;
  }
  // The own COMMIT is in the journal also after the end of the run.
  for (const Journal::Sent& sent : core_.journal.sent()) {
    if (Inbox::PlaceOf(sent.slot) == commits) SendFrame(to, sent.frame);
  }
}

void ChainServer::AnswerBlocks(const PeerId& to, const wire::Slot& slot, std::uint64_t count) {
  const bool genesis = slot.phase == Phase::kGenesis;
  if (!genesis && slot.step == UINT64_MAX) return;  // its block has no height
  const std::uint64_t newest = genesis ? 0 : slot.step + 1;
  count = std::min<std::uint64_t>(count, kMaxBlocksAnAnswer);
  for (std::uint64_t i = 0; i < count && i <= newest; ++i) {
    const RecentBlocks::Kept* block = core_.chain.recent().Find(newest - i);
    if (block == nullptr || !Take(to, block->encoded.size())) return;
    const auto phase = block->genesis ? Phase::kGenesis : Phase::kC;
    core_.voice.SendService(to, ServiceSlot(block->step, phase, MessageType::kBlock),
                            wire::Encode(wire::BlockMessage{block->digest, false}),
                            crypto::MakeBlob(block->encoded));
  }
}

void ChainServer::AnswerChunk(const PeerId& to, Phase kind, const wire::Chunk& chunk,
                              SharedBlob blob) {
  core_.voice.SendService(to, ServiceSlot(chunk.step, kind, MessageType::kChunk),
                          wire::Encode(chunk), std::move(blob));
}

bool ChainServer::AnswerResult(const PeerId& to, std::uint64_t step, std::uint64_t column) {
  const SharedBlob result = core_.chain.ResultAt(step, column);
  if (result == nullptr || !Take(to, result->size())) return false;
  AnswerChunk(to, kResultChunk, {step, column, column + 1}, result);
  return true;
}

void ChainServer::AnswerState(const PeerId& to, std::uint64_t step, std::uint64_t index) {
  const Chain::Served* served = core_.chain.ServedAt(step);
  if (served == nullptr) return;
  const auto& [state, leaves, copy] = *served;
  const std::size_t slots = core_.chain.state().slots.size();
  const std::vector<StatePiece> pieces = StatePieces(core_.layout, slots);
  if (index > pieces.size()) return;
  const std::uint64_t size =
      index == 0 ? leaves.size() * sizeof(Digest::bytes)
                 : (pieces[index - 1].end - pieces[index - 1].begin) * sizeof(float);
  if (!Take(to, size)) return;
  SharedBlob blob;
  if (index == 0) {
    base::Bytes bytes;
    for (const Digest& leaf : leaves)
      bytes.insert(bytes.end(), leaf.bytes.begin(), leaf.bytes.end());
    blob = crypto::MakeBlob(std::move(bytes));
  } else if (state) {
    blob = crypto::MakeBlob(PieceOf(*state, pieces[index - 1]));
  } else {
    blob = StoredPiece(*copy->place(), base::ElementCount(core_.layout), pieces[index - 1], leaves);
  }
  AnswerChunk(to, kStateChunk, {step, index, pieces.size() + 1}, std::move(blob));
}

}  // namespace ostraka::protocol

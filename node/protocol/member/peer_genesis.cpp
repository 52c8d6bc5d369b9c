// How a member begins: at the genesis of the run (node/protocol/parts/genesis_seal.h), or from what
// its store kept.
#include <algorithm>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/schedule.h"
#include "node/protocol/member/peer_machine.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

// --- genesis ------------------------------------------------------------------------------------

void PeerMachine::BeginGenesis() {
  Enter(Stage::kGenesis);
  wire::Boot boot;
  boot.boot_id = crypto::DeriveCoin(private_seed_.view(), 0, ~store_nonce_).salt;
  Prepare({MakeDraft(SlotOf(Phase::kGenesis, MessageType::kBoot), wire::Encode(boot),
                     chain_.head().members)});
  AskHeads();  // and again at each link, which may not be up yet
}

// A member shows a block, so the run has begun there. If it is the block echoed here, its COMMIT
// comes too. One voice is not enough to leave for: a liar's block must not keep anybody from the
// beginning.
void PeerMachine::OnBegun(const PeerId& from, const Digest& block) {
  if (!genesis_.IsOwnBlock(block) && NoteAhead(from)) LeaveGenesis();
}

void PeerMachine::LeaveGenesis() {
  must_rejoin_ = true;
  Leave("the run has begun, and this node's store does not know it");
}

void PeerMachine::ShowGenesisEchoes(const PeerId& to) {
  for (const SharedBytes& frame : genesis_.EchoesFor(to)) turn_.Do(Send{to, frame, nullptr});
}

bool PeerMachine::TryGenesis() {
  if (genesis_.BegunWithout()) {
    LeaveGenesis();
    return true;
  }
  if (!genesis_.echoed()) {
    const auto echo = genesis_.TryEcho();
    if (!echo) return false;
    genesis_.OnOwnEcho(*echo);
    const wire::Slot slot = SlotOf(Phase::kGenesis, MessageType::kEcho);
    Prepare({MakeDraft(slot, wire::Encode(*echo), chain_.head().members)});
    return true;
  }
  if (!genesis_.Begins()) return false;
  chain_.AdvanceHead(genesis_.block());
  if (!base::Planted(base::Bug::kGenesisKeptSecret)) {
    for (const PeerId& member : chain_.head().members) ShowGenesisEchoes(member);
  }
  // In this order: a block without it would be one of a run that this store was not in.
  journal_.StoreMembership(chain_.head());
  journal_.StoreBlock(chain_.head(), chain_.KeepBlock(chain_.head()).encoded);
  turn_.Do(Observe{protocol::Sealed{.step = 0,
                                    .phase = static_cast<std::uint8_t>(Phase::kGenesis),
                                    .decision = chain_.head().decision}});
  BeginStep();
  return true;
}

// --- restart ------------------------------------------------------------------------------------

base::Status PeerMachine::Restore(const Restored& restored) {
  ASSIGN_OR_RETURN(const std::vector<wire::SignedEnvelope> own,
                   journal_.Restore(restored.slots, manifest_->run_id, chain_.head().members));
  if (restored.blocks.empty()) {
    BeginGenesis();
    for (const wire::SignedEnvelope& message : own) {
      Accept(wire::Share(message), nullptr);
      if (message.envelope.slot.type != MessageType::kEcho) continue;
      ASSIGN_OR_RETURN(const wire::Echo echo, wire::DecodeEcho(message.envelope.body));
      genesis_.OnOwnEcho(echo);
    }
    return base::OkStatus();
  }
  std::map<std::uint64_t, SharedBlock> blocks;
  for (const Record& record : restored.blocks) {
    ASSIGN_OR_RETURN(Block block, wire::DecodeBlock(record.value));
    chain_.KeepBlock(block);
    // Those before the stored state are for others. (Keys are big-endian.)
    if (restored.state && record.key < restored.state->key) continue;
    const std::uint64_t height = HeightOf(block);
    blocks[height] = std::make_shared<const Block>(std::move(block));
  }
  must_rejoin_ = !restored.member;
  asks_since_ = restored.asks_since;
  if (restored.state) {
    const auto state = DecodeState(restored.state->blob->data, chain_.state().parameters->size());
    if (!state) return base::InvalidArgument("the stored state has another size than the model");
    chain_.SetState(*state);
    const auto base_block = std::find_if(blocks.begin(), blocks.end(), [&](const auto& entry) {
      return BlockKey(entry.second->genesis, entry.second->step) == restored.state->key;
    });
    if (base_block == blocks.end()) return base::InvalidArgument("the state's block is missing");
    chain_.AdvanceHead(base_block->second);
  } else if (blocks.contains(0)) {
    chain_.AdvanceHead(blocks.at(0));
  }  // else from before the genesis block, which one who came late never had
  for (const Record& record : restored.results) {
    const auto place = PlaceOfResult(record.key);
    if (!place) return base::InvalidArgument("a result under a key that is none");
    chain_.KeepResult(place->first, place->second, record.blob);
  }
  // As far as every result is there; the rest comes from the other members.
  for (std::uint64_t height = HeightOf(chain_.head()) + 1; blocks.contains(height); ++height) {
    const SharedBlock& block = blocks.at(height);
    std::vector<SharedBlob> columns(block->columns.size());
    bool complete = true;
    for (std::uint32_t j = 0; j < columns.size(); ++j) {
      if (block->columns[j] != wire::ColumnFate::kApplied) continue;
      columns[j] = chain_.ResultAt(block->step, j);
      complete = complete && columns[j] != nullptr;
    }
    if (!complete) break;
    to_replay_.emplace_back(block, std::move(columns));
  }
  Enter(Stage::kRestore);
  ReplayNext();
  return base::OkStatus();
}

void PeerMachine::ReplayNext() {
  if (to_replay_.empty()) {
    if (!chain_.head().decision.is_zero())
      turn_.Do(Observe{Resumed{chain_.shared_head(), chain_.state()}});
    if (chain_.recent().all().rbegin()->first > HeightOf(chain_.head())) {
      return Leave("results of the last blocks were lost in the crash");
    }
    if (!IsMember(chain_.head().members, self_))
      return Leave("this node was dropped before it restarted");
    if (MustBeAdmitted()) return Leave("this node's store began after the run");
    if (RunIsOver(chain_.head())) return Finish();
    std::vector<wire::SignedEnvelope> own;
    for (const Journal::Sent& sent : journal_.sent()) own.push_back(wire::Open(sent.frame).value());
    BeginStep();
    for (const wire::SignedEnvelope& message : own) {
      const MessageType type = message.envelope.slot.type;
      const bool bulk = type == MessageType::kPart || type == MessageType::kResult;
      if (!bulk && message.envelope.slot.step == CurrentStep())
        Accept(wire::Share(message), nullptr);
    }
    SendResultAgain();
    AskHeads();  // and again at each link, which may not be up yet
    return;
  }
  const auto& [block, results] = to_replay_.front();
  UpdateSpec spec;
  spec.state = chain_.state();
  const auto ranges = block->columns.empty()
                          ? std::vector<PartRange>{}
                          : CutParts(chain_.state().parameters->size(),
                                     static_cast<std::uint32_t>(block->columns.size()));
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    if (results[j] != nullptr) spec.columns.push_back({ranges[j], results[j]});
  }
  spec.sgd = SgdOf(manifest_->training, block->step);
  StartJob({.purpose = Purpose::kReplay, .step = block->step}, std::move(spec));
}

void PeerMachine::OnReplayed(const UpdateResult& result) {
  if (stage_ == Stage::kFollow) return OnCaughtUp(result.state);
  chain_.AdvanceHead(to_replay_.front().first);
  to_replay_.pop_front();
  chain_.SetState(result.state);
  ReplayNext();
}

}  // namespace ostraka::protocol

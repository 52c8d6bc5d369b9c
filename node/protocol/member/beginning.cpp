#include "node/protocol/member/beginning.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/ground/schedule.h"
#include "node/protocol/ground/stored_state.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

// --- genesis ------------------------------------------------------------------------------------

void Beginning::BeginGenesis(std::uint64_t store_nonce) {
  const std::vector<PeerId>& members = core_.chain.head().members;
  wire::Boot boot;
  boot.boot_id = core_.secrets->BootNonce(store_nonce);
  core_.voice.Prepare(
      core_.voice.MakeDraft(core_.voice.SlotOf(0, Phase::kGenesis, MessageType::kBoot), Digest{},
                            wire::Encode(boot), members));
  core_.voice.AskHeads(members, 0);  // and again at each link, which may not be up yet
}

Outcome Beginning::LeaveGenesis() {
  follower_.MustRejoin();
  return Outcome::Leave("the run has begun, and this node's store does not know it");
}

Outcome Beginning::ComeIn() {
  follower_.MustRejoin();
  constexpr char kWhy[] = "this key is new to the run";
  if (anchor_ == nullptr) return Outcome::Leave(kWhy);
  core_.chain.AdvanceHead(anchor_);
  core_.chain.KeepBlock(*anchor_);
  return Outcome::Leave(kWhy, /*trust_state=*/false);  // the state here is that of the genesis
}

void Beginning::ShowEchoes(const PeerId& to) const {
  for (const base::SharedBytes& frame : genesis_.EchoesFor(to)) {
    core_.turn.Do(Send{to, frame, nullptr});
  }
}

Outcome Beginning::TryGenesis() {
  GenesisSeal& genesis = genesis_;
  if (genesis.BegunWithout()) return LeaveGenesis();
  Chain& chain = core_.chain;
  if (!genesis.echoed()) {
    const auto echo = genesis.TryEcho();
    if (!echo) return Outcome::Wait();
    genesis.OnOwnEcho(*echo);
    core_.voice.Prepare(
        core_.voice.MakeDraft(core_.voice.SlotOf(0, Phase::kGenesis, MessageType::kEcho), Digest{},
                              wire::Encode(*echo), chain.head().members));
    return Outcome::GoOn();
  }
  if (!genesis.Begins()) return Outcome::Wait();
  chain.AdvanceHead(genesis.block());
  if (!base::Planted(base::Bug::kGenesisKeptSecret)) {
    for (const PeerId& member : chain.head().members) ShowEchoes(member);
  }
  // In this order: a block without it would be one of a run that this store was not in.
  core_.journal.StoreMembership(chain.head());
  core_.journal.StoreBlock(chain.head(), chain.KeepBlock(chain.head()).encoded);
  core_.turn.Do(Observe{protocol::Sealed{.step = 0,
                                         .phase = static_cast<std::uint8_t>(Phase::kGenesis),
                                         .decision = chain.head().decision}});
  return Outcome::BeginStep();
}

// --- restart ------------------------------------------------------------------------------------

base::StatusOr<std::vector<wire::SignedEnvelope>> Beginning::Restore(const Restored& restored) {
  ASSIGN_OR_RETURN(
      std::vector<wire::SignedEnvelope> own,
      core_.journal.Restore(restored.slots, core_.manifest->run_id, core_.chain.head().members));
  RETURN_IF_ERROR(RestoreParts(restored));
  follower_.AskedSince(restored.asks_since);
  if (!HasABeginning(restored)) return own;
  ASSIGN_OR_RETURN(const Blocks blocks, RestoreBlocks(restored));
  if (!restored.member) follower_.MustRejoin();  // B3
  if (restored.handover) RETURN_IF_ERROR(charges_.Restore(*restored.handover));
  RETURN_IF_ERROR(RestoreState(restored, blocks));
  RETURN_IF_ERROR(RestoreResults(restored, blocks));
  PlanReplay(blocks);
  replays_ = true;
  return own;
}

// A state, or the first block, which applies to that of the genesis. [A newcomer was killed when
// the blocks after its first state were durable and that state was not. It forgot the block that
// its invite names, and believed members of the genesis instead.]
bool Beginning::HasABeginning(const Restored& restored) {
  return restored.state ||
         std::any_of(restored.blocks.begin(), restored.blocks.end(),
                     [](const Record& record) { return record.key <= BlockKey(false, 0); });
}

// What the parts hold is checked as what comes from others.
base::Status Beginning::RestoreParts(const Restored& restored) {
  StateParts kept;
  for (const Record& record : restored.state_parts) {
    const auto place = PlaceOfStatePart(record.key);
    if (!place || record.blob == nullptr) {
      return base::InvalidArgument("a stored part of a state is not filed as one");
    }
    kept.step = place->first;
    kept.parts[place->second] = record.blob;
  }
  if (!kept.parts.empty()) follower_.GoOnFrom(std::move(kept));
  return base::OkStatus();
}

base::StatusOr<Beginning::Blocks> Beginning::RestoreBlocks(const Restored& restored) {
  Blocks blocks;
  for (const Record& record : restored.blocks) {
    ASSIGN_OR_RETURN(Block block, wire::DecodeBlock(record.value));
    if (record.key != BlockKey(block.genesis, block.step)) {
      return base::InvalidArgument("a stored block is not the one it is filed under");
    }
    if (block.thresholds != ThresholdsIn(*core_.manifest, block.members.size())) {
      return base::InvalidArgument("a stored block has other thresholds than this run");
    }
    core_.chain.KeepBlock(block);
    // Those before the stored state are for others. (Keys are big-endian.)
    if (restored.state && record.key < restored.state->key) continue;
    const std::uint64_t height = HeightOf(block);
    blocks[height] = std::make_shared<const Block>(std::move(block));
  }
  return blocks;
}

base::Status Beginning::RestoreState(const Restored& restored, const Blocks& blocks) {
  Chain& chain = core_.chain;
  if (!restored.state) {
    // Else from before the genesis block, which a member that came late never had.
    if (blocks.contains(0)) chain.AdvanceHead(blocks.at(0));
    return base::OkStatus();
  }
  if (restored.state->blob == nullptr) return base::InvalidArgument("the stored state is empty");
  const auto state = DecodeState(restored.state->blob->data, chain.state().parameters->size(),
                                 SlotNamesOf(chain.state()));
  if (!state) return base::InvalidArgument("the stored state has another size than the model");
  chain.SetState(*state);
  const auto base_block = std::find_if(blocks.begin(), blocks.end(), [&](const auto& entry) {
    return BlockKey(entry.second->genesis, entry.second->step) == restored.state->key;
  });
  if (base_block == blocks.end()) return base::InvalidArgument("the state's block is missing");
  chain.AdvanceHead(base_block->second);
  chain.StateIsStored(restored.state->copy);
  return base::OkStatus();
}

base::Status Beginning::RestoreResults(const Restored& restored, const Blocks& blocks) {
  for (const Record& record : restored.results) {
    const auto place = PlaceOfResult(record.key);
    if (!place) return base::InvalidArgument("a result under a key that is none");
    if (record.blob == nullptr) return base::InvalidArgument("a stored result is empty");
    const auto& [step, column] = *place;
    const auto block = blocks.find(step + 1);
    const bool applied = block != blocks.end() && column < block->second->columns.size() &&
                         block->second->columns[column] == wire::ColumnFate::kApplied;
    if (applied && !IsResultOf(*block->second, column, *record.blob)) continue;
    core_.chain.KeepResult(step, column, record.blob);
    core_.chain.ResultIsStored(step, column, record.copy);
  }
  return base::OkStatus();
}

// A file of the store that was spoilt counts as lost: applied, it would part this state from all
// others'.
bool Beginning::IsResultOf(const Block& block, std::uint32_t column,
                           const crypto::Blob& result) const {
  const auto ranges = CutParts(core_.chain.state().parameters->size(),
                               static_cast<std::uint32_t>(block.columns.size()));
  return column < block.result_roots.size() && result.root == block.result_roots[column] &&
         HoldsValues(core_.manifest->codecs.results, result.data, ranges[column].size());
}

void Beginning::PlanReplay(const Blocks& blocks) {
  for (std::uint64_t height = HeightOf(core_.chain.head()) + 1; blocks.contains(height); ++height) {
    const SharedBlock& block = blocks.at(height);
    std::vector<SharedBlob> columns(block->columns.size());
    for (std::uint32_t j = 0; j < columns.size(); ++j) {
      if (block->columns[j] != wire::ColumnFate::kApplied) continue;
      columns[j] = core_.chain.ResultAt(block->step, j);
      if (columns[j] == nullptr) return;  // B1
    }
    replay_.Add({block, std::move(columns)});
  }
}

Outcome Beginning::ReplayNext() {
  if (replay_.empty()) return Replayed();
  replay_.Start(core_.jobs, *core_.manifest, core_.layout, core_.chain.state(), core_.voice.step());
  return Outcome::Wait();
}

Outcome Beginning::OnJob(JobId id, const JobResult& result) {
  if (root_ == id) {
    root_.reset();
    const auto& [root, leaves] = std::get<RootResult>(result);
    const Block& last = core_.chain.head();
    if (root == last.state_root) core_.chain.Serve(last.step, leaves);
    return Outcome::Finish();
  }
  core_.chain.AdvanceHead(replay_.Take(id).block);
  core_.chain.SetState(std::get<UpdateResult>(result).state);
  return ReplayNext();
}

Outcome Beginning::Replayed() {
  const Chain& chain = core_.chain;
  if (!chain.head().decision.is_zero()) {
    core_.turn.Do(Observe{Resumed{chain.shared_head(), chain.state()}});
  }
  if (chain.recent().all().rbegin()->first > HeightOf(chain.head())) {
    return Outcome::Leave("results of the last blocks were lost in the crash");
  }
  if (!IsMember(chain.head().members, core_.self)) {
    return Outcome::Leave("this node is no member: it was dropped or left, or is not admitted yet");
  }
  if (follower_.MustBeAdmitted()) {
    return Outcome::Leave("this node's store began after the run");
  }
  return wire::RunIsOver(chain.head()) ? AfterTheEnd() : Outcome::BeginStep();
}

// A member that missed the end fetches the state whose root the last block seals. The last step
// changes nothing, so it is the present one. [All had ended when that member was started again. Two
// others were, too, and stayed to help it, but each had forgotten that state.]
Outcome Beginning::AfterTheEnd() {
  const Chain& chain = core_.chain;
  if (!chain.head().state_root) return Outcome::Finish();
  root_ = core_.jobs.Start({.about = chain.head().step, .asked_in = core_.voice.step()},
                           RootSpec{chain.state(), core_.layout});
  return Outcome::Wait();
}

void Beginning::CheckInvariants() const {
  replay_.CheckInvariants();
  OSTRAKA_CHECK(replay_.empty() || replays_);  // B1
  OSTRAKA_CHECK(!root_ || replay_.empty());
}

void Beginning::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, replay_, replays_, root_);
}

}  // namespace ostraka::protocol

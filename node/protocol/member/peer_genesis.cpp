// How a member begins: at the genesis of the run, or from what its store kept.
//
// The genesis seal takes the fast path only: a run begins when all its members are there. Nothing
// of it is ever evidence, for a key may have lost its store. Nor may such a key begin a second
// time, though the messages of genesis go round as long as step 0 lasts. BOOT is another for each
// store of a key, and who has echoed one BOOT of a member says nothing for the next: no two stores
// of a key begin, as long as one other honest member keeps its own. And a process asks before it
// echoes: once each member has said, over a link that is up, that the run has not begun there.
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
  stage_ = Stage::kGenesis;
  wire::Boot boot;
  boot.boot_id = crypto::DeriveCoin(private_seed_.view(), 0, ~store_nonce_).salt;
  Prepare(
      {MakeDraft(SlotOf(Phase::kGenesis, MessageType::kBoot), wire::Encode(boot), view_->members)});
  AskHeads();  // and again at each link, which may not be up yet
}

// The newest BOOT of a process counts until we have echoed, its newest ECHO until it is ours.
void PeerMachine::TakeToGenesis(const wire::SharedMessage& shared) {
  const wire::Envelope& envelope = shared->envelope;
  const bool boot = envelope.slot.type == MessageType::kBoot;
  if (genesis_echo_ && (boot || HasEchoed(envelope.sender))) return;
  inbox_.Replace(shared);
}

bool PeerMachine::TryGenesisEcho() {
  if (waiting_at_genesis_.size() + 1 < view_->members.size()) return false;
  SealVector vector;
  for (const PeerId& member : view_->members) {
    const Inbox::Item* boot = Usable({0, Phase::kGenesis, MessageType::kBoot, 0, 0}, member);
    if (boot == nullptr) return false;
    vector.push_back({SealEntry::State::kPresent, boot->message->digest});
  }
  const wire::Echo echo = EchoOf(vector);
  TakeGenesisEcho(echo);
  const wire::Slot slot = SlotOf(Phase::kGenesis, MessageType::kEcho);
  Prepare({MakeDraft(slot, wire::Encode(echo), view_->members)});
  return true;
}

bool PeerMachine::HasEchoed(const PeerId& member) const {
  const Inbox::Item* item = Usable({0, Phase::kGenesis, MessageType::kEcho, 0, 0}, member);
  if (item == nullptr) return false;
  const auto echo = wire::DecodeEcho(item->message->envelope.body);
  return echo.ok() && echo->vector == genesis_echo_->vector;
}

// What the run begins with if all echo the same.
void PeerMachine::TakeGenesisEcho(const wire::Echo& echo) {
  auto block = std::make_shared<Block>(*view_);
  block->decision = DecisionDigest(SlotOf(Phase::kGenesis, MessageType::kEcho), echo.vector, {});
  block->randomness = crypto::Hasher(crypto::kDomainGenesis)
                          .Update(manifest_->run_id)
                          .Update(block->decision)
                          .Finish();
  const Digest digest = wire::BlockDigest(*block);
  genesis_echo_ = {echo.vector, std::move(block), digest};
}

// A member shows a block, so the run has begun there. One voice is not enough to leave for: a
// liar's block must not keep anybody from the beginning.
void PeerMachine::OnBegun(const PeerId& from, const Digest& block) {
  // Then its COMMIT comes too.
  if (genesis_echo_ && block == genesis_echo_->digest) return;
  if (NoteAhead(from)) LeaveGenesis();
}

void PeerMachine::LeaveGenesis() {
  must_rejoin_ = true;
  Leave("the run has begun, and this node's store does not know it");
}

// Every COMMIT of step 0 names what its sender has begun with. Of more members than may lie one is
// honest, and has had the ECHOs of all: of this store, or of one that is lost.
bool PeerMachine::HaveBegun(bool as_echoed) const {
  const auto& commits = inbox_.At({0, Phase::kA, MessageType::kCommit, 0, 0});
  const auto begun = std::count_if(commits.begin(), commits.end(), [&](const auto& commit) {
    const Digest& entry = commit.second.message->envelope.entry;
    return (genesis_echo_ && entry == genesis_echo_->digest) == as_echoed;
  });
  return static_cast<std::size_t>(begun) > FaultBound(view_->thresholds);
}

// Liars may have shown their ECHOs to some members only [they began and sealed the others' COMMITs
// absent: three of five honest members were dropped in step 0]. So whoever begins shows the ECHOs
// of the others to all, and to whoever asks while step 0 lasts. The own one went to all already,
// and from its sender it would be taken for a question.
void PeerMachine::ShowGenesisEchoes(const PeerId& to) {
  if (to == self_) return;
  for (const auto& [sender, item] : inbox_.At({0, Phase::kGenesis, MessageType::kEcho, 0, 0})) {
    if (sender != to && sender != self_) out_->Add(Send{to, item.message->frame, nullptr});
  }
}

// An ECHO that a member passes on counts if it is the own one's equal: then its sender has said it,
// whatever else it says.
bool PeerMachine::IsRelayedGenesisEcho(const wire::Envelope& envelope) const {
  if (envelope.slot.type != MessageType::kEcho || !genesis_echo_) return false;
  const auto echo = wire::DecodeEcho(envelope.body);
  return echo.ok() && echo->vector == genesis_echo_->vector;
}

bool PeerMachine::TryGenesis() {
  if (HaveBegun(false)) {
    LeaveGenesis();
    return true;
  }
  if (!genesis_echo_) return TryGenesisEcho();
  const std::vector<PeerId> members = view_->members;
  const bool begins =
      HaveBegun(true) || std::all_of(members.begin(), members.end(),
                                     [this](const PeerId& member) { return HasEchoed(member); });
  if (!begins) return false;
  view_ = genesis_echo_->block;
  if (!base::Planted(base::Bug::kGenesisKeptSecret)) {
    for (const PeerId& member : members) ShowGenesisEchoes(member);
  }
  // In this order: a block without it would be one of a run that this store was not in.
  journal_.StoreMembership(*view_);
  journal_.StoreBlock(*view_, recent_.Add(*view_).encoded);
  out_->Add(Observe{protocol::Sealed{.step = 0,
                                     .phase = static_cast<std::uint8_t>(Phase::kGenesis),
                                     .decision = view_->decision}});
  BeginStep();
  return true;
}

// --- restart ------------------------------------------------------------------------------------

base::Status PeerMachine::Restore(const Restored& restored) {
  ASSIGN_OR_RETURN(const std::vector<wire::SignedEnvelope> own,
                   journal_.Restore(restored.slots, manifest_->run_id, view_->members));
  if (restored.blocks.empty()) {
    BeginGenesis();
    for (const wire::SignedEnvelope& message : own) {
      Accept(wire::Share(message), nullptr);
      if (message.envelope.slot.type != MessageType::kEcho) continue;
      ASSIGN_OR_RETURN(const wire::Echo echo, wire::DecodeEcho(message.envelope.body));
      TakeGenesisEcho(echo);
    }
    return base::OkStatus();
  }
  std::map<std::uint64_t, SharedBlock> blocks;
  for (const Record& record : restored.blocks) {
    ASSIGN_OR_RETURN(Block block, wire::DecodeBlock(record.value));
    recent_.Add(block);
    // Those before the stored state are for others. (Keys are big-endian.)
    if (restored.state && record.key < restored.state->key) continue;
    const std::uint64_t height = HeightOf(block);
    blocks[height] = std::make_shared<const Block>(std::move(block));
  }
  must_rejoin_ = !restored.member;
  asks_since_ = restored.asks_since;
  if (restored.state) {
    const auto state = DecodeState(restored.state->blob->data, state_.parameters->size());
    if (!state) return base::InvalidArgument("the stored state has another size than the model");
    state_ = *state;
    const auto base_block = std::find_if(blocks.begin(), blocks.end(), [&](const auto& entry) {
      return BlockKey(entry.second->genesis, entry.second->step) == restored.state->key;
    });
    if (base_block == blocks.end()) return base::InvalidArgument("the state's block is missing");
    view_ = base_block->second;
  } else if (blocks.contains(0)) {
    view_ = blocks.at(0);
  }  // else from before the genesis block, which one who came late never had
  for (const Record& record : restored.results) {
    const auto place = PlaceOfResult(record.key);
    if (!place) return base::InvalidArgument("a result under a key that is none");
    kept_results_[place->first][place->second] = record.blob;
  }
  // As far as every result is there; the rest comes from the other members.
  for (std::uint64_t height = HeightOf(*view_) + 1; blocks.contains(height); ++height) {
    const SharedBlock& block = blocks.at(height);
    std::vector<SharedBlob> columns(block->columns.size());
    bool complete = true;
    for (std::uint32_t j = 0; j < columns.size(); ++j) {
      if (block->columns[j] != wire::ColumnFate::kApplied) continue;
      const auto& kept = kept_results_[block->step];
      const auto found = kept.find(j);
      if (found == kept.end()) complete = false;
      if (complete) columns[j] = found->second;
    }
    if (!complete) break;
    to_replay_.emplace_back(block, std::move(columns));
  }
  stage_ = Stage::kRestore;
  ReplayNext();
  return base::OkStatus();
}

void PeerMachine::ReplayNext() {
  if (to_replay_.empty()) {
    if (!view_->decision.is_zero()) out_->Add(Observe{Resumed{view_, state_}});
    if (recent_.all().rbegin()->first > HeightOf(*view_)) {
      return Leave("results of the last blocks were lost in the crash");
    }
    if (!IsMember(view_->members, self_)) return Leave("this node was dropped before it restarted");
    if (MustBeAdmitted()) return Leave("this node's store began after the run");
    if (RunIsOver(*view_)) return Finish();
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
  spec.state = state_;
  const auto ranges =
      block->columns.empty()
          ? std::vector<PartRange>{}
          : CutParts(state_.parameters->size(), static_cast<std::uint32_t>(block->columns.size()));
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    if (results[j] != nullptr) spec.columns.push_back({ranges[j], results[j]});
  }
  spec.sgd = SgdOf(manifest_->training, block->step);
  StartJob({.purpose = Purpose::kReplay, .step = block->step}, std::move(spec));
}

void PeerMachine::OnReplayed(const UpdateResult& result) {
  if (stage_ == Stage::kFollow) return OnCaughtUp(result.state);
  view_ = to_replay_.front().first;
  to_replay_.pop_front();
  state_ = result.state;
  ReplayNext();
}

}  // namespace ostraka::protocol

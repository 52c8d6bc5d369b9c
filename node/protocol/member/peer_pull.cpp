// Asking for what is missing, and answering those who ask. Nothing here is signed: a request says
// what its asker lacks, an answer proves itself by its signature or its hash.
//
// What an attacker can do here: ask, as often as its ration lasts; answer with rubbish, which is
// dropped; not answer, which sends us to the next member.
#include <algorithm>
#include <utility>

#include "node/protocol/ground/numbers.h"
#include "node/protocol/member/peer_machine.h"
#include "node/protocol/sync/widening.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;
using wire::PullKind;

namespace {

// Chunks of phase A are results, those of phase C pieces of a state.
constexpr Phase kResultChunk = Phase::kA;
constexpr Phase kStateChunk = Phase::kC;
// Iterations of a seal after which a member asks itself whether the run went on without it.
constexpr std::uint32_t kStuckIterations = 3;
// Members that are asked at a time for echoes that lack.
constexpr std::size_t kEchoSources = 8;

wire::Slot ServiceSlot(std::uint64_t step, Phase phase, MessageType type) {
  return {.run_id = {},
          .incarnation = 0,
          .step = step,
          .phase = phase,
          .type = type,
          .draw = 0,
          .iteration = 0};
}

}  // namespace

// --- what comes ---------------------------------------------------------------------------------

void PeerMachine::OnService(const PeerId& from, const wire::Envelope& envelope,
                            const SharedBlob& blob) {
  const wire::Slot& slot = envelope.slot;
  const auto malformed = [&](const base::Status& status) {
    Suspect(from, "service", "sent a malformed request or answer: " + base::MessageOf(status));
  };
  switch (slot.type) {
    case MessageType::kPull: {
      const auto pull = wire::DecodePull(envelope.body);
      if (!pull.ok()) return malformed(pull.status());
      return Answer(from, slot, *pull);
    }
    case MessageType::kVector: {
      const auto vector = wire::DecodeVector(envelope.body);
      if (!vector.ok()) return malformed(vector.status());
      if (seal_ == nullptr || slot.step != seal_slot_.step || slot.phase != seal_slot_.phase ||
          slot.draw != seal_slot_.draw) {
        return;
      }
      SealOutput output;
      seal_->OnVector(turn_.now(), *vector, output);
      return Perform(std::move(output));
    }
    case MessageType::kBlock: {
      if (stage_ != Stage::kGenesis && stage_ != Stage::kFollow && !InStep()) return;
      if (blob == nullptr) {
        return genesis_.OnWaiting(from);
      }
      auto block = wire::DecodeBlock(blob->data);
      if (!block.ok()) return malformed(block.status());
      if (stage_ == Stage::kGenesis) OnBegun(from, wire::DigestOfBlock(blob->data));
      if (stage_ == Stage::kFollow) {
        return catch_up_->OnBlock(from, std::move(block).value(), blob->data.size());
      }
      if (!InStep()) return;
      if (!block->genesis && IsOtherHistory(HeightOf(*block), wire::BlockDigest(*block))) {
        TraceHistory(from, HeightOf(*block));
      }
      // One block ahead is the fate of whoever is a little late.
      const std::uint64_t ahead = IsStuck() ? 1 : 2;
      if (HeightOf(*block) >= HeightOf(chain_.head()) + ahead) LeaveIfBehind(from);
      return;
    }
    case MessageType::kChunk: {
      const auto chunk = wire::DecodeChunk(envelope.body);
      if (!chunk.ok()) return malformed(chunk.status());
      if (blob == nullptr) return;
      if (stage_ == Stage::kFollow) {
        if (slot.phase == kStateChunk) return catch_up_->OnState(slot, *chunk, blob);
        return catch_up_->OnResult(slot.step, chunk->index, blob);
      }
      if (InStep() && slot.phase == kResultChunk && slot.step == CurrentStep()) {
        TakeResult(chunk->index, blob);
      }
      return;
    }
    default:
      return;
  }
}

// --- answering ----------------------------------------------------------------------------------

void PeerMachine::Answer(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull) {
  const bool known = std::any_of(manifest_->members.begin(), manifest_->members.end(),
                                 [&](const Member& member) { return member.id == from; });
  const Standing* standing = StandingOf(chain_.head().standings, from);
  if (from == self_ || !known || (standing != nullptr && standing->banned) ||
      !ration_.Take(turn_.now(), from))
    return;
  switch (pull.kind) {
    case PullKind::kMessages:
      return AnswerMessages(from, slot, pull);
    case PullKind::kDigests:
      for (const Digest& digest : pull.digests) {
        if (!ration_.Take(turn_.now(), from))
          return;  // to look for what is not there costs as much
        const auto* message = inbox_.FindDigest(slot.step, slot.phase, digest);
        if (message != nullptr) SendFrame(from, message->frame);
      }
      return;
    case PullKind::kVector: {
      if (pull.digests.empty()) return;
      std::optional<wire::Vector> vector;
      const auto past = past_seals_.find({slot.step, slot.phase, slot.draw});
      if (past != past_seals_.end()) {
        if (EchoOf(past->second.vector).vector == pull.digests[0]) {
          vector = WireOf(past->second.vector);
        }
      } else if (seal_ != nullptr && slot.step == seal_slot_.step &&
                 slot.phase == seal_slot_.phase && slot.draw == seal_slot_.draw) {
        vector = seal_->VectorFor(pull.digests[0]);
      }
      if (!vector) return;
      wire::Slot answer = slot;
      answer.type = MessageType::kVector;
      base::Bytes encoded = wire::Encode(*vector);
      if (!ration_.Take(turn_.now(), from, encoded.size())) return;
      return SendService(from, answer, std::move(encoded));
    }
    case PullKind::kHead:
      followers_.OnAsked(from, turn_.now());
      return AnswerHead(from);
    case PullKind::kBlock:
      return AnswerBlocks(from, slot, pull.index);
    case PullKind::kResult:
      return AnswerResult(from, slot.step, pull.index);
    case PullKind::kPart:
      return AnswerPart(from, slot, pull);
    case PullKind::kState:
      return AnswerState(from, slot.step, pull.index);
    case PullKind::kProofs:
      return AnswerProofs(from, slot.step);
    case PullKind::kFollow:
      if (stage_ == Stage::kLinger && slot.step >= HeightOf(chain_.head())) {
        followers_.Remove(from);
        AnswerHead(from);
        return NoteFinished(from);
      }
      followers_.Note(from, turn_.now());
      if (stage_ == Stage::kLinger) stay_.For(turn_.now(), from);
      return AnswerHead(from);
  }
}

void PeerMachine::AnswerMessages(const PeerId& from, const wire::Slot& slot,
                                 const wire::Pull& pull) {
  if (pull.type == MessageType::kPart || pull.type == MessageType::kResult) return;
  // The bitmap is over the view that seals the step.
  const PastStep* past = chain_.Past(slot.step);
  const bool current = InStep() && slot.step == CurrentStep();
  if (!current && past == nullptr) return;
  const std::vector<PeerId>& members = current ? chain_.head().members : past->members;
  const auto wanted = wire::SendersOf(pull.members, members);
  if (!wanted) return;
  const bool of_seal = IsSealMessage(pull.type) && seal_ != nullptr && current &&
                       slot.phase == seal_slot_.phase && slot.draw == seal_slot_.draw;
  if (of_seal) {
    // Of any iteration: a lock may rest on votes that went to its holders alone.
    for (const auto& [sender, frame] : seal_->Frames(pull.type)) {
      if (std::find(wanted->begin(), wanted->end(), sender) != wanted->end()) {
        SendFrame(from, frame);
      }
    }
    return;
  }
  // What a decision rests on may be the third word of its sender, which no inbox keeps [who got it
  // alone was ahead of all others by more than 2 Delta, and dropped for its early ECHO].
  if (const auto decided = past_seals_.find(SealKeyOf(slot));
      IsSealMessage(pull.type) && decided != past_seals_.end()) {
    for (const base::SharedBytes& frame : decided->second.certificate) {
      const auto opened = wire::Open(frame);
      if (!opened.ok() || opened->envelope.slot.type != pull.type) continue;
      if (IsMember(*wanted, opened->envelope.sender)) SendFrame(from, frame);
    }
  }
  const Inbox::Place place{slot.step, slot.phase, pull.type, slot.draw,
                           static_cast<std::uint32_t>(pull.index)};
  for (const PeerId& member : *wanted) {
    const Inbox::Item* item = inbox_.Find(place, member);
    if (item == nullptr) continue;
    SendFrame(from, item->message->frame);
    // Who equivocated is seen to have: a merge rests on both frames.
    for (const wire::SharedMessage& rival : item->rivals) SendFrame(from, rival->frame);
  }
}

// What one asked for, as far as its ration goes.
void PeerMachine::SendFrame(const PeerId& to, const base::SharedBytes& frame) {
  if (ration_.Take(turn_.now(), to, frame->size())) turn_.Do(Send{to, frame, nullptr});
}

void PeerMachine::AnswerHead(const PeerId& to) {
  if (stage_ == Stage::kGenesis) return SayWaiting(to);
  if (chain_.head().decision.is_zero()) return;
  if (ration_.Take(turn_.now(), to, chain_.Shown().blob->data.size())) ShowHead(to);
}

// There is no block here yet. Not said to one who has begun without us, though its store may be
// gone.
void PeerMachine::SayWaiting(const PeerId& to) {
  if (inbox_.Find({0, Phase::kA, MessageType::kCommit, 0, 0}, to) != nullptr) return;
  SendService(to, ServiceSlot(0, Phase::kGenesis, MessageType::kBlock),
              wire::Encode(wire::BlockMessage{Digest{}, true}));
}

void PeerMachine::ShowHead(const PeerId& to) {
  const auto phase = chain_.head().genesis ? Phase::kGenesis : Phase::kC;
  const Chain::ShownHead& head = chain_.Shown();
  SendService(to, ServiceSlot(chain_.head().step, phase, MessageType::kBlock),
              wire::Encode(wire::BlockMessage{head.digest, true}), head.blob);
  // COMMITs of the step after attest to it; those of the step itself to the block before.
  const std::uint64_t next = HeightOf(chain_.head());
  const Inbox::Place commits{next, Phase::kA, MessageType::kCommit, 0, 0};
  for (const auto& [sender, item] : inbox_.At(commits)) {
    if (sender != self_) SendFrame(to, item.message->frame);
  }
  // The own one is there also after the end.
  for (const Journal::Sent& sent : journal_.sent()) {
    if (sent.step != next || sent.bulk) continue;
    const auto opened = wire::Open(sent.frame);
    if (opened.ok() && Inbox::PlaceOf(opened->envelope.slot) == commits) {
      SendFrame(to, sent.frame);
    }
  }
}

void PeerMachine::AnswerBlocks(const PeerId& to, const wire::Slot& slot, std::uint64_t count) {
  const bool genesis = slot.phase == Phase::kGenesis;
  if (!genesis && slot.step == UINT64_MAX) return;  // its block has no height
  const std::uint64_t newest = genesis ? 0 : slot.step + 1;
  count = std::min<std::uint64_t>(count, kMaxBlocksAnAnswer);
  for (std::uint64_t i = 0; i < count && i <= newest; ++i) {
    const RecentBlocks::Kept* block = chain_.recent().Find(newest - i);
    if (block == nullptr || !ration_.Take(turn_.now(), to, block->encoded.size())) return;
    const auto phase = block->genesis ? Phase::kGenesis : Phase::kC;
    SendService(to, ServiceSlot(block->step, phase, MessageType::kBlock),
                wire::Encode(wire::BlockMessage{block->digest, false}),
                crypto::MakeBlob(block->encoded));
  }
}

void PeerMachine::AnswerResult(const PeerId& to, std::uint64_t step, std::uint64_t column) {
  const SharedBlob result = chain_.ResultAt(step, column);
  if (result == nullptr || !ration_.Take(turn_.now(), to, result->data.size())) return;
  SendService(to, ServiceSlot(step, kResultChunk, MessageType::kChunk),
              wire::Encode(wire::Chunk{step, column, column + 1}), result);
}

void PeerMachine::AnswerPart(const PeerId& to, const wire::Slot& slot, const wire::Pull& pull) {
  if (InStep() && slot.step == CurrentStep()) {
    const auto workers = wire::SendersOf(pull.members, chain_.head().members);
    if (!workers || workers->size() != 1 ||
        pull.index >= round_->reading.sealed.roles.owners.size())
      return;
    return AnswerPartOfThisStep(to, workers->front(), static_cast<std::uint32_t>(pull.index));
  }
  const PastStep* past = chain_.Past(slot.step);
  if (past == nullptr) return;
  const auto authors = wire::SendersOf(pull.members, past->members);
  if (!authors || authors->size() != 1) return;
  const auto part = past->parts.find({static_cast<std::uint32_t>(pull.index), authors->front()});
  if (part == past->parts.end()) return;
  if (!ration_.Take(turn_.now(), to, part->second.blob->data.size())) return;
  turn_.Do(Send{to, part->second.frame, part->second.blob});
}

// The own to whom it is addressed, and another's to the owner with whom that is in dispute.
void PeerMachine::AnswerPartOfThisStep(const PeerId& to, const PeerId& worker,
                                       std::uint32_t column) {
  if (worker != self_) {
    const bool owed =
        std::any_of(round_->pairs.begin(), round_->pairs.end(), [&](const LivePair& pair) {
          return pair.worker == worker && pair.column == column && pair.aggregator == to &&
                 round_->forwarded_parts.contains(pair.index);
        });
    const Inbox::Item* part =
        owed ? Usable({CurrentStep(), Phase::kA, MessageType::kPart, 0, column}, worker) : nullptr;
    if (part == nullptr || !ration_.Take(turn_.now(), to, part->blob->data.size())) return;
    turn_.Do(Send{to, part->message->frame, part->blob});
    return;
  }
  for (const Journal::Sent& sent : journal_.sent()) {
    if (!sent.bulk || sent.blob == nullptr || sent.step != CurrentStep()) continue;
    const auto opened = wire::Open(sent.frame);
    if (!opened.ok()) continue;
    const wire::Slot& slot = opened->envelope.slot;
    if (slot.type != MessageType::kPart || slot.iteration != column) continue;
    const bool addressed = std::find(sent.to.begin(), sent.to.end(), to) != sent.to.end();
    if (addressed && ration_.Take(turn_.now(), to, sent.blob->data.size())) {
      turn_.Do(Send{to, sent.frame, sent.blob});
    }
    return;
  }
}

void PeerMachine::AnswerState(const PeerId& to, std::uint64_t step, std::uint64_t index) {
  const Chain::Served* served = chain_.ServedAt(step);
  if (served == nullptr) return;
  const auto& [state, leaves] = *served;
  const std::vector<StatePiece> pieces = StatePieces(layout_);
  if (index > pieces.size()) return;
  const std::uint64_t size =
      index == 0 ? leaves.size() * sizeof(Digest::bytes)
                 : (pieces[index - 1].end - pieces[index - 1].begin) * sizeof(float);
  if (!ration_.Take(turn_.now(), to, size)) return;
  base::Bytes bytes;
  if (index == 0) {
    for (const Digest& leaf : leaves)
      bytes.insert(bytes.end(), leaf.bytes.begin(), leaf.bytes.end());
  } else {
    bytes = PieceOf(state, pieces[index - 1]);
  }
  SendService(to, ServiceSlot(step, kStateChunk, MessageType::kChunk),
              wire::Encode(wire::Chunk{step, index, pieces.size() + 1}),
              crypto::MakeBlob(std::move(bytes)));
}

// --- asking -------------------------------------------------------------------------------------

void PeerMachine::Ask(const PeerId& to, wire::Slot slot, const wire::Pull& pull) {
  if (to == self_) return;
  slot.type = MessageType::kPull;
  slot.iteration = 0;
  SendService(to, slot, wire::Encode(pull));
}

// In a seal that others may have left: helping who is late takes less than this. Who was dropped
// meanwhile, killed in that seal perhaps, is helped by nobody.
bool PeerMachine::IsStuck() const {
  return seal_ != nullptr && (overdue_ || seal_->iteration() >= kStuckIterations || seal_->alone());
}

// Has the run gone on without this member? Asked after a restart, and when a seal does not end.
void PeerMachine::AskHeads() {
  for (const PeerId& member : chain_.head().members) {
    Ask(member, ServiceSlot(CurrentStep(), Phase::kC, MessageType::kPull),
        {.kind = PullKind::kHead});
  }
}

void PeerMachine::ArmPull(base::Duration after) {
  const Time at = turn_.now() + after;
  if (pull_at_ && *pull_at_ <= at) return;
  pull_at_ = at;
  turn_.Do(SetTimer{kPullTimer, at});
}

// Something that exists is not here. Not every gap is a fault: messages overtake each other, so the
// timer gave them a moment.
void PeerMachine::OnPullTimer() {
  if (pull_at_) reports_.OnTimer(*pull_at_, turn_.now());
  pull_at_.reset();
  if (!InStep()) return;
  bool missing = false;
  if (seal_ != nullptr) {
    missing |= PullEntries();
    missing |= PullEchoes();
    PullLate();
  }
  missing |= PullResults();
  missing |= PullExhibits();
  ++pull_attempts_;
  if (missing) ArmPull({chain_.delta().ns / 2});
}

// Messages that the echo of another member shows to exist: from that member.
bool PeerMachine::PullEntries() {
  std::map<std::pair<PeerId, MessageType>, std::vector<PeerId>> wanted;
  bool missing = false;
  const std::size_t entries = EntryCount();
  const auto& echoes = inbox_.At(Inbox::PlaceOf(seal_slot_));
  std::vector<std::pair<PeerId, wire::Echo>> shown;
  for (const auto& [sender, item] : echoes) {
    auto echo = wire::DecodeEcho(item.message->envelope.body);
    if (echo.ok() && sender != self_) shown.emplace_back(sender, std::move(echo).value());
  }
  if (shown.empty()) return false;
  for (std::size_t i = 0; i < entries; ++i) {
    const auto place = PlaceOfEntry(i);
    if (!place || EntryNow(i).state != SealEntry::State::kAbsent) continue;
    // One more than can lie, and others each time: else each liar among them costs half a Delta.
    std::size_t room = FaultBound(chain_.head().thresholds) + 1;
    for (std::size_t k = 0; k < shown.size() && room > 0; ++k) {
      const auto& [sender, echo] = shown[(i + pull_attempts_ + k) % shown.size()];
      if (StateIn(echo, i) == SealEntry::State::kAbsent) continue;
      wanted[{sender, place->first.type}].push_back(place->second);
      missing = true;
      --room;
    }
  }
  for (const auto& [whom, senders] : wanted) {
    Ask(whom.first, seal_slot_,
        {.kind = PullKind::kMessages,
         .type = whom.second,
         .members = wire::BitmapOf(senders, chain_.head().members),
         .digests = {},
         .index = 0});
  }
  return missing;
}

// Echoes that lack half a Delta after mine: a two-faced member may have shown them to others. While
// more lack than can be at fault, honest ones have yet to speak, and will speak to all: asking all
// for all made a quarter of a million messages of each slow seal of 64. (The seal asks again, and
// more of them, half a Delta after its own ECHO: docs/seal.md, 5.)
bool PeerMachine::PullEchoes() {
  if (!seal_->echoed() || seal_->decision()) return false;
  const std::vector<PeerId>& members = chain_.head().members;
  std::vector<PeerId> lacking;
  const auto& echoes = inbox_.At(Inbox::PlaceOf(seal_slot_));
  for (const PeerId& member : members) {
    if (!echoes.contains(member) && !round_->asleep.contains(member)) lacking.push_back(member);
  }
  if (lacking.empty() || lacking.size() > chain_.head().thresholds.t_s) return true;
  // Others each time, and not the same for all who ask.
  const auto self = std::lower_bound(members.begin(), members.end(), self_);
  const auto first = static_cast<std::size_t>(self - members.begin()) + 1 +
                     std::size_t{pull_attempts_} * kEchoSources;
  for (std::size_t k = 0; k < std::min(kEchoSources, members.size() - 1); ++k) {
    Ask(members[(first + k) % members.size()], seal_slot_,
        {.kind = PullKind::kMessages,
         .type = MessageType::kEcho,
         .members = wire::BitmapOf(lacking, members),
         .digests = {},
         .index = 0});
  }
  return true;
}

// What those whose PARTs found no room may have brought: their own part for my column and of live
// pairs, and what they passed on to me in a dispute.
void PeerMachine::AskForRefusedParts() {
  const std::uint64_t step = CurrentStep();
  const std::set<PeerId> refused = std::move(refused_early_[step]);
  std::erase_if(refused_early_, [step](const auto& entry) { return entry.first <= step; });
  const auto ask = [&](const PeerId& whom, const PeerId& worker, std::uint32_t column) {
    const Inbox::Place place{step, Phase::kA, MessageType::kPart, 0, column};
    if (Usable(place, worker) != nullptr) return;
    Ask(whom, ServiceSlot(step, Phase::kA, MessageType::kPull),
        {.kind = PullKind::kPart,
         .type = {},
         .members = wire::BitmapOf({worker}, chain_.head().members),
         .digests = {},
         .index = column});
  };
  for (const PeerId& whom : refused) {
    if (!IsMember(chain_.head().members, whom)) continue;
    if (round_->my_part && round_->reading.sealed.roles.IsWorker(whom))
      ask(whom, whom, *round_->my_part);
    for (const LivePair& pair : round_->pairs) {
      const bool own = pair.worker == whom && pair.aggregator != self_;
      const bool passed_on = pair.aggregator == self_ && pair.worker != whom;
      if (own || passed_on) ask(whom, pair.worker, pair.column);
    }
  }
}

// Three times as many members each time, so that one who gives its result to a few costs no more
// than some Deltas; and then less and less often, as all have been asked and bulk takes its time.
bool PeerMachine::PullResults() {
  if (stage_ != Stage::kProve && stage_ != Stage::kSettle) return false;
  bool missing = false;
  const std::size_t n = chain_.head().members.size();
  for (std::size_t j = 0; j < round_->results.size(); ++j) {
    if (!ResultWanted(j) || round_->results[j] != nullptr) continue;
    missing = true;
    const auto [first, count] = WideningAt(pull_attempts_, n);
    for (std::size_t k = first; k < first + count; ++k) {
      Ask(chain_.head().members[(j + k) % n],
          ServiceSlot(CurrentStep(), Phase::kA, MessageType::kPull),
          {.kind = PullKind::kResult, .type = {}, .members = {}, .digests = {}, .index = j});
    }
  }
  return missing;
}

}  // namespace ostraka::protocol

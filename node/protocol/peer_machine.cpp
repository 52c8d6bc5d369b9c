#include "node/protocol/peer_machine.h"

#include <algorithm>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {
namespace {

using wire::MessageType;
using wire::Phase;

bool CarriesBlob(MessageType type) {
  return type == MessageType::kPart || type == MessageType::kResult;
}

// True iff an honest peer could use the slot at all: each type in its phase, unused fields zero.
bool SlotIsWellFormed(const wire::Slot& slot) {
  if (slot.incarnation != 0) return false;
  if (slot.draw != 0 && slot.phase != Phase::kB) return false;
  if (slot.iteration != 0 && !CarriesBlob(slot.type)) return false;
  switch (slot.type) {
    case MessageType::kBoot:
      return slot.phase == Phase::kGenesis && slot.step == 0;
    case MessageType::kCommit:
    case MessageType::kPart:
    case MessageType::kAggregate:
    case MessageType::kResult:
      return slot.phase == Phase::kA;
    case MessageType::kReveal:
      return slot.phase == Phase::kB;
    case MessageType::kProof:
      return slot.phase == Phase::kC;
    case MessageType::kEcho:
      return slot.phase != Phase::kGenesis || slot.step == 0;
  }
  return false;
}

std::string SealName(Phase phase) {
  switch (phase) {
    case Phase::kGenesis:
      return "the genesis seal";
    case Phase::kA:
      return "SEAL A";
    case Phase::kB:
      return "SEAL B";
    case Phase::kC:
      return "SEAL C";
  }
  return "?";
}

constexpr char kNoSlowPath[] = "; the slow path of SEAL is not built yet, so the run stops";

}  // namespace

PeerMachine::PeerMachine(PeerOptions options)
    : manifest_(std::move(options.manifest)),
      verifier_(std::move(options.verifier)),
      layout_(std::move(options.layout)),
      self_(options.key->id()),
      signer_(options.key) {
  OSTRAKA_CHECK(Validate(*manifest_).ok());
  const std::uint64_t dimension = base::ElementCount(layout_);
  OSTRAKA_CHECK(options.initial_parameters->size() == dimension);
  // A part has at least two elements, so that its directions are random.
  OSTRAKA_CHECK(dimension >= 2 * manifest_->members.size());
  state_.parameters = std::move(options.initial_parameters);
  state_.velocity = std::make_shared<const std::vector<float>>(dimension, 0.0F);

  auto view = std::make_shared<Block>();
  view->genesis = true;
  for (const Member& member : manifest_->members) view->members.push_back(member.id);
  const auto n = static_cast<std::uint32_t>(view->members.size());
  view->thresholds =
      ThresholdsFor(manifest_->mode, n, GenesisAsynchronousFaults(manifest_->mode, n));
  view->tau = manifest_->tau > 0 ? manifest_->tau : manifest_->tau_initial;
  OSTRAKA_CHECK(IsMember(view->members, self_));
  view_ = std::move(view);
}

void PeerMachine::Step(Time now, const Input& input, Outbox& out) {
  OSTRAKA_CHECK(now >= now_);
  now_ = now;
  out_ = &out;
  if (stage_ != Stage::kHalted) {
    std::visit([this](const auto& event) { On(event); }, input);
    Advance();
  } else if (const auto* link = std::get_if<LinkChanged>(&input); link != nullptr && resends_) {
    On(*link);
  }
  out_ = nullptr;
}

void PeerMachine::Advance() {
  while (TryAdvance()) {
  }
}

bool PeerMachine::TryAdvance() {
  switch (stage_) {
    case Stage::kGenesis:
      return TryGenesis();
    case Stage::kCollect:
      return TrySealA();
    case Stage::kReveal:
      return TrySealB();
    case Stage::kProve:
      return TrySealC();
    case Stage::kSettle:
      return TrySettle();
    case Stage::kUnstarted:
    case Stage::kUpdate:
    case Stage::kHalted:
      return false;
  }
  return false;
}

// --- inputs -------------------------------------------------------------------------------------

void PeerMachine::On(const Started& input) {
  OSTRAKA_CHECK(stage_ == Stage::kUnstarted);
  private_seed_ = input.private_seed;
  BeginGenesis();
}

void PeerMachine::On(const MessageReceived& input) {
  auto opened = wire::Open(input.frame);
  if (!opened.ok()) {
    return Suspect(input.from, "frame", base::MessageOf(opened.status()));
  }
  const wire::Envelope& envelope = opened->envelope;
  if (envelope.slot.run_id != manifest_->run_id || !SlotIsWellFormed(envelope.slot)) {
    return Suspect(input.from, "slot", "sent a message whose slot no honest peer can use");
  }
  // A removed member may not know yet; a message outside the window is late or early.
  if (!IsMember(view_->members, envelope.sender) || !InWindow(envelope.slot)) return;
  if (CarriesBlob(envelope.slot.type) != (input.blob != nullptr)) {
    return Suspect(input.from, "blob",
                   "sent a message without its bulk data, or with some it may not have");
  }
  // A frame goes with any bytes that a relay puts beside it, and a part that another aggregator was
  // sent is a true frame here too: either would keep out what the author itself is about to send.
  // A relayed BOOT may be an older one, which must not displace the newest.
  if (envelope.slot.phase == Phase::kGenesis && envelope.sender != input.from) return;
  if (CarriesBlob(envelope.slot.type) && envelope.sender != input.from) {
    return Suspect(input.from, "relay", "passed on bulk data of another peer");
  }
  switch (inbox_.Probe(*opened)) {
    case Inbox::Outcome::kDuplicate:
      return;
    case Inbox::Outcome::kRefused:
      return Suspect(input.from, "slot", "sent a second message of a kind it may send once");
    case Inbox::Outcome::kNew:
    case Inbox::Outcome::kEquivocation:
      break;
  }
  if (!verifier_->Verify(envelope.sender, opened->digest, opened->signature)) {
    return Suspect(input.from, "signature", "sent a message whose signature is not its sender's");
  }
  Accept(std::move(opened).value(), input.blob);
}

void PeerMachine::On(const LinkChanged& input) {
  if (!input.up) return;
  for (const Sent& sent : sent_) {
    const bool wanted = std::find(sent.to.begin(), sent.to.end(), input.peer) != sent.to.end();
    if (wanted) out_->Add(Send{input.peer, sent.frame, sent.blob});
  }
}

void PeerMachine::On(const TimerFired& input) {
  if (input.id == kSealTimer) return Halt(Halted::Why::kStalled, DescribeWait());
  if (input.id != kBulkTimer || !round_) return;
  if (stage_ == Stage::kCollect) round_->parts_closed = true;
  if (stage_ == Stage::kProve) round_->results_closed = true;
}

void PeerMachine::On(const JobDone& input) {
  const auto node = jobs_.extract(input.id);
  OSTRAKA_CHECK(!node.empty());
  const PendingJob& job = node.mapped();
  if (const auto* failed = std::get_if<JobFailed>(input.result.get())) {
    // What others sent must not stop us: the AGG says that there is no result, and the column is
    // void.
    if (job.purpose == Purpose::kAggregate) return PrepareAggregate(nullptr);
    return Halt(Halted::Why::kFailed, "step " + std::to_string(job.step) + ": " + failed->reason);
  }
  const JobResult& result = *input.result;
  switch (job.purpose) {
    case Purpose::kGradient:
      return OnGradient(std::get<GradientResult>(result));
    case Purpose::kPack:
      return OnPacked(std::get<PackResult>(result));
    case Purpose::kAggregate:
      return OnAggregated(std::get<AggregateResult>(result));
    case Purpose::kProve:
      round_->numbers = std::get<ProveResult>(result).columns;
      return;
    case Purpose::kCrossCheck:
      return OnCrossChecked(job, std::get<CrossCheckResult>(result));
    case Purpose::kAccuse:
    case Purpose::kVote:
      return OnRecomputed(job, std::get<RecomputeResult>(result));
    case Purpose::kRoot:
      round_->my_state_root = std::get<RootResult>(result).root;
      round_->root_pending = false;
      return;
    case Purpose::kUpdate:
      return OnUpdated(std::get<UpdateResult>(result));
  }
}

void PeerMachine::On(const Stored& input) {
  auto released = signer_.Release(input.id);
  if (!released) return;  // a block or evidence: nothing waits for it
  for (SignedDraft& draft : *released) {
    bool to_self = false;
    for (const PeerId& peer : draft.to) {
      if (peer == self_) {
        to_self = true;
      } else {
        out_->Add(Send{peer, draft.message.frame, draft.blob});
      }
    }
    sent_.push_back(
        {draft.message.envelope.slot.step, draft.message.frame, draft.blob, std::move(draft.to)});
    if (to_self) Accept(std::move(draft.message), draft.blob);
  }
}

// --- messages -----------------------------------------------------------------------------------

wire::Slot PeerMachine::SlotOf(Phase phase, MessageType type, std::uint32_t draw,
                               std::uint32_t iteration) const {
  return {.run_id = manifest_->run_id,
          .incarnation = 0,
          .step = CurrentStep(),
          .phase = phase,
          .type = type,
          .draw = draw,
          .iteration = iteration};
}

bool PeerMachine::InWindow(const wire::Slot& slot) const {
  // A peer ahead of us has all our messages of its last seal, so it is at most in the first phase
  // of the next step; and it cannot echo there before it has our COMMIT.
  const bool next_phase_a = slot.phase == Phase::kA && slot.type != MessageType::kEcho;
  if (!round_) {
    return slot.step == 0 && (slot.phase == Phase::kGenesis || next_phase_a);
  }
  if (slot.phase == Phase::kGenesis) return false;
  // Likewise it is at most one draw ahead.
  if (slot.step == round_->sealed.step) {
    return slot.draw < round_->coin_count && slot.draw <= round_->draw + 1;
  }
  return slot.step == round_->sealed.step + 1 && next_phase_a;
}

void PeerMachine::Accept(wire::SignedEnvelope message, SharedBlob blob) {
  const Inbox::Place place = Inbox::PlaceOf(message.envelope.slot);
  const PeerId sender = message.envelope.sender;
  if (place.phase == Phase::kGenesis) {
    // Genesis is never evidence: a process may be started again before it is sealed, and its newest
    // BOOT counts until we have echoed.
    if (!own_vector_ || place.type == MessageType::kEcho) inbox_.Replace(std::move(message));
    return;
  }
  const Inbox::Outcome outcome = inbox_.Add(std::move(message), std::move(blob));
  if (outcome == Inbox::Outcome::kEquivocation) KeepEquivocation(*inbox_.Find(place, sender));
}

void PeerMachine::KeepEquivocation(const Inbox::Item& item) {
  const PeerId& sender = item.message.envelope.sender;
  if (sender == self_) {
    // Whatever we sign from here on may be the second message of its slot too, and this file would
    // convict us: it is left to others to find.
    return Halt(
        Halted::Why::kFailed,
        "another process signs with this key: end it, or this node, before both are banned; "
        "is the key in use on another machine, or was the data folder copied?");
  }
  auto made = evidence::MakeEquivocation(*item.message.frame, *item.rival);
  OSTRAKA_CHECK(made.ok());  // the inbox holds two verified frames of one slot
  Bytes file = std::move(made).value();
  const Digest id = evidence::IdOf(file);
  out_->Add(Store{next_store_++,
                  {{RecordKind::kEvidence, Bytes(id.bytes.begin(), id.bytes.end()), file}}});
  // Two large PROOFs of one slot make a file that no frame may carry. It stays in our store (seal C
  // shows that fault itself, if in time), and must not shield its maker from a shorter one.
  if (file.size() <= wire::kMaxEvidenceBytes) evidence_.emplace(sender, std::move(file));
  Suspect(sender, "equivocation",
          std::string("signed two different messages of one ") +
              wire::MessageTypeName(item.message.envelope.slot.type) + " slot");
}

const Digest& PeerMachine::EntryOf(Phase phase) const {
  switch (phase) {
    case Phase::kA:
      return round_->entry_a;
    case Phase::kB:
      return round_->entry_b;
    case Phase::kC:
      return round_->entry_c;
    case Phase::kGenesis:
      break;
  }
  return entry_genesis_;
}

const Inbox::Item* PeerMachine::Usable(const Inbox::Place& place, const PeerId& sender) const {
  const Inbox::Item* item = inbox_.Find(place, sender);
  if (item == nullptr || item->message.envelope.entry != EntryOf(place.phase)) return nullptr;
  return item;
}

Draft PeerMachine::MakeDraft(const wire::Slot& slot, Bytes body, std::vector<PeerId> to,
                             SharedBlob blob) const {
  return {wire::Envelope{slot, EntryOf(slot.phase), self_, std::move(body)}, std::move(blob),
          std::move(to)};
}

void PeerMachine::Prepare(std::vector<Draft> drafts) {
  out_->Add(signer_.Prepare(next_store_++, std::move(drafts)));
}

// --- seals --------------------------------------------------------------------------------------

SealEntry PeerMachine::EntryFor(const Inbox::Place& place, const PeerId& sender) const {
  const Inbox::Item* any = inbox_.Find(place, sender);
  // Two messages of one slot are equivocation whatever entries they name.
  if (any != nullptr && any->rival != nullptr) return {SealEntry::State::kEquivocated, Digest{}};
  const Inbox::Item* item = Usable(place, sender);
  if (item == nullptr) return {};
  return {SealEntry::State::kPresent, item->message.digest};
}

bool PeerMachine::DriveSeal(Phase phase, std::uint32_t draw,
                            const std::optional<SealVector>& complete) {
  const wire::Slot slot = SlotOf(phase, MessageType::kEcho, draw);
  if (!own_vector_) {
    if (!complete) return false;
    own_vector_ = complete;
    echoes_.clear();
    Prepare({MakeDraft(slot, wire::Encode(EchoOf(*own_vector_)), view_->members)});
    return false;
  }
  for (const auto& [sender, item] : inbox_.At(Inbox::PlaceOf(slot))) {
    if (echoes_.contains(sender) || Usable(Inbox::PlaceOf(slot), sender) == nullptr) continue;
    auto echo = wire::DecodeEcho(item.message.envelope.body);
    if (echo.ok()) echoes_.emplace(sender, std::move(echo).value());
  }
  if (!echoes_.contains(self_)) return false;
  const FastPath fast = TryFastPath(self_, view_->members, echoes_);
  if (fast.state == FastPath::State::kImpossible) {
    Halt(Halted::Why::kStalled, "step " + std::to_string(slot.step) + ": " + SealName(phase) +
                                    " cannot take its fast path: " + fast.reason + kNoSlowPath);
    return false;
  }
  return fast.state == FastPath::State::kDecided;
}

void PeerMachine::BeginPhase() {
  own_vector_.reset();
  echoes_.clear();
  out_->Add(SetTimer{kSealTimer, now_ + manifest_->seal_timeout});
}

std::string PeerMachine::DescribeWait() const {
  std::string missing;
  for (const Awaited& awaited : AwaitedMessages()) {
    missing += (missing.empty() ? "" : ", ") + std::string(wire::MessageTypeName(awaited.type)) +
               " of " + awaited.sender.Short();
  }
  if (missing.empty()) missing = "own work";
  return "step " + std::to_string(CurrentStep()) + ": " + SealName(PhaseNow()) + " waited " +
         std::to_string(manifest_->seal_timeout.ns / 1'000'000) + " ms for " + missing +
         kNoSlowPath;
}

void PeerMachine::Halt(Halted::Why why, std::string reason) {
  if (stage_ == Stage::kHalted) return;
  const std::uint64_t step = CurrentStep();
  stage_ = Stage::kHalted;
  resends_ = why == Halted::Why::kFinished || why == Halted::Why::kBanned;
  out_->Add(CancelTimer{kSealTimer});
  out_->Add(CancelTimer{kBulkTimer});
  out_->Add(Observe{Halted{why, step, std::move(reason)}});
}

void PeerMachine::Suspect(const PeerId& peer, std::string check, std::string reason) {
  out_->Add(Observe{Suspicion{CurrentStep(), peer, std::move(check), std::move(reason)}});
}

// --- the outside checks -------------------------------------------------------------------------

void PeerMachine::CheckInvariants() const {
  OSTRAKA_CHECK(std::is_sorted(view_->members.begin(), view_->members.end()));
  OSTRAKA_CHECK(stage_ == Stage::kHalted || IsMember(view_->members, self_));
  OSTRAKA_CHECK(past_.size() <= kPastSteps);
  OSTRAKA_CHECK(evidence_.size() <= manifest_->members.size());
  OSTRAKA_CHECK(!own_vector_ || own_vector_->size() % view_->members.size() == 0 ||
                stage_ == Stage::kHalted);
  if (round_) {
    OSTRAKA_CHECK(round_->sealed.roles.owners.size() == round_->sealed.roles.parts.size());
    OSTRAKA_CHECK(round_->held.size() + round_->refused.size() <=
                  round_->sealed.roles.workers.size());
  }
}

Digest PeerMachine::Fingerprint() const {
  crypto::Hasher hasher(crypto::kDomainFingerprint);
  hasher.UpdateU64(static_cast<std::uint64_t>(stage_)).Update(view_->decision);
  hasher.UpdateU64(jobs_.size()).UpdateU64(signer_.pending()).UpdateU64(next_store_);
  hasher.UpdateU64(next_job_).UpdateU64(own_vector_ ? 1 : 0).UpdateU64(echoes_.size());
  inbox_.HashInto(hasher);
  if (round_) {
    hasher.UpdateU64(round_->sealed.step).Update(round_->entry_b).Update(round_->entry_c);
    hasher.UpdateU64(round_->draw).UpdateU64(round_->held.size()).Update(round_->randomness);
  }
  return hasher.Finish();
}

template <typename Spec>
void PeerMachine::StartJob(PendingJob job, Spec spec) {
  const JobId id = next_job_++;
  jobs_.emplace(id, job);
  out_->Add(protocol::StartJob{id, std::make_shared<const JobSpec>(std::move(spec))});
}

template void PeerMachine::StartJob(PendingJob, GradientSpec);
template void PeerMachine::StartJob(PendingJob, PackSpec);
template void PeerMachine::StartJob(PendingJob, AggregateSpec);
template void PeerMachine::StartJob(PendingJob, ProveSpec);
template void PeerMachine::StartJob(PendingJob, CrossCheckSpec);
template void PeerMachine::StartJob(PendingJob, RecomputeSpec);
template void PeerMachine::StartJob(PendingJob, RootSpec);
template void PeerMachine::StartJob(PendingJob, UpdateSpec);

std::unique_ptr<Machine> MakePeer(PeerOptions options) {
  return std::make_unique<PeerMachine>(std::move(options));
}

}  // namespace ostraka::protocol

#include "node/protocol/member/peer_machine.h"

#include <algorithm>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

// Before the genesis seal: the manifest's members.
SharedBlock FirstHead(const Manifest& manifest) {
  auto head = std::make_shared<Block>();
  head->genesis = true;
  for (const Member& member : manifest.members) head->members.push_back(member.id);
  const auto n = static_cast<std::uint32_t>(head->members.size());
  head->thresholds = ThresholdsFor(manifest.mode, n, GenesisAsynchronousFaults(manifest.mode, n));
  head->tau = manifest.tau > 0 ? manifest.tau : manifest.tau_initial;
  head->delta_us = static_cast<std::uint64_t>(manifest.delta.ns / 1'000);
  return head;
}

ModelState FirstState(PeerOptions& options) {
  const std::uint64_t dimension = base::ElementCount(options.layout);
  OSTRAKA_CHECK(options.initial_parameters->size() == dimension);
  // A part has at least two elements, so that its directions are random.
  OSTRAKA_CHECK(dimension >= 2 * options.manifest->members.size());
  ModelState state;
  state.parameters = std::move(options.initial_parameters);
  state.velocity = options.initial_velocity != nullptr
                       ? std::move(options.initial_velocity)
                       : std::make_shared<const std::vector<float>>(dimension, 0.0F);
  return state;
}

}  // namespace

PeerMachine::PeerMachine(PeerOptions options)
    : manifest_(options.manifest),
      verifier_(std::move(options.verifier)),
      opener_(std::move(options.opener)),
      layout_(options.layout),
      self_(options.key->id()),
      chain_(FirstHead(*manifest_), FirstState(options)),
      genesis_(self_, manifest_->run_id, chain_.shared_head(), &inbox_),
      ration_(Ration::BytesASecond(base::ElementCount(layout_))),
      journal_(options.key, &turn_),
      charges_(self_, manifest_, &journal_),
      reports_(self_),
      duties_(self_, manifest_, &chain_) {
  OSTRAKA_CHECK(Validate(*manifest_).ok());
  OSTRAKA_CHECK(IsMember(chain_.head().members, self_));
}

void PeerMachine::Step(Time now, const Input& input, Outbox& out) {
  turn_.Begin(now, out);
  if (stage_ != Stage::kHalted) {
    std::visit([this](const auto& event) { On(event); }, input);
    Advance();
  } else if (const auto* link = std::get_if<LinkChanged>(&input); link != nullptr && resends_) {
    On(*link);
  } else if (const auto* stored = std::get_if<Stored>(&input); stored != nullptr && resends_) {
    On(*stored);  // last words
  }
  turn_.End();
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
    case Stage::kFollow:
      AdvanceFollowing();
      return false;
    case Stage::kUnstarted:
    case Stage::kRestore:
    case Stage::kUpdate:
    case Stage::kLinger:
    case Stage::kFrozen:
    case Stage::kHalted:
      return false;
  }
  return false;
}

void PeerMachine::Enter(Stage stage) {
  OSTRAKA_CHECK(MayFollow(stage_, stage));
  stage_ = stage;
}

bool PeerMachine::InStep() const { return IsInStep(stage_); }

// Of the manifest's Delta, which does not grow with what is measured: a lag holds such a moment, so
// that with one of the view's Delta each measurement would raise Delta, and Delta the next
// measurement [one cheat of eight, that gave its words to one honest member at first, drove Delta
// to 21 s in 155 steps].
base::Duration PeerMachine::moment() const { return {manifest_->delta.ns / 8}; }

// --- inputs -------------------------------------------------------------------------------------

void PeerMachine::On(const Started& input) {
  OSTRAKA_CHECK(stage_ == Stage::kUnstarted);
  private_seed_ = input.private_seed;
  store_nonce_ = input.store_nonce;
  if (input.restored == nullptr) return BeginGenesis();
  if (input.restored->fork) return Halt(Halted::Why::kForked, *input.restored->fork);
  const base::Status status = Restore(*input.restored);
  if (!status.ok()) {
    Halt(Halted::Why::kFailed, "what this node stored cannot be used: " + base::MessageOf(status) +
                                   "; move its data folder away and start again to rejoin");
  }
}

void PeerMachine::On(const LinkChanged& input) {
  if (!input.up) genesis_.OnLinkDown(input.peer);
  stay_.OnLink(turn_.now(), input.peer, input.up);
  if (stage_ == Stage::kLinger && stay_.IsFor(input.peer)) {
    turn_.Do(SetTimer{kFollowTimer, stay_.Until()});
  }
  if (!input.up || !ration_.TakeRepeat(turn_.now(), input.peer)) return;
  if (stage_ == Stage::kFrozen) return ShowFork(input.peer);
  journal_.Repeat(input.peer);
  if (stage_ == Stage::kFollow) Follow();
  // Whichever of the two was away, the other may have gone on.
  if (InStep() || stage_ == Stage::kGenesis) {
    wire::Slot slot = SlotOf(Phase::kC, MessageType::kPull);
    Ask(input.peer, slot, {.kind = wire::PullKind::kHead});
  }
}

void PeerMachine::On(const TimerFired& input) {
  switch (input.id) {
    case kEchoTimer:
      if (seal_ == nullptr) return;
      if (WaitsForLastCoin()) {
        overdue_ = true;
        AskHeads();
        turn_.Do(SetTimer{kEchoTimer, turn_.now() + chain_.delta() * 2});
      } else {
        SealOutput output;
        seal_->Echo(turn_.now(), output);
        Perform(std::move(output));
      }
      return;
    case kSealTimer:
      if (seal_ == nullptr) return;
      {
        SealOutput output;
        seal_->OnTimer(turn_.now(), output);
        Perform(std::move(output));
      }
      return;
    case kBulkTimer:
      if (!round_) return;
      if (stage_ == Stage::kCollect) round_->parts_closed = true;
      if (stage_ == Stage::kProve) round_->results_closed = round_->bulk_expired = true;
      return;
    case kPullTimer:
      return OnPullTimer();
    case kFollowTimer:
      if (stage_ == Stage::kLinger) OnLingerTimer();
      if (stage_ == Stage::kFrozen) EndTrial();
      return;  // else Advance asks again
    default:
      return;
  }
}

void PeerMachine::On(const JobDone& input) {
  const auto node = jobs_.extract(input.id);
  OSTRAKA_CHECK(!node.empty());
  const PendingJob& job = node.mapped();
  if (job.era != era_) return;  // of a step that this member left
  // V1 ends in the step after the one that it is about.
  if (job.asked_in != CurrentStep() && job.purpose != Purpose::kCrossCheck) {
    return OnOverdue(job, *input.result);
  }
  if (const auto* failed = std::get_if<JobFailed>(input.result.get())) {
    // What others sent must not stop us: the AGG says that there is no result, and the column is
    // void.
    if (job.purpose == Purpose::kAggregate) return PrepareAggregate(nullptr);
    return Halt(Halted::Why::kFailed, "step " + std::to_string(job.step) + ": " + failed->reason);
  }
  OnResult(job, *input.result);
}

// The seals of a step may end it while its jobs still run, most of all after a restart: what they
// give says nothing of the step in progress [signed in it, the gradient or numbers of another step
// would convict an honest member]. A vote is about its case, whenever it is ready.
void PeerMachine::OnOverdue(const PendingJob& job, const JobResult& result) {
  const bool vote = job.purpose == Purpose::kVote || job.purpose == Purpose::kExhibit;
  if (vote && !std::holds_alternative<JobFailed>(result)) duties_.TakeVerdict(job.about, result);
}

void PeerMachine::OnResult(const PendingJob& job, const JobResult& result) {
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
      --round_->recomputations_pending;
      if (std::get<RecomputeResult>(result).accuse) {
        round_->accusation = wire::Accusation{job.target, job.step};
      }
      return;
    case Purpose::kExhibit:
    case Purpose::kVote:
      --round_->recomputations_pending;
      return duties_.TakeVerdict(job.about, result);
    case Purpose::kRoot: {
      const RootResult& root = std::get<RootResult>(result);
      round_->my_state_root = root.root;
      round_->root_pending = false;
      chain_.Serve(job.step, root.leaves);
      return;
    }
    case Purpose::kUpdate:
      return OnUpdated(std::get<UpdateResult>(result));
    case Purpose::kReplay:
      return OnReplayed(std::get<UpdateResult>(result));
  }
}

void PeerMachine::On(const Stored& input) {
  if (stage_ == Stage::kFrozen) return;  // what waited to be signed stays unsigned
  auto released = journal_.Release(input.id);
  if (!released) return;  // a block or evidence: nothing waits for it
  for (SignedDraft& draft : *released) {
    auto own = journal_.Say(std::move(draft));
    if (own && stage_ != Stage::kHalted) Accept(own->message, std::move(own->blob));
  }
}

// --- speaking -----------------------------------------------------------------------------------

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
  static const Digest kNoParent;
  return kNoParent;
}

Draft PeerMachine::MakeDraft(const wire::Slot& slot, Bytes body, std::vector<PeerId> to,
                             SharedBlob blob) const {
  return {wire::Envelope{slot, EntryOf(slot.phase), self_, std::move(body)}, std::move(blob),
          std::move(to)};
}

// What was said before a crash stays said: its drafts are left out, and the restored frame goes out
// with the bulk data that belongs to it.
void PeerMachine::Prepare(std::vector<Draft> drafts) {
  for (const Draft& draft : drafts) {
    if (auto own = journal_.SayAgain(draft)) Accept(own->message, std::move(own->blob));
  }
  const auto id = journal_.Prepare(std::move(drafts));
  if (id && base::Planted(base::Bug::kSignedBeforeStored)) On(Stored{*id});
}

void PeerMachine::SendService(const PeerId& to, wire::Slot slot, Bytes body, SharedBlob blob) {
  slot.run_id = manifest_->run_id;
  const SharedBytes frame = wire::EncodeService({slot, Digest{}, self_, std::move(body)});
  turn_.Do(Send{to, frame, std::move(blob)});
}

void PeerMachine::Halt(Halted::Why why, std::string reason) {
  if (stage_ == Stage::kHalted) return;
  const std::uint64_t step = CurrentStep();
  charges_.StoreVerdicts();
  Enter(Stage::kHalted);
  ++era_;
  resends_ = why == Halted::Why::kFinished || why == Halted::Why::kBanned;
  for (const TimerId timer : {kEchoTimer, kBulkTimer, kSealTimer, kPullTimer, kFollowTimer}) {
    turn_.Do(CancelTimer{timer});
  }
  turn_.Do(Observe{Halted{why, step, std::move(reason)}});
}

void PeerMachine::Suspect(const PeerId& peer, std::string check, std::string reason) {
  turn_.Do(Observe{Suspicion{CurrentStep(), peer, std::move(check), std::move(reason)}});
}

// --- the outside checks -------------------------------------------------------------------------

void PeerMachine::CheckInvariants() const {
  chain_.CheckInvariants();
  OSTRAKA_CHECK(!InStep() || stage_ == Stage::kUpdate || IsMember(chain_.head().members, self_));
  charges_.CheckInvariants();
  followers_.CheckInvariants(manifest_->members.size());
  OSTRAKA_CHECK(IsSealing(stage_) == (seal_ != nullptr) || stage_ == Stage::kHalted);
  OSTRAKA_CHECK(stage_ != Stage::kFrozen || trial_);
  if (round_) {
    OSTRAKA_CHECK(round_->reading.sealed.roles.owners.size() ==
                  round_->reading.sealed.roles.parts.size());
    OSTRAKA_CHECK(round_->held.size() + round_->refused.size() <=
                  round_->reading.sealed.roles.workers.size());
  }
}

Digest PeerMachine::Fingerprint() const {
  crypto::Hasher hasher(crypto::kDomainFingerprint);
  hasher.UpdateU64(static_cast<std::uint64_t>(stage_)).Update(chain_.head().decision);
  hasher.UpdateU64(jobs_.size());
  journal_.HashInto(hasher);
  hasher.UpdateU64(next_job_).UpdateU64(era_).UpdateU64(followers_.size());
  inbox_.HashInto(hasher);
  if (seal_) {
    hasher.UpdateU64(seal_->echoed() ? 1 : 0).UpdateU64(seal_->iteration());
    hasher.UpdateU64(seal_->lags().size());
  }
  if (catch_up_)
    hasher.UpdateU64(HeightOf(*catch_up_->view())).UpdateU64(HeightOf(*catch_up_->head()));
  if (round_) {
    hasher.UpdateU64(round_->reading.sealed.step).Update(round_->entry_b).Update(round_->entry_c);
    hasher.UpdateU64(round_->reading.draw)
        .UpdateU64(round_->held.size())
        .Update(round_->reading.randomness);
  }
  return hasher.Finish();
}

template <typename Spec>
void PeerMachine::StartJob(PendingJob job, Spec spec) {
  const JobId id = next_job_++;
  job.era = era_;
  job.asked_in = CurrentStep();
  jobs_.emplace(id, job);
  turn_.Do(protocol::StartJob{id, std::make_shared<const JobSpec>(std::move(spec))});
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

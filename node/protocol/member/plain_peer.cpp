// Training without protection: a butterfly all-reduce with the mean over the same seam. No
// signatures, Merkle trees, seals, validators or bans: whatever arrives first for a place is
// believed. It exists to measure what protection costs and what an attack does without it.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash_into.h"
#include "node/base/check.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/ground/schedule.h"
#include "node/protocol/member/peer.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {
namespace {

using wire::MessageType;
using wire::Phase;

constexpr TimerId kStallTimer = 1;

class PlainPeer final : public Machine {
 public:
  explicit PlainPeer(PeerOptions options);
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, running_, halted_, finished_, step_, aggregating_, updating_, inbox_,
                 sent_, jobs_, next_job_);
  }

  void Step(Time now, const Input& input, Outbox& out) override;
  void CheckInvariants() const override {
    // BOOT, and PART and RESULT of two steps.
    OSTRAKA_CHECK(inbox_.size() <= 5 * manifest_->members.size());
  }
  Digest Fingerprint() const override {
    crypto::Hasher hasher(crypto::kDomainFingerprint);
    HashInto(hasher);
    return hasher.Finish();
  }
  Progress progress() const override;

 private:
  enum class Purpose : std::uint8_t { kGradient, kPack, kAggregate, kUpdate };
  // BOOT says hello, so that no one starts before all links are up; PART and RESULT carry blobs.
  struct Place {
    std::uint64_t step;
    MessageType type;
    PeerId sender;
    auto operator<=>(const Place&) const = default;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, step, type, sender); }
  };

  void On(const Started&) { Broadcast(MessageType::kBoot, 0, nullptr); }
  void On(const MessageReceived& input);
  void On(const LinkChanged& input);
  void On(const TimerFired& input);
  void On(const JobDone& input);
  void On(const Stored&) {}
  void On(const Told&) {}

  void BeginStep();
  void TryAdvance();
  void SendTo(const PeerId& to, MessageType type, std::uint32_t index, const SharedBlob& blob);
  void Broadcast(MessageType type, std::uint32_t index, const SharedBlob& blob);
  template <typename Spec>
  void StartJob(Purpose purpose, Spec spec);
  bool HaveAll(MessageType type) const;
  void Update();
  void Halt(Halted::Why why, std::string reason);

  std::shared_ptr<const Manifest> manifest_;
  PeerId self_;
  std::vector<PeerId> members_;
  std::vector<PartRange> parts_;
  std::uint32_t my_index_ = 0;
  base::TensorLayout layout_;
  ModelState state_;

  bool running_ = false;
  bool halted_ = false;
  bool finished_ = false;  // halted with all steps done: links that come up are still answered
  std::uint64_t step_ = 0;
  bool aggregating_ = false;
  bool updating_ = false;
  std::map<Place, SharedBlob> inbox_;  // this step and the next
  struct Sent {
    std::uint64_t step;
    PeerId to;
    SharedBytes frame;
    SharedBlob blob;
    // An unsigned frame has no digest, and is short.
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, step, to, *frame, blob); }
  };
  std::vector<Sent> sent_;  // this step and the last
  std::map<JobId, Purpose> jobs_;
  JobId next_job_ = 1;
  StepTimes times_;
  Time now_;
  Time mark_;
  Outbox* out_ = nullptr;
};

PlainPeer::PlainPeer(PeerOptions options)
    : manifest_(std::move(options.manifest)), self_(options.key->id()) {
  OSTRAKA_CHECK(Validate(*manifest_).ok());
  for (const Member& member : manifest_->members) members_.push_back(member.id);
  const std::size_t dimension = options.initial_parameters->size();
  parts_ = CutParts(dimension, static_cast<std::uint32_t>(members_.size()));
  OSTRAKA_CHECK(IsMember(members_, self_) && parts_.back().size() > 0);
  my_index_ = static_cast<std::uint32_t>(std::lower_bound(members_.begin(), members_.end(), self_) -
                                         members_.begin());
  layout_ = options.layout;
  state_ = InitialStateOf(options, manifest_->training.optimizer);
}

void PlainPeer::Step(Time now, const Input& input, Outbox& out) {
  OSTRAKA_CHECK(now >= now_);
  now_ = now;
  out_ = &out;
  if (!halted_) {
    std::visit([this](const auto& event) { On(event); }, input);
    TryAdvance();
  } else if (const auto* link = std::get_if<LinkChanged>(&input); link != nullptr && finished_) {
    On(*link);
  }
  out_ = nullptr;
}

void PlainPeer::On(const MessageReceived& input) {
  const auto envelope = wire::OpenUnsigned(*input.frame);
  if (!envelope.ok() || envelope->slot.run_id != manifest_->run_id) return;
  // The channel is all there is to say who speaks.
  if (envelope->sender != input.from || !IsMember(members_, input.from)) return;
  const wire::Slot& slot = envelope->slot;
  const bool boots = slot.type == MessageType::kBoot;
  const bool in_window = slot.step == step_ || (slot.step == step_ + 1 && !boots);
  const bool carries_part = slot.type == MessageType::kPart || slot.type == MessageType::kResult;
  if (!in_window || (!boots && !carries_part)) return;
  if (carries_part) {
    if (input.blob == nullptr) return;
    const auto sender = static_cast<std::size_t>(
        std::lower_bound(members_.begin(), members_.end(), input.from) - members_.begin());
    const std::size_t index = slot.type == MessageType::kPart ? my_index_ : sender;
    const Codecs& codecs = manifest_->codecs;
    const Codec codec = slot.type == MessageType::kPart ? codecs.parts : codecs.results;
    if (!HoldsValues(codec, input.blob->data, parts_[index].size())) {
      return Halt(Halted::Why::kFailed, "step " + std::to_string(slot.step) + ": " +
                                            input.from.Short() +
                                            " sent NaN, Inf, a wrong length or a wrong codec");
    }
  }
  inbox_.emplace(Place{slot.step, slot.type, input.from}, input.blob);
}

void PlainPeer::On(const LinkChanged& input) {
  if (!input.up) return;
  for (const Sent& sent : sent_) {
    if (sent.to == input.peer) out_->Add(Send{sent.to, sent.frame, sent.blob});
  }
}

void PlainPeer::On(const TimerFired& input) {
  if (input.id != kStallTimer) return;
  Halt(Halted::Why::kStalled, "step " + std::to_string(step_) + ": a peer sent nothing for " +
                                  std::to_string(manifest_->seal_timeout.ns / 1'000'000) + " ms");
}

template <typename Spec>
void PlainPeer::StartJob(Purpose purpose, Spec spec) {
  jobs_.emplace(next_job_, purpose);
  out_->Add(protocol::StartJob{next_job_++, std::make_shared<const JobSpec>(std::move(spec))});
}

void PlainPeer::SendTo(const PeerId& to, MessageType type, std::uint32_t index,
                       const SharedBlob& blob) {
  if (to == self_) {
    inbox_.emplace(Place{step_, type, self_}, blob);
    return;
  }
  wire::Envelope envelope;
  envelope.slot = {.run_id = manifest_->run_id,
                   .incarnation = 0,
                   .step = step_,
                   .phase = type == MessageType::kBoot ? Phase::kGenesis : Phase::kA,
                   .type = type,
                   .draw = 0,
                   .iteration = index};
  envelope.sender = self_;
  const SharedBytes frame = wire::EncodeUnsigned(envelope);
  sent_.push_back({step_, to, frame, blob});
  out_->Add(Send{to, frame, blob});
}

void PlainPeer::Broadcast(MessageType type, std::uint32_t index, const SharedBlob& blob) {
  for (const PeerId& member : members_) SendTo(member, type, index, blob);
}

bool PlainPeer::HaveAll(MessageType type) const {
  for (const PeerId& member : members_) {
    if (!inbox_.contains({step_, type, member})) return false;
  }
  return true;
}

Progress PlainPeer::progress() const {
  Progress progress;
  progress.step = step_;
  progress.phase = halted_ ? "halted" : !running_ ? "genesis" : updating_ ? "update" : "collect";
  if (halted_ || updating_) return progress;
  const MessageType awaited = !running_      ? MessageType::kBoot
                              : aggregating_ ? MessageType::kResult
                                             : MessageType::kPart;
  for (const PeerId& member : members_) {
    if (member == self_ || inbox_.contains({step_, awaited, member})) continue;
    progress.missing.push_back({member, wire::MessageTypeName(awaited)});
  }
  return progress;
}

void PlainPeer::BeginStep() {
  times_ = StepTimes{};
  times_.step = step_;
  mark_ = now_;
  aggregating_ = false;
  updating_ = false;
  std::erase_if(inbox_, [this](const auto& entry) { return entry.first.step < step_; });
  std::erase_if(sent_, [this](const Sent& sent) { return sent.step + 1 < step_; });
  out_->Add(SetTimer{kStallTimer, now_ + manifest_->seal_timeout});
  Roles roles;
  roles.workers = members_;
  roles.owners = members_;
  roles.parts = parts_;
  out_->Add(Observe{StepStarted{step_, BatchPlan{}, state_, std::move(roles), 0.0}});
  StartJob(Purpose::kGradient,
           GradientDue(*manifest_, BatchPlan{}, step_, self_, state_.parameters));
}

void PlainPeer::On(const JobDone& input) {
  const auto node = jobs_.extract(input.id);
  OSTRAKA_CHECK(!node.empty());
  if (const auto* failed = std::get_if<JobFailed>(input.result.get())) {
    return Halt(Halted::Why::kFailed, "step " + std::to_string(step_) + ": " + failed->reason);
  }
  switch (node.mapped()) {
    case Purpose::kGradient:
      return StartJob(Purpose::kPack,
                      PackSpec{.gradient = std::get<GradientResult>(*input.result).gradient,
                               .parts = parts_,
                               .hash = false,
                               .codec = manifest_->codecs.parts});
    case Purpose::kPack: {
      times_.compute_ns = (now_ - mark_).ns;
      mark_ = now_;
      const auto& parts = std::get<PackResult>(*input.result).parts;
      for (std::uint32_t j = 0; j < parts.size(); ++j) {
        SendTo(members_[j], MessageType::kPart, j, parts[j]);
      }
      return;
    }
    case Purpose::kAggregate:
      return Broadcast(MessageType::kResult, my_index_,
                       std::get<AggregateResult>(*input.result).result);
    case Purpose::kUpdate: {
      state_ = std::get<UpdateResult>(*input.result).state;
      times_.aggregate_ns = (now_ - mark_).ns;
      out_->Add(Observe{times_});
      auto block = std::make_shared<Block>();
      block->step = step_;
      block->members = members_;
      out_->Add(Observe{StepDone{std::move(block), state_}});
      if (IsLastToTrain(manifest_->training, step_, std::nullopt, false)) {
        return Halt(Halted::Why::kFinished, "all steps are done");
      }
      ++step_;
      return BeginStep();
    }
  }
}

void PlainPeer::TryAdvance() {
  if (halted_) return;
  if (!running_) {
    if (!HaveAll(MessageType::kBoot)) return;
    running_ = true;
    BeginStep();
  }
  if (!aggregating_ && HaveAll(MessageType::kPart)) {
    aggregating_ = true;
    AggregateSpec spec;
    for (const PeerId& member : members_) {
      spec.parts.push_back(inbox_.at({step_, MessageType::kPart, member}));
    }
    spec.size = parts_[my_index_].size();
    spec.codecs = manifest_->codecs;
    spec.clip = false;
    spec.hash = false;
    StartJob(Purpose::kAggregate, std::move(spec));
  }
  if (!updating_ && HaveAll(MessageType::kResult)) Update();
}

void PlainPeer::Update() {
  updating_ = true;
  UpdateSpec spec;
  spec.state = state_;
  spec.layout = layout_;
  for (std::size_t j = 0; j < members_.size(); ++j) {
    spec.columns.push_back({parts_[j], inbox_.at({step_, MessageType::kResult, members_[j]})});
  }
  spec.codec = manifest_->codecs.results;
  spec.step = OptimizerStepOf(manifest_->training, step_);
  StartJob(Purpose::kUpdate, std::move(spec));
}

void PlainPeer::Halt(Halted::Why why, std::string reason) {
  halted_ = true;
  finished_ = why == Halted::Why::kFinished;
  out_->Add(CancelTimer{kStallTimer});
  out_->Add(Observe{Halted{why, step_, std::move(reason)}});
}

}  // namespace

std::unique_ptr<Machine> MakePlainPeer(PeerOptions options) {
  return std::make_unique<PlainPeer>(std::move(options));
}

}  // namespace ostraka::protocol

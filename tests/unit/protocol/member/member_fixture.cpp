#include "tests/unit/protocol/member/member_fixture.h"

#include <utility>

namespace ostraka::protocol::scene {

using wire::MessageType;

MemberTest::MemberTest(std::uint32_t self, const std::function<void(Manifest&)>& edit)
    : self_(self), keys_(SortedKeys(kMemberCount + 1)) {
  Manifest manifest = ManifestOf(kMemberCount);
  for (std::uint32_t i = 0; i < kMemberCount; ++i) manifest.members[i].id = keys_[i]->id();
  edit(manifest);
  UseManifest(std::move(manifest));
}

void MemberTest::UseManifest(Manifest manifest) {
  manifest_ = std::make_shared<const Manifest>(std::move(manifest));
  PeerOptions options{manifest_,
                      keys_[self_],
                      verifier_,
                      {{"w", {kFloats}}},
                      std::make_shared<const std::vector<float>>(kFloats, 0.5F)};
  step_.reset();
  components_ = std::make_unique<Components>(options);
  step_.emplace(components_->stage);
  components_->turn.Begin(Time{} + base::Seconds(100), out_);
}

std::vector<PeerId> MemberTest::Members() const {
  std::vector<PeerId> members;
  for (std::uint32_t i = 0; i < kMemberCount; ++i) members.push_back(IdOf(i));
  return members;
}

void MemberTest::Pass(base::Duration after) {
  const Time now = components().turn.now() + after;
  components().turn.End();
  components().turn.Begin(now, out_);
}

// --- messages -----------------------------------------------------------------------------------

wire::SharedMessage MemberTest::Sign(const Saying& saying) const {
  const wire::Slot slot{.run_id = manifest_->run_id,
                        .incarnation = 0,
                        .step = saying.step,
                        .phase = saying.phase,
                        .type = saying.type,
                        .draw = saying.draw,
                        .iteration = saying.iteration};
  return wire::Share(
      wire::Seal({slot, saying.parent, IdOf(saying.from), saying.body}, *keys_[saying.from]));
}

wire::SharedMessage MemberTest::Forged(const Saying& saying) const {
  base::Bytes bytes = *Sign(saying)->frame;
  bytes.at(10) ^= 1;  // the signature comes first
  return wire::Share(wire::Open(std::make_shared<const base::Bytes>(std::move(bytes))).value());
}

wire::SharedMessage MemberTest::Hold(const Saying& saying, SharedBlob blob) {
  wire::SharedMessage message = Sign(saying);
  components().inbox.Add(message, std::move(blob));
  return message;
}

wire::Envelope MemberTest::EnvelopeOf(const Send& send) {
  return wire::Open(send.frame).value().envelope;
}

wire::Pull MemberTest::PullOf(const Send& send) {
  return wire::Decode<wire::Pull>(EnvelopeOf(send).body).value();
}

base::Bytes MemberTest::PartBody(const SharedBlob& blob) {
  wire::Part part;
  part.header.shape = {blob->data.size() / sizeof(float)};
  part.root = blob->root;
  return wire::Encode(part);
}

base::Bytes MemberTest::ResultBody(const SharedBlob& blob) {
  wire::Result result;
  result.header.shape = {blob->data.size() / sizeof(float)};
  result.root = blob->root;
  return wire::Encode(result);
}

// --- what the member did ------------------------------------------------------------------------

std::vector<Record> MemberTest::Stored(RecordKind kind) {
  std::vector<Record> records;
  for (const Store& store : Taken<Store>()) {
    for (const Record& record : store.records) {
      if (record.kind == kind) records.push_back(record);
    }
  }
  return records;
}

void MemberTest::Settle() {
  for (auto stores = Taken<Store>(); !stores.empty(); stores = Taken<Store>()) {
    for (const Store& store : stores) {
      auto released = components().journal.Release(store.id);
      if (!released) continue;
      for (SignedDraft& draft : *released) components().voice.Say(std::move(draft));
    }
    while (auto own = components().voice.NextOwn()) {
      components().inbox.Add(own->message, own->blob);
      if (step_->in()) step().OnAccepted(*own->message);
    }
  }
}

void MemberTest::UseUp(const PeerId& peer, std::uint64_t left) {
  Pass(base::Seconds(1));  // a new second: nothing is used yet
  for (std::uint64_t i = left; i < Ration::kAnswersASecond; ++i) {
    ASSERT_TRUE(components().ration.Take(components().turn.now(), peer));
  }
}

// --- the run ------------------------------------------------------------------------------------

Block MemberTest::HeadBlock() const {
  Block head = ViewBefore(*manifest_, kStep);
  head.delta_us = 1'000'000;
  head.tau = 1;
  return head;
}

void MemberTest::SetHead(Block head) {
  head.thresholds = ThresholdsIn(*manifest_, head.members.size());
  components().chain.KeepBlock(head);
  components().chain.AdvanceHead(std::make_shared<const Block>(std::move(head)));
}

void MemberTest::BeginStep(Block head) {
  SetHead(std::move(head));
  if (components().stage.is(Stage::kUnstarted)) components().stage.Enter(Stage::kGenesis);
  Components& p = components();
  Step& step = step_->Begin(std::make_unique<Step>(p, p, p.stage, *verifier_, std::nullopt));
  p.voice.SetStep(step.number());
  p.stage.Enter(Stage::kCollect);
  step.Begin({});
  ForgetActions();
}

void MemberTest::DecideSeal() {
  Sealing& sealing = step().sealing();
  const wire::Slot slot = sealing.slot();
  if (!sealing.seal().wait_ended()) sealing.OnEchoTimer();
  Settle();
  const Inbox::Item* own = components().inbox.Find(Inbox::PlaceOf(slot), Self());
  ASSERT_NE(own, nullptr);
  const wire::Envelope echo = own->message->envelope;
  for (std::uint32_t i = 0; i < kMemberCount; ++i) {
    if (IdOf(i) == Self()) continue;
    const auto message = Hold({.from = i,
                               .type = MessageType::kEcho,
                               .step = slot.step,
                               .phase = slot.phase,
                               .draw = slot.draw,
                               .body = echo.body,
                               .parent = echo.entry});
    step().OnAccepted(*message);
  }
  ASSERT_TRUE(sealing.seal().decision());
}

}  // namespace ostraka::protocol::scene

#include "tests/unit/protocol/member/whole/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/ground/stored_state.h"
#include "node/protocol/mail/signer.h"
#include "node/protocol/recording/head.h"
#include "node/protocol/recording/recording_machine.h"
#include "node/protocol/recording/replay_run.h"
#include "node/wire/limits.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::scene {
namespace {

// Remembers what it verified, as a driver may: all machines here share it.
class MemoVerifier final : public crypto::Verifier {
 public:
  bool Verify(const PeerId& signer, const Digest& digest,
              const crypto::Signature& signature) override {
    const auto [known, fresh] = known_.try_emplace({signer, digest, signature}, false);
    if (fresh) known->second = plain_.Verify(signer, digest, signature);
    return known->second;
  }

 private:
  crypto::PlainVerifier plain_;
  std::map<std::tuple<PeerId, Digest, crypto::Signature>, bool> known_;
};

base::Rng RngOf(const Digest& seed) {
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number = number << 8 | seed.bytes[i];
  return base::Rng(number);
}

// An endless conversation would be a fault of the machines.
constexpr std::size_t kMaxDeliveries = 2'000'000;
constexpr Duration kPatience = base::Seconds(3600);

// A quadratic around 1 with noise from the batch.
std::vector<float> ToyGradient(const GradientSpec& spec) {
  base::Rng rng = RngOf(spec.batch_seed);
  std::vector<float> gradient;
  for (const float x : *spec.parameters) {
    gradient.push_back(x - 1.0F + 0.25F * static_cast<float>(rng.Normal()));
  }
  return gradient;
}

}  // namespace

Digest Cluster::SeedOf(std::size_t node) { return DigestOf(900 + node); }

Cluster::Cluster(ClusterOptions options)
    : options_(std::move(options)), verifier_(std::make_shared<MemoVerifier>()) {
  Manifest manifest = ManifestOf(options_.n);
  manifest.training.steps = options_.steps;
  manifest.training.settle_steps = kSettleSteps;
  manifest.training.learning_rate = 0.25;
  manifest.training.momentum = 0.5;
  manifest.state_root_every = 2;
  const auto keys = SortedKeys(options_.n);
  for (std::uint32_t i = 0; i < options_.n; ++i) manifest.members[i].id = keys[i]->id();
  options_.edit(manifest);
  manifest_ = std::make_shared<const Manifest>(std::move(manifest));
  for (const auto& key : keys) {
    Node& node = nodes_.emplace_back();
    node.key = key;
    node.machine = MakeMachine(node);
  }
}

std::unique_ptr<Machine> Cluster::MakeMachine(Node& node) const {
  const auto initial = std::make_shared<const std::vector<float>>(options_.dimension, 0.0F);
  PeerOptions peer{manifest_, node.key, verifier_, {{"x", {options_.dimension}}}, initial};
  peer.credential = node.invited.credential;
  peer.anchor = node.invited.anchor;
  if (options_.plain) return MakePlainPeer(std::move(peer));
  if (!options_.records) return MakePeer(std::move(peer));
  const auto recorded = node.lives.recorded.emplace_back(std::make_shared<Node::Recorded>());
  recorded->head = wire::EncodeRecordingHead(HeadOf(peer, {}, "0"));
  return std::make_unique<RecordingMachine>(MakePeer(std::move(peer)), node.id(), recorded);
}

std::vector<wire::RecordedCall> Cluster::Node::Recorded::Calls() const {
  std::vector<wire::RecordedCall> calls;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    calls.push_back({wire::DecodeRecordedInput(turns[i]).value(),
                     wire::DecodeRecordedOutcome(outcomes.at(i)).value()});
  }
  return calls;
}

void Cluster::Start() {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    Feed(i, Started{SeedOf(i), nodes_[i].lives.starts++, nullptr, wishes[i]});
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (std::size_t j = 0; j < nodes_.size(); ++j) {
      if (j != i) Feed(i, LinkChanged{nodes_[j].id(), true});
    }
  }
}

std::size_t Cluster::Join(const std::shared_ptr<const crypto::SigningKey>& key,
                          const std::optional<wire::Credential>& credential,
                          std::shared_ptr<const wire::Block> anchor) {
  const std::size_t index = nodes_.size();
  Node& node = nodes_.emplace_back();
  node.key = key;
  node.invited.credential = credential;
  node.invited.anchor = std::move(anchor);
  node.machine = MakeMachine(node);
  Feed(index, Started{SeedOf(index), node.lives.starts++});
  LinkAll(index);
  return index;
}

void Cluster::LinkAll(std::size_t index) {
  for (std::size_t other = 0; other < nodes_.size(); ++other) {
    if (other == index || nodes_[other].machine == nullptr) continue;
    Feed(index, LinkChanged{nodes_[other].id(), true});
    Feed(other, LinkChanged{nodes_[index].id(), true});
  }
}

// --- crashes
// --------------------------------------------------------------------------------------

void Cluster::Kill(std::size_t index) {
  Node& node = nodes_[index];
  node.machine.reset();
  node.timers.clear();
  node.storing.clear();
  node.hanging.clear();
  std::erase_if(queue_, [index](const Event& event) { return event.node == index; });
  for (std::size_t other = 0; other < nodes_.size(); ++other) {
    if (other != index) Feed(other, LinkChanged{node.id(), false});
  }
}

void Cluster::Restart(std::size_t index) {
  Node& node = nodes_[index];
  OSTRAKA_CHECK(node.machine == nullptr);
  node.machine = MakeMachine(node);
  node.halted.reset();
  Feed(index, Started{SeedOf(index), node.lives.starts++, RestoredOf(index), wishes[index]});
  LinkAll(index);
}

std::shared_ptr<const Restored> Cluster::RestoredOf(std::size_t index) const {
  const auto& durable = nodes_[index].durable;
  if (durable.empty()) return nullptr;
  Restored restored;
  base::Bytes state_key;
  base::Bytes newest_block;
  for (const auto& [key, record] : durable) {
    if (key.first == RecordKind::kState) restored.state = record;
    if (key.first == RecordKind::kMember) restored.member = true;
    if (key.first == RecordKind::kAsks) restored.asks_since = HeightOfBlockKey(record.key);
    if (key.first == RecordKind::kHandover) restored.handover = record;
    if (key.first == RecordKind::kStatePart) restored.state_parts.push_back(record);
    if (key.first == RecordKind::kFork)
      restored.fork = std::string(record.value.begin(), record.value.end());
    if (key.first == RecordKind::kBlock) newest_block = key.second;
  }
  if (restored.state) state_key = restored.state->key;
  for (const auto& [key, record] : durable) {
    if (key.first == RecordKind::kBlock && key.second >= state_key) {
      restored.blocks.push_back(record);
    } else if (key.first == RecordKind::kResult &&
               base::Bytes(key.second.begin(), key.second.begin() + 8) >= state_key) {
      restored.results.push_back(record);
    } else if (key.first == RecordKind::kSlot &&
               (newest_block.empty() || key.second >= FirstSlotKept(newest_block))) {
      restored.slots.push_back(record);
    }
  }
  return std::make_shared<const Restored>(std::move(restored));
}

// --- driving
// --------------------------------------------------------------------------------------

std::vector<Action> Cluster::Feed(std::size_t index, const Input& input) {
  Node& node = nodes_[index];
  if (node.machine == nullptr) return {};
  Outbox out;
  node.machine->Step(now_, input, out);
  node.machine->CheckInvariants();
  for (const Action& action : out.actions()) Perform(index, action);
  return std::move(out.actions());
}

void Cluster::ExpectReplays() const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const auto& recorded : nodes_[i].lives.recorded) {
      const auto head = wire::DecodeRecordingHead(recorded->head);
      ASSERT_TRUE(head.ok()) << head.status();
      const std::vector<wire::RecordedCall> calls = recorded->Calls();
      const auto replayed = ReplayRecording(*head, manifest_, calls, {});
      ASSERT_TRUE(replayed.ok()) << "node " << i << ": " << replayed.status();
      EXPECT_EQ(replayed->difference.value_or(""), "") << "node " << i;
      // A member that was killed may have stored what it did not send.
      if (recorded == nodes_[i].lives.recorded.back()) {
        EXPECT_FALSE(replayed->ends_unsent) << "node " << i;
      }
      if (replayed->ends_unsent) continue;
      EXPECT_EQ(replayed->turns, calls.size()) << "node " << i;
    }
  }
}

void Cluster::Deliver(std::size_t to, std::size_t from, base::SharedBytes frame, SharedBlob blob) {
  queue_.push_back({to, MessageReceived{nodes_[from].id(), std::move(frame), std::move(blob)}});
}

Cluster::Event Cluster::TakeNext() {
  std::size_t at = 0;
  if (disorder) {
    at = disorder->Below(queue_.size());
    const bool message = std::holds_alternative<MessageReceived>(queue_[at].input);
    if (message && disorder->Chance(1, 3)) return queue_[at];  // and once more later
  }
  Event event = std::move(queue_[at]);
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(at));
  return event;
}

void Cluster::Run() {
  for (std::size_t i = 0; !queue_.empty(); ++i) {
    const Event event = TakeNext();
    Feed(event.node, event.input);
    if (i > kMaxDeliveries) {
      ADD_FAILURE() << "the machines talk for ever";
      return;
    }
  }
}

void Cluster::RunSome(std::size_t deliveries) {
  for (; deliveries > 0 && !queue_.empty(); --deliveries) {
    const Event event = TakeNext();
    Feed(event.node, event.input);
  }
}

void Cluster::RunToEnd() {
  RunUntil([] { return false; });
}

void Cluster::RunUntil(const std::function<bool()>& done) {
  const Time until = now_ + kPatience;
  std::size_t deliveries = 0;
  while (!done() && now_ < until) {
    if (queue_.empty()) {
      if (!FireNextTimer()) return;
      deliveries = 0;
      continue;
    }
    now_ = now_ + delivery_takes;
    RunSome(1);
    if (++deliveries > kMaxDeliveries) {
      ADD_FAILURE() << "the machines talk for ever";
      return;
    }
  }
}

bool Cluster::FireNextTimer() {
  Node* next = nullptr;
  TimerId id = 0;
  for (Node& node : nodes_) {
    if (node.halted) continue;
    for (const auto& [timer, at] : node.timers) {
      if (next != nullptr && next->timers.at(id) <= at) continue;
      next = &node;
      id = timer;
    }
  }
  if (next == nullptr) return false;
  now_ = std::max(now_, next->timers.at(id));
  next->timers.erase(id);
  Feed(static_cast<std::size_t>(next - nodes_.data()), TimerFired{id});
  return true;
}

void Cluster::Perform(std::size_t index, const Action& action) {
  Node& node = nodes_[index];
  if (const auto* sent = std::get_if<Send>(&action)) {
    Send send = *sent;
    send.blob = crypto::InMemory(std::move(send.blob));
    CheckSend(node, send);
    if (on_send && !on_send(index, send)) return;
    Deliver(IndexOf(send.to), index, send.frame, send.blob);
  } else if (const auto* timer = std::get_if<SetTimer>(&action)) {
    node.timers[timer->id] = timer->at;
  } else if (const auto* cancel = std::get_if<CancelTimer>(&action)) {
    node.timers.erase(cancel->id);
  } else if (const auto* store = std::get_if<Store>(&action)) {
    PerformStore(node, index, *store);
  } else if (const auto* job = std::get_if<StartJob>(&action)) {
    auto result = std::make_shared<JobResult>(RunJob(
        *job->spec,
        [](const GradientSpec& spec) -> base::StatusOr<std::vector<float>> {
          return ToyGradient(spec);
        },
        aggregation::SerialExecutor()));
    if (on_job) on_job(index, *job->spec, *result);
    JobDone done{job->id, std::move(result)};
    if (job_hangs && job_hangs(index, *job->spec)) {
      node.hanging.push_back(std::move(done));
    } else {
      queue_.push_back({index, std::move(done)});
    }
  } else if (const auto* observe = std::get_if<Observe>(&action)) {  // what stops comes back too
    Note(node, observe->what);
  }
}

void Cluster::CheckSend(const Node& node, const Send& send) const {
  ASSERT_NE(send.to, node.id()) << "a machine sent to itself";
  ASSERT_LE(send.frame->size(), wire::kMaxFrameBytes);
  if (options_.plain) return;
  const auto opened = wire::Open(send.frame);
  ASSERT_TRUE(opened.ok()) << base::MessageOf(opened.status());
  const wire::Envelope& envelope = opened->envelope;
  if (wire::IsService(envelope.slot.type)) {
    ASSERT_EQ(envelope.sender, node.id());
    return;
  }
  ASSERT_TRUE(verifier_->Verify(envelope.sender, opened->digest, opened->signature));
  if (envelope.sender != node.id()) return;  // passed on
  const auto record = node.durable.find({RecordKind::kSlot, SlotKey(envelope.slot)});
  ASSERT_NE(record, node.durable.end()) << "sent before its slot record was stored";
  ASSERT_EQ(record->second.value, *wire::EncodeUnsigned(envelope));
  if (opened->envelope.slot.type == wire::MessageType::kProof) {
    const auto proof = wire::Decode<wire::Proof>(opened->envelope.body);
    ASSERT_TRUE(proof.ok()) << base::MessageOf(proof.status());
  }
}

void Cluster::PerformStore(Node& node, std::size_t index, const Store& store) {
  node.storing[store.id] = store.records;
  if (!disk_hangs || !disk_hangs(index)) ReleaseStores(index);
}

void Cluster::ReleaseStores(std::size_t index) {
  Node& node = nodes_[index];
  for (auto& [id, records] : node.storing) {
    for (Record& record : records) KeepRecord(node, HeldInMemory(std::move(record)));
    queue_.push_back({index, Stored{id}});
  }
  node.storing.clear();
}

void Cluster::ReleaseJobs(std::size_t index) {
  for (JobDone& done : std::exchange(nodes_[index].hanging, {})) {
    queue_.push_back({index, std::move(done)});
  }
}

void Cluster::KeepRecord(Node& node, Record record) {
  const auto [at, fresh] = node.durable.try_emplace({record.kind, record.key}, record);
  if (record.kind == RecordKind::kResult || record.kind == RecordKind::kStatePart ||
      record.kind == RecordKind::kState) {
    at->second = record;  // the last one counts
  }
  EXPECT_TRUE(fresh || record.kind != RecordKind::kSlot) << "a slot was prepared twice";
  EXPECT_EQ(at->second.value, record.value) << "a key got another value";
  EXPECT_EQ(at->second.blob == nullptr, record.blob == nullptr);
  if (record.blob != nullptr) {
    EXPECT_EQ(at->second.blob->data, record.blob->data);
  }
  if (record.kind == RecordKind::kBlock) {
    node.encoded_blocks[record.key] = record.value;
  } else if (record.kind == RecordKind::kEvidence) {
    ++node.evidence_stored;
  }
}

void Cluster::Note(Node& node, const Observation& what) {
  if (const auto* done = std::get_if<StepDone>(&what)) {
    node.blocks.push_back(done->block);
    node.states.push_back(done->state);
  } else if (const auto* resumed = std::get_if<Resumed>(&what)) {
    node.resumed.push_back(*resumed);
  } else if (const auto* suspicion = std::get_if<Suspicion>(&what)) {
    node.suspicions.push_back(*suspicion);
  } else if (const auto* started = std::get_if<StepStarted>(&what)) {
    node.started.push_back(*started);
  } else if (const auto* slow = std::get_if<SlowSeal>(&what)) {
    node.slow_seals.push_back(*slow);
  } else if (const auto* away = std::get_if<Away>(&what)) {
    EXPECT_EQ(away->reason.find('\n'), std::string::npos);
    node.away.push_back(*away);
  } else if (const auto* barred = std::get_if<Barred>(&what)) {
    node.barred.push_back(*barred);
  } else if (const auto* back = std::get_if<Back>(&what)) {
    node.back.push_back(*back);
  } else if (const auto* halted = std::get_if<Halted>(&what)) {
    EXPECT_FALSE(node.halted) << "halted twice";
    EXPECT_EQ(halted->reason.find('\n'), std::string::npos);
    node.halted = *halted;
  }
}

std::size_t Cluster::IndexOf(const PeerId& id) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].id() == id) return i;
  }
  OSTRAKA_CHECK(false);
}

std::string Cluster::NotHaltedAs(Halted::Why why) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].halted) return "node " + std::to_string(i) + " runs";
    if (nodes_[i].halted->why != why) {
      return "node " + std::to_string(i) + ": " + nodes_[i].halted->reason;
    }
  }
  return "";
}

void Cluster::ExpectAgreement(const std::vector<std::size_t>& nodes) const {
  const Node& first = nodes_[nodes.front()];
  std::map<std::uint64_t, ModelState> states;  // by step
  ASSERT_FALSE(first.blocks.empty());
  for (const std::size_t i : nodes) {
    const Node& other = nodes_[i];
    EXPECT_EQ(other.encoded_blocks, first.encoded_blocks) << "node " << i;
    ASSERT_FALSE(other.blocks.empty()) << "node " << i;
    EXPECT_EQ(other.blocks.back()->step, first.blocks.back()->step) << "node " << i;
    for (std::size_t k = 0; k < other.blocks.size(); ++k) {
      if (other.blocks[k]->genesis) continue;
      const std::uint64_t step = other.blocks[k]->step;
      const ModelState& expected = states.try_emplace(step, other.states[k]).first->second;
      EXPECT_EQ(*other.states[k].parameters, *expected.parameters) << "node " << i << " " << step;
      EXPECT_EQ(*VelocityOf(other.states[k]), *VelocityOf(expected)) << "node " << i << " " << step;
    }
  }
}

void Cluster::ExpectAgreement() const {
  std::vector<std::size_t> all(nodes_.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  ExpectAgreement(all);
}

wire::Envelope EnvelopeOf(const base::SharedBytes& frame) {
  auto opened = wire::Open(frame);
  OSTRAKA_CHECK(opened.ok());
  return std::move(opened)->envelope;
}

base::SharedBytes Resigned(const base::SharedBytes& frame, const crypto::SigningKey& key,
                           const std::function<void(wire::Envelope&)>& edit) {
  wire::Envelope envelope = EnvelopeOf(frame);
  edit(envelope);
  envelope.sender = key.id();
  return wire::Seal(std::move(envelope), key).frame;
}

}  // namespace ostraka::protocol::scene

#include "tests/unit/protocol/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/signer.h"
#include "node/wire/limits.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

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

Cluster::Cluster(ClusterOptions options)
    : options_(std::move(options)), verifier_(std::make_shared<MemoVerifier>()) {
  Manifest manifest = ManifestOf(options_.n);
  manifest.training.steps = options_.steps;
  manifest.training.settle_steps = 1;
  manifest.training.learning_rate = 0.25;
  manifest.training.momentum = 0.5;
  manifest.state_root_every = 2;
  const auto keys = SortedKeys(options_.n);
  for (std::uint32_t i = 0; i < options_.n; ++i) manifest.members[i].id = keys[i]->id();
  options_.edit(manifest);
  manifest_ = std::make_shared<const Manifest>(std::move(manifest));
  const auto initial = std::make_shared<const std::vector<float>>(options_.dimension, 0.0F);
  for (const auto& key : keys) {
    PeerOptions peer{manifest_, key, verifier_, {{"x", {options_.dimension}}}, initial};
    Node& node = nodes_.emplace_back();
    node.key = key;
    node.machine = options_.plain ? MakePlainPeer(std::move(peer)) : MakePeer(std::move(peer));
  }
}

void Cluster::Start() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) Feed(i, Started{DigestOf(900 + i)});
}

std::vector<Action> Cluster::Feed(std::size_t index, const Input& input) {
  Outbox out;
  nodes_[index].machine->Step(now_, input, out);
  nodes_[index].machine->CheckInvariants();
  for (const Action& action : out.actions()) Perform(index, action);
  return std::move(out.actions());
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
  while (!queue_.empty()) {
    const Event event = TakeNext();
    Feed(event.node, event.input);
  }
}

void Cluster::RunToEnd() {
  for (Run();; Run()) {
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
    if (next == nullptr) return;
    now_ = std::max(now_, next->timers.at(id));
    next->timers.erase(id);
    Feed(static_cast<std::size_t>(next - nodes_.data()), TimerFired{id});
  }
}

void Cluster::Perform(std::size_t index, const Action& action) {
  Node& node = nodes_[index];
  if (const auto* send = std::get_if<Send>(&action)) {
    CheckSend(node, *send);
    if (on_send && !on_send(index, *send)) return;
    Deliver(IndexOf(send->to), index, send->frame, send->blob);
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
    queue_.push_back({index, JobDone{job->id, std::move(result)}});
  } else {
    Note(node, std::get<Observe>(action).what);
  }
}

void Cluster::CheckSend(const Node& node, const Send& send) const {
  ASSERT_NE(send.to, node.id()) << "a machine sent to itself";
  ASSERT_LE(send.frame->size(), wire::kMaxFrameBytes);
  if (options_.plain) return;
  const auto opened = wire::Open(send.frame);
  ASSERT_TRUE(opened.ok()) << base::MessageOf(opened.status());
  ASSERT_EQ(opened->envelope.sender, node.id());
  const auto record = node.durable.find(SlotKey(opened->envelope.slot));
  ASSERT_NE(record, node.durable.end()) << "sent before its slot record was stored";
  const auto& digest = opened->digest.bytes;
  ASSERT_EQ(record->second, base::Bytes(digest.begin(), digest.end()));
  if (opened->envelope.slot.type == wire::MessageType::kProof) {
    const auto proof = wire::DecodeProof(opened->envelope.body);
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
    for (Record& record : records) {
      if (record.kind == RecordKind::kSlot) {
        const bool fresh = node.durable.emplace(record.key, std::move(record.value)).second;
        EXPECT_TRUE(fresh) << "a slot was prepared twice";
      } else if (record.kind == RecordKind::kBlock) {
        node.encoded_blocks.push_back(std::move(record.value));
      } else {
        ++node.evidence_stored;
      }
    }
    queue_.push_back({index, Stored{id}});
  }
  node.storing.clear();
}

void Cluster::Note(Node& node, const Observation& what) {
  if (const auto* done = std::get_if<StepDone>(&what)) {
    node.blocks.push_back(done->block);
    node.states.push_back(done->state);
  } else if (const auto* suspicion = std::get_if<Suspicion>(&what)) {
    node.suspicions.push_back(*suspicion);
  } else if (const auto* started = std::get_if<StepStarted>(&what)) {
    node.started.push_back(*started);
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
  for (const std::size_t i : nodes) {
    const Node& other = nodes_[i];
    EXPECT_EQ(other.encoded_blocks, first.encoded_blocks) << "node " << i;
    ASSERT_EQ(other.states.size(), first.states.size()) << "node " << i;
    for (std::size_t step = 0; step < first.states.size(); ++step) {
      EXPECT_EQ(*other.states[step].parameters, *first.states[step].parameters);
      EXPECT_EQ(*other.states[step].velocity, *first.states[step].velocity);
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

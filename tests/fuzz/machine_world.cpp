#include "tests/fuzz/machine_world.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "aggregation/kernels/rows.h"
#include "node/base/check.h"
#include "node/protocol/ground/stored_state.h"
#include "node/protocol/mail/signer.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"

namespace ostraka::fuzz {
namespace {

using base::Bytes;
using base::PeerId;
using wire::MessageType;

constexpr std::uint64_t kDimension = 16;

std::vector<std::shared_ptr<const crypto::SigningKey>> SortedKeys() {
  std::vector<std::shared_ptr<const crypto::SigningKey>> keys;
  for (std::size_t i = 0; i < kMembers; ++i) {
    const Bytes seed(crypto::SigningKey::kSeedSize, static_cast<std::uint8_t>(i + 1));
    keys.push_back(std::make_shared<const crypto::SigningKey>(crypto::SigningKey::FromSeed(seed)));
  }
  std::sort(keys.begin(), keys.end(),
            [](const auto& a, const auto& b) { return a->id() < b->id(); });
  return keys;
}

protocol::Manifest ShortRun(const std::vector<PeerId>& members, std::uint64_t steps) {
  protocol::Manifest manifest;
  manifest.run_id.bytes.fill(0x5a);
  for (const PeerId& member : members) manifest.members.push_back({member, ""});
  manifest.training.model = "toy";
  manifest.training.data = "toy";
  manifest.training.settle_steps = 5;
  manifest.training.steps = steps + manifest.training.settle_steps;
  manifest.training.steps_after_ban = 1;
  manifest.probation = 3;
  manifest.training.warmup_steps = 0;
  manifest.state_root_every = 2;
  return manifest;
}

// A quadratic around 1 with noise from the batch.
base::StatusOr<std::vector<float>> Gradient(const protocol::GradientSpec& spec) {
  std::vector<float> gradient;
  for (std::size_t i = 0; i < spec.parameters->size(); ++i) {
    const int noise = spec.batch_seed.bytes[i % base::Digest::kSize] - 128;
    gradient.push_back((*spec.parameters)[i] - 1.0F + static_cast<float>(noise) / 512.0F);
  }
  return gradient;
}

std::uint64_t BigEndian(base::ByteView bytes) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

// The slot that protocol::SlotKey encodes.
wire::Slot SlotOfKey(const Bytes& key, const base::Digest& run_id) {
  const base::ByteView view(key);
  const wire::Slot slot = {
      .run_id = run_id,
      .incarnation = static_cast<std::uint32_t>(BigEndian(view.subspan(18, 4))),
      .step = BigEndian(view.subspan(0, 8)),
      .phase = static_cast<wire::Phase>(key[8]),
      .type = static_cast<MessageType>(key[9]),
      .draw = static_cast<std::uint32_t>(BigEndian(view.subspan(10, 4))),
      .iteration = static_cast<std::uint32_t>(BigEndian(view.subspan(14, 4)))};
  OSTRAKA_CHECK(protocol::SlotKey(slot) == key);
  return slot;
}

}  // namespace

// Knows every signature that was made here. No other can be valid unless Ed25519 is broken, and a
// look-up costs a hundredth of a check.
class MachineWorld::Notary final : public crypto::Verifier {
 public:
  void Note(const wire::SignedEnvelope& message) {
    signed_.emplace(message.envelope.sender, message.digest, message.signature);
  }
  bool Verify(const PeerId& signer, const base::Digest& digest,
              const crypto::Signature& signature) override {
    return signed_.contains({signer, digest, signature});
  }

 private:
  std::set<std::tuple<PeerId, base::Digest, crypto::Signature>> signed_;
};

MachineWorld::MachineWorld(Cheat& cheat, std::uint64_t steps)
    : cheat_(cheat), notary_(std::make_shared<Notary>()) {
  static const auto keys = SortedKeys();
  for (const auto& key : keys) members_.push_back(key->id());
  manifest_ = std::make_shared<const protocol::Manifest>(ShortRun(members_, steps));
  for (std::size_t i = 0; i < kMembers; ++i) nodes_[i].key = keys[i];
  for (std::size_t i = 0; i < kMembers; ++i) StartMachine(i, nullptr);
}

void MachineWorld::StartMachine(std::size_t index,
                                std::shared_ptr<const protocol::Restored> restored) {
  Node& node = nodes_[index];
  const auto initial = std::make_shared<const std::vector<float>>(kDimension, 0.0F);
  node.machine = protocol::MakePeer({manifest_, node.key, notary_, {{"x", {kDimension}}}, initial});
  base::Digest seed;
  seed.bytes.fill(static_cast<std::uint8_t>(index + 1));
  Feed(index, protocol::Started{seed, node.starts++, std::move(restored)});
}

MachineWorld::~MachineWorld() = default;

// --- what the fuzzer decides ---------------------------------------------------------------------

void MachineWorld::Deliver(std::size_t index) {
  const Event event = std::move(queue_[index]);
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(index));
  Feed(event.to, event.input);
}

void MachineWorld::DeliverAgain(std::size_t index) {
  const Event event = queue_[index];
  if (std::holds_alternative<protocol::MessageReceived>(event.input)) Feed(event.to, event.input);
}

void MachineWorld::Lose(std::size_t index) {
  if (!std::holds_alternative<protocol::MessageReceived>(queue_[index].input)) return;
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(index));
}

void MachineWorld::DeliverAll() {
  while (!queue_.empty()) Deliver(0);
}

void MachineWorld::FireTimer(std::size_t member) {
  auto& timers = nodes_[member].timers;
  const auto first =
      std::min_element(timers.begin(), timers.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (first == timers.end()) return;
  const protocol::TimerId id = first->first;
  now_ = std::max(now_, first->second);
  timers.erase(first);
  Feed(member, protocol::TimerFired{id});
}

void MachineWorld::ChangeLink(std::size_t member, std::size_t other, bool up) {
  if (member != other) Feed(member, protocol::LinkChanged{members_[other], up});
}

void MachineWorld::Restart(std::size_t member, bool with_store) {
  if (member == kCheat) return;
  Node& node = nodes_[member];
  std::erase_if(queue_, [member](const Event& event) { return event.to == member; });
  node.timers.clear();
  if (!with_store && !WouldBeTheLastStore(member)) {
    node.store.clear();
    node.lost_its_store = true;
    std::erase_if(node.slots, [this](const auto& said) {
      return wire::MayBeSaidAnew(SlotOfKey(said.first, manifest_->run_id));
    });
  }
  StartMachine(member, RestoredOf(node));
  for (std::size_t other = 0; other < kMembers; ++other) {
    ChangeLink(other, member, true);
    ChangeLink(member, other, true);
  }
}

// Of honest members. A run whose stores are all lost cannot be told from one that never began.
bool MachineWorld::WouldBeTheLastStore(std::size_t member) const {
  for (std::size_t other = 0; other < kMembers; ++other) {
    const bool keeps = other != kCheat && other != member && !nodes_[other].lost_its_store;
    if (keeps) return false;
  }
  return true;
}

std::shared_ptr<const protocol::Restored> MachineWorld::RestoredOf(const Node& node) const {
  using protocol::RecordKind;
  if (node.store.empty()) return nullptr;
  auto restored = std::make_shared<protocol::Restored>();
  Bytes state_key;
  Bytes newest_block;
  for (const auto& [key, record] : node.store) {
    if (key.first == RecordKind::kState) restored->state = record;
    if (key.first == RecordKind::kMember) restored->member = true;
    if (key.first == RecordKind::kAsks)
      restored->asks_since = protocol::HeightOfBlockKey(record.key);
    if (key.first == RecordKind::kHandover) restored->handover = record;
    if (key.first == RecordKind::kStatePart) restored->state_parts.push_back(record);
    if (key.first == RecordKind::kFork)
      restored->fork = std::string(record.value.begin(), record.value.end());
    if (key.first == RecordKind::kBlock) newest_block = key.second;
  }
  if (restored->state) state_key = restored->state->key;
  for (const auto& [key, record] : node.store) {
    const auto& [kind, name] = key;
    if (kind == RecordKind::kBlock && name >= state_key) restored->blocks.push_back(record);
    // A result's key begins with its block's.
    if (kind == RecordKind::kResult && Bytes(name.begin(), name.begin() + 8) >= state_key) {
      restored->results.push_back(record);
    }
    if (kind == RecordKind::kSlot &&
        (newest_block.empty() || name >= protocol::FirstSlotKept(newest_block))) {
      restored->slots.push_back(record);
    }
  }
  return restored;
}

void MachineWorld::Inject(std::size_t to, std::size_t from, base::SharedBytes frame,
                          crypto::SharedBlob blob) {
  Feed(to, protocol::MessageReceived{members_[from], std::move(frame), std::move(blob)});
}

base::SharedBytes MachineWorld::SignAsCheat(wire::Envelope envelope) {
  envelope.sender = members_[kCheat];
  if (wire::IsService(envelope.slot.type)) return wire::EncodeService(envelope);
  const wire::SignedEnvelope message = wire::Seal(std::move(envelope), *nodes_[kCheat].key);
  notary_->Note(message);
  return message.frame;
}

// --- driving -------------------------------------------------------------------------------------

void MachineWorld::Feed(std::size_t index, const protocol::Input& input) {
  protocol::Outbox out;
  nodes_[index].machine->Step(now_, input, out);
  nodes_[index].machine->CheckInvariants();
  for (protocol::Action& action : out.actions()) Perform(index, action);
}

void MachineWorld::Perform(std::size_t index, protocol::Action& action) {
  if (const auto* send = std::get_if<protocol::Send>(&action)) return PerformSend(index, *send);
  if (const auto* store = std::get_if<protocol::Store>(&action)) return PerformStore(index, *store);
  if (const auto* job = std::get_if<protocol::StartJob>(&action)) return PerformJob(index, *job);
  if (const auto* timer = std::get_if<protocol::SetTimer>(&action)) {
    nodes_[index].timers[timer->id] = timer->at;
  } else if (const auto* cancel = std::get_if<protocol::CancelTimer>(&action)) {
    nodes_[index].timers.erase(cancel->id);
  } else if (std::holds_alternative<protocol::StopJob>(action)) {
    return;  // it comes back all the same
  } else {
    Note(index, std::get<protocol::Observe>(action).what);
  }
}

void MachineWorld::PerformSend(std::size_t index, const protocol::Send& send) {
  OSTRAKA_CHECK(send.frame->size() <= wire::kMaxFrameBytes);
  if (send.to == members_[index]) return;  // nobody's address, as in a real driver
  Hear(index, send);
  queue_.push_back({IndexOf(send.to), protocol::MessageReceived{members_[index], send.frame,
                                                                crypto::InMemory(send.blob)}});
  TryForge();
}

void MachineWorld::Hear(std::size_t index, const protocol::Send& send) {
  const bool same_as_last = !heard_.empty() && heard_.back().frame == send.frame;
  Heard heard{IndexOf(send.to), {}, send.frame, crypto::InMemory(send.blob)};
  if (same_as_last) {
    heard.envelope = heard_.back().envelope;
  } else {
    const auto opened = wire::Open(send.frame);
    OSTRAKA_CHECK(opened.ok());
    heard.envelope = opened->envelope;
    const bool own = heard.envelope.sender == members_[index];
    if (wire::IsService(heard.envelope.slot.type)) {
      OSTRAKA_CHECK(own);
    } else if (own) {
      notary_->Note(*opened);
    } else {  // forwarded, as its author signed it
      OSTRAKA_CHECK(notary_->Verify(heard.envelope.sender, opened->digest, opened->signature));
    }
  }
  heard_.push_back(std::move(heard));
  if (heard_.size() > kMemory) heard_.pop_front();
}

void MachineWorld::PerformStore(std::size_t index, const protocol::Store& store) {
  Node& node = nodes_[index];
  std::vector<wire::Slot> slots;
  for (const protocol::Record& stored : store.records) {
    const protocol::Record record = protocol::HeldInMemory(stored);
    node.store.insert_or_assign({record.kind, record.key}, record);
    if (record.kind == protocol::RecordKind::kSlot) {
      NoteSlot(index, record);
      slots.push_back(SlotOfKey(record.key, manifest_->run_id));
    } else if (record.kind == protocol::RecordKind::kEvidence) {
      evidence_.push_back(record.value);
    } else if (record.kind == protocol::RecordKind::kBlock && index != kCheat) {
      OSTRAKA_CHECK(chain_.emplace(record.key, record.value).first->second == record.value);
    }
  }
  if (index == kCheat && !slots.empty() && cheat_.WantsToForge(slots.front())) {
    // The inner machine must not sign its own message, so it never gets Stored.
    to_forge_.insert(to_forge_.end(), slots.begin(), slots.end());
    return TryForge();
  }
  queue_.push_back({index, protocol::Stored{store.id}});
}

// One body for each slot, whatever became of the store, except for messages that may be signed
// again without it.
void MachineWorld::NoteSlot(std::size_t index, const protocol::Record& record) {
  const auto [said, fresh] = nodes_[index].slots.emplace(record.key, record.value);
  OSTRAKA_CHECK(fresh || said->second == record.value);
}

void MachineWorld::PerformJob(std::size_t index, const protocol::StartJob& job) {
  protocol::JobResult result = protocol::RunJob(*job.spec, Gradient, aggregation::SerialExecutor());
  if (index == kCheat) cheat_.OnJob(result);
  queue_.push_back({index, protocol::JobDone{job.id, std::make_shared<const protocol::JobResult>(
                                                         std::move(result))}});
}

void MachineWorld::Note(std::size_t index, const protocol::Observation& what) {
  if (index == kCheat) return;
  if (const auto* started = std::get_if<protocol::StepStarted>(&what)) {
    step_ = std::max(step_, started->step);
  } else if (const auto* done = std::get_if<protocol::StepDone>(&what)) {
    NoteBlock(*done->block);
  } else if (const auto* suspicion = std::get_if<protocol::Suspicion>(&what)) {
    OSTRAKA_CHECK(suspicion->reason.find('\n') == std::string::npos);
  } else if (const auto* halted = std::get_if<protocol::Halted>(&what)) {
    using Why = protocol::Halted::Why;
    OSTRAKA_CHECK(!within_bound_ || halted->why == Why::kFinished || halted->why == Why::kStalled);
  }
}

void MachineWorld::NoteBlock(const wire::Block& block) {
  for (const wire::Removal& removal : block.removals) {
    OSTRAKA_CHECK(!within_bound_ || removal.peer == members_[kCheat] || !wire::IsBan(removal.kind));
  }
  const bool cheats =
      std::binary_search(block.members.begin(), block.members.end(), members_[kCheat]);
  const std::uint32_t borne = std::max(block.thresholds.t_s, block.thresholds.t_a);
  if (cheats && borne == 0) within_bound_ = false;
}

// --- the cheat -----------------------------------------------------------------------------------

void MachineWorld::TryForge() {
  for (std::size_t i = 0; i < to_forge_.size();) {
    const wire::Slot slot = to_forge_[i];
    const auto honest = std::find_if(heard_.rbegin(), heard_.rend(), [&](const Heard& heard) {
      const wire::Slot& other = heard.envelope.slot;
      return heard.envelope.sender != members_[kCheat] && other.step == slot.step &&
             other.phase == slot.phase && other.type == slot.type && other.draw == slot.draw &&
             (slot.type != MessageType::kPart || other.iteration == slot.iteration);
    });
    if (honest == heard_.rend()) {
      ++i;
      continue;
    }
    to_forge_.erase(to_forge_.begin() + static_cast<std::ptrdiff_t>(i));
    SendForged(slot, Heard(*honest));
  }
}

void MachineWorld::SendForged(const wire::Slot& slot, const Heard& honest) {
  wire::Envelope envelope = honest.envelope;
  envelope.slot = slot;
  envelope.body = cheat_.Forge(honest.envelope);
  const base::SharedBytes frame = SignAsCheat(std::move(envelope));
  // A PART goes to its aggregator, other messages to all, and to the inner machine as if they were
  // its own.
  for (std::size_t to = 0; to < kMembers; ++to) {
    if (slot.type == MessageType::kPart && to != honest.to) continue;
    queue_.push_back({to, protocol::MessageReceived{members_[kCheat], frame, honest.blob}});
  }
}

std::size_t MachineWorld::IndexOf(const PeerId& id) const {
  const auto at = std::find(members_.begin(), members_.end(), id);
  OSTRAKA_CHECK(at != members_.end());
  return static_cast<std::size_t>(at - members_.begin());
}

}  // namespace ostraka::fuzz

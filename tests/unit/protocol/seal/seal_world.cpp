#include "tests/unit/protocol/seal/seal_world.h"

#include <algorithm>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/seal/seal_world_node.h"

namespace ostraka::protocol::scene {

using State = SealEntry::State;
using wire::MessageType;
using wire::PullKind;

World::World(WorldOptions options) : options_(std::move(options)), rng_(options_.seed) {
  for (std::uint32_t i = 0; i < options_.n; ++i) members_.push_back(PeerNumber(i));
  for (std::uint32_t i = 0; i < nodes(); ++i) {
    auto node = std::make_unique<Node>();
    node->number = i;
    node->id = PeerNumber(i);
    nodes_.push_back(std::move(node));
    Time enters{rng_.Between(0, options_.entry_skew.ns)};
    if (options_.late_openers.contains(i)) {
      enters = enters + Duration{rng_.Between(0, options_.lateness.ns)};
    }
    // A muted member sends nothing and hears nothing.
    if (i < options_.n && options_.muted_members.contains(i)) continue;
    At(enters, [this, i] { Enter(i); });
  }
}

World::~World() = default;

void World::At(Time at, std::function<void()> what) {
  events_.push({std::max(at, now_), next_order_++, std::move(what)});
}

void World::Run(Time until) {
  while (!events_.empty() && events_.top().at <= until && violation_.empty()) {
    Event event = events_.top();
    events_.pop();
    now_ = event.at;
    event.what();
    const bool done = std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& node) {
      const bool is_muted = options_.muted_members.contains(node->number);
      return !IsHonest(node->number) || is_muted || (node->up && node->decided_at);
    });
    if (done) return;
  }
}

// --- names ---------------------------------------------------------------------------------------

const PeerId& World::IdOf(std::uint32_t node) const { return nodes_[node]->id; }
const Seal* World::SealOf(std::uint32_t node) const { return nodes_[node]->seal.get(); }
std::optional<Time> World::DecidedAt(std::uint32_t node) const { return nodes_[node]->decided_at; }
std::optional<Time> World::EchoedAt(std::uint32_t node) const { return nodes_[node]->echoed_at; }
const SealVector* World::EchoedVector(std::uint32_t node) const {
  return nodes_[node]->echoed ? &*nodes_[node]->echoed : nullptr;
}

Digest World::MessageOf(std::uint32_t node, std::size_t entry) const {
  return DigestOf(1000 + entry * 1000 + node);
}

Script World::ScriptOf(std::uint32_t node) const {
  const auto found = options_.scripts.find(node);
  return IsHonest(node) || found == options_.scripts.end() ? Script{} : found->second;
}

std::optional<std::uint32_t> World::NumberOf(const PeerId& id) const {
  for (const auto& node : nodes_) {
    if (node->id == id) return node->number;
  }
  return std::nullopt;
}

Time World::LastHonestEcho() const {
  Time last;
  for (const auto& node : nodes_) {
    if (node->number < options_.n && IsHonest(node->number) && node->echoed_at)
      last = std::max(last, *node->echoed_at);
  }
  return last;
}

Time World::FirstHonestEcho() const {
  Time first{INT64_MAX};
  for (const auto& node : nodes_) {
    if (node->number < options_.n && IsHonest(node->number) && node->echoed_at) {
      first = std::min(first, *node->echoed_at);
    }
  }
  return first;
}

// --- signing and sending -------------------------------------------------------------------------

wire::SignedEnvelope World::Sign(std::uint32_t node, MessageType type, std::uint32_t iteration,
                                 base::Bytes body) {
  wire::SignedEnvelope message;
  message.envelope.slot = {.run_id = DigestOf(1),
                           .incarnation = 0,
                           .step = 1,
                           .phase = options_.entries_each == 2 ? wire::Phase::kA : wire::Phase::kB,
                           .type = type,
                           .draw = 0,
                           .iteration = iteration};
  message.envelope.entry = DigestOf(2);
  message.envelope.sender = IdOf(node);
  message.envelope.body = std::move(body);
  message.body = wire::DecodeBody(type, message.envelope.body);
  crypto::Hasher hasher(crypto::kDomainEnvelope);
  hasher.UpdateU64(static_cast<std::uint64_t>(type))
      .UpdateU64(iteration)
      .Update(message.envelope.sender.view())
      .Update(message.envelope.body);
  message.digest = hasher.Finish();
  message.frame =
      std::make_shared<const base::Bytes>(message.digest.bytes.begin(), message.digest.bytes.end());
  signed_.emplace(message.frame.get(), message);
  return message;
}

const wire::SignedEnvelope& World::MessageIn(const base::SharedBytes& frame) const {
  return signed_.at(frame.get());
}

void World::Send(std::uint32_t from, std::uint32_t to, std::function<void()> what) {
  ++sent_;
  Duration delay{rng_.Between(options_.delay_min.ns, options_.delay_max.ns)};
  if (options_.network) {
    const auto drawn = options_.network(from, to, now_, rng_);
    if (!drawn) return;
    delay = *drawn;
  }
  const std::uint64_t life = nodes_[to]->life;
  At(now_ + delay, [this, to, life, what = std::move(what)] {
    if (nodes_[to]->life == life) what();
  });
}

void World::Deliver(std::uint32_t to, const wire::SignedEnvelope& message) {
  Node& node = *nodes_[to];
  if (!node.seal) {
    node.waiting.push_back(message);
    return;
  }
  SealOutput out;
  node.seal->OnMessage(now_, message, out);
  const bool help = (message.envelope.slot.type == MessageType::kStatus ||
                     message.envelope.slot.type == MessageType::kClose) &&
                    message.envelope.sender != node.id && IsHonest(to);
  if (help) {
    const auto stuck = NumberOf(message.envelope.sender);
    for (const base::SharedBytes& frame : node.seal->Certificate()) {
      const wire::SignedEnvelope proof = MessageIn(frame);
      Send(to, *stuck, [this, stuck, proof] { Deliver(*stuck, proof); });
    }
  }
  AfterInput(to, std::move(out));
}

void World::Broadcast(std::uint32_t from, const wire::SignedEnvelope& message) {
  for (std::uint32_t to = 0; to < nodes(); ++to) {
    if (to == from) continue;
    Send(from, to, [this, to, message] { Deliver(to, message); });
  }
}

// --- the phase -----------------------------------------------------------------------------------

void World::Enter(std::uint32_t number) {
  Node& node = *nodes_[number];
  node.up = true;
  node.entered = now_;
  MakeSeal(number);
  const std::uint64_t life = node.life;
  if (number < options_.n && options_.publish_spread == Duration{}) Publish(number);
  if (number < options_.n && options_.publish_spread > Duration{}) {
    At(now_ + Duration{rng_.Between(0, options_.publish_spread.ns)}, [this, number, life] {
      if (nodes_[number]->life == life) Publish(number);
    });
  }
  const Duration later{rng_.Between(0, options_.deadline_spread.ns)};
  At(now_ + options_.deadline + later, [this, number, life] {
    Node& late = *nodes_[number];
    if (late.life != life || late.seal->wait_ended()) return;
    SealOutput out;
    late.seal->Echo(now_, CloseTime::kWithEcho, out);
    AfterInput(number, std::move(out));
  });
  const auto waiting = std::move(node.waiting);
  node.waiting.clear();
  for (const wire::SignedEnvelope& message : waiting) Deliver(number, message);
  Open(number);
  CompleteMaybe(number);
}

void World::Open(std::uint32_t number) {
  SealOutput out;
  nodes_[number]->seal->Opened(now_, out);
  AfterInput(number, std::move(out));
}

void World::MakeSeal(std::uint32_t number) {
  Node& node = *nodes_[number];
  SealOptions options;
  options.slot = {.run_id = DigestOf(1),
                  .incarnation = 0,
                  .step = 1,
                  .phase = options_.entries_each == 2 ? wire::Phase::kA : wire::Phase::kB,
                  .type = MessageType::kEcho,
                  .draw = 0,
                  .iteration = 0};
  options.self = node.id;
  options.members = members_;
  for (const std::uint32_t i : options_.muted_members) options.muted_members.insert(PeerNumber(i));
  options.thresholds = {options_.n, options_.t_s, options_.t_a};
  options.delta = options_.delta;
  options.moment = {options_.delta.ns / 4};
  options.leader_seed = DigestOf(options_.seed);
  options.entries = options_.entries_each * options_.n;
  node.seal = std::make_unique<Seal>(options, &node);
}

void World::Publish(std::uint32_t number) {
  const Script script = ScriptOf(number);
  for (std::size_t entry = 0; entry < options_.entries_each; ++entry) {
    const std::size_t index = entry * options_.n + number;
    const Digest first = MessageOf(number, entry);
    const Digest second = DigestOf(5000 + index);
    HoldMessage(number, index, first);
    for (std::uint32_t to = 0; to < nodes(); ++to) {
      if (to == number) continue;
      const bool other = script.two_messages && rng_.Chance(1, 2);
      const Digest digest = other ? second : first;
      if (rng_.Chance(script.hide_message, 16)) {
        if (rng_.Chance(1, 2)) continue;
        const Duration wait{rng_.Between(0, options_.deadline.ns + 8 * options_.delta.ns)};
        At(now_ + wait, [this, to, index, digest] { HoldMessage(to, index, digest); });
        continue;
      }
      Send(number, to, [this, to, index, digest] { HoldMessage(to, index, digest); });
    }
  }
}

void World::HoldMessage(std::uint32_t number, std::size_t index, const Digest& digest) {
  Node& node = *nodes_[number];
  if (node.Holds(index, digest)) return;
  node.held[index].push_back(digest);
  if (!node.seal) return;
  SealOutput out;
  node.seal->OnHeld(now_, out);
  AfterInput(number, std::move(out));
  CompleteMaybe(number);
}

void World::CompleteMaybe(std::uint32_t number) {
  Node& node = *nodes_[number];
  if (!node.seal || node.seal->wait_ended()) return;
  for (std::size_t i = 0; i < options_.entries_each * options_.n; ++i) {
    const bool muted = options_.muted_members.contains(static_cast<std::uint32_t>(i % options_.n));
    if (!muted && node.EntryNow(i).state == State::kAbsent) return;
  }
  SealOutput out;
  node.seal->Echo(now_, CloseTime::kAfterEcho, out);
  AfterInput(number, std::move(out));
}

// --- what a Seal sends ---------------------------------------------------------------------------

void World::AfterInput(std::uint32_t number, SealOutput out) {
  Node& node = *nodes_[number];
  if (node.seal->wait_ended() && !node.echoed_at) {
    node.echoed_at = now_;
    SealVector vector;
    for (std::size_t i = 0; i < options_.entries_each * options_.n; ++i) {
      vector.push_back(node.EntryNow(i));
    }
    const Digest value = EchoOf(vector).vector;
    if (vectors_.emplace(value, vector).second) values_.push_back(value);
    node.echoed = std::move(vector);
  }
  NoteDecision(number);
  Handle(number, std::move(out));
  SetTimer(number);
}

void World::NoteDecision(std::uint32_t number) {
  Node& node = *nodes_[number];
  if (!node.seal->decision() || !IsHonest(number)) return;
  const Digest value = EchoOf(*node.seal->decision()).vector;
  if (!decision_) decision_ = value;
  if (*decision_ != value) {
    violation_ = "node " + std::to_string(number) + " decided otherwise than others, at " +
                 std::to_string(now_.ns / 1'000'000) + " ms";
  }
  if (!node.decided_at) node.decided_at = now_;
}

void World::Handle(std::uint32_t number, SealOutput out) {
  const bool honest = IsHonest(number);
  for (const SealSay& say : out.say) {
    if (honest) {
      Say(number, say);
    } else {
      SayFalsely(number, say);
    }
  }
  for (const base::SharedBytes& frame : out.forward) {
    if (honest || rng_.Chance(1, 2)) Broadcast(number, MessageIn(frame));
  }
  for (const auto& [to, vector] : out.answer_vector) {
    const auto recipient = NumberOf(to);
    Send(number, *recipient, [this, recipient, vector = vector] {
      if (!nodes_[*recipient]->seal) return;
      SealOutput answer;
      nodes_[*recipient]->seal->OnVector(now_, vector, answer);
      AfterInput(*recipient, std::move(answer));
    });
  }
  for (const SealAsk& ask : out.ask) {
    ++asked_;
    const auto to = NumberOf(ask.to);
    Send(number, *to, [this, to, number, pull = ask.pull] { Answer(*to, number, pull); });
  }
}

void World::Say(std::uint32_t number, const SealSay& say) {
  Node& node = *nodes_[number];
  const wire::SignedEnvelope message = Sign(number, say.type, say.iteration, say.body);
  for (const wire::SignedEnvelope& before : node.stored) {
    if (before.envelope.slot == message.envelope.slot && before.digest != message.digest) {
      violation_ = "node " + std::to_string(number) + " signed two messages in one slot";
    }
  }
  const std::uint64_t life = node.life;
  // The record is durable a little later; only then is it sent.
  At(now_ + Duration{rng_.Between(0, 2'000'000)}, [this, number, life, message] {
    Node& later = *nodes_[number];
    if (later.life != life) return;
    later.stored.push_back(message);
    Deliver(number, message);
    Broadcast(number, message);
  });
}

void World::SetTimer(std::uint32_t number) {
  const auto wake = nodes_[number]->seal->wake();
  if (!wake) return;
  const std::uint64_t life = nodes_[number]->life;
  At(*wake, [this, number, life, due = *wake] {
    Node& node = *nodes_[number];
    if (node.life != life || !node.seal) return;
    if (node.seal->wake() != due) return;  // another timer does it
    SealOutput out;
    node.seal->OnTimer(now_, out);
    AfterInput(number, std::move(out));
  });
}

// --- answers -------------------------------------------------------------------------------------

void World::Answer(std::uint32_t number, std::uint32_t to, const wire::Pull& pull) {
  Node& node = *nodes_[number];
  if (!node.seal || rng_.Chance(ScriptOf(number).mute_pull, 16)) return;
  if (pull.kind == PullKind::kVector) {
    auto vector = node.seal->VectorFor(pull.digests.at(0));
    if (!vector && !IsHonest(number) && vectors_.contains(pull.digests[0])) {
      vector = WireOf(vectors_.at(pull.digests[0]));
    }
    if (!vector) return;
    Send(number, to, [this, to, vector] {
      if (!nodes_[to]->seal) return;
      SealOutput out;
      nodes_[to]->seal->OnVector(now_, *vector, out);
      AfterInput(to, std::move(out));
    });
  } else if (pull.kind == PullKind::kDigests) {
    for (const auto& [index, digests] : node.held) {
      for (const Digest& digest : digests) {
        if (std::count(pull.digests.begin(), pull.digests.end(), digest) == 0) continue;
        Send(number, to, [this, to, index = index, digest] { HoldMessage(to, index, digest); });
      }
    }
  } else if (pull.type >= MessageType::kEcho) {
    for (const auto& [sender, frame] : node.seal->Frames(pull.type)) {
      if (!BitAt(pull.members, *NumberOf(sender))) continue;
      const wire::SignedEnvelope message = MessageIn(frame);
      Send(number, to, [this, to, message] { Deliver(to, message); });
    }
  } else {
    for (const auto& [index, digests] : node.held) {
      if (!BitAt(pull.members, index % options_.n)) continue;
      for (const Digest& digest : digests) {
        Send(number, to, [this, to, index = index, digest] { HoldMessage(to, index, digest); });
      }
    }
  }
}

// --- restarts ------------------------------------------------------------------------------------

void World::Restart(std::uint32_t number, Duration down, bool keep_messages) {
  Node& node = *nodes_[number];
  if (!node.seal) return;
  ++node.life;
  node.seal.reset();
  node.up = false;
  node.decided_at.reset();
  if (!keep_messages) node.held.clear();
  At(now_ + down, [this, number] {
    Node& back = *nodes_[number];
    back.up = true;
    ++back.life;
    MakeSeal(number);
    for (std::size_t e = 0; e < options_.entries_each; ++e) {
      HoldMessage(number, e * options_.n + number, MessageOf(number, e));
    }
    for (const wire::SignedEnvelope& own : back.stored) {
      SealOutput out;
      back.seal->OnMessage(now_, own, out);
      AfterInput(number, std::move(out));
      // The links are new: what was sent before is sent again.
      Broadcast(number, own);
    }
    const auto waiting = std::move(back.waiting);
    back.waiting.clear();
    for (const wire::SignedEnvelope& message : waiting) Deliver(number, message);
    Open(number);
    if (!back.seal->wait_ended()) {
      SealOutput out;
      back.seal->Echo(now_, CloseTime::kWithEcho, out);
      AfterInput(number, std::move(out));
    }
  });
}

}  // namespace ostraka::protocol::scene

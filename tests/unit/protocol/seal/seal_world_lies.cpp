// The false messages of Byzantine members in a World (seal_world.h).
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/protocol/seal/seal_clock.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/seal/seal_world_node.h"

namespace ostraka::protocol::scene {

using State = SealEntry::State;
using wire::MessageType;

Digest World::AnyValue() {
  if (values_.empty() || rng_.Chance(1, 12)) return DigestOf(9000 + rng_.Below(4));
  return values_[rng_.Below(values_.size())];
}

base::Bytes World::FalsePropose(std::uint32_t number, std::uint32_t iteration,
                                const Digest& value) {
  const Seal& seal = *nodes_[number]->seal;
  wire::Propose propose;
  propose.value = value;
  propose.rank = static_cast<std::uint32_t>(rng_.Below(iteration + 1));
  if (propose.rank > 0) return wire::Encode(propose);
  std::map<PeerId, Digest> statuses;  // those of this iteration, one a member, any reading
  for (const auto& [sender, frame] : seal.Frames(MessageType::kStatus)) {
    const wire::SignedEnvelope& message = MessageIn(frame);
    if (message.envelope.slot.iteration != iteration) continue;
    if (rng_.Chance(1, 3)) statuses.erase(message.envelope.sender);
    statuses.emplace(message.envelope.sender, message.digest);
  }
  while (statuses.size() > options_.n - options_.t_s) {
    statuses.erase(
        std::next(statuses.begin(), static_cast<std::ptrdiff_t>(rng_.Below(statuses.size()))));
  }
  propose.statuses.assign((options_.n + 7) / 8, 0);
  crypto::Hasher root(crypto::kDomainSet);
  root.UpdateU64(statuses.size());
  for (const auto& [sender, digest] : statuses) {
    const std::uint32_t i = *NumberOf(sender);
    propose.statuses[i / 8] = static_cast<std::uint8_t>(propose.statuses[i / 8] | 1U << i % 8);
    root.Update(digest);
  }
  propose.statuses_root = root.Finish();
  if (rng_.Chance(1, 2) && nodes_[number]->echoed) {  // a merge that leaves something out
    SealVector merged = *nodes_[number]->echoed;
    SealEntry& entry = merged[rng_.Below(merged.size())];
    entry = rng_.Chance(1, 2) ? SealEntry{} : SealEntry{State::kEquivocated, {}};
    propose.value = EchoOf(merged).vector;
    if (vectors_.emplace(propose.value, merged).second) values_.push_back(propose.value);
  }
  return wire::Encode(propose);
}

base::Bytes World::FalseBody(std::uint32_t number, MessageType type, std::uint32_t iteration) {
  const Digest value = AnyValue();
  switch (type) {
    case MessageType::kEcho:
      return wire::Encode(vectors_.contains(value) ? EchoOf(vectors_.at(value))
                                                   : wire::Echo{value, {0xff}, {0x0f}});
    case MessageType::kStatus:
      return wire::Encode(
          wire::SealStatus{static_cast<std::uint32_t>(rng_.Below(iteration + 2)), value});
    case MessageType::kPropose:
      return FalsePropose(number, iteration, value);
    case MessageType::kVote:
      return wire::Encode(
          wire::SealVote{value, static_cast<std::uint32_t>(rng_.Below(iteration + 1))});
    case MessageType::kClose:
      return wire::Encode(wire::Close{});
    default:
      return wire::Encode(wire::Lock{value});
  }
}

// To each recipient the true body, another, both, or none; now or late.
void World::SayFalsely(std::uint32_t number, const SealSay& say) {
  const Script script = ScriptOf(number);
  const wire::SignedEnvelope truth = Sign(number, say.type, say.iteration, say.body);
  Deliver(number, truth);
  if (say.type == MessageType::kStatus) LieThroughIteration(number, say.iteration);
  // One other body that several members may get: a lie to one member alone convinces no other.
  const wire::SignedEnvelope lie =
      Sign(number, say.type, say.iteration, FalseBody(number, say.type, say.iteration));
  for (std::uint32_t to = 0; to < nodes(); ++to) {
    if (to == number || rng_.Chance(script.silence, 16)) continue;
    std::vector<wire::SignedEnvelope> messages = {rng_.Chance(script.lie, 16) ? lie : truth};
    if (rng_.Chance(script.also, 16)) messages.push_back(lie);
    Duration wait;
    if (rng_.Chance(script.late, 16)) wait = {rng_.Between(0, 8 * options_.delta.ns)};
    for (const wire::SignedEnvelope& message : messages) {
      At(now_ + wait, [this, number, to, message] {
        Send(number, to, [this, to, message] { Deliver(to, message); });
      });
    }
  }
}

// Sends a message in every step whether or not the rules give it one to send.
void World::LieThroughIteration(std::uint32_t number, std::uint32_t iteration) {
  if (!nodes_[number]->lied_through.insert(iteration).second) return;
  Flood(number, iteration);
  const Script script = ScriptOf(number);
  const Duration step = StepLength(options_.delta, iteration);
  const MessageType types[] = {MessageType::kPropose, MessageType::kVote, MessageType::kLock};
  for (int i = 0; i < 3; ++i) {
    if (!rng_.Chance(script.unasked, 16)) continue;
    const Duration wait{step.ns * (i + 1) + rng_.Between(-options_.delta.ns, options_.delta.ns)};
    At(now_ + wait, [this, number, iteration, type = types[i]] {
      for (int variant = 0; variant < 2; ++variant) {
        const wire::SignedEnvelope lie =
            Sign(number, type, iteration, FalseBody(number, type, iteration));
        for (std::uint32_t to = 0; to < nodes(); ++to) {
          if (to == number || rng_.Chance(1, 2)) continue;
          Send(number, to, [this, to, lie] { Deliver(to, lie); });
        }
      }
    });
  }
}

// LOCKs of ever later iterations displace each other, each with the VOTE that it makes needed; and
// a claim of a lock of rank 1 that does not exist, with its ECHOs by every liar.
void World::Flood(std::uint32_t number, std::uint32_t iteration) {
  const Script script = ScriptOf(number);
  std::vector<wire::SignedEnvelope> messages;
  const auto say = [&](std::uint32_t by, MessageType type, std::uint32_t k, base::Bytes body) {
    messages.push_back(Sign(by, type, k, std::move(body)));
  };
  for (std::uint32_t k = iteration + 3; k < iteration + 12; ++k) {
    const Digest value = DigestOf(20'000 + 100 * k + number);
    say(number, MessageType::kLock, k, wire::Encode(wire::Lock{value}));
    say(number, MessageType::kVote, k, wire::Encode(wire::SealVote{value, 0}));
  }
  const Digest claimed = DigestOf(90'000 + 100 * iteration + number);
  say(number, MessageType::kStatus, iteration, wire::Encode(wire::SealStatus{1, claimed}));
  for (const std::uint32_t liar : options_.byzantine) {
    say(liar, MessageType::kEcho, 0, wire::Encode(wire::Echo{claimed, {0xff}, {0x0f}}));
  }
  for (std::uint32_t to = 0; to < nodes(); ++to) {
    if (to == number || !rng_.Chance(script.flood, 16)) continue;
    for (const wire::SignedEnvelope& message : messages) {
      Send(number, to, [this, to, message] { Deliver(to, message); });
    }
  }
}

}  // namespace ostraka::protocol::scene

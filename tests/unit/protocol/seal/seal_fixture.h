// One Seal of five members, and everything that its caller would do for it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "crypto/set_root.h"
#include "node/protocol/rules/columns.h"
#include "node/protocol/seal/seal.h"
#include "node/protocol/seal/seal_clock.h"
#include "node/protocol/seal/seal_proposal.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {

// Five members, of which two may be faulty: Q = 3. Delta is one second.
inline constexpr std::uint32_t kMembers = 5;

inline wire::SignedEnvelope Frame(std::uint32_t sender, wire::MessageType type,
                                  std::uint32_t iteration, base::Bytes body) {
  wire::SignedEnvelope message;
  message.envelope.slot.phase = wire::Phase::kB;
  message.envelope.slot.type = type;
  message.envelope.slot.iteration = iteration;
  message.envelope.sender = scene::PeerNumber(sender);
  message.envelope.body = std::move(body);
  message.body = wire::DecodeBody(type, message.envelope.body);
  message.digest = wire::DigestOf(message.envelope);
  message.frame = wire::EncodeUnsigned(message.envelope);
  return message;
}

class SealTest : public testing::Test, public SealMessages {
 protected:
  SealTest() {
    for (std::uint32_t i = 0; i < kMembers; ++i) held_[i] = {scene::DigestOf(100 + i)};
    Start();
  }

  void Start(std::set<std::uint32_t> muted_members = {}, std::uint32_t t_s = 2) {
    SealOptions options;
    options.slot.phase = wire::Phase::kB;
    options.slot.type = wire::MessageType::kEcho;
    options.self = scene::PeerNumber(0);
    options.members = scene::PeersUpTo(kMembers);
    for (const std::uint32_t i : muted_members) options.muted_members.insert(scene::PeerNumber(i));
    options.thresholds = {kMembers, t_s, 0};
    options.delta = base::Seconds(1);
    options.moment = base::Milliseconds(250);
    options.leader_seed = scene::DigestOf(1);
    options.entries = kMembers;
    seal_ = std::make_unique<Seal>(options, this);
    std::vector<PeerId> unmuted;
    for (const PeerId& member : options.members) {
      if (!options.muted_members.contains(member)) unmuted.push_back(member);
    }
    leaders_ = LeadersOf(options.leader_seed, options.slot, unmuted);
  }

  SealEntry EntryNow(std::size_t index) const override {
    const auto found = held_.find(index);
    if (found == held_.end() || found->second.empty()) return {};
    if (found->second.size() > 1) return {SealEntry::State::kEquivocated, {}};
    return {SealEntry::State::kPresent, *found->second.begin()};
  }
  bool Holds(std::size_t index, const Digest& digest) const override {
    const auto found = held_.find(index);
    return found != held_.end() && found->second.contains(digest);
  }
  SealVector All() const {
    SealVector all;
    for (std::uint32_t i = 0; i < kMembers; ++i) {
      all.push_back({SealEntry::State::kPresent, scene::DigestOf(100 + i)});
    }
    return all;
  }
  SealVector Without(std::size_t index) const {
    SealVector less = All();
    less[index] = {};
    return less;
  }

  // Time goes on to `ms`, with every timer on the way.
  void Until(std::int64_t ms) {
    const base::Time end{ms * 1'000'000};
    while (seal_->wake() && *seal_->wake() <= end) {
      now_ = std::max(now_, *seal_->wake());
      Take([&](SealOutput& out) { seal_->OnTimer(now_, out); });
    }
    now_ = end;
  }
  // The next `timers` wake-ups, however late.
  void Wake(int timers) {
    for (; timers > 0 && seal_->wake(); --timers) {
      now_ = std::max(now_, *seal_->wake());
      Take([&](SealOutput& out) { seal_->OnTimer(now_, out); });
    }
  }
  // What the Seal sends comes back at once: the store is fast.
  template <typename Input>
  void Take(Input input) {
    SealOutput out;
    input(out);
    for (const SealAsk& ask : out.ask) asks_.push_back(ask);
    for (const auto& frame : out.forward) forwards_.push_back(frame);
    for (const auto& answer : out.answer_vector) answers_.push_back(answer);
    for (const SealSay& say : out.say) {
      said_.push_back(say);
      if (stores_) Hear(Frame(0, say.type, say.iteration, say.body));
    }
  }
  void Hear(const wire::SignedEnvelope& message) {
    Take([&](SealOutput& out) { seal_->OnMessage(now_, message, out); });
  }
  void Open() {
    Take([&](SealOutput& out) { seal_->Opened(now_, out); });
  }
  void Echo(CloseTime close = CloseTime::kAfterEcho) {
    Open();
    Take([&](SealOutput& out) { seal_->Echo(now_, close, out); });
  }
  void HearClose(std::uint32_t sender) {
    Hear(Frame(sender, wire::MessageType::kClose, 0, wire::Encode(wire::Close{})));
  }
  // A quorum with the own CLOSE, if it was sent.
  void HearCloses() {
    HearClose(1);
    HearClose(2);
  }
  void HearEcho(std::uint32_t sender, const SealVector& vector) {
    Hear(Frame(sender, wire::MessageType::kEcho, 0, wire::Encode(EchoOf(vector))));
  }
  void HearStatus(std::uint32_t sender, std::uint32_t k, std::uint32_t rank, const Digest& value) {
    Hear(Frame(sender, wire::MessageType::kStatus, k, wire::Encode(wire::SealStatus{rank, value})));
  }
  void HearVote(std::uint32_t sender, std::uint32_t k, const Digest& value) {
    Hear(Frame(sender, wire::MessageType::kVote, k, wire::Encode(wire::SealVote{value, 0})));
  }
  void HearLock(std::uint32_t sender, std::uint32_t k, const Digest& value) {
    Hear(Frame(sender, wire::MessageType::kLock, k, wire::Encode(wire::Lock{value})));
  }
  // The message of that type in iteration k; null if none was sent.
  const SealSay* Said(wire::MessageType type, std::uint32_t k = 0) const {
    for (const SealSay& say : said_) {
      if (say.type == type && say.iteration == k) return &say;
    }
    return nullptr;
  }
  std::uint32_t NumberOf(const PeerId& peer) const {
    for (std::uint32_t i = 0; i < kMembers; ++i) {
      if (scene::PeerNumber(i) == peer) return i;
    }
    return kMembers;
  }
  std::uint32_t Leader(std::uint32_t k) const {
    return NumberOf(leaders_[(k - 1) % leaders_.size()]);
  }
  // The first iteration that this member leads, or that another one leads.
  std::uint32_t IterationLedBy(bool me) const {
    std::uint32_t k = 1;
    while ((Leader(k) == 0) != me) ++k;
    return k;
  }
  // Every other member echoes another vector, so there is no lock; and all enter iteration k now.
  void SplitOthersAndEnter(std::uint32_t k) {
    for (std::uint32_t i = 1; i < kMembers; ++i) HearEcho(i, Without(i));
    for (std::uint32_t i = 1; i < kMembers; ++i) {
      HearStatus(i, k, 0, EchoOf(Without(i)).vector);
    }
    ASSERT_EQ(seal_->iteration(), k);
  }
  void SplitAndEnter(std::uint32_t k) {
    Echo();
    SplitOthersAndEnter(k);
  }
  // This member opens the seal after the gate.
  void EnterWithoutEcho(std::uint32_t k) {
    for (std::uint32_t i = 1; i <= 3; ++i) HearClose(i);
    Echo();
    SplitOthersAndEnter(k);
  }
  wire::Propose ProposalOfMine() const {
    return wire::Decode<wire::Propose>(Said(wire::MessageType::kPropose, seal_->iteration())->body)
        .value();
  }
  // A merge by another leader of iteration k over the STATUSes of members 1 to 3.
  wire::SignedEnvelope MergeBy(std::uint32_t leader, std::uint32_t k, const SealVector& merged) {
    std::vector<PeerId> chosen = {scene::PeerNumber(1), scene::PeerNumber(2), scene::PeerNumber(3)};
    std::vector<Digest> digests;
    for (std::uint32_t i = 1; i <= 3; ++i) {
      const wire::SealStatus status{0, EchoOf(Without(i)).vector};
      digests.push_back(Frame(i, wire::MessageType::kStatus, k, wire::Encode(status)).digest);
    }
    wire::Propose propose;
    propose.value = EchoOf(merged).vector;
    propose.statuses = wire::BitmapOf(chosen, scene::PeersUpTo(kMembers));
    propose.statuses_root = crypto::SetRoot(digests);
    return Frame(leader, wire::MessageType::kPropose, k, wire::Encode(propose));
  }
  void HearMerge(std::uint32_t k, const SealVector& merged) {
    Hear(MergeBy(Leader(k), k, merged));
    Take([&](SealOutput& out) { seal_->OnVector(now_, WireOf(merged), out); });
  }
  std::int64_t StepEnd(std::uint32_t k, int step) const {
    return step * StepLength(base::Seconds(1), k).ns / 1'000'000;
  }

  std::map<std::size_t, std::set<Digest>> held_;
  std::unique_ptr<Seal> seal_;
  std::vector<PeerId> leaders_;
  base::Time now_;
  bool stores_ = true;
  std::vector<SealSay> said_;
  std::vector<SealAsk> asks_;
  std::vector<base::SharedBytes> forwards_;
  std::vector<std::pair<PeerId, wire::Vector>> answers_;
};

}  // namespace ostraka::protocol

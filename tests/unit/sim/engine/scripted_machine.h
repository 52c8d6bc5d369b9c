// Machines for tests of the simulator and of adversaries, small enough to predict their outputs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/protocol/ground/machine.h"

namespace ostraka::sim {

// Answers as a given function says, and records its inputs.
class ScriptedMachine final : public protocol::Machine {
 public:
  using Script = std::function<void(base::Time, const protocol::Input&, protocol::Outbox&)>;
  struct Seen {
    base::Time at;
    protocol::Input input;
  };

  explicit ScriptedMachine(Script script = {}, std::shared_ptr<std::vector<Seen>> seen = nullptr)
      : script_(std::move(script)), seen_(std::move(seen)) {}

  void Step(base::Time now, const protocol::Input& input, protocol::Outbox& out) override {
    if (seen_) seen_->push_back({now, input});
    if (script_) script_(now, input, out);
  }
  void CheckInvariants() const override {}
  base::Digest Fingerprint() const override { return {}; }

 private:
  Script script_;
  std::shared_ptr<std::vector<Seen>> seen_;
};

inline base::PeerId PeerNumber(std::uint8_t number) {
  base::PeerId id;
  id.bytes.fill(number);
  return id;
}

// Broadcasts a numbered ping to every linked peer whenever its timer fires, and stores each pong
// before it counts it: links, timers, messages and disks all take part.
class PingMachine final : public protocol::Machine {
 public:
  PingMachine(base::Duration period, std::uint64_t rounds) : period_(period), rounds_(rounds) {}

  void Step(base::Time now, const protocol::Input& input, protocol::Outbox& out) override {
    if (std::holds_alternative<protocol::Started>(input)) {
      out.Add(protocol::SetTimer{1, now + period_});
    } else if (const auto* link = std::get_if<protocol::LinkChanged>(&input)) {
      linked_[link->peer] = link->up;
    } else if (std::holds_alternative<protocol::TimerFired>(input)) {
      Ping(now, out);
    } else if (const auto* message = std::get_if<protocol::MessageReceived>(&input)) {
      out.Add(protocol::Store{next_store_++,
                              {{protocol::RecordKind::kSlot, *message->frame, *message->frame}}});
    } else if (std::holds_alternative<protocol::Stored>(input)) {
      ++counted_;
    }
  }
  void CheckInvariants() const override {}
  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(counted_).Finish();
  }

 private:
  void Ping(base::Time now, protocol::Outbox& out) {
    if (sent_ == rounds_) return;
    const auto frame = std::make_shared<const base::Bytes>(8, static_cast<std::uint8_t>(sent_++));
    for (const auto& [peer, up] : linked_) {
      if (up) out.Add(protocol::Send{peer, frame, nullptr});
    }
    out.Add(protocol::SetTimer{1, now + period_});
  }

  base::Duration period_;
  std::uint64_t rounds_;
  std::map<base::PeerId, bool> linked_;
  std::uint64_t sent_ = 0;
  std::uint64_t counted_ = 0;
  protocol::StoreId next_store_ = 1;
};

}  // namespace ostraka::sim

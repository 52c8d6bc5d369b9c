// One adversary around a scripted machine, driven by hand.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "node/protocol/mail/signer.h"
#include "node/wire/codec.h"
#include "sim/attacks/registry.h"
#include "sim/engine/simulator.h"
#include "tests/unit/sim/engine/scripted_machine.h"

namespace ostraka::sim {

inline std::shared_ptr<const crypto::SigningKey> KeyNumber(std::uint8_t number) {
  return std::make_shared<const crypto::SigningKey>(
      crypto::SigningKey::FromSeed(base::Bytes(crypto::SigningKey::kSeedSize, number)));
}

// Members 0..5 by key; the attacker is `self()`, in a coven with `mate()`.
class Wrapped {
 public:
  Wrapped(std::string attack, std::uint64_t from_step, AttackParams params = {},
          protocol::GradientFunction other_work = {}) {
    auto manifest = std::make_shared<protocol::Manifest>();
    manifest->training.data = "toy";
    for (std::uint8_t i = 0; i < 6; ++i) {
      keys_.push_back(KeyNumber(static_cast<std::uint8_t>(i + 1)));
    }
    std::sort(keys_.begin(), keys_.end(),
              [](const auto& a, const auto& b) { return a->id() < b->id(); });
    for (const auto& key : keys_) manifest->members.push_back({key->id(), ""});
    manifest_ = manifest;
    coven_ = std::make_shared<Coven>(std::vector<base::PeerId>{self(), mate()}, 77);
    auto inside = std::make_unique<ScriptedMachine>(
        [this](base::Time, const protocol::Input&, protocol::Outbox& out) {
          for (protocol::Action& action : std::exchange(says_next_, {})) out.Add(std::move(action));
        },
        seen_);
    AdversaryOptions options{std::move(attack), std::move(params), from_step, manifest_,
                             keys_[0],          {{"w", {4}}},      coven_};
    options.other_work = std::move(other_work);
    auto machine = MakeAdversary(std::move(options), std::move(inside));
    EXPECT_TRUE(machine.ok()) << machine.status().message();
    machine_ = std::move(machine).value();
  }

  const base::PeerId& self() const { return keys_[0]->id(); }
  const base::PeerId& mate() const { return keys_[1]->id(); }
  const base::PeerId& member(std::size_t i) const { return keys_[i]->id(); }
  const crypto::SigningKey& key() const { return *keys_[0]; }
  const crypto::SigningKey& key_of(std::size_t i) const { return *keys_[i]; }
  Coven& coven() { return *coven_; }
  const protocol::Manifest& manifest() const { return *manifest_; }

  // Steps the adversary with `input`, which the inner machine answers with `says`; returns the
  // adversary's actions.
  std::vector<protocol::Action> Step(const protocol::Input& input,
                                     std::vector<protocol::Action> says = {}) {
    says_next_ = std::move(says);
    protocol::Outbox out;
    machine_->Step({++time_}, input, out);
    return std::move(out.actions());
  }
  // Makes the inner machine act, on an input that no editor changes.
  std::vector<protocol::Action> Say(std::vector<protocol::Action> actions) {
    return Step(protocol::TimerFired{1}, std::move(actions));
  }
  // Brings the inner machine to `step`, all members workers; with `owners` member i owns part i.
  void Enter(std::uint64_t step, bool owners = false) {
    protocol::StepStarted started;
    started.step = step;
    started.batches.randomness.bytes.fill(3);
    for (const auto& key : keys_) started.roles.workers.push_back(key->id());
    if (owners) started.roles.owners = started.roles.workers;
    Say({protocol::Observe{started}});
  }
  // Starts a job in the inner machine and answers with `result`; returns the result that the inner
  // machine sees.
  protocol::JobResult RunInside(protocol::JobSpec spec, protocol::JobResult result) {
    const protocol::JobId id = next_job_++;
    Say({protocol::StartJob{id, std::make_shared<const protocol::JobSpec>(std::move(spec))}});
    Step(protocol::JobDone{id, std::make_shared<const protocol::JobResult>(std::move(result))});
    return *std::get<protocol::JobDone>(seen_->back().input).result;
  }
  const std::vector<ScriptedMachine::Seen>& seen() const { return *seen_; }
  protocol::Machine& machine() { return *machine_; }

  // A message of the attacker's own, as the inner machine would send it.
  wire::SignedEnvelope Own(wire::Phase phase, wire::MessageType type, std::uint64_t step,
                           base::Bytes body, std::uint32_t iteration = 0) const {
    wire::Slot slot;
    slot.run_id = manifest_->run_id;
    slot.step = step;
    slot.phase = phase;
    slot.type = type;
    slot.iteration = iteration;
    return wire::Seal({slot, {}, self(), std::move(body)}, key());
  }

 private:
  std::vector<std::shared_ptr<const crypto::SigningKey>> keys_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  std::shared_ptr<Coven> coven_;
  std::shared_ptr<std::vector<ScriptedMachine::Seen>> seen_ =
      std::make_shared<std::vector<ScriptedMachine::Seen>>();
  std::vector<protocol::Action> says_next_;
  std::unique_ptr<protocol::Machine> machine_;
  protocol::JobId next_job_ = 1;
  std::int64_t time_ = 0;
};

inline protocol::SharedVector Floats(std::vector<float> values) {
  return std::make_shared<const std::vector<float>>(std::move(values));
}
inline protocol::SharedBlob BlobOfFloats(const std::vector<float>& values) {
  const base::ByteView bytes = base::AsBytes(std::span<const float>(values));
  return crypto::MakeBlob({bytes.begin(), bytes.end()});
}
inline std::vector<float> FloatsOf(const crypto::Blob& blob) {
  std::vector<float> values(blob.data.size() / sizeof(float));
  std::memcpy(values.data(), blob.data.data(), blob.data.size());
  return values;
}

}  // namespace ostraka::sim

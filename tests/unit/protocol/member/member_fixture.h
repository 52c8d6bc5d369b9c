// The components of one member (node/protocol/member/components.h) and, if the test wants one, a
// step that is in progress, with the keys of all members: for tests that construct one class of the
// member's room on top of it. The disk, the links and the jobs are the test's.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "node/protocol/member/components.h"
#include "node/protocol/member/step_now.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::scene {

// Five members, of which one may be faulty (t_s = t_a = 1), and a key that is none of the run.
inline constexpr std::uint32_t kMemberCount = 5;
inline constexpr std::uint32_t kSelf = 0;
inline constexpr std::uint32_t kStranger = 5;
inline constexpr std::uint64_t kFloats = 40;  // of the model
inline constexpr std::uint64_t kStep = 9;     // in progress, after BeginStep

// Verifies, and counts how often.
class CountingVerifier final : public crypto::Verifier {
 public:
  bool Verify(const PeerId& signer, const Digest& digest,
              const crypto::Signature& signature) override {
    ++asked;
    return plain_.Verify(signer, digest, signature);
  }
  std::size_t asked = 0;

 private:
  crypto::PlainVerifier plain_;
};

// What a member says.
struct Saying {
  std::uint32_t from = 1;
  wire::MessageType type = wire::MessageType::kCommit;
  std::uint64_t step = kStep;
  wire::Phase phase = wire::Phase::kA;
  std::uint32_t draw = 0;
  std::uint32_t iteration = 0;
  base::Bytes body = {1};
  Digest parent = {};
};

class MemberTest : public testing::Test {
 protected:
  // `self`: the number of the member that the parts are of.
  explicit MemberTest(
      std::uint32_t self = kSelf, const std::function<void(Manifest&)>& edit = [](Manifest&) {});

  PeerId IdOf(std::uint32_t number) const { return keys_[number]->id(); }
  PeerId Self() const { return components().self; }
  std::vector<PeerId> Members() const;
  // A call of the machine that is `after` later begins.
  void Pass(base::Duration after);

  // The run has this manifest, and the member begins anew.
  void UseManifest(Manifest manifest);

  // --- messages ---
  wire::SharedMessage Sign(const Saying& saying) const;
  // The message with a signature that is not its sender's.
  wire::SharedMessage Forged(const Saying& saying) const;
  static MessageReceived Over(const PeerId& link, const wire::SharedMessage& message,
                              SharedBlob blob = nullptr) {
    return {link, message->frame, std::move(blob)};
  }
  wire::SharedMessage Hold(const Saying& saying, SharedBlob blob = nullptr);  // in the inbox
  static wire::Envelope EnvelopeOf(const Send& send);
  static wire::Pull PullOf(const Send& send);
  // A PART whose data is `blob`.
  static base::Bytes PartBody(const SharedBlob& blob);
  static base::Bytes ResultBody(const SharedBlob& blob);

  // --- what the member did ---
  // All actions of a kind since the last call, which leaves the others.
  template <typename T>
  std::vector<T> Taken() {
    std::vector<T> taken;
    std::erase_if(out_.actions(), [&](Action& action) {
      if (!std::holds_alternative<T>(action)) return false;
      taken.push_back(std::move(std::get<T>(action)));
      return true;
    });
    return taken;
  }
  template <typename T>
  std::vector<T> Observed() {
    std::vector<T> seen;
    for (const Observe& observe : Taken<Observe>()) {
      if (const T* one = std::get_if<T>(&observe.what)) seen.push_back(*one);
    }
    return seen;
  }
  std::vector<Record> Stored(RecordKind kind);
  void ForgetActions() { out_.actions().clear(); }
  // The disk is done: what waited for it goes out, and own messages are taken in.
  void Settle();
  // Uses up the ration of answers of `peer`, but for `left`.
  void UseUp(const PeerId& peer, std::uint64_t left = 0);

  // --- the run ---
  // The block before step kStep, with all members.
  Block HeadBlock() const;
  void SetHead(Block head);
  // Step kStep is in progress, after `head`.
  void BeginStep() { BeginStep(HeadBlock()); }
  void BeginStep(Block head);
  Step& step() { return step_->step(); }
  const Step& step() const { return step_->step(); }
  // The ECHOs of all members are equal, whatever they hold: the seal in progress is decided.
  void DecideSeal();

  Components& components() { return *components_; }
  const Components& components() const { return *components_; }

  const std::uint32_t self_;
  std::vector<std::shared_ptr<const crypto::SigningKey>> keys_;  // by key
  std::shared_ptr<CountingVerifier> verifier_ = std::make_shared<CountingVerifier>();
  std::shared_ptr<const Manifest> manifest_;
  Outbox out_;
  std::unique_ptr<Components> components_;
  std::optional<StepNow> step_;  // always there
};

}  // namespace ostraka::protocol::scene

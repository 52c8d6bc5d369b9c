// Members of a run of the toy trainer, with keys, folders and listening sockets, and what each of
// them told.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/config/manifest_toml.h"
#include "node/host/host.h"
#include "node/os/endpoint.h"
#include "node/protocol/ground/state.h"

namespace ostraka::host {

// The events that a test waits for; the rest is kept for a failure's message.
class Ear final : public NodeEvents {
 public:
  void OnStarted(std::uint16_t, std::uint16_t) override { ++started; }
  void OnLinks(std::size_t, std::size_t) override {}
  void OnStepDone(const protocol::StepDone& done) override {
    if (on_step) on_step(done.block->genesis ? 0 : done.block->step + 1);
  }
  void OnStepTimes(const protocol::StepTimes&) override {}
  void OnBatchLoss(std::uint64_t, double) override {}
  void OnEvaluation(std::uint64_t, const train::Evaluation&) override {}
  void OnSuspicion(const protocol::Suspicion& s) override { notices.push_back(s.reason); }
  void OnRemoval(const wire::Removal& removal) override {
    notices.push_back(wire::TextOf(removal.reason));
  }
  void OnNotice(net::NoticeLevel, const std::string& line) override { notices.push_back(line); }
  void OnProgress(const NodeStatus&) override {}
  void OnWaiting(const Waiting&) override {}
  void OnCheckpointFailed(const base::Status& why) override {
    notices.push_back(base::MessageOf(why));
  }
  void OnHalted(const NodeOutcome& outcome) override { halted.push_back(outcome.reason); }

  std::function<void(std::uint64_t done)> on_step;  // with the number of steps done
  int started = 0;
  std::vector<std::string> notices, halted;
};

struct Member {
  std::shared_ptr<const crypto::SigningKey> key;
  std::string data_dir;
  os::ListeningSocket socket;
  Ear ear;
  std::shared_ptr<Run> run;
};

// `count` members of one run on loopback. `number` makes keys, manifest and data another run's.
class TestRun {
 public:
  static constexpr std::uint64_t kSteps = 10;

  TestRun(std::string root, std::uint8_t number, std::size_t count)
      : root_(std::move(root)), number_(number), members_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      Member& member = members_[i];
      base::Bytes seed(crypto::SigningKey::kSeedSize, static_cast<std::uint8_t>(i + 1));
      seed[0] = number;
      member.key = std::make_shared<const crypto::SigningKey>(crypto::SigningKey::FromSeed(seed));
      member.data_dir = root_ + "/" + std::to_string(number) + "-" + std::to_string(i);
      Listen(member);
    }
    manifest_ = std::make_shared<const protocol::Manifest>(MakeManifest());
  }
  ~TestRun() {
    for (const Member& member : members_) {
      if (member.socket.fd >= 0) ::close(member.socket.fd);
    }
  }
  TestRun(const TestRun&) = delete;
  TestRun& operator=(const TestRun&) = delete;

  std::vector<Member>& members() { return members_; }
  const std::shared_ptr<const protocol::Manifest>& manifest() const { return manifest_; }

  // The options of a member, which take over its socket; after the first call it listens anew, and
  // the others reach it through `addresses`.
  RunOptions OptionsOf(Member& member) {
    if (member.socket.fd < 0) Listen(member);
    RunOptions options;
    options.manifest = manifest_;
    options.key = member.key;
    options.files.data_dir = member.data_dir;
    options.files.lock_folders = {root_};
    options.network.listen_socket = os::Descriptor(std::exchange(member.socket.fd, -1));
    options.states.checkpoint_every = 0;
    return options;
  }
  void OpenAll(Host& host, const Host::Ended& ended = nullptr) {
    std::map<base::PeerId, std::string> addresses;
    for (Member& member : members_) {
      if (member.socket.fd < 0) Listen(member);
      addresses[member.key->id()] = AddressOf(member);
    }
    for (Member& member : members_) {
      RunOptions options = OptionsOf(member);
      options.network.addresses = addresses;
      auto run = host.Open(std::move(options), member.ear, ended);
      ASSERT_TRUE(run.ok()) << run.status();
      member.run = *std::move(run);
    }
  }

  // Checks that all members finished with one state, and returns its root.
  base::Digest CommonRoot() const {
    std::vector<base::Digest> roots;
    for (const Member& member : members_) {
      const NodeReport* report = member.run->report();
      EXPECT_NE(report, nullptr);
      if (report == nullptr) continue;
      EXPECT_EQ(report->outcome.end, NodeEnd::kFinished) << Describe(member);
      EXPECT_GE(report->steps_done, kSteps) << Describe(member);
      EXPECT_TRUE(report->removals.empty()) << Describe(member);
      EXPECT_TRUE(report->checkpoint.ok()) << report->checkpoint.status();
      if (report->state.parameters == nullptr) continue;
      roots.push_back(protocol::StateRoot(report->state, member.run->layout()));
    }
    EXPECT_EQ(roots, std::vector(members_.size(), roots.empty() ? base::Digest{} : roots.front()));
    return roots.empty() ? base::Digest{} : roots.front();
  }
  static std::string Describe(const Member& member) {
    std::string text = member.key->id().Short() + ": ";
    if (member.run->report() != nullptr) text += member.run->report()->outcome.reason;
    for (const std::string& notice : member.ear.notices) text += "\n  " + notice;
    return text;
  }

 private:
  static void Listen(Member& member) {
    auto socket = os::ListenOnLoopback();
    ASSERT_TRUE(socket.ok()) << socket.status();
    member.socket = *socket;
  }
  static std::string AddressOf(const Member& member) {
    return "127.0.0.1:" + std::to_string(member.socket.port);
  }
  // As people get it: through the file's text.
  protocol::Manifest MakeManifest() const {
    protocol::Manifest manifest;
    manifest.name = "run " + std::to_string(number_);
    protocol::TrainingPlan& plan = manifest.training;
    plan.model = plan.data = "toy";
    plan.hidden = 64;
    plan.data_seed = number_;
    plan.steps = kSteps;
    plan.settle_steps = 5;
    plan.warmup_steps = 2;
    for (const Member& member : members_) {
      manifest.members.push_back({member.key->id(), AddressOf(member)});
    }
    std::sort(manifest.members.begin(), manifest.members.end(),
              [](const auto& a, const auto& b) { return a.id < b.id; });
    base::Digest nonce;
    nonce.bytes.fill(number_);
    const auto parsed = config::ParseManifest(config::WriteManifest(manifest, nonce));
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    return parsed.ok() ? *parsed : manifest;
  }

  const std::string root_;
  const std::uint8_t number_;
  std::vector<Member> members_;
  std::shared_ptr<const protocol::Manifest> manifest_;
};

}  // namespace ostraka::host

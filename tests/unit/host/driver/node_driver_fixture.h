// Two nodes on one io_context whose machines are functions that the test gives, and what their
// drivers told.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/host/driver/node_driver.h"
#include "node/host/report/figures.h"
#include "node/os/endpoint.h"
#include "node/protocol/mail/signer.h"
#include "tests/unit/host/fake_trainer.h"

namespace ostraka::host {

// A machine that is one function.
class FakeMachine final : public protocol::Machine {
 public:
  using StepFunction =
      std::function<void(base::Time now, const protocol::Input& input, protocol::Outbox& out)>;
  using ProgressFunction = std::function<protocol::Progress()>;
  explicit FakeMachine(StepFunction step, ProgressFunction progress = nullptr)
      : step_(std::move(step)), progress_(std::move(progress)) {}
  void Step(base::Time now, const protocol::Input& input, protocol::Outbox& out) override {
    step_(now, input, out);
  }
  void CheckInvariants() const override {}
  base::Digest Fingerprint() const override { return {}; }
  protocol::Progress progress() const override {
    return progress_ ? progress_() : protocol::Progress{};
  }

 private:
  StepFunction step_;
  ProgressFunction progress_;
};

template <typename T>
void Tell(protocol::Outbox& out, T observation) {
  out.Add(protocol::Observe{std::move(observation)});
}

inline void Halt(protocol::Outbox& out, std::uint64_t step = 0,
                 const std::string& reason = "done") {
  Tell(out, protocol::Halted{protocol::Halted::Why::kFinished, step, reason});
}

inline protocol::SharedVector StateAt(float x) {
  return std::make_shared<const std::vector<float>>(2, x);
}

inline protocol::StepDone DoneWith(std::uint64_t step, float x,
                                   std::vector<wire::Removal> removals = {}) {
  wire::Block block;
  block.step = step;
  block.removals = std::move(removals);
  return {std::make_shared<const wire::Block>(block), {StateAt(x), {{"velocity", StateAt(0)}}}};
}

inline protocol::Record SlotRecord(std::uint64_t step, std::uint8_t digest) {
  wire::Slot slot;
  slot.step = step;
  slot.phase = wire::Phase::kA;
  slot.type = wire::MessageType::kCommit;
  return {protocol::RecordKind::kSlot, protocol::SlotKey(slot), base::Bytes(32, digest)};
}

inline base::SharedBytes Frame(const std::string& text) {
  return std::make_shared<const base::Bytes>(text.begin(), text.end());
}
inline std::string TextOf(const protocol::MessageReceived& message) {
  return {message.frame->begin(), message.frame->end()};
}

// What a driver told its listener.
class Log final : public NodeEvents {
 public:
  void OnStarted(std::uint16_t port, std::uint16_t http_port) override {
    started_port = port;
    started_http_port = http_port;
  }
  void OnLinks(std::size_t up, std::size_t of) override { links.emplace_back(up, of); }
  void OnStepDone(const protocol::StepDone& done) override { steps.push_back(done.block->step); }
  void OnStepTimes(const protocol::StepTimes& t) override { times.push_back(t.step); }
  void OnBatchLoss(std::uint64_t step, double loss) override { batches.emplace_back(step, loss); }
  void OnEvaluation(std::uint64_t step, const train::Evaluation&) override {
    evaluated.push_back(step);
  }
  void OnSuspicion(const protocol::Suspicion& s) override { suspicions.push_back(s.reason); }
  void OnRemoval(const wire::Removal& removal) override { removed.push_back(removal.peer); }
  void OnNotice(net::NoticeLevel, const std::string& line) override { notices.push_back(line); }
  void OnProgress(const NodeStatus& now) override { progress.push_back(FiguresOf(now, 0)); }
  void OnWaiting(const Waiting& seen) override { waits.push_back(seen); }
  void OnCheckpointFailed(const base::Status& why) override {
    lost.push_back(base::MessageOf(why));
  }
  void OnHalted(const NodeOutcome& outcome) override {
    halted.push_back(outcome.reason);
    if (on_halted) on_halted();
  }

  std::uint16_t started_port = 0;
  std::uint16_t started_http_port = 0;
  std::vector<std::pair<std::size_t, std::size_t>> links;
  std::vector<std::pair<std::uint64_t, double>> batches;
  std::vector<std::uint64_t> steps, times, evaluated;
  std::vector<std::string> suspicions, notices, lost, halted;
  std::vector<base::PeerId> removed;
  std::vector<Waiting> waits;
  std::vector<Figures> progress;
  std::function<void()> on_halted;
};

// Everything that one node needs, before and after its driver exists.
struct Node {
  std::shared_ptr<const crypto::SigningKey> key;
  std::string data_dir;
  std::shared_ptr<FakeTrainer> trainer = std::make_shared<FakeTrainer>();
  FakeMachine::StepFunction step;
  FakeMachine::ProgressFunction progress;
  base::Digest coin_seed;
  NodeOptions options;
  Log log;
  std::unique_ptr<NodeDriver> driver;
  std::optional<NodeReport> report;

  const base::PeerId& id() const { return key->id(); }
};

class NodeDriverTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(crypto::Initialize().ok()); }

  void SetUp() override {
    std::string name = ::testing::TempDir() + "ostraka-driver-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    for (Node* node : {&a_, &b_}) {
      const base::Bytes seed(crypto::SigningKey::kSeedSize, node == &a_ ? 1 : 2);
      node->key = std::make_shared<const crypto::SigningKey>(crypto::SigningKey::FromSeed(seed));
      node->data_dir = root_ + (node == &a_ ? "/a" : "/b");
      node->options.transport.backoff.first = base::Milliseconds(10);
    }
    AddMember(a_);
  }
  void TearDown() override {
    a_.driver.reset();
    b_.driver.reset();
    std::filesystem::remove_all(root_);
  }

  // Makes `node` a member of the run that both know, listening on a port of its own.
  void AddMember(Node& node) {
    auto socket = os::ListenOnLoopback();
    ASSERT_TRUE(socket.ok()) << socket.status();
    node.options.transport.listen_fd = socket->fd;
    members_.push_back({node.id(), "127.0.0.1:" + std::to_string(socket->port)});
  }

  void MakeDriver(Node& node) {
    const base::Status made = TryToMakeDriver(node);
    ASSERT_TRUE(made.ok()) << made;
  }
  base::Status TryToMakeDriver(Node& node) {
    ASSIGN_OR_RETURN(
        node.options.ledger,
        store::Ledger::Open({.data_dir = node.data_dir, .run_id = kRun, .peer = node.id()}));
    node.options.machine = std::make_unique<FakeMachine>(node.step, node.progress);
    node.options.trainer = node.trainer;
    node.coin_seed = node.options.coin_seed = crypto::CoinSeed(*node.key, kRun);
    node.options.transport.key = node.key;
    node.options.transport.run_id = kRun;
    node.options.transport.members = members_;
    node.options.transport.max_blob_bytes = 64 << 20;
    ASSIGN_OR_RETURN(node.driver, NodeDriver::Make(io_, std::move(node.options), node.log));
    return base::OkStatus();
  }

  // Starts what was made, and runs it to its end.
  void Drive() {
    const auto work = boost::asio::make_work_guard(io_);
    for (Node* node : {&a_, &b_}) {
      if (node->driver == nullptr) continue;
      node->driver->Start([node](NodeReport report) {
        EXPECT_FALSE(node->report.has_value()) << "ended twice";
        node->report = std::move(report);
      });
    }
    while ((a_.driver && !a_.report) || (b_.driver && !b_.report)) io_.run_one();
    io_.poll();  // nothing may come after the end
  }

  // Runs a_ alone to its end.
  NodeReport RunAlone() {
    MakeDriver(a_);
    Drive();
    return *a_.report;
  }

  // Runs both to their ends.
  std::pair<NodeReport, NodeReport> RunBoth() {
    AddMember(b_);
    MakeDriver(a_);
    MakeDriver(b_);
    Drive();
    return {*a_.report, *b_.report};
  }

  const base::Digest kRun = base::Digest{{1, 2, 3}};
  std::string root_;
  std::vector<net::TransportMember> members_;
  boost::asio::io_context io_{1};
  Node a_, b_;
};

}  // namespace ostraka::host

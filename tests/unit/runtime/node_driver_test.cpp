#include "node/runtime/node_driver.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <future>
#include <thread>

#include "node/protocol/signer.h"
#include "node/runtime/ledger_reader.h"
#include "tests/unit/runtime/fake_trainer.h"

namespace ostraka::runtime {
namespace {

using protocol::Input;
using protocol::Outbox;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- what the tests drive -----------------------------------------------------------------------

// A machine that is one function.
class FakeMachine final : public protocol::Machine {
 public:
  using StepFunction = std::function<void(base::Time now, const Input& input, Outbox& out)>;
  explicit FakeMachine(StepFunction step) : step_(std::move(step)) {}
  void Step(base::Time now, const Input& input, Outbox& out) override { step_(now, input, out); }
  void CheckInvariants() const override {}
  Digest Fingerprint() const override { return {}; }

 private:
  StepFunction step_;
};

template <typename T>
void Tell(Outbox& out, T observation) {
  out.Add(protocol::Observe{std::move(observation)});
}

void Halt(Outbox& out, std::uint64_t step = 0, const std::string& reason = "done") {
  Tell(out, protocol::Halted{protocol::Halted::Why::kFinished, step, reason});
}

protocol::SharedVector StateAt(float x) { return std::make_shared<const std::vector<float>>(2, x); }

protocol::StepDone DoneWith(std::uint64_t step, float x, std::vector<wire::Removal> removals = {}) {
  wire::Block block;
  block.step = step;
  block.removals = std::move(removals);
  return {std::make_shared<const wire::Block>(block), {StateAt(x), StateAt(0)}};
}

protocol::Record SlotRecord(std::uint64_t step, std::uint8_t digest) {
  wire::Slot slot;
  slot.step = step;
  slot.phase = wire::Phase::kA;
  slot.type = wire::MessageType::kCommit;
  return {protocol::RecordKind::kSlot, protocol::SlotKey(slot), base::Bytes(32, digest)};
}

base::SharedBytes Frame(const std::string& text) {
  return std::make_shared<const base::Bytes>(text.begin(), text.end());
}
std::string TextOf(const protocol::MessageReceived& message) {
  return {message.frame->begin(), message.frame->end()};
}

// What a driver told its listener.
class Log final : public NodeEvents {
 public:
  void OnStarted(std::uint16_t port) override { started_port = port; }
  void OnLinks(std::size_t up, std::size_t of) override { links.emplace_back(up, of); }
  void OnStepDone(const protocol::StepDone& done) override { steps.push_back(done.block->step); }
  void OnStepTimes(const protocol::StepTimes& t) override { times.push_back(t.step); }
  void OnEvaluation(std::uint64_t step, const train::Evaluation&) override {
    evaluated.push_back(step);
  }
  void OnSuspicion(const protocol::Suspicion& s) override { suspicions.push_back(s.reason); }
  void OnRemoval(const wire::Removal& removal) override { removed.push_back(removal.peer); }
  void OnNotice(NoticeLevel, const std::string& line) override { notices.push_back(line); }
  void OnHalted(const NodeOutcome& outcome) override {
    halted.push_back(outcome.reason);
    if (on_halted) on_halted();
  }

  std::uint16_t started_port = 0;
  std::vector<std::pair<std::size_t, std::size_t>> links;
  std::vector<std::uint64_t> steps, times, evaluated;
  std::vector<std::string> suspicions, notices, halted;
  std::vector<PeerId> removed;
  std::function<void()> on_halted;
};

// Everything that one node needs, before and after its driver exists.
struct Node {
  std::shared_ptr<const crypto::SigningKey> key;
  std::string data_dir;
  std::shared_ptr<FakeTrainer> trainer = std::make_shared<FakeTrainer>();
  FakeMachine::StepFunction step;
  NodeOptions options;
  Log log;
  std::unique_ptr<NodeDriver> driver;

  const PeerId& id() const { return key->id(); }
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
      node->options.handle_signals = false;
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
    auto socket = ListenOnLoopback();
    ASSERT_TRUE(socket.ok()) << socket.status();
    node.options.transport.listen_fd = socket->fd;
    members_.push_back({node.id(), "127.0.0.1:" + std::to_string(socket->port)});
  }

  void MakeDriver(Node& node) {
    auto ledger = Ledger::Open({.data_dir = node.data_dir, .run_id = kRun, .peer = node.id()});
    ASSERT_TRUE(ledger.ok()) << ledger.status();
    node.options.ledger = *std::move(ledger);
    node.options.machine = std::make_unique<FakeMachine>(node.step);
    node.options.trainer = node.trainer;
    node.options.transport.key = node.key;
    node.options.transport.run_id = kRun;
    node.options.transport.members = members_;
    node.options.transport.max_blob_bytes = 64 << 20;
    auto driver = NodeDriver::Make(std::move(node.options), node.log);
    ASSERT_TRUE(driver.ok()) << driver.status();
    node.driver = *std::move(driver);
  }

  // Runs a_ alone to its end.
  NodeReport RunAlone() {
    MakeDriver(a_);
    return a_.driver->Run();
  }

  // Runs both to their ends; b_ on a thread of its own.
  std::pair<NodeReport, NodeReport> RunBoth() {
    AddMember(b_);
    MakeDriver(a_);
    MakeDriver(b_);
    auto other = std::async(std::launch::async, [this] { return b_.driver->Run(); });
    NodeReport mine = a_.driver->Run();
    return {std::move(mine), other.get()};
  }

  const Digest kRun = Digest{{1, 2, 3}};
  std::string root_;
  std::vector<TransportMember> members_;
  Node a_, b_;
};

// --- inputs and actions -------------------------------------------------------------------------

TEST_F(NodeDriverTest, StartsTheMachineOnceWithASecretOfItsOwn) {
  std::vector<Digest> seeds;
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (const auto* started = std::get_if<protocol::Started>(&input)) {
      seeds.push_back(started->private_seed);
      Halt(out, 7, "nothing to do");
    }
  };
  const NodeReport report = RunAlone();
  ASSERT_EQ(seeds.size(), 1u);
  EXPECT_FALSE(seeds[0].is_zero());
  EXPECT_EQ(report.outcome.end, NodeEnd::kFinished);
  EXPECT_EQ(report.outcome.step, 7u);
  EXPECT_EQ(report.outcome.reason, "nothing to do");
  EXPECT_THAT(a_.log.halted, ElementsAre("nothing to do"));
  EXPECT_GT(report.peak_rss_bytes, 1u << 20);
  EXPECT_FALSE(report.evaluation.has_value());
  auto reader = LedgerReader::Open(a_.data_dir);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->Summary()->outcome, "nothing to do");
}

TEST_F(NodeDriverTest, TimersFireInOrderOfTimeAndNeverEarly) {
  std::vector<protocol::TimerId> fired;
  base::Time begin;
  base::Time last;
  const auto after = [&](std::int64_t ms) { return begin + base::Milliseconds(ms); };
  const std::map<protocol::TimerId, std::int64_t> due = {{1, 30}, {2, 10}, {3, 20}, {4, 20},
                                                         {6, 5},  {7, 60}, {8, 40}, {9, -1000}};
  a_.step = [&](base::Time now, const Input& input, Outbox& out) {
    EXPECT_GE(now, last);
    last = now;
    if (std::holds_alternative<protocol::Started>(input)) {
      begin = now;
      for (const auto& [id, ms] : due) out.Add(protocol::SetTimer{id, after(ms)});
      out.Add(protocol::SetTimer{5, after(15)});
      out.Add(protocol::CancelTimer{5});
      out.Add(protocol::SetTimer{6, after(35)});  // again, later
      out.Add(protocol::CancelTimer{99});         // never set
    } else if (const auto* timer = std::get_if<protocol::TimerFired>(&input)) {
      fired.push_back(timer->id);
      EXPECT_GE(now, after(timer->id == 6 ? 35 : due.at(timer->id)));
      if (timer->id == 6) out.Add(protocol::CancelTimer{8});
      if (timer->id == 7) Halt(out);
    }
  };
  RunAlone();
  EXPECT_THAT(fired, ElementsAre(9, 2, 3, 4, 1, 6, 7));
}

TEST_F(NodeDriverTest, ATimerThatSetsItselfAtOnceDoesNotStarveTheRest) {
  bool done = false;
  a_.step = [&](base::Time now, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) {
      protocol::GradientSpec spec;
      spec.parameters = StateAt(1);
      out.Add(protocol::StartJob{1, std::make_shared<const protocol::JobSpec>(spec)});
      out.Add(protocol::SetTimer{1, now});
    } else if (std::holds_alternative<protocol::TimerFired>(input)) {
      if (!done) out.Add(protocol::SetTimer{1, now});
    } else if (std::holds_alternative<protocol::JobDone>(input)) {
      done = true;
      Halt(out);
    }
  };
  EXPECT_EQ(RunAlone().outcome.end, NodeEnd::kFinished);
}

TEST_F(NodeDriverTest, JobsComeBackUnderTheirIds) {
  std::map<protocol::JobId, float> results;
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) {
      for (const protocol::JobId id : {3, 4}) {
        protocol::GradientSpec spec;
        spec.parameters = StateAt(static_cast<float>(id));
        out.Add(protocol::StartJob{id, std::make_shared<const protocol::JobSpec>(spec)});
      }
    } else if (const auto* job = std::get_if<protocol::JobDone>(&input)) {
      const auto* gradient = std::get_if<protocol::GradientResult>(job->result.get());
      ASSERT_NE(gradient, nullptr);
      results[job->id] = gradient->gradient->front();
      if (results.size() == 2) Halt(out);
    }
  };
  const NodeReport report = RunAlone();
  EXPECT_THAT(results, ElementsAre(std::pair(3, 3.0F), std::pair(4, 4.0F)));
  EXPECT_EQ(report.jobs.compute_jobs, 2u);
}

// --- two nodes ----------------------------------------------------------------------------------

TEST_F(NodeDriverTest, WhatIsSentAfterStoredIsInTheLedgerWhenItArrives) {
  constexpr std::uint64_t kCount = 50;
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (const auto* link = std::get_if<protocol::LinkChanged>(&input)) {
      if (link->up) out.Add(protocol::Store{1, {SlotRecord(1, 1)}});
    } else if (const auto* stored = std::get_if<protocol::Stored>(&input)) {
      out.Add(protocol::Send{b_.id(), Frame(std::to_string(stored->id)), nullptr});
      if (stored->id == kCount) return Halt(out);
      out.Add(protocol::Store{stored->id + 1, {SlotRecord(stored->id + 1, 1)}});
    }
  };
  std::uint64_t arrived = 0;
  b_.step = [&](base::Time, const Input& input, Outbox& out) {
    const auto* message = std::get_if<protocol::MessageReceived>(&input);
    if (message == nullptr) return;
    ++arrived;
    EXPECT_EQ(message->from, a_.id());
    EXPECT_EQ(TextOf(*message), std::to_string(arrived));
    auto reader = LedgerReader::Open(a_.data_dir);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_GE(reader->Summary()->slots, arrived) << "sent before it was stored";
    if (arrived == kCount) Halt(out);
  };
  const auto [mine, theirs] = RunBoth();
  EXPECT_EQ(arrived, kCount);
  EXPECT_EQ(mine.ledger.stores, kCount);
  EXPECT_GT(theirs.traffic.total.control_received, 0u);
  EXPECT_THAT(a_.log.links, ::testing::Contains(std::pair<std::size_t, std::size_t>(1, 1)));
}

TEST_F(NodeDriverTest, SendsWhatIsQueuedBeforeItEnds) {
  constexpr std::size_t kFrames = 500;
  constexpr std::size_t kBlobBytes = 8 << 20;
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    const auto* link = std::get_if<protocol::LinkChanged>(&input);
    if (link == nullptr || !link->up) return;
    Halt(out);  // the Sends after it in one outbox still count
    out.Add(protocol::Send{b_.id(), Frame("blob"), crypto::MakeBlob(base::Bytes(kBlobBytes, 5))});
    for (std::size_t i = 0; i < kFrames; ++i) {
      out.Add(protocol::Send{b_.id(), Frame("frame"), nullptr});
    }
  };
  std::size_t frames = 0;
  std::size_t blob_bytes = 0;
  b_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (const auto* message = std::get_if<protocol::MessageReceived>(&input)) {
      frames += message->blob == nullptr;
      if (message->blob) blob_bytes += message->blob->data.size();
    } else if (const auto* link = std::get_if<protocol::LinkChanged>(&input)) {
      if (!link->up) Halt(out);
    }
  };
  const auto [mine, theirs] = RunBoth();
  EXPECT_EQ(frames, kFrames);
  EXPECT_EQ(blob_bytes, kBlobBytes);
  EXPECT_GE(mine.traffic.total.payload_sent, kBlobBytes);
}

TEST_F(NodeDriverTest, ARemovedMemberHearsOfItAndIsThenForgotten) {
  a_.options.forget_after = base::Milliseconds(200);
  base::Time removed_at;
  base::Time gone_at;
  a_.step = [&](base::Time now, const Input& input, Outbox& out) {
    const auto* link = std::get_if<protocol::LinkChanged>(&input);
    if (link == nullptr) return;
    if (link->up) {
      removed_at = now;
      Tell(out, DoneWith(4, 1, {{b_.id(), wire::RemovalKind::kVerdict, 4, "it lied"}}));
      out.Add(protocol::Send{b_.id(), Frame("you are banned"), nullptr});
    } else {
      gone_at = now;
      Halt(out);
    }
  };
  std::vector<std::string> heard;
  b_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (const auto* message = std::get_if<protocol::MessageReceived>(&input)) {
      heard.push_back(TextOf(*message));
    } else if (const auto* link = std::get_if<protocol::LinkChanged>(&input)) {
      if (!link->up) Halt(out);
    }
  };
  const auto [mine, theirs] = RunBoth();
  EXPECT_THAT(heard, ElementsAre("you are banned"));
  EXPECT_GE(gone_at - removed_at, base::Milliseconds(200));
  EXPECT_THAT(a_.log.removed, ElementsAre(b_.id()));
  ASSERT_EQ(mine.removals.size(), 1u);
  EXPECT_EQ(mine.removals[0].reason, "it lied");
  EXPECT_EQ(a_.log.links.back(), (std::pair<std::size_t, std::size_t>(0, 0)));
}

// --- training -----------------------------------------------------------------------------------

TEST_F(NodeDriverTest, EvaluatesEveryFewStepsAndAtTheEnd) {
  a_.options.evaluate_every = 2;
  // The last state's evaluation ends long after the machine has halted, unless Run waits for it.
  std::promise<void> halted;
  std::shared_future<void> after_halt(halted.get_future());
  a_.log.on_halted = [&] { halted.set_value(); };
  a_.trainer->evaluation = [after_halt](std::span<const float> x) {
    if (x[0] == 4) {
      after_halt.wait();
      std::this_thread::yield();
    }
    return train::Evaluation{"accuracy", x[0] / 10, 1};
  };
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (!std::holds_alternative<protocol::Started>(input)) return;
    protocol::StepDone genesis = DoneWith(0, 0);
    wire::Block block = *genesis.block;
    block.genesis = true;
    genesis.block = std::make_shared<const wire::Block>(block);
    Tell(out, genesis);
    for (std::uint64_t step = 0; step <= 4; ++step) {
      Tell(out, protocol::StepTimes{step, 10, 20, 30});
      Tell(out, DoneWith(step, static_cast<float>(step)));
    }
    Tell(out, protocol::Suspicion{3, b_.id(), "V1", "false numbers"});
    Halt(out, 4);
  };
  const NodeReport report = RunAlone();
  EXPECT_THAT(a_.log.steps, ElementsAre(0, 0, 1, 2, 3, 4));
  EXPECT_THAT(a_.log.times, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(a_.log.evaluated, ElementsAre(1, 3, 4));
  EXPECT_THAT(a_.log.suspicions, ElementsAre("false numbers"));
  EXPECT_EQ(report.steps_done, 5u);
  EXPECT_EQ(report.last_block->step, 4u);
  EXPECT_THAT(*report.state.parameters, ElementsAre(4, 4));
  ASSERT_TRUE(report.evaluation.has_value());
  EXPECT_EQ(report.evaluated_step, 4u);
  EXPECT_FLOAT_EQ(report.evaluation->value, 0.4);
  EXPECT_EQ(report.timed_steps, 5u);
  EXPECT_EQ(report.step_times.agree_ns, 150);

  auto reader = LedgerReader::Open(a_.data_dir);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->Metrics("accuracy")->size(), 3u);
  EXPECT_EQ(reader->Metrics("loss")->size(), 3u);
  EXPECT_EQ(reader->Metrics("agree_seconds")->size(), 5u);
}

TEST_F(NodeDriverTest, AnEvaluationThatFailsEndsNothing) {
  a_.options.evaluate_every = 1;
  a_.trainer->evaluation = [](std::span<const float>) -> base::StatusOr<train::Evaluation> {
    return base::Internal("no held-out data");
  };
  a_.step = [](base::Time, const Input& input, Outbox& out) {
    if (!std::holds_alternative<protocol::Started>(input)) return;
    Tell(out, DoneWith(0, 1));
    Halt(out);
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kFinished);
  EXPECT_FALSE(report.evaluation.has_value());
  EXPECT_THAT(a_.log.notices, ::testing::Contains(HasSubstr("no held-out data")));
}

// --- other ends ---------------------------------------------------------------------------------

TEST_F(NodeDriverTest, EndsWithTheReasonWhenTheLedgerRefuses) {
  int inputs_after = 0;
  bool second = false;
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) {
      out.Add(protocol::Store{1, {SlotRecord(1, 1)}});
    } else if (std::holds_alternative<protocol::Stored>(input) && !second) {
      second = true;
      out.Add(protocol::Store{2, {SlotRecord(1, 2)}});
    } else {
      ++inputs_after;
    }
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kFailed);
  EXPECT_THAT(report.outcome.reason, HasSubstr("was signed already"));
  EXPECT_THAT(a_.log.halted, ElementsAre(HasSubstr("was signed already")));
  EXPECT_EQ(inputs_after, 0) << "a node that cannot remember went on";
}

TEST_F(NodeDriverTest, EndsWithTheReasonWhenTooManyJobsWait) {
  a_.options.jobs.max_queued = 1;
  std::promise<void> release;
  std::shared_future<void> released(release.get_future());
  a_.trainer->gradient = [released](std::span<const float> x) {
    released.wait();
    return FakeTrainer::Vector(x.begin(), x.end());
  };
  a_.log.on_halted = [&] { release.set_value(); };
  a_.step = [](base::Time, const Input& input, Outbox& out) {
    if (!std::holds_alternative<protocol::Started>(input)) return;
    protocol::GradientSpec spec;
    spec.parameters = StateAt(1);
    for (const protocol::JobId id : {1, 2, 3}) {
      out.Add(protocol::StartJob{id, std::make_shared<const protocol::JobSpec>(spec)});
    }
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kFailed);
  EXPECT_THAT(report.outcome.reason, HasSubstr("too slow"));
}

TEST_F(NodeDriverTest, CtrlCEndsCleanlyAndSaysWhere) {
  a_.options.handle_signals = true;
  a_.step = [](base::Time, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) {
      Tell(out, protocol::StepStarted{
                    .step = 11, .previous_randomness = {}, .state = {}, .roles = {}, .tau = 0});
      out.Add(protocol::Store{1, {SlotRecord(11, 1)}});
    } else if (std::holds_alternative<protocol::Stored>(input)) {
      ::raise(SIGINT);
    }
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kInterrupted);
  EXPECT_EQ(report.outcome.step, 11u);
  EXPECT_EQ(report.outcome.reason, "stopped by Ctrl-C in step 11");
  auto reader = LedgerReader::Open(a_.data_dir);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->Summary()->slots, 1u);
  EXPECT_EQ(reader->Summary()->outcome, report.outcome.reason);
}

TEST_F(NodeDriverTest, ASecondCtrlCEndsTheProcessAtOnce) {
  // In a child: its compute thread never returns, so that a clean end would take for ever.
  int halted[2];
  ASSERT_EQ(::pipe2(halted, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(halted[0]);
    a_.options.handle_signals = true;
    a_.trainer->gradient = [](std::span<const float> x) {
      ::raise(SIGINT);
      std::promise<void>().get_future().wait_for(std::chrono::hours(1));
      return FakeTrainer::Vector(x.begin(), x.end());
    };
    a_.log.on_halted = [&] {
      if (::write(halted[1], "h", 1) != 1) ::_exit(1);
    };
    a_.step = [](base::Time, const Input& input, Outbox& out) {
      if (!std::holds_alternative<protocol::Started>(input)) return;
      protocol::GradientSpec spec;
      spec.parameters = StateAt(1);
      out.Add(protocol::StartJob{1, std::make_shared<const protocol::JobSpec>(spec)});
    };
    RunAlone();
    ::_exit(0);
  }
  ::close(halted[1]);
  char byte = 0;
  ASSERT_EQ(::read(halted[0], &byte, 1), 1) << "the first Ctrl-C did not end the node";
  ::close(halted[0]);
  ASSERT_EQ(::kill(child, SIGINT), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself with " << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST_F(NodeDriverTest, StopFromAnotherThreadSaysWhoWasMissing) {
  AddMember(b_);  // never runs
  std::promise<void> started;
  a_.step = [&](base::Time, const Input& input, Outbox&) {
    if (std::holds_alternative<protocol::Started>(input)) started.set_value();
  };
  MakeDriver(a_);
  auto stopper = std::async(std::launch::async, [&] {
    started.get_future().wait();
    a_.driver->Stop();
  });
  const NodeReport report = a_.driver->Run();
  EXPECT_EQ(report.outcome.end, NodeEnd::kInterrupted);
  EXPECT_EQ(report.outcome.reason,
            "stopped by request before the first step, with 0 of 1 members linked");
  EXPECT_EQ(a_.log.started_port, a_.driver->port());
  ::close(b_.options.transport.listen_fd);
}

TEST_F(NodeDriverTest, AnExceptionOfTheMachineOrALibraryEndsTheNodeNotTheProcess) {
  a_.step = [](base::Time, const Input&, Outbox&) { throw std::bad_alloc(); };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kFailed);
  EXPECT_THAT(report.outcome.reason, HasSubstr("bad_alloc"));
  EXPECT_EQ(a_.log.halted.size(), 1u);
}

TEST_F(NodeDriverTest, APortThatIsTakenShowsBeforeAnythingRuns) {
  a_.step = [](base::Time, const Input&, Outbox&) {};
  MakeDriver(a_);
  b_.options.transport.listen = "127.0.0.1:" + std::to_string(a_.driver->port());
  b_.options.transport.key = b_.key;
  b_.options.transport.members = members_;
  b_.options.machine = std::make_unique<FakeMachine>(a_.step);
  b_.options.trainer = b_.trainer;
  auto ledger = Ledger::Open({.data_dir = b_.data_dir, .run_id = kRun, .peer = b_.id()});
  ASSERT_TRUE(ledger.ok()) << ledger.status();
  b_.options.ledger = *std::move(ledger);
  const base::Status refused = NodeDriver::Make(std::move(b_.options), b_.log).status();
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
}

}  // namespace
}  // namespace ostraka::runtime

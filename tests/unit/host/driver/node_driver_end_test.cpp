// How a driver ends: what it still sends, what it says, and what it leaves behind.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "node/host/driver/node_driver.h"
#include "node/os/stop_signals.h"
#include "node/store/ledger_reader.h"
#include "tests/unit/host/driver/node_driver_fixture.h"

namespace ostraka::host::node_driver_end_test {
namespace {

using protocol::Input;
using protocol::Outbox;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using NodeDriverEndTest = NodeDriverTest;

// --- the machine halts --------------------------------------------------------------------------

TEST_F(NodeDriverEndTest, SendsWhatIsQueuedBeforeItEnds) {
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

// Shuts down every TCP connection of this process at `port`, as a network that fails does.
void CutConnectionsAt(std::uint16_t port) {
  const auto port_of = [](auto name, int fd) -> std::uint16_t {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    const bool known = name(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    return known && address.sin_family == AF_INET ? ntohs(address.sin_port) : 0;
  };
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename().string());
    const std::uint16_t remote = port_of(::getpeername, fd);
    if (remote == 0) continue;  // no connection
    if (remote == port || port_of(::getsockname, fd) == port) ::shutdown(fd, SHUT_RDWR);
  }
}

// The link is cut at the very moment when a_ is done, and b_ needs what a_ says last.
TEST_F(NodeDriverEndTest, AMemberWhoseLinkIsCutAtTheHaltStillHearsTheLastWords) {
  a_.options.flush_timeout = base::Seconds(60);
  bool cut = false;
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    const auto* link = std::get_if<protocol::LinkChanged>(&input);
    if (link == nullptr || !link->up) return;
    if (!std::exchange(cut, true)) {
      CutConnectionsAt(a_.driver->port());
      CutConnectionsAt(b_.driver->port());
      Halt(out);
    }
    out.Add(protocol::Send{b_.id(), Frame("last words"), nullptr});
  };
  std::vector<std::string> heard;
  b_.step = [&](base::Time now, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) {
      out.Add(protocol::SetTimer{1, now + base::Seconds(30)});
    } else if (const auto* message = std::get_if<protocol::MessageReceived>(&input)) {
      heard.push_back(TextOf(*message));
      Halt(out);
    } else if (std::holds_alternative<protocol::TimerFired>(input)) {
      Tell(out, protocol::Halted{protocol::Halted::Why::kStalled, 0, "heard nothing"});
    }
  };
  const auto [mine, theirs] = RunBoth();
  EXPECT_EQ(mine.outcome.end, NodeEnd::kFinished);
  EXPECT_EQ(theirs.outcome.end, NodeEnd::kFinished) << theirs.outcome.reason;
  EXPECT_THAT(heard, ElementsAre("last words"));
  EXPECT_LT(mine.wall, base::Seconds(25));
}

TEST_F(NodeDriverEndTest, OnlyANodeThatEndedWellWaitsForMembersThatAreAway) {
  AddMember(b_);  // never runs
  a_.options.flush_timeout = base::Seconds(3600);
  a_.step = [](base::Time, const Input& input, Outbox& out) {
    if (!std::holds_alternative<protocol::Started>(input)) return;
    Tell(out, protocol::Halted{protocol::Halted::Why::kStalled, 0, "nobody is there"});
  };
  EXPECT_EQ(RunAlone().outcome.end, NodeEnd::kStalled);
  ::close(b_.options.transport.listen_fd);
}

TEST_F(NodeDriverEndTest, AMemberThatStaysAwayIsNamedAfterTheFlushTimeout) {
  AddMember(b_);  // never runs
  a_.options.flush_timeout = base::Milliseconds(200);
  a_.step = [](base::Time, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) Halt(out);
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kFinished);
  EXPECT_GE(report.wall, base::Milliseconds(200));
  EXPECT_THAT(a_.log.notices, ::testing::Contains(HasSubstr(b_.id().Short() + " may lack")));
  ::close(b_.options.transport.listen_fd);
}

// --- failures and interruptions -----------------------------------------------------------------

TEST_F(NodeDriverEndTest, EndsWithTheReasonWhenTheLedgerRefuses) {
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

TEST_F(NodeDriverEndTest, EndsWithTheReasonWhenTooManyJobsWait) {
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

TEST_F(NodeDriverEndTest, CtrlCEndsCleanlyAndSaysWhere) {
  a_.step = [](base::Time, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) {
      Tell(out,
           protocol::StepStarted{.step = 11, .batches = {}, .state = {}, .roles = {}, .tau = 0});
      out.Add(protocol::Store{1, {SlotRecord(11, 1)}});
    } else if (std::holds_alternative<protocol::Stored>(input)) {
      ::raise(SIGINT);
    }
  };
  const os::StopSignals signals(io_, [this](const std::string& name) {
    a_.driver->Stop(name);
    return false;
  });
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kInterrupted);
  EXPECT_EQ(report.outcome.step, 11u);
  EXPECT_EQ(report.outcome.reason, "stopped by Ctrl-C in step 11");
  auto reader = store::LedgerReader::Open(a_.data_dir);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->Summary()->slots, 1u);
  EXPECT_EQ(reader->Summary()->outcome, report.outcome.reason);
}

TEST_F(NodeDriverEndTest, ASecondCtrlCEndsTheProcessAtOnce) {
  // In a child: its compute thread never returns, so that a clean end would take for ever.
  int halted[2];
  ASSERT_EQ(::pipe2(halted, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(halted[0]);
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
    const os::StopSignals signals(io_, [this](const std::string& name) {
      a_.driver->Stop(name);
      return false;
    });
    RunAlone();
    ::_exit(0);
  }
  ::close(halted[1]);
  char byte = 0;
  ASSERT_EQ(::read(halted[0], &byte, 1), 1) << "the first Ctrl-C did not end the node";
  ::close(halted[0]);
  // A Ctrl-C that comes while the node handles the first one is lost, so people press it again.
  int status = 0;
  pid_t ended = 0;
  while (ended == 0) {
    ASSERT_EQ(::kill(child, SIGINT), 0);
    ended = ::waitpid(child, &status, WNOHANG);
  }
  ASSERT_EQ(ended, child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself with " << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST_F(NodeDriverEndTest, StopFromAnotherThreadSaysWhoWasMissing) {
  AddMember(b_);  // never runs
  std::promise<void> started;
  a_.step = [&](base::Time, const Input& input, Outbox&) {
    if (std::holds_alternative<protocol::Started>(input)) started.set_value();
  };
  MakeDriver(a_);
  auto stopper = std::async(std::launch::async, [&] {
    started.get_future().wait();
    boost::asio::post(io_, [this] { a_.driver->Stop("request"); });
  });
  Drive();
  const NodeReport& report = *a_.report;
  EXPECT_EQ(report.outcome.end, NodeEnd::kInterrupted);
  EXPECT_EQ(report.outcome.reason,
            "stopped by request before the first step, with 0 of 1 members linked");
  EXPECT_EQ(a_.log.started_port, a_.driver->port());
  ::close(b_.options.transport.listen_fd);
}

TEST_F(NodeDriverEndTest, AnExceptionOfTheMachineOrALibraryEndsTheNodeNotTheProcess) {
  a_.step = [](base::Time, const Input&, Outbox&) { throw std::bad_alloc(); };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kFailed);
  EXPECT_THAT(report.outcome.reason, HasSubstr("out of memory"));
  EXPECT_EQ(a_.log.halted.size(), 1u);
}

TEST_F(NodeDriverEndTest, AnExceptionOfOneMachineLeavesTheOtherRunAlone) {
  a_.step = [](base::Time, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) {
      out.Add(protocol::Store{1, {SlotRecord(1, 1)}});
      out.Add(protocol::Store{2, {SlotRecord(2, 1)}});
    } else if (std::holds_alternative<protocol::Stored>(input)) {
      throw std::runtime_error("no such column");
    }
  };
  b_.step = [&](base::Time now, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::TimerFired>(input) && a_.report) return Halt(out, 5);
    out.Add(protocol::SetTimer{1, now + base::Milliseconds(1)});
  };
  b_.options.flush_timeout = base::Milliseconds(1);  // a_ is gone, and b_ would wait for it
  const auto [mine, theirs] = RunBoth();
  EXPECT_EQ(mine.outcome.end, NodeEnd::kFailed);
  EXPECT_EQ(mine.outcome.reason, "a library failed: no such column");
  EXPECT_THAT(a_.log.halted, ElementsAre(mine.outcome.reason));
  EXPECT_EQ(theirs.outcome.end, NodeEnd::kFinished) << theirs.outcome.reason;
  EXPECT_EQ(theirs.outcome.step, 5u);
}

// --- what is kept, and when the run closes ------------------------------------------------------

TEST_F(NodeDriverEndTest, KeepsTheLastStateAndFreesTheFolder) {
  a_.options.states = {.data_dir = a_.data_dir,
                       .every = 0,
                       .layout = a_.trainer->layout(),
                       .metadata = {},
                       .failed = {}};
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (!std::holds_alternative<protocol::Started>(input)) return;
    Tell(out, DoneWith(6, 3));
    Halt(out, 6);
  };
  const NodeReport report = RunAlone();
  ASSERT_TRUE(report.checkpoint.ok()) << report.checkpoint.status();
  EXPECT_EQ(*report.checkpoint, store::CheckpointPath(a_.data_dir, 6));
  const auto state = store::ReadCheckpoint(*report.checkpoint);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_THAT(*state->state.parameters, ElementsAre(3, 3));
  EXPECT_TRUE(store::DataFolder::Claim(a_.data_dir).ok()) << "still locked by the driver";
}

TEST_F(NodeDriverEndTest, AStateThatCannotBeKeptEndsNothingAndIsTold) {
  a_.options.states = {.data_dir = a_.data_dir,
                       .every = 1,
                       .layout = a_.trainer->layout(),
                       .metadata = {},
                       .failed = {}};
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) {
      std::ofstream(store::CheckpointFolder(a_.data_dir)) << "a file where the folder should be";
      Tell(out, DoneWith(0, 3));
    } else if (!a_.log.lost.empty()) {
      return Halt(out);
    }
    out.Add(protocol::SetTimer{1, {}});
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kFinished) << report.outcome.reason;
  EXPECT_THAT(a_.log.lost, ElementsAre(HasSubstr("checkpoints")));
  EXPECT_FALSE(report.checkpoint.ok());
}

// The ledger belongs to the closing thread once the run closes, and an evaluation may end then.
TEST_F(NodeDriverEndTest, AResultThatComesWhileTheRunClosesIsDropped) {
  a_.options.evaluate_every = 1;
  std::promise<void> begun;
  std::promise<void> release;
  a_.trainer->evaluation = [&](std::span<const float>) {
    begun.set_value();
    release.get_future().wait();
    return train::Evaluation{"loss", 1, 1};
  };
  a_.step = [](base::Time, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) Tell(out, DoneWith(0, 1));
  };
  MakeDriver(a_);
  auto stopper = std::async(std::launch::async, [&] {
    begun.get_future().wait();
    boost::asio::post(io_, [&] {
      a_.driver->Stop("Ctrl-C");
      a_.driver->Stop("Ctrl-C");  // skips the flush
      release.set_value();
    });
  });
  Drive();
  EXPECT_EQ(a_.report->outcome.end, NodeEnd::kInterrupted);
  EXPECT_EQ(a_.report->jobs.evaluations, 1u);
  EXPECT_FALSE(a_.report->evaluation.has_value());
  EXPECT_TRUE(a_.log.evaluated.empty());
}

TEST_F(NodeDriverEndTest, APortThatIsTakenShowsBeforeAnythingRuns) {
  a_.step = [](base::Time, const Input&, Outbox&) {};
  MakeDriver(a_);
  b_.options.transport.listen = "127.0.0.1:" + std::to_string(a_.driver->port());
  b_.options.transport.key = b_.key;
  b_.options.transport.members = members_;
  b_.options.machine = std::make_unique<FakeMachine>(a_.step);
  b_.options.trainer = b_.trainer;
  auto ledger = store::Ledger::Open({.data_dir = b_.data_dir, .run_id = kRun, .peer = b_.id()});
  ASSERT_TRUE(ledger.ok()) << ledger.status();
  b_.options.ledger = *std::move(ledger);
  const base::Status refused = NodeDriver::Make(io_, std::move(b_.options), b_.log).status();
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
}

}  // namespace
}  // namespace ostraka::host::node_driver_end_test

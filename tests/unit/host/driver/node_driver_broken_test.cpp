// How a driver ends when something throws, or fails while it ends.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "node/host/driver/node_driver.h"
#include "node/os/timer.h"
#include "tests/unit/host/driver/node_driver_fixture.h"

namespace ostraka::host::node_driver_broken_test {
namespace {

using protocol::Input;
using protocol::Outbox;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using NodeDriverBrokenTest = NodeDriverTest;

protocol::StartJob GradientJob(protocol::JobId id) {
  protocol::GradientSpec spec;
  spec.parameters = StateAt(1);
  return {id, std::make_shared<const protocol::JobSpec>(spec)};
}

// The ban's timer ends while the closing thread waits for a gradient, long after the transport.
TEST_F(NodeDriverBrokenTest, NobodyIsForgottenOnceTheTransportIsGone) {
  AddMember(b_);  // never runs
  a_.options.forget_after = base::Milliseconds(50);
  std::promise<void> release;
  a_.trainer->gradient = [&](std::span<const float> x) {
    boost::asio::post(io_, [&] { a_.driver->Break("no sockets"); });
    release.get_future().wait();
    return FakeTrainer::Vector(x.begin(), x.end());
  };
  os::Timer later(io_);
  a_.log.on_halted = [&] { later.Start(base::Milliseconds(100), [&] { release.set_value(); }); };
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (!std::holds_alternative<protocol::Started>(input)) return;
    Tell(out, DoneWith(4, 1, {{b_.id(), wire::RemovalKind::kVerdict, 4, {.old_text = "it lied"}}}));
    out.Add(GradientJob(1));
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kFailed);
  EXPECT_EQ(report.outcome.reason, "no sockets");
  ::close(b_.options.transport.listen_fd);
}

TEST_F(NodeDriverBrokenTest, WithoutAThreadThereIsAnErrorAndNothingStaysOpen) {
  const int listening = a_.options.transport.listen_fd;
  a_.options.jobs.make_thread = [](const std::function<void()>&) -> std::thread {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  };
  const base::Status refused = TryToMakeDriver(a_);
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_THAT(base::MessageOf(refused), HasSubstr("ulimit -u"));
  EXPECT_EQ(::fcntl(listening, F_GETFD), -1) << "the socket is still open";
  EXPECT_TRUE(store::DataFolder::Claim(a_.data_dir).ok()) << "still locked";
}

TEST_F(NodeDriverBrokenTest, AListenerThatThrowsAtTheEndKeepsNoRunFromEnding) {
  a_.log.on_halted = [] { throw std::runtime_error("no terminal"); };
  a_.step = [](base::Time, const Input&, Outbox&) { throw std::runtime_error("no tensor"); };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kFailed);
  EXPECT_THAT(report.outcome.reason, AllOf(HasSubstr("no tensor"), HasSubstr("no terminal")));
}

TEST_F(NodeDriverBrokenTest, AnOwnerWhoseCallbackThrowsIsABug) {
  a_.step = [](base::Time, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) Halt(out);
  };
  const auto run = [this] {
    MakeDriver(a_);
    bool ended = false;
    const auto work = boost::asio::make_work_guard(io_);
    a_.driver->Start([&](const NodeReport&) {
      ended = true;
      throw std::runtime_error("no owner");
    });
    while (!ended) io_.run_one();
  };
  EXPECT_DEATH(run(), "CHECK failed");
}

// --- failures after the first -------------------------------------------------------------------

TEST_F(NodeDriverBrokenTest, ALedgerThatFailsAfterwardsIsToldBesideTheFirstReason) {
  a_.options.jobs.max_queued = 0;
  a_.step = [](base::Time, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) {
      out.Add(protocol::Store{1, {SlotRecord(1, 1)}});
    } else if (std::holds_alternative<protocol::Stored>(input)) {
      out.Add(protocol::Store{2, {SlotRecord(1, 2)}});
      out.Add(GradientJob(1));
    }
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kFailed);
  EXPECT_THAT(report.outcome.reason, AllOf(HasSubstr("too slow"), HasSubstr("was signed already")));
}

TEST_F(NodeDriverBrokenTest, WhatIsRefusedAfterTheHaltIsANotice) {
  a_.options.jobs.max_queued = 0;
  a_.step = [](base::Time, const Input& input, Outbox& out) {
    if (!std::holds_alternative<protocol::Started>(input)) return;
    Halt(out);
    out.Add(GradientJob(1));
  };
  EXPECT_EQ(RunAlone().outcome.end, NodeEnd::kFinished);
  EXPECT_THAT(a_.log.notices, Contains(HasSubstr("too slow")));
}

// The machine needs no result once it has halted, and the last state's evaluation comes after them.
TEST_F(NodeDriverBrokenTest, JobsThatWaitAtTheHaltAreDropped) {
  std::promise<void> begun;
  std::promise<void> release;
  a_.trainer->gradient = [&](std::span<const float> x) {
    boost::asio::post(io_, [&] { begun.set_value(); });
    release.get_future().wait();  // a second gradient has no future, and throws
    return FakeTrainer::Vector(x.begin(), x.end());
  };
  a_.log.on_halted = [&] { release.set_value(); };
  const auto running = begun.get_future();
  a_.step = [&](base::Time now, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) {
      Tell(out, DoneWith(0, 1));
      for (const protocol::JobId id : {1, 2, 3}) out.Add(GradientJob(id));
    } else if (running.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
      return Halt(out);
    }
    out.Add(protocol::SetTimer{1, now});
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kFinished);
  EXPECT_EQ(report.jobs.compute_jobs, 1u);
  EXPECT_TRUE(report.evaluation.has_value());
}

}  // namespace
}  // namespace ostraka::host::node_driver_broken_test

#include "node/host/driver/node_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <thread>

#include "node/http/http_get.h"
#include "node/store/ledger_reader.h"
#include "tests/unit/host/driver/node_driver_fixture.h"

namespace ostraka::host::node_driver_test {
namespace {

using protocol::Input;
using protocol::Outbox;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// --- inputs and actions -------------------------------------------------------------------------

TEST_F(NodeDriverTest, StartsTheMachineOnceWithTheSecretOfItsKey) {
  std::vector<base::Digest> seeds;
  std::uint64_t nonce = 0;
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (const auto* started = std::get_if<protocol::Started>(&input)) {
      seeds.push_back(started->private_seed);
      nonce = started->store_nonce;
      Halt(out, 7, "nothing to do");
    }
  };
  const NodeReport report = RunAlone();
  ASSERT_EQ(seeds.size(), 1u);
  EXPECT_EQ(seeds[0], a_.coin_seed);
  EXPECT_NE(nonce, 0u) << "a draw of 64 bits";
  EXPECT_EQ(report.outcome.end, NodeEnd::kFinished);
  EXPECT_EQ(report.outcome.step, 7u);
  EXPECT_EQ(report.outcome.reason, "nothing to do");
  EXPECT_THAT(a_.log.halted, ElementsAre("nothing to do"));
  EXPECT_GT(report.peak_rss_bytes, 1u << 20);
  EXPECT_GT(report.longest_turn, base::Duration{});
  EXPECT_FALSE(report.evaluation.has_value());
  auto reader = store::LedgerReader::Open(a_.data_dir);
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
    auto reader = store::LedgerReader::Open(a_.data_dir);
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

TEST_F(NodeDriverTest, ARemovedMemberHearsOfItAndIsThenForgotten) {
  a_.options.forget_after = base::Milliseconds(200);
  base::Time removed_at;
  base::Time gone_at;
  a_.step = [&](base::Time now, const Input& input, Outbox& out) {
    const auto* link = std::get_if<protocol::LinkChanged>(&input);
    if (link == nullptr) return;
    if (link->up) {
      removed_at = now;
      Tell(out,
           DoneWith(4, 1, {{b_.id(), wire::RemovalKind::kVerdict, 4, {.old_text = "it lied"}}}));
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
  EXPECT_EQ(wire::TextOf(mine.removals[0].reason), "it lied");
  EXPECT_EQ(a_.log.links.back(), (std::pair<std::size_t, std::size_t>(0, 0)));
}

// The manifest does not name it: it is linked as a stranger, and a block makes it a member.
TEST_F(NodeDriverTest, AStrangerIsHeardAndCountsOnceABlockKnowsIt) {
  a_.options.transport.strangers = 1;
  std::vector<std::string> heard;
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    const auto* message = std::get_if<protocol::MessageReceived>(&input);
    if (message == nullptr) return;
    heard.push_back(TextOf(*message));
    EXPECT_THAT(a_.log.links, ::testing::Each(std::pair<std::size_t, std::size_t>(0, 0)));
    wire::Block block = *DoneWith(4, 1).block;
    block.members = {a_.id(), b_.id()};
    Tell(out, protocol::StepDone{std::make_shared<const wire::Block>(block), DoneWith(4, 1).state});
    out.Add(protocol::Send{b_.id(), Frame("come in"), nullptr});
    Halt(out, 4);
  };
  b_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (const auto* message = std::get_if<protocol::MessageReceived>(&input)) {
      heard.push_back(TextOf(*message));
      return Halt(out);
    }
    const auto* link = std::get_if<protocol::LinkChanged>(&input);
    if (link != nullptr && link->up) out.Add(protocol::Send{a_.id(), Frame("may I"), nullptr});
  };
  MakeDriver(a_);
  MakeDriver(b_);
  Drive();
  EXPECT_THAT(heard, ElementsAre("may I", "come in"));
  EXPECT_THAT(a_.log.links, ::testing::Contains(std::pair<std::size_t, std::size_t>(1, 1)));
}

TEST_F(NodeDriverTest, TellsThePlaceOfTheNodeAfterABlockAndWhenItIsAway) {
  a_.step = [&](base::Time now, const Input& input, Outbox& out) {
    const auto* timer = std::get_if<protocol::TimerFired>(&input);
    if (std::holds_alternative<protocol::Started>(input)) {
      wire::Block block = *DoneWith(4, 1).block;
      block.members = {a_.id()};
      Tell(out,
           protocol::StepDone{std::make_shared<const wire::Block>(block), DoneWith(4, 1).state});
      out.Add(protocol::SetTimer{1, now});
    } else if (timer != nullptr && timer->id == 1) {
      Tell(out, protocol::Away{5, "its REVEAL came too late"});
      out.Add(protocol::SetTimer{2, now});
    } else if (timer != nullptr) {
      Halt(out, 5);
    }
  };
  RunAlone();
  ASSERT_EQ(a_.log.progress.size(), 2u);
  EXPECT_EQ(a_.log.progress[0].place, Place::kMember);
  EXPECT_EQ(a_.log.progress[0].members, 1u);
  EXPECT_EQ(a_.log.progress[1].place, Place::kFollowing);
  EXPECT_EQ(a_.log.progress[1].absence->reason, "its REVEAL came too late");
}

// A run that is complete may stay for members whose link is down, but for no member that was
// banned.
TEST_F(NodeDriverTest, ARestartedNodeForgetsAtOnceWhoWasBannedBefore) {
  AddMember(b_);  // never runs
  a_.options.flush_timeout = base::Milliseconds(200);
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (!std::holds_alternative<protocol::Started>(input)) return;
    wire::Block block = *DoneWith(8, 1).block;
    block.standings = {{.peer = b_.id(), .banned = true}};
    Tell(out, protocol::Resumed{std::make_shared<const wire::Block>(block), DoneWith(8, 1).state});
    Halt(out, 8);
  };
  EXPECT_EQ(RunAlone().steps_done, 9u);
  EXPECT_THAT(a_.log.notices, ::testing::Not(::testing::Contains(HasSubstr("may lack"))));
  EXPECT_EQ(a_.log.links.back(), (std::pair<std::size_t, std::size_t>(0, 0)));
  ::close(b_.options.transport.listen_fd);
}

// --- training -----------------------------------------------------------------------------------

TEST_F(NodeDriverTest, ABatchWhoseLossIsNoNumberHasTheStateEvaluatedAtOnce) {
  a_.options.evaluate_every = 0;
  a_.trainer->batch_loss = std::nan("");
  a_.trainer->evaluation = [](std::span<const float>) {
    return train::Evaluation{"loss", std::nan(""), std::nan("")};
  };
  a_.step = [&](base::Time, const Input& input, Outbox& out) {
    if (std::holds_alternative<protocol::Started>(input)) {
      Tell(out, DoneWith(0, 1));
      protocol::GradientSpec spec;
      spec.step = 1;
      spec.parameters = std::make_shared<const std::vector<float>>(2, 1.0F);
      out.Add(protocol::StartJob{1, std::make_shared<const protocol::JobSpec>(spec)});
    } else if (std::holds_alternative<protocol::JobDone>(input)) {
      EXPECT_THAT(a_.log.batches, ::testing::SizeIs(1)) << "told before the result";
      Halt(out, 1);
    }
  };
  const NodeReport report = RunAlone();
  EXPECT_THAT(a_.log.evaluated, ElementsAre(0)) << "once, and not again at the end";
  EXPECT_EQ(report.trend, Trend::kDiverged);
}

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
  EXPECT_THAT(a_.log.steps, ElementsAre(0, 1, 2, 3, 4)) << "the genesis block is no step";
  EXPECT_THAT(a_.log.times, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(a_.log.evaluated, ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(a_.log.suspicions, ElementsAre("false numbers"));
  EXPECT_EQ(report.steps_done, 5u);
  EXPECT_EQ(report.last_block->step, 4u);
  EXPECT_THAT(*report.state.parameters, ElementsAre(4, 4));
  ASSERT_TRUE(report.evaluation.has_value());
  EXPECT_EQ(report.evaluated_step, 4u);
  EXPECT_FLOAT_EQ(report.evaluation->value, 0.4);
  EXPECT_EQ(report.timed_steps, 5u);
  EXPECT_EQ(report.step_times.agree_ns, 150);

  auto reader = store::LedgerReader::Open(a_.data_dir);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->Metrics("accuracy")->size(), 4u);
  EXPECT_EQ(reader->Metrics("loss")->size(), 4u);
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

// --- what it tells -------------------------------------------------------------------------------

TEST_F(NodeDriverTest, AnswersOverHttpFromItsBirthToItsEnd) {
  const http::HttpPlace place{.address = {}, .socket_path = root_ + "/status.sock"};
  StatusService& service = a_.options.status;
  service.places = {place, {.address = "127.0.0.1:0", .socket_path = {}}};
  service.answer = [](std::string_view path, const NodeStatus& status, const RunHistory& history) {
    return http::HttpResponse{
        200, "text/plain",
        std::string(path) + " " + status.self.Short() + " " + std::to_string(status.steps_done) +
            " " + std::to_string(history.block()->step) + (status.outcome ? " ended" : " runs")};
  };
  a_.step = [](base::Time, const Input& input, Outbox& out) {
    if (!std::holds_alternative<protocol::Started>(input)) return;
    Tell(out, DoneWith(0, 1));
  };
  MakeDriver(a_);
  auto run = std::async(std::launch::async, [this] { Drive(); });
  const std::string expected = "/x " + a_.id().Short() + " 1 0 runs";
  const std::string tcp = "127.0.0.1:" + std::to_string(a_.driver->http_port());
  for (const http::HttpPlace& where : {place, http::HttpPlace{.address = tcp, .socket_path = {}}}) {
    const auto answer = http::HttpGet(where, "/x");
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->body, expected);
  }
  boost::asio::post(io_, [this] { a_.driver->Stop("request"); });
  run.get();
  EXPECT_EQ(a_.report->outcome.end, NodeEnd::kInterrupted);
  EXPECT_EQ(a_.log.started_http_port, a_.driver->http_port());
  EXPECT_EQ(http::HttpGet(place, "/x").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace ostraka::host::node_driver_test

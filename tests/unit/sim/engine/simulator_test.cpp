#include "sim/engine/simulator.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/sim/engine/scripted_machine.h"

namespace ostraka::sim::simulator_test {
namespace {

using Seen = ScriptedMachine::Seen;
using SeenList = std::shared_ptr<std::vector<Seen>>;

// Answers gradient jobs with one float: the first byte of the batch seed.
JobMemo MakeJobs() {
  return JobMemo(
      [](const protocol::JobSpec& spec, const protocol::GradientFunction& gradients) {
        const auto* gradient = std::get_if<protocol::GradientSpec>(&spec);
        if (!gradient) return protocol::JobResult(protocol::RootResult{});
        return protocol::JobResult(protocol::GradientResult{
            std::make_shared<const std::vector<float>>(*gradients(*gradient))});
      },
      [](const protocol::GradientSpec& spec) -> base::StatusOr<std::vector<float>> {
        return std::vector<float>{static_cast<float>(spec.batch_seed.bytes[0])};
      },
      {});
}

std::vector<Simulator::Member> Pingers(std::uint8_t count, std::uint64_t rounds) {
  std::vector<Simulator::Member> members;
  for (std::uint8_t i = 0; i < count; ++i) {
    members.push_back(
        {PeerNumber(i), std::make_unique<PingMachine>(base::Milliseconds(30), rounds)});
  }
  return members;
}

struct PingRun {
  base::Digest digest;
  std::uint64_t events = 0;
};
PingRun RunPings(std::uint64_t seed, std::uint64_t rounds = 20) {
  SimulatorOptions options;
  options.seed = seed;
  options.inspect_every = 8;
  JobMemo jobs = MakeJobs();
  Simulator simulator(options, Pingers(5, rounds), &jobs);
  EXPECT_EQ(simulator.Run({.until = {base::Seconds(60).ns}}), Simulator::Ended::kIdle);
  return {simulator.trace_digest(), simulator.events()};
}

TEST(Simulator, OneSeedGivesOneTraceAndAnotherGivesAnother) {
  const PingRun once = RunPings(1);
  const PingRun again = RunPings(1);
  EXPECT_EQ(once.digest, again.digest);
  EXPECT_EQ(once.events, again.events);
  EXPECT_NE(once.digest, RunPings(2).digest);
  EXPECT_NE(once.digest, RunPings(1, 21).digest);
  // 5 starts, 20 link ends, 5 x 21 timers, and a message and a store for each ping on a link; each
  // machine pings only peers that it is linked to by then.
  EXPECT_GT(once.events, 5U + 20U + 105U + 2 * 300U);
}

// Equal on every machine and compiler; a change of this value breaks all replays.
TEST(Simulator, TraceOfSeedOneIsPinned) {
  EXPECT_EQ(RunPings(1).digest.Hex(),
            "a5cf9a599e33756b81d4224be3f855956eb376f03797449e5b9f050360b6b6d1");
}

// Runs one scripted machine beside a silent one.
class OneScripted {
 public:
  explicit OneScripted(ScriptedMachine::Script script, SimulatorOptions options = {})
      : jobs_(MakeJobs()), simulator_(options, Members(std::move(script)), &jobs_) {}

  std::vector<Seen>& Run(base::Duration time = base::Seconds(10)) {
    simulator_.Run({.until = {time.ns}});
    return *seen_;
  }
  Simulator& simulator() { return simulator_; }
  std::vector<Seen>& other() { return *other_seen_; }

 private:
  std::vector<Simulator::Member> Members(ScriptedMachine::Script script) {
    std::vector<Simulator::Member> members;
    members.push_back({PeerNumber(1), std::make_unique<ScriptedMachine>(std::move(script), seen_)});
    members.push_back({PeerNumber(2), std::make_unique<ScriptedMachine>(nullptr, other_seen_)});
    return members;
  }
  SeenList seen_ = std::make_shared<std::vector<Seen>>();
  SeenList other_seen_ = std::make_shared<std::vector<Seen>>();
  JobMemo jobs_;
  Simulator simulator_;
};

template <typename Input>
std::vector<Seen> Only(const std::vector<Seen>& seen) {
  std::vector<Seen> only;
  for (const Seen& one : seen) {
    if (std::holds_alternative<Input>(one.input)) only.push_back(one);
  }
  return only;
}

TEST(Simulator, StartsEveryMachineFirstAndThenLinksAllAtBothEnds) {
  OneScripted run(nullptr);
  const auto& seen = run.Run();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<protocol::Started>(seen[0].input));
  const auto& link = std::get<protocol::LinkChanged>(seen[1].input);
  EXPECT_EQ(link.peer, PeerNumber(2));
  EXPECT_TRUE(link.up);
  ASSERT_EQ(run.other().size(), 2U);
  EXPECT_EQ(run.other()[1].at, seen[1].at);
  EXPECT_NE(std::get<protocol::Started>(seen[0].input).private_seed,
            std::get<protocol::Started>(run.other()[0].input).private_seed);
}

TEST(Simulator, ATimerIsReplacedByItsIdAndCanBeCancelled) {
  OneScripted run([](base::Time now, const protocol::Input& input, protocol::Outbox& out) {
    if (!std::holds_alternative<protocol::Started>(input)) return;
    out.Add(protocol::SetTimer{1, now + base::Seconds(1)});
    out.Add(protocol::SetTimer{2, now + base::Seconds(2)});
    out.Add(protocol::SetTimer{3, now + base::Seconds(3)});
    out.Add(protocol::SetTimer{1, now + base::Seconds(4)});
    out.Add(protocol::CancelTimer{2});
  });
  const auto& seen = run.Run();
  const auto timers = Only<protocol::TimerFired>(seen);
  ASSERT_EQ(timers.size(), 2U);
  EXPECT_EQ(std::get<protocol::TimerFired>(timers[0].input).id, 3U);
  EXPECT_EQ(std::get<protocol::TimerFired>(timers[1].input).id, 1U);
  EXPECT_EQ(timers[1].at - seen[0].at, base::Seconds(4));
}

TEST(Simulator, StoresBecomeDurableInOrderEachAfterAnFsync) {
  SimulatorOptions options;
  options.fsync = {base::Milliseconds(10), {}};
  OneScripted run(
      [](base::Time, const protocol::Input& input, protocol::Outbox& out) {
        if (!std::holds_alternative<protocol::Started>(input)) return;
        for (protocol::StoreId id = 1; id <= 3; ++id) out.Add(protocol::Store{id, {}});
      },
      options);
  const auto& seen = run.Run();
  const auto stored = Only<protocol::Stored>(seen);
  ASSERT_EQ(stored.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::get<protocol::Stored>(stored[i].input).id, i + 1);
    EXPECT_EQ(stored[i].at - seen[0].at, base::Milliseconds(10) * static_cast<int>(i + 1));
  }
}

protocol::StartJob GradientJob(protocol::JobId id, std::uint8_t seed) {
  protocol::GradientSpec spec;
  spec.parameters = std::make_shared<const std::vector<float>>();
  spec.batch_seed.bytes[0] = seed;
  return {id, std::make_shared<const protocol::JobSpec>(spec)};
}

TEST(Simulator, GradientsQueueOnTheComputeLaneAndOtherJobsDoNot) {
  SimulatorOptions options;
  options.jobs = {.overhead = base::Milliseconds(1),
                  .gradient = base::Milliseconds(100),
                  .gradient_ns_per_float = 0,
                  .other_ns_per_float = 0,
                  .jitter_percent = 0};
  OneScripted run(
      [](base::Time, const protocol::Input& input, protocol::Outbox& out) {
        if (!std::holds_alternative<protocol::Started>(input)) return;
        out.Add(GradientJob(1, 11));
        out.Add(GradientJob(2, 22));
        out.Add(
            protocol::StartJob{3, std::make_shared<const protocol::JobSpec>(protocol::PackSpec{})});
        out.Add(GradientJob(kFirstReservedJob, 33));
      },
      options);
  const auto& seen = run.Run();
  std::map<protocol::JobId, base::Duration> took;
  std::map<protocol::JobId, float> results;
  for (const Seen& one : Only<protocol::JobDone>(seen)) {
    const auto& done = std::get<protocol::JobDone>(one.input);
    took[done.id] = one.at - seen[0].at;
    const auto* gradient = std::get_if<protocol::GradientResult>(done.result.get());
    if (gradient) results[done.id] = gradient->gradient->at(0);
  }
  EXPECT_EQ(took[1], base::Milliseconds(101));
  EXPECT_EQ(took[2], base::Milliseconds(202));
  EXPECT_EQ(took[3], base::Milliseconds(1));
  EXPECT_EQ(took[kFirstReservedJob], base::Milliseconds(101)) << "an adversary's own machine";
  EXPECT_EQ(results[2], 22.0F);
}

// Sends one byte, `i`, every 10 ms once the link is up.
void SendEveryTenMilliseconds(base::Time now, const protocol::Input& input, protocol::Outbox& out) {
  const auto* link = std::get_if<protocol::LinkChanged>(&input);
  const auto* timer = std::get_if<protocol::TimerFired>(&input);
  if (link && link->up) out.Add(protocol::SetTimer{1, now + base::Milliseconds(10)});
  if (!timer || timer->id > 200) return;
  const auto frame = std::make_shared<const base::Bytes>(1, static_cast<std::uint8_t>(timer->id));
  out.Add(protocol::Send{PeerNumber(2), frame, nullptr});
  out.Add(protocol::SetTimer{timer->id + 1, now + base::Milliseconds(10)});
}

TEST(Simulator, CutLinkLosesMessagesInTransitAndInformsBothEnds) {
  OneScripted run(SendEveryTenMilliseconds);
  run.simulator().ScheduleLink({base::Milliseconds(800).ns}, 0, 1, false);
  run.Run();
  const auto received = Only<protocol::MessageReceived>(run.other());
  ASSERT_FALSE(received.empty());
  for (std::size_t i = 0; i < received.size(); ++i) {
    const auto& message = std::get<protocol::MessageReceived>(received[i].input);
    EXPECT_EQ(message.from, PeerNumber(1));
    EXPECT_EQ(message.frame->at(0), i + 1) << "in order, none missing before the cut";
    EXPECT_LT(received[i].at.ns, base::Milliseconds(800).ns) << "nothing arrives after the cut";
  }
  const auto links = Only<protocol::LinkChanged>(run.other());
  ASSERT_EQ(links.size(), 2U);
  EXPECT_FALSE(std::get<protocol::LinkChanged>(links[1].input).up);
}

TEST(Simulator, MessagesToStrangersOrOneselfAreDropped) {
  OneScripted run([](base::Time, const protocol::Input& input, protocol::Outbox& out) {
    if (!std::holds_alternative<protocol::LinkChanged>(input)) return;
    const auto frame = std::make_shared<const base::Bytes>(1);
    out.Add(protocol::Send{PeerNumber(1), frame, nullptr});
    out.Add(protocol::Send{PeerNumber(77), frame, nullptr});
  });
  EXPECT_TRUE(Only<protocol::MessageReceived>(run.Run()).empty());
  EXPECT_EQ(run.simulator().bytes_sent(), 0U);
}

TEST(Simulator, ReportsWhyARunEnded) {
  JobMemo jobs = MakeJobs();
  Simulator simulator({}, Pingers(3, 10), &jobs);
  EXPECT_EQ(simulator.Run({.until = {base::Seconds(60).ns}, .events = 4}),
            Simulator::Ended::kOutOfEvents);
  EXPECT_EQ(simulator.events(), 4U);
  EXPECT_EQ(simulator.Run({.until = {base::Milliseconds(250).ns}}), Simulator::Ended::kOutOfTime);
  EXPECT_LE(simulator.now().ns, base::Milliseconds(250).ns);
  EXPECT_EQ(simulator.Run({.until = {base::Seconds(60).ns}, .finished = [] { return true; }}),
            Simulator::Ended::kFinished);
  EXPECT_EQ(simulator.Run({.until = {base::Seconds(60).ns}}), Simulator::Ended::kIdle);
}

}  // namespace
}  // namespace ostraka::sim::simulator_test

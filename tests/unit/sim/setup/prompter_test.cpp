#include "sim/setup/prompter.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "tests/unit/sim/engine/scripted_machine.h"

namespace ostraka::sim::prompter_test {
namespace {

using protocol::Observe;
using Seen = ScriptedMachine::Seen;

// Begins step 4 when its timer fires, after the block of step 3.
void Script(base::Time now, const protocol::Input& input, protocol::Outbox& out) {
  if (std::holds_alternative<protocol::Started>(input)) {
    out.Add(protocol::SetTimer{1, now + base::Milliseconds(5)});
  } else if (std::holds_alternative<protocol::TimerFired>(input)) {
    wire::Block block;
    block.step = 3;
    out.Add(Observe{protocol::StepDone{std::make_shared<const wire::Block>(block), {}}});
    out.Add(Observe{protocol::StepStarted{.step = 4}});
  }
}

// What the machine was told, in order.
std::vector<protocol::Told> ToldOf(const std::vector<Seen>& seen) {
  std::vector<protocol::Told> all;
  for (const Seen& one : seen) {
    if (const auto* told = std::get_if<protocol::Told>(&one.input)) all.push_back(*told);
  }
  return all;
}

std::vector<protocol::Told> WhatItIsTold(const std::vector<Wish>& wishes) {
  const auto seen = std::make_shared<std::vector<Seen>>();
  std::vector<Simulator::Member> members;
  members.push_back({PeerNumber(1), std::make_unique<ScriptedMachine>(Script, seen)});
  JobMemo jobs([](const auto&, const auto&) { return protocol::JobResult{}; }, {}, {});
  Simulator simulator({}, std::move(members), &jobs);
  Prompter prompter(&simulator);
  for (const Wish& wish : wishes) prompter.Add(0, wish);
  simulator.AddObserver(&prompter);
  simulator.Run({.until = {base::Seconds(1).ns}});
  return ToldOf(*seen);
}

TEST(PrompterTest, AsksAtTheStartAndInEachStepForTheNextOne) {
  std::vector<std::uint64_t> steps;
  std::vector<std::optional<std::uint64_t>> heads;
  const auto told =
      WhatItIsTold({[&](std::uint64_t step, const wire::Block* head, protocol::Told& what) {
        steps.push_back(step);
        heads.push_back(head == nullptr ? std::nullopt : std::optional(head->step));
        what.leave = {step, step + 1};
      }});
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{0, 5}));
  EXPECT_EQ(heads, (std::vector<std::optional<std::uint64_t>>{std::nullopt, 3}));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].leave->from, 5u);
}

TEST(PrompterTest, WishesOfAPeerAreToldTogetherAndNoneIsNoInput) {
  const auto told = WhatItIsTold({[](std::uint64_t step, const auto*, protocol::Told& what) {
                                    if (step == 0) what.only_dials = true;
                                  },
                                  [](std::uint64_t step, const auto*, protocol::Told& what) {
                                    if (step == 0) what.revocations.emplace();
                                  }});
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].only_dials, true);
  EXPECT_TRUE(told[0].revocations);
}

}  // namespace
}  // namespace ostraka::sim::prompter_test

// The wrapper itself: it passes everything through, never testifies against colluders, and lies
// about nobody.
#include "sim/adversary/adversary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sim/adversary/wrapped.h"

namespace ostraka::sim::adversary_test {
namespace {

using testing::HasSubstr;

protocol::RecomputeSpec RecomputationOf(const base::PeerId& target) {
  protocol::RecomputeSpec spec;
  spec.gradient.owner = target;
  return spec;
}
const protocol::RecomputeResult kGuilty{.accuse = true, .convict = true, .worst_ratio = 9};

TEST(AdversarialMachine, WithoutAnAttackEqualsTheInnerMachine) {
  Wrapped wrapped("none", 0);
  const auto frame = std::make_shared<const base::Bytes>(10);
  const std::vector<protocol::Action> says = {protocol::Send{wrapped.member(3), frame, nullptr},
                                              protocol::SetTimer{2, {9}}, protocol::CancelTimer{3},
                                              protocol::Store{4, {}}};
  const auto actions =
      wrapped.Step(protocol::MessageReceived{wrapped.member(2), frame, nullptr}, says);
  ASSERT_EQ(actions.size(), says.size());
  EXPECT_EQ(std::get<protocol::Send>(actions[0]).frame, frame) << "shared, not copied";
  EXPECT_EQ(std::get<protocol::SetTimer>(actions[1]).id, 2U);
  EXPECT_EQ(std::get<protocol::CancelTimer>(actions[2]).id, 3U);
  EXPECT_EQ(std::get<protocol::Store>(actions[3]).id, 4U);
  ASSERT_EQ(wrapped.seen().size(), 1U);
  EXPECT_EQ(std::get<protocol::MessageReceived>(wrapped.seen()[0].input).frame, frame);
  EXPECT_TRUE(wrapped.coven().deeds().empty());
}

TEST(AdversarialMachine, NeverAccusesOrConvictsAColluder) {
  Wrapped wrapped("none", 0);
  const auto result = std::get<protocol::RecomputeResult>(
      wrapped.RunInside(RecomputationOf(wrapped.mate()), kGuilty));
  EXPECT_FALSE(result.accuse);
  EXPECT_FALSE(result.convict);
  EXPECT_EQ(result.worst_ratio, 0);
}

TEST(AdversarialMachine, TellsTheTruthAboutOthers) {
  Wrapped wrapped("none", 0);
  for (const protocol::RecomputeResult& truth : {kGuilty, protocol::RecomputeResult{}}) {
    const auto result = std::get<protocol::RecomputeResult>(
        wrapped.RunInside(RecomputationOf(wrapped.member(3)), truth));
    EXPECT_EQ(result.accuse, truth.accuse);
    EXPECT_EQ(result.convict, truth.convict);
  }
}

TEST(AdversarialMachine, ExposesOnlyLiarsOutsideTheCoven) {
  Wrapped wrapped("none", 0);
  const auto result = std::get<protocol::CrossCheckResult>(wrapped.RunInside(
      protocol::CrossCheckSpec{},
      protocol::CrossCheckResult{{wrapped.member(4), wrapped.mate(), wrapped.member(2)}}));
  EXPECT_EQ(result.liars, (std::vector<base::PeerId>{wrapped.member(4), wrapped.member(2)}));
}

TEST(MakeAdversary, ListsKnownNames) {
  AdversaryOptions options;
  options.name = "nonsense";
  options.key = KeyNumber(1);
  options.coven = std::make_shared<Coven>(std::vector<base::PeerId>{}, 1);
  const auto unknown = MakeAdversary(options, std::make_unique<ScriptedMachine>());
  ASSERT_EQ(unknown.status().code(), absl::StatusCode::kInvalidArgument);
  for (const char* name :
       {"none", "alie", "ipm", "label_flip", "random_direction", "sign_flip", "wrong_aggregate",
        "false_proof", "false_accuse", "selective_send", "equivocate", "bad_reveal"}) {
    EXPECT_THAT(base::MessageOf(unknown.status()), HasSubstr(name));
  }
  options.name = "sign_flip";
  options.params = {{"mu", "1"}};
  const auto wrong = MakeAdversary(options, std::make_unique<ScriptedMachine>());
  EXPECT_THAT(base::MessageOf(wrong.status()), HasSubstr("no parameter 'mu'; known: lambda"));
}

}  // namespace
}  // namespace ostraka::sim::adversary_test

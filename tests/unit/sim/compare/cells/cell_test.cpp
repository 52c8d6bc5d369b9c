#include "sim/compare/cells/cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>

namespace ostraka::compare::cell_test {
namespace {

using testing::HasSubstr;

Cell Example() {
  Cell cell;
  cell.rule = {"centered_clip:tau=0.1|1+nnm", "centered_clip:tau=1+nnm"};
  cell.attack = "ipm:eps=0.1";
  return cell;
}

TEST(Cell, EveryParameterIsInTheIdButTheFamily) {
  const std::vector<std::function<void(Cell&)>> changes = {
      [](Cell& c) { c.data = "mnist"; },
      [](Cell& c) { c.data_hash.bytes[0] = 1; },
      [](Cell& c) { c.model = "mlp"; },
      [](Cell& c) { c.hidden = 65; },
      [](Cell& c) { c.partition = "iid"; },
      [](Cell& c) { c.peers = 17; },
      [](Cell& c) { c.byzantine = 4; },
      [](Cell& c) { c.tolerate = 4; },
      [](Cell& c) { c.rule.pipeline = "mean"; },
      [](Cell& c) { c.attack = "none"; },
      [](Cell& c) { c.attack_from = 1; },
      [](Cell& c) { c.steps = 101; },
      [](Cell& c) { c.batch_size = 9; },
      [](Cell& c) { c.evaluate_every = 11; },
      [](Cell& c) { c.learning_rate = 0.2; },
      [](Cell& c) { c.schedule = "cosine"; },
      [](Cell& c) { c.warmup_steps = 1; },
      [](Cell& c) { c.momentum = 0.5; },
      [](Cell& c) { c.worker_momentum = 0.5; },
      [](Cell& c) { c.weight_decay = 1e-4; },
      [](Cell& c) { c.seed = 1; }};
  std::set<base::Digest> ids = {IdOf(Example())};
  for (const auto& change : changes) {
    Cell cell = Example();
    change(cell);
    EXPECT_TRUE(ids.insert(IdOf(cell)).second) << KeyOf(cell, {Role::kSetting, Role::kChoice});
  }
  Cell renamed = Example();
  renamed.rule.family = "centered_clip:tau=1+nnm";
  EXPECT_EQ(IdOf(renamed), IdOf(Example()));
}

// Users keep files with ids, so a change of this id is a change of format.
TEST(Cell, IdIsStable) { EXPECT_EQ(IdOf(Example()).Short(), "ca47dbd1cde12d11"); }

TEST(Cell, NumbersReadBack) {
  EXPECT_EQ(NumberText(0.1), "0.1");
  EXPECT_EQ(NumberText(5e-4), "5e-04");
  EXPECT_EQ(NumberText(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(NumberText(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(Cell, KeysHoldTheColumnsOfTheirRoles) {
  EXPECT_EQ(KeyOf(Example(), {Role::kAttack, Role::kSeed}), "attack=ipm:eps=0.1 seed=0");
  EXPECT_EQ(KeyOf(Example(), {Role::kRule}), "rule=centered_clip:tau=0.1|1+nnm");
}

TEST(Cell, TheProtocolIsKnownByItsName) {
  Cell cell;
  for (const char* text : {"btard", "btard:tau=1"}) {
    cell.rule.pipeline = text;
    EXPECT_TRUE(cell.is_protocol()) << text;
  }
  cell.rule.pipeline = "btardy";
  EXPECT_FALSE(cell.is_protocol());
}

TEST(Pipeline, IsARuleAfterPreAggregations) {
  const auto spec = ParsePipeline("krum:variant=byzfl+clipping:c=2+nnm");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->rule.name, "krum");
  EXPECT_EQ(spec->rule.arguments.front().second, "byzfl");
  ASSERT_EQ(spec->pre.size(), 2u);
  EXPECT_EQ(spec->pre[0].name, "clipping");
  EXPECT_EQ(spec->pre[1].name, "nnm");
}

TEST(ParseAttack, RefusesUnknownAttacks) {
  EXPECT_TRUE(ParseAttack("ipm:eps=0.1").ok());
  EXPECT_THAT(base::MessageOf(ParseAttack("ipm:epsilon=0.1").status()), HasSubstr("epsilon"));
}

}  // namespace
}  // namespace ostraka::compare::cell_test

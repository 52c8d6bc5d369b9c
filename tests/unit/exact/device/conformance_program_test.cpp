#include "exact/device/conformance_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "exact/device/emulated_device.h"
#include "tests/unit/exact/testing.h"

namespace ostraka::exact::conformance_program_test {
namespace {

TEST(ConformanceProgram, EveryLevelGivesTheRecordedDigest) {
  for (const Level level : testing::SupportedLevels()) {
    EXPECT_EQ(ProgramDigest(KernelsFor(level)).value().Hex(), kProgramDigest) << LevelName(level);
  }
}

TEST(ConformanceProgram, TheEmulatedDeviceConformsWithEachTile) {
  const auto device = MakeEmulatedDevice();
  EXPECT_EQ(base::MessageOf(CheckDevice(*device)), "");
}

// Items that met between two barriers would give other bits the other way round.
TEST(ConformanceProgram, TheOrderOfItemsChangesNothing) {
  const auto device = MakeEmulatedDevice({.descending = true});
  EXPECT_EQ(base::MessageOf(CheckDevice(*device)), "");
}

TEST(ConformanceProgram, HasEveryKindOfStep) {
  std::set<std::size_t> kinds;
  bool has_causal = false;
  bool has_mask = false;
  bool has_groups = false;
  for (const ConformanceCase& each : ConformanceCases()) {
    for (const Step& step : each.program.steps) {
      kinds.insert(step.kind.index());
      if (const auto* attention = std::get_if<AttentionBackwardStep>(&step.kind)) {
        has_causal = has_causal || attention->causal;
        has_mask = has_mask || attention->has_mask;
        has_groups = has_groups || attention->groups < attention->heads;
      }
    }
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<StepKind>);
  EXPECT_TRUE(has_causal && has_mask && has_groups);
}

// kExp and kErf are no steps of a program: only tests call them.
TEST(ConformanceProgram, HasEveryMap) {
  std::set<Map> maps;
  for (const ConformanceCase& each : ConformanceCases()) {
    for (const Step& step : each.program.steps) {
      if (const auto* map = std::get_if<MapStep>(&step.kind)) maps.insert(map->map);
    }
  }
  EXPECT_EQ(maps.size(), kMapCount - 2);
}

TEST(ConformanceProgram, NamesAreUnique) {
  std::set<std::string> names;
  for (const ConformanceCase& each : ConformanceCases()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
  }
}

TEST(ConformanceProgram, ATooSmallDeviceIsRefusedWithTheSizes) {
  const auto device = MakeEmulatedDevice({.memory_bytes = 1000, .buffer_bytes = 1000});
  const base::Status status = CheckDevice(*device);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(base::MessageOf(status), ::testing::HasSubstr("more than 1000"));
}

}  // namespace
}  // namespace ostraka::exact::conformance_program_test

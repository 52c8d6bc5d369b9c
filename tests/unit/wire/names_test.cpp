#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/wire/block.h"
#include "node/wire/evidence_codec.h"
#include "node/wire/messages.h"

namespace ostraka::wire {
namespace {

using testing::ElementsAre;

template <typename Enum>
std::vector<std::string> AllNames(std::uint8_t count, const char* (*name)(Enum)) {
  std::vector<std::string> names;
  for (std::uint8_t i = 0; i < count; ++i) names.emplace_back(name(static_cast<Enum>(i)));
  return names;
}

// Keys of JSON results: a contract.
TEST(NamesTest, AsInJson) {
  EXPECT_THAT(AllNames(kPhaseCount, PhaseName), ElementsAre("genesis", "a", "b", "c"));
  EXPECT_THAT(
      AllNames(kMessageTypeCount, MessageTypeName),
      ElementsAre("boot", "commit", "part", "aggregate", "result", "reveal", "proof", "echo"));
  EXPECT_THAT(AllNames(kRemovalKindCount, RemovalKindName),
              ElementsAre("verdict", "evidence", "drop", "eliminate"));
  EXPECT_THAT(AllNames(kColumnFateCount, ColumnFateName),
              ElementsAre("applied", "no_aggregate", "bad_senders", "too_few_senders",
                          "missing_numbers", "sum_check", "norm_check"));
  EXPECT_THAT(AllNames(kEvidenceKindCount, EvidenceKindName),
              ElementsAre("equivocation", "false_reveal"));
}

}  // namespace
}  // namespace ostraka::wire

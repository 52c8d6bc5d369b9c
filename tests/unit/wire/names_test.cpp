#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/wire/block.h"
#include "node/wire/evidence_codec.h"
#include "node/wire/messages.h"

namespace ostraka::wire::names_test {
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
  EXPECT_THAT(AllNames(kMessageTypeCount, MessageTypeName),
              ElementsAre("boot", "commit", "part", "aggregate", "result", "reveal", "proof",
                          "echo", "status", "propose", "vote", "lock", "rejoin", "pull", "vector",
                          "block", "chunk", "close", "forward"));
  EXPECT_THAT(AllNames(kCaseKindCount, CaseKindName), ElementsAre("gradient", "numbers", "cover"));
  EXPECT_THAT(AllNames(kRemovalKindCount, RemovalKindName),
              ElementsAre("verdict", "evidence", "drop", "eliminate"));
  EXPECT_THAT(AllNames(kColumnFateCount, ColumnFateName),
              ElementsAre("applied", "no_aggregate", "bad_senders", "too_few_senders",
                          "missing_numbers", "sum_check", "norm_check", "size_check", "blind"));
  EXPECT_THAT(
      AllNames(kEvidenceKindCount, EvidenceKindName),
      ElementsAre("equivocation", "false_reveal", "unreadable", "false_part", "impossible_numbers",
                  "broken_lock", "sealed_ban", "false_status", "verdict", "gradient"));
}

TEST(NamesTest, ServicesArePullItsAnswersAndForward) {
  std::vector<std::string> services;
  for (std::uint8_t i = 0; i < kMessageTypeCount; ++i) {
    const auto type = static_cast<MessageType>(i);
    if (IsService(type)) services.emplace_back(MessageTypeName(type));
  }
  EXPECT_THAT(services, ElementsAre("pull", "vector", "block", "chunk", "forward"));
}

TEST(NamesTest, GenesisAndRejoinMayBeSignedAgain) {
  const auto may = [](Phase phase, MessageType type) {
    Slot slot;
    slot.phase = phase;
    slot.type = type;
    return MayBeSaidAnew(slot);
  };
  EXPECT_TRUE(may(Phase::kGenesis, MessageType::kBoot));
  EXPECT_TRUE(may(Phase::kGenesis, MessageType::kEcho));
  EXPECT_TRUE(may(Phase::kC, MessageType::kRejoin));
  EXPECT_FALSE(may(Phase::kA, MessageType::kEcho));
  EXPECT_FALSE(may(Phase::kA, MessageType::kCommit));
}

TEST(NamesTest, VerdictAndEvidenceBanPermanently) {
  EXPECT_TRUE(IsBan(RemovalKind::kVerdict));
  EXPECT_TRUE(IsBan(RemovalKind::kEvidence));
  EXPECT_FALSE(IsBan(RemovalKind::kDrop));
  EXPECT_FALSE(IsBan(RemovalKind::kEliminate));
}

}  // namespace
}  // namespace ostraka::wire::names_test

#include "sim/script/script.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/attacks/registry.h"
#include "sim/script/draw.h"
#include "sim/script/events.h"

namespace ostraka::sim::script_test {
namespace {

using wire::MessageType;
using wire::Phase;

Word To(std::uint32_t honest, std::uint8_t half, MessageType type, Phase phase,
        std::uint64_t step = 3) {
  Word word;
  word.slot.type = type;
  word.slot.phase = phase;
  word.slot.step = step;
  word.to = honest;
  word.half = half;
  return word;
}

TEST(ScriptTest, DrawnAndMutatedScriptsRoundTrip) {
  const Stage stage{5, 3, 1};
  Script script;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const base::Rng rng = base::Rng(seed).Fork("test");
    script = seed % 2 == 0 ? DrawScript(rng, stage) : Mutate(script, rng, stage);
    const std::string text = FormatScript(script);
    const auto read = ParseScript(text);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(*read, script) << text;
    EXPECT_EQ(text.find_first_of(" \t\n#"), std::string::npos) << "one word of a replay file";
    EXPECT_LE(script.deviations.size(), kMostDeviations);
  }
}

TEST(ScriptTest, EveryTypePhaseAndDeedIsDrawn) {
  std::string all;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    all += FormatScript(DrawScript(base::Rng(seed), {5, 3, 0})) + "\n";
  }
  for (std::uint8_t i = 0; i < wire::kMessageTypeCount; ++i) {
    const auto type = static_cast<MessageType>(i);
    if (wire::IsService(type) || type == MessageType::kRejoin) continue;
    EXPECT_NE(all.find(std::string(wire::MessageTypeName(type)) + "@"), std::string::npos)
        << wire::MessageTypeName(type);
  }
  for (const char* word :
       {"@genesis",      "@a",       "@b",           "@c",          "@any",
        ":drop",         ":friends", ":hold(",       ":swap",       ":unreadable",
        ":older",        ":later",   ":zero_root",   ":wrong_root", ":full_bitmap",
        ":commits_root", ":scale(",  "echo@genesis", "begin",       "deadline",
        "next",          ".friends", ".last",        ".short",      "solo",
        "twins",         "deaf",     ">all",         ">h1",         ">h2",
        ">one",          ">not"}) {
    EXPECT_NE(all.find(word), std::string::npos) << word;
  }
}

TEST(ScriptTest, ErrorsNameTheBadPart) {
  for (const char* text :
       {"", "h2=1", "h2=x,solo", "h2=1,both", "h2=1,solo;", "h2=1,solo;echo", "h2=1,solo;echo@a",
        "h2=1,solo;echo@a>h3:drop", "h2=1,solo;echo@a>all:hold", "h2=1,solo;echo@a>all:hold(x)",
        "h2=1,solo;pull@a>all:drop", "h2=1,solo;echo@a>all:drop;", "h2=1,solo;echo@a>one:drop",
        "h2=1,solo;echo@a>all:hold(echo+0)", "h2=1,solo;echo@d>all:drop"}) {
    EXPECT_FALSE(ParseScript(text).ok()) << text;
  }
  const auto attack = FindAttack("free");
  ASSERT_TRUE(attack.ok());
  EXPECT_FALSE(CheckParams(*attack, {{"script", "h2=1,both"}}).ok());
  EXPECT_FALSE(CheckParams(*attack, {{"other", "1"}}).ok());
  EXPECT_TRUE(CheckParams(*attack, {{"script", "h2=1,solo;echo@a*0>h1:drop"}}).ok());
  EXPECT_TRUE(CheckParams(*attack, {}).ok());
}

TEST(ScriptTest, FirstMatchingDeviationDecides) {
  const auto script = ParseScript(
      "h2=6,solo;echo@a.s3*1>h2:drop;echo@a>one1:swap;any@b>not0:later;any@any>all:friends");
  ASSERT_TRUE(script.ok());
  const auto what = [&](const Word& word) {
    const Deviation* found = Find(*script, word, 3);
    return found == nullptr ? std::string("as it is")
                            : std::to_string(static_cast<int>(found->what));
  };
  const auto name = [](Deviation::Do deed) { return std::to_string(static_cast<int>(deed)); };
  Word word = To(1, 1, MessageType::kEcho, Phase::kA);
  EXPECT_EQ(what(word), name(Deviation::Do::kSwap)) << "it is not the second colluder's";
  word.author = 1;
  EXPECT_EQ(what(word), name(Deviation::Do::kDrop));
  word.slot.step = 4;
  EXPECT_EQ(what(word), name(Deviation::Do::kSwap)) << "of another step";
  EXPECT_EQ(what(To(0, 0, MessageType::kReveal, Phase::kB)), name(Deviation::Do::kFriends));
  EXPECT_EQ(what(To(2, 1, MessageType::kReveal, Phase::kB)), name(Deviation::Do::kLater));
  Word to_friend = To(0, 1, MessageType::kReveal, Phase::kB);
  to_friend.to.reset();
  EXPECT_EQ(what(to_friend), "as it is") << "friends are no single honest members";
  Word genesis = To(0, 0, MessageType::kBoot, Phase::kGenesis);
  genesis.genesis_counts = false;
  EXPECT_EQ(what(genesis), "as it is");
}

TEST(EventLogTest, HoldsUntilEventsOfHonestMembers) {
  EventLog log;
  wire::Slot slot;
  slot.type = MessageType::kEcho;
  slot.phase = Phase::kA;
  slot.step = 2;
  const SealName seal = SealOf(slot);
  const Sides sides{2, 3, 2, 2};
  const base::Duration d = base::Milliseconds(10);
  const auto due = [&](const char* event) {
    const auto script = ParseScript("h2=0,solo;any@any>all:hold(" + std::string(event) + ")");
    EXPECT_TRUE(script.ok()) << event;
    return log.DueAt(script->deviations[0].until, seal, sides, d);
  };
  const auto at = [](std::int64_t ms) { return base::Time{} + base::Milliseconds(ms); };
  const auto peer = [](std::uint8_t number) {
    base::PeerId id;
    id.bytes[0] = number;
    return id;
  };
  EXPECT_FALSE(due("echo"));
  log.NoteBegin(seal, at(100));
  log.NoteDeadline(seal, at(500));
  log.NoteWord(slot, peer(1), Happening::Side::kSecond, at(200));
  log.NoteWord(slot, peer(1), Happening::Side::kSecond, at(210));  // twice
  log.NoteWord(slot, peer(9), Happening::Side::kFriends, at(190));
  EXPECT_EQ(due("echo"), at(200)) << "friends are not honest";
  EXPECT_EQ(due("echo.friends"), at(190));
  EXPECT_FALSE(due("echo.h1"));
  EXPECT_EQ(due("echo.h2+3"), at(230));
  EXPECT_EQ(due("echo.h2-1"), at(200)) << "nothing is known before it happens";
  EXPECT_FALSE(due("echo.h2.last"));
  EXPECT_FALSE(due("echo.short"));
  EXPECT_EQ(due("begin+1"), at(110));
  EXPECT_EQ(due("deadline-2"), at(480));
  log.NoteWord(slot, peer(2), Happening::Side::kFirst, at(220));
  EXPECT_EQ(due("echo.short"), at(220));
  slot.phase = Phase::kB;
  EXPECT_FALSE(due("next"));
  log.NoteWord(slot, peer(2), Happening::Side::kFirst, at(300));
  EXPECT_EQ(due("next"), at(300));
  EXPECT_FALSE(due("next.h2"));
}

}  // namespace
}  // namespace ostraka::sim::script_test

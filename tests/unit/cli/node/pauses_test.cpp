#include "node/cli/node/pauses.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ostraka::cli::pauses_test {
namespace {

constexpr int At(int hour, int minute = 0) { return 60 * hour + minute; }

TEST(Hours, AreOfEachDayAndMayPassMidnight) {
  const Hours night = Hours::Parse("22-7").value();
  for (const int minute : {At(22), At(23, 59), At(0), At(6, 59)}) EXPECT_TRUE(night.Has(minute));
  for (const int minute : {At(7), At(12), At(21, 59)}) EXPECT_FALSE(night.Has(minute));
  EXPECT_EQ(night.Text(), "22:00 to 07:00");
  const Hours day = Hours::Parse("7:30-22").value();
  EXPECT_FALSE(day.Has(At(7, 29)));
  EXPECT_TRUE(day.Has(At(7, 30)));
  EXPECT_FALSE(day.Has(At(22)));
  const Hours evening = Hours::Parse("18-24").value();
  EXPECT_TRUE(evening.Has(At(23, 59)));
  EXPECT_FALSE(evening.Has(At(0)));
  EXPECT_TRUE(Hours::Parse("0-1")->Has(0));
  EXPECT_EQ(night.minutes(), 9 * 60);
  EXPECT_EQ(day.minutes(), 14 * 60 + 30);
  EXPECT_EQ(evening.minutes(), 6 * 60);
}

TEST(Hours, OtherTextsAreRefused) {
  for (const char* text : {"", "7", "-", "7-", "-7", "7-7", "0-24", "25-3", "7:60-9", "7:5:3-9",
                           "a-b", "7-9-11", "07:00 - 9", "+7-9", "7.5-9", "-1-3", "24:01-3"}) {
    const auto hours = Hours::Parse(text);
    EXPECT_FALSE(hours.ok()) << text;
    EXPECT_NE(hours.status().message().find("22-7"), std::string::npos);
  }
}

TEST(Pauses, SaysWhyByTheFileAndByTheClock) {
  const std::string folder = testing::TempDir() + "pauses_test";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(PauseFileOf(folder));
  const Pauses always(folder, std::nullopt);
  EXPECT_FALSE(always.WhyNow());
  EXPECT_EQ(Pause(folder).code(), absl::StatusCode::kNotFound) << "no node has used it";
  EXPECT_EQ(Resume(folder).status().code(), absl::StatusCode::kNotFound);
  std::ofstream(PauseFileOf(folder)) << "\n";
  EXPECT_NE(always.WhyNow()->find("ostraka resume"), std::string::npos);
  EXPECT_TRUE(Resume(folder).value());
  EXPECT_FALSE(always.WhyNow());

  const char* zone = std::getenv("TZ");
  const std::string before = zone == nullptr ? "" : zone;
  setenv("TZ", "UTC", 1);
  tzset();
  const Pauses at_night(folder, Hours::Parse("22-7").value());
  constexpr std::time_t kNoon = 1'700'000'000 / 86'400 * 86'400 + 12 * 3600;
  EXPECT_TRUE(at_night.WhyAt(kNoon));
  EXPECT_FALSE(at_night.WhyAt(kNoon + 10 * 3600));
  EXPECT_FALSE(at_night.WhyAt(kNoon - 6 * 3600));
  zone == nullptr ? unsetenv("TZ") : setenv("TZ", before.c_str(), 1);
  tzset();
}

TEST(RestSign, IsReadWhileItsNodeRests) {
  const std::string folder = testing::TempDir() + "rest_sign_test";
  std::filesystem::remove_all(folder);
  {
    RestSign early(folder);
    EXPECT_TRUE(early.Show("no folder yet").ok());
    EXPECT_FALSE(WhyRestsIn(folder));
  }
  std::filesystem::create_directories(folder);
  {
    RestSign sign(folder);
    EXPECT_FALSE(WhyRestsIn(folder));
    ASSERT_TRUE(sign.Show("outside --hours, a long reason").ok());
    EXPECT_EQ(WhyRestsIn(folder), "outside --hours, a long reason");
    ASSERT_TRUE(sign.Show("paused").ok());
    EXPECT_EQ(WhyRestsIn(folder), "paused");
    RestSign second(folder);
    EXPECT_EQ(second.Show("me too").code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(WhyRestsIn(folder), "paused");
  }
  EXPECT_FALSE(WhyRestsIn(folder));
  std::ofstream(folder + "/rests") << "of a node that was killed";
  EXPECT_FALSE(WhyRestsIn(folder));
}

}  // namespace
}  // namespace ostraka::cli::pauses_test

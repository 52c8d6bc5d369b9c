// Until when a node that ends may come back, as people read it.
#include "node/cli/views/way_back_text.h"

#include <gtest/gtest.h>

namespace ostraka::cli::way_back_text_test {
namespace {

// At step 444 of 9000, in steps of 0.1 s.
WayBackFacts Left(std::uint64_t seat_until, std::uint64_t door_until, std::uint64_t from = 0) {
  return {.way = {from, seat_until, door_until},
          .was_one = true,
          .step = 444,
          .steps = 9000,
          .step_seconds = 0.1};
}

TEST(WayBackTextTest, SaysStepsAndTime) {
  EXPECT_EQ(WayBackText(Left(1444, 5444)),
            "it may come back until step 1444 (in about 100 s), as its seat is kept; then by its "
            "invite until step 5444 (in about 8 min), while a seat is free");
  EXPECT_EQ(
      WayBackText(Left(0, 5444)),
      "it may come back by its invite until step 5444 (in about 8 min), while a seat is free");
  WayBackFacts untimed = Left(1444, 0);
  untimed.step_seconds.reset();
  EXPECT_EQ(WayBackText(untimed),
            "it may come back until step 1444, as its seat is kept; then it needs a new invite of "
            "a moderator");
}

TEST(WayBackTextTest, WhoIsNamedByTheManifestNeedsNoInvite) {
  EXPECT_EQ(WayBackText(Left(1444, protocol::kNoStep)),
            "it may come back until step 1444 (in about 100 s), as its seat is kept; then while a "
            "seat is free, as the manifest names it");
}

TEST(WayBackTextTest, ABarIsSaidFirst) {
  EXPECT_EQ(
      WayBackText(Left(2444, 2444, 1444)),
      "it may come back from step 1444 (in about 100 s) on, until step 2444 (in about 3 min), "
      "as its seat is kept; then it needs a new invite of a moderator");
}

TEST(WayBackTextTest, NothingLastsLongerThanTheRun) {
  EXPECT_EQ(WayBackText(Left(9000, 9500)),
            "it may come back until the run ends, as its seat is kept");
  EXPECT_EQ(WayBackText(Left(0, 9500)),
            "it may come back by its invite until the run ends, while a seat is free");
  WayBackFacts over = Left(1444, 5444);
  over.step = 9000;
  EXPECT_EQ(WayBackText(over), "");
  EXPECT_EQ(WayBackText(Left(9999, 9999, 9000)), "") << "barred until its end";
}

TEST(WayBackTextTest, WhoWasStoppedGoesOn) {
  WayBackFacts member = Left(1444, 0);
  member.is_member = true;
  EXPECT_TRUE(
      WayBackText(member).starts_with("started again it goes on; if the others drop it meanwhile, "
                                      "it may come back until step 1444"));
}

TEST(WayBackTextTest, WhoWasNeverInComesIn) {
  WayBackFacts guest = Left(0, 5444);
  guest.was_one = false;
  EXPECT_TRUE(WayBackText(guest).starts_with("it may come in by its invite until step 5444"));
  guest.way.door_until = 0;
  EXPECT_EQ(WayBackText(guest), "");
}

}  // namespace
}  // namespace ostraka::cli::way_back_text_test

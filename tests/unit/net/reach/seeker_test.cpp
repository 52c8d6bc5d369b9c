#include "node/net/reach/seeker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::net::seeker_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

base::PeerId Id(std::uint8_t fill) {
  base::PeerId id;
  id.bytes.fill(fill);
  return id;
}

base::Time At(std::int64_t seconds) { return base::Time{} + base::Seconds(seconds); }

TEST(Seeker, AMemberThatIsDownIsSoughtWithGrowingWaits) {
  Seeker seeker;
  seeker.Add(At(0), Id(1));
  std::vector<std::int64_t> asked;
  for (std::int64_t second = 0; second < 200; ++second) {
    for (const base::PeerId& peer : seeker.Due(At(second))) {
      asked.push_back(second);
      seeker.OnEnded(At(second), peer);
    }
  }
  EXPECT_THAT(asked, ElementsAre(0, 4, 12, 28, 60, 92, 124, 156, 188));
}

TEST(Seeker, ALinkEndsTheSearchAndItsLossBeginsAnother) {
  Seeker seeker;
  seeker.Add(At(0), Id(1));
  seeker.OnLink(At(0), Id(1), true);
  EXPECT_THAT(seeker.Due(At(100)), IsEmpty());
  seeker.OnLink(At(100), Id(1), false);
  EXPECT_THAT(seeker.Due(At(100)), IsEmpty()) << "most links come back by themselves";
  EXPECT_THAT(seeker.Due(At(101)), ElementsAre(Id(1)));
  EXPECT_THAT(seeker.Due(At(200)), IsEmpty()) << "one lookup at a time";
}

TEST(Seeker, FewAtOnceTheLongestDueFirst) {
  Seeker seeker;
  for (std::uint8_t i = 1; i <= 6; ++i) seeker.Add(At(10 - i), Id(i));
  EXPECT_THAT(seeker.Due(At(20)), ElementsAre(Id(6), Id(5), Id(4), Id(3)));
  EXPECT_THAT(seeker.Due(At(20)), IsEmpty());
  seeker.OnEnded(At(20), Id(5));
  EXPECT_THAT(seeker.Due(At(20)), ElementsAre(Id(2)));
  seeker.Remove(Id(6));
  EXPECT_THAT(seeker.Due(At(20)), ElementsAre(Id(1)));
}

TEST(Seeker, JoiningMakesAllDue) {
  Seeker seeker;
  seeker.Add(At(0), Id(1));
  for (int i = 0; i < 5; ++i) {
    for (const base::PeerId& peer : seeker.Due(At(100 * i))) seeker.OnEnded(At(100 * i), peer);
  }
  EXPECT_THAT(seeker.Due(At(401)), IsEmpty());
  seeker.OnJoined(At(401));
  EXPECT_THAT(seeker.Due(At(401)), ElementsAre(Id(1)));
}

TEST(Seeker, StrangersAreNotSought) {
  Seeker seeker;
  seeker.OnLink(At(0), Id(1), false);
  seeker.OnEnded(At(0), Id(1));
  EXPECT_THAT(seeker.Due(At(100)), IsEmpty());
}

}  // namespace
}  // namespace ostraka::net::seeker_test

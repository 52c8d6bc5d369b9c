#include "node/protocol/mail/job_desk.h"

#include <gtest/gtest.h>

namespace ostraka::protocol::job_desk_test {
namespace {

class JobDeskTest : public testing::Test {
 protected:
  JobDeskTest() { turn_.Begin(Time{}, out_); }

  JobId Start(std::uint64_t about, std::uint64_t asked_in) {
    return desk_.Start({.about = about, .asked_in = asked_in}, PackSpec{});
  }

  Outbox out_;
  Turn turn_;
  JobDesk desk_{turn_};
};

TEST_F(JobDeskTest, EachJobGoesOutUnderANumberOfItsOwn) {
  const JobId first = Start(3, 4);
  const JobId second = Start(3, 4);
  EXPECT_NE(first, second);
  ASSERT_EQ(out_.actions().size(), 2u);
  EXPECT_EQ(std::get<StartJob>(out_.actions()[0]).id, first);
  EXPECT_EQ(std::get<StartJob>(out_.actions()[1]).id, second);
  EXPECT_TRUE(std::holds_alternative<PackSpec>(*std::get<StartJob>(out_.actions()[0]).spec));
  EXPECT_EQ(desk_.open(), 2u);
  desk_.CheckInvariants();
}

TEST_F(JobDeskTest, DoneJobSaysWhatItWasAbout) {
  const JobId first = Start(3, 4);
  const JobId second = Start(5, 6);
  const auto done = desk_.Take(second);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->about, 5u);
  EXPECT_EQ(done->asked_in, 6u);
  EXPECT_EQ(desk_.Take(first)->about, 3u);
  EXPECT_EQ(desk_.open(), 0u);
  desk_.CheckInvariants();
}

TEST_F(JobDeskTest, NumberIsNotGivenAgainAfterItsJobIsTaken) {
  const JobId first = Start(3, 4);
  ASSERT_TRUE(desk_.Take(first));
  EXPECT_NE(Start(3, 4), first);
}

TEST_F(JobDeskTest, ResultOfAnEraThatIsOverIsNotHandedOn) {
  const JobId old = Start(3, 4);
  desk_.EndEra();
  const JobId present = Start(3, 4);
  EXPECT_FALSE(desk_.Take(old));
  EXPECT_TRUE(desk_.Take(present));
  EXPECT_EQ(desk_.open(), 0u) << "the old one is taken too";
  desk_.CheckInvariants();
}

TEST_F(JobDeskTest, TheDriverIsToldOnceThatAResultIsNotWanted) {
  const JobId first = Start(3, 4);
  const JobId second = Start(3, 4);
  out_.actions().clear();
  desk_.Stop(second);
  desk_.EndEra();
  ASSERT_EQ(out_.actions().size(), 2u);
  EXPECT_EQ(std::get<StopJob>(out_.actions()[0]).id, second);
  EXPECT_EQ(std::get<StopJob>(out_.actions()[1]).id, first);
  EXPECT_EQ(desk_.open(), 2u) << "they come back";
  EXPECT_FALSE(desk_.Take(second));
  EXPECT_FALSE(desk_.Take(first));
  EXPECT_EQ(desk_.open(), 0u);
}

TEST_F(JobDeskTest, JobThatIsTakenTwiceIsABugOfThisNode) {
  const JobId id = Start(3, 4);
  ASSERT_TRUE(desk_.Take(id));
  EXPECT_DEATH(desk_.Take(id), "CHECK");
}

}  // namespace
}  // namespace ostraka::protocol::job_desk_test

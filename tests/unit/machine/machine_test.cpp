#include "node/machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/machine/small_driver.h"
#include "tests/unit/machine/small_kinds.h"

namespace ostraka::machine::machine_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

using Datagram = DatagramReceived<std::uint16_t>;

// (receiver, first byte) of each datagram sent.
std::vector<std::pair<std::uint16_t, int>> SaidBy(const SmallDriver<TallyKind>& driver) {
  std::vector<std::pair<std::uint16_t, int>> said;
  for (const auto& sent : driver.sent<SendDatagram<std::uint16_t>>()) {
    said.emplace_back(sent.to, sent.bytes->front());
  }
  return said;
}

TEST(Kind, AVocabularyHasWhatTheKindChoseAndNothingElse) {
  static_assert(
      std::is_same_v<InputOf<TallyKind>, std::variant<TallyStarted, Datagram, TimerFired, Stored>>);
  static_assert(std::is_same_v<ActionOf<TallyKind>,
                               std::variant<SendDatagram<std::uint16_t>, SetTimer, CancelTimer,
                                            Store<TallyRecord>, Observe<TallyKind::Observation>>>);
  static_assert(
      std::is_same_v<InputOf<SquareKind>, std::variant<SquareStarted, MessageReceived, LinkChanged,
                                                       TimerFired, JobDone<std::uint16_t>>>);
  static_assert(std::is_same_v<ActionOf<SquareKind>,
                               std::variant<Send, SetTimer, CancelTimer, StartJob<std::uint8_t>,
                                            StopJob, Observe<SquareDone>>>);
  static_assert(!Kind<TallyStarted>, "a kind names all its parts");
}

TEST(Seam, AMachineOnDatagramsAnswersOnceItsCountIsDurable) {
  SmallDriver<TallyKind> driver(std::make_unique<Tally>(9));
  driver.Feed({}, TallyStarted{});
  driver.Feed({base::Milliseconds(1).ns}, Datagram{20, BytesOf(0)});
  driver.Feed({base::Milliseconds(2).ns}, Datagram{30, BytesOf(0)});
  driver.Run({base::Milliseconds(5).ns});
  EXPECT_TRUE(SaidBy(driver).empty());
  EXPECT_EQ(driver.contract().OpenStores(), 2U);
  driver.Run({base::Milliseconds(500).ns});
  EXPECT_THAT(SaidBy(driver), ElementsAre(Pair(20, 1), Pair(30, 2)));
  driver.Run({base::Milliseconds(2500).ns});
  EXPECT_THAT(SaidBy(driver), ElementsAre(Pair(20, 1), Pair(30, 2), Pair(1, 2), Pair(1, 2)));
  EXPECT_EQ(driver.machine().progress(), 2);
}

TEST(Seam, AMachineStartsAgainFromItsRecords) {
  SmallDriver<TallyKind> driver(std::make_unique<Tally>(9));
  driver.Feed({}, TallyStarted{TallyRecord{4}});
  driver.Feed({}, Datagram{20, BytesOf(0)});
  driver.Run({base::Milliseconds(500).ns});
  EXPECT_THAT(SaidBy(driver), ElementsAre(Pair(20, 5)));
}

TEST(Seam, AMachineThatHasEndedOnlyAnswersItsTransport) {
  SmallDriver<TallyKind> driver(std::make_unique<Tally>(1));
  driver.Feed({}, TallyStarted{});
  driver.Feed({}, Datagram{20, BytesOf(0)});
  driver.Feed({base::Seconds(3).ns}, Datagram{30, BytesOf(0)});
  driver.Run({base::Seconds(4).ns});
  EXPECT_TRUE(driver.contract().ended());
  EXPECT_THAT(SaidBy(driver), ElementsAre(Pair(20, 1), Pair(30, 1)));
}

TEST(Seam, OneDriverRunsAMachineOfAnotherKindWithLinksAndJobs) {
  SmallDriver<SquareKind> driver(std::make_unique<Square>());
  driver.run_job = [](const StartJob<std::uint8_t>& job) {
    return JobDone<std::uint16_t>{
        job.id, std::make_shared<const std::uint16_t>(std::uint16_t(*job.spec * *job.spec))};
  };
  driver.Feed({}, SquareStarted{});
  driver.Feed({}, LinkChanged{PeerNumber(1), true});
  driver.Feed({}, LinkChanged{PeerNumber(2), true});
  driver.Feed({}, MessageReceived{PeerNumber(1), BytesOf(5), nullptr});
  driver.Feed({}, MessageReceived{PeerNumber(2), BytesOf(6), nullptr});
  driver.Feed({1}, LinkChanged{PeerNumber(2), false});
  driver.Run({2});
  EXPECT_EQ(driver.contract().OpenJobs(), 2U);
  driver.Run({base::Seconds(1).ns});
  const auto sent = driver.sent<Send>();
  ASSERT_EQ(sent.size(), 1U) << "peer 2 has no link any more";
  EXPECT_EQ(sent[0].to, PeerNumber(1));
  EXPECT_EQ(sent[0].frame->front(), 25);
  EXPECT_EQ(driver.sent<Observe<SquareDone>>().size(), 2U);
}

}  // namespace
}  // namespace ostraka::machine::machine_test

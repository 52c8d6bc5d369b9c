// Whose ECHO no honest member can have sent.
#include "node/protocol/watch/echo_watch.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::echo_watch_test {
namespace {

using base::Milliseconds;
using scene::DigestOf;
using scene::PeerNumber;

base::Time At(std::int64_t ms) { return base::Time{} + Milliseconds(ms); }

// Four members, two entries each; entry 4 + i waits no longer if entry i is shown as "two". Member
// 3 owns no part. Delta 100 ms, deadline 10 s.
EchoWatch::Options Options() {
  EchoWatch::Options options;
  options.delta = Milliseconds(100);
  options.deadline = At(10'000);
  for (std::size_t i = 0; i < 4; ++i) options.due.push_back({i, std::nullopt});
  for (std::size_t i = 4; i < 7; ++i) options.due.push_back({i, i - 4});
  return options;
}

wire::Echo Showing(const std::vector<std::size_t>& absent,
                   const std::vector<std::size_t>& two = {}) {
  SealVector vector(8);
  for (std::size_t i = 0; i < 7; ++i) {
    vector[i] = {SealEntry::State::kPresent, DigestOf(i + 1)};
  }
  for (const std::size_t i : absent) vector[i] = {};
  for (const std::size_t i : two) vector[i] = {SealEntry::State::kEquivocated, Digest{}};
  return EchoOf(vector);
}

const std::set<PeerId> kNobody;
const std::set<PeerId> kOne = {PeerNumber(1)};

TEST(EchoWatchTest, AnEarlyEchoThatShowsAnEntryAbsentIsHasty) {
  EchoWatch watch(Options());
  watch.OnEcho(PeerNumber(0), Showing({}), At(50));
  watch.OnEcho(PeerNumber(1), Showing({2}), At(50));
  EXPECT_EQ(watch.Hasty(At(100)), kNobody) << "not yet: others may pass the gate now";
  EXPECT_EQ(watch.Hasty(At(101)), kOne);
}

TEST(EchoWatchTest, NotFromADeltaBeforeTheDeadlineOn) {
  EchoWatch watch(Options());
  watch.OnEcho(PeerNumber(1), Showing({2}), At(9'900));
  EXPECT_EQ(watch.Hasty(At(20'000)), kNobody);
}

TEST(EchoWatchTest, TheLastCoinHasNoDeadline) {
  EchoWatch::Options options = Options();
  options.deadline.reset();
  EchoWatch watch(options);
  watch.OnEcho(PeerNumber(1), Showing({2}), At(50'000));
  EXPECT_EQ(watch.Hasty(At(60'000)), kOne);
}

TEST(EchoWatchTest, NotWhereAnEquivocationIsShown) {
  EchoWatch watch(Options());
  watch.OnEcho(PeerNumber(1), Showing({5}, {1}), At(50));
  watch.OnEcho(PeerNumber(2), Showing({5}, {0}), At(50));
  EXPECT_EQ(watch.Hasty(At(5'000)), std::set<PeerId>{PeerNumber(2)});
}

TEST(EchoWatchTest, NotAtTheGateNorALittleBeforeIt) {
  EchoWatch watch(Options());
  watch.OnEcho(PeerNumber(1), Showing({2}), At(50));
  watch.OnEcho(PeerNumber(2), Showing({2}), At(300));
  watch.OnGate(At(350));
  watch.OnEcho(PeerNumber(3), Showing({2}), At(500));
  EXPECT_EQ(watch.Hasty(At(5'000)), kOne);
}

TEST(EchoWatchTest, OnlyTheFirstEchoCounts) {
  EchoWatch watch(Options());
  watch.OnEcho(PeerNumber(1), Showing({}), At(50));
  watch.OnEcho(PeerNumber(1), Showing({2}), At(60));
  EXPECT_EQ(watch.Hasty(At(5'000)), kNobody);
}

// 137.5 ms after the own ECHO its sender has asked for what that shows, and got it.
TEST(EchoWatchTest, ALateEchoThatLacksWhatTheOwnShowsIsHastyAtAnyGate) {
  EchoWatch watch(Options());
  watch.OnOwnEcho(Showing({3}), At(100));
  watch.OnGate(At(110));
  watch.OnEcho(PeerNumber(0), Showing({2}), At(237));
  watch.OnEcho(PeerNumber(1), Showing({2}), At(238));
  watch.OnEcho(PeerNumber(2), Showing({3}), At(400));
  EXPECT_EQ(watch.Hasty(At(400)), kOne);
  watch.OnTimer(At(150), At(162));
  EXPECT_EQ(watch.Hasty(At(400)), kOne);
  watch.OnTimer(At(150), At(163));
  EXPECT_EQ(watch.Hasty(At(400)), kNobody) << "this machine stood still";
}

TEST(EchoWatchTest, AnEchoIsDueThreeHalvesOfADeltaAfterAnOwnThatIsComplete) {
  EchoWatch watch(Options());
  watch.OnEcho(PeerNumber(0), Showing({}), At(10));
  watch.OnOwnEcho(Showing({}), At(100));
  watch.OnOwnEcho(Showing({}), At(200));
  watch.OnEcho(PeerNumber(1), Showing({}), At(250));
  watch.OnEcho(PeerNumber(2), Showing({}), At(251));
  const std::map<PeerId, base::Duration> expected = {{PeerNumber(2), Milliseconds(1)}};
  EXPECT_EQ(watch.Tardy(), expected);
  watch.OnTimer(At(0), At(100));
  EXPECT_TRUE(watch.Tardy().empty());

  EchoWatch incomplete(Options());
  incomplete.OnOwnEcho(Showing({2}), At(100));
  incomplete.OnEcho(PeerNumber(1), Showing({2}), At(500));
  EXPECT_TRUE(incomplete.Tardy().empty()) << "deadlines may lie further apart";
}

TEST(EchoWatchTest, AVectorThatIsNotShownWhenAskedForTwiceIsUnshown) {
  EchoWatch watch(Options());
  const Digest decided = Showing({}).vector;
  const Digest other = Showing({2}).vector;
  const auto none = [](const Digest&) { return false; };
  watch.OnEcho(PeerNumber(0), Showing({}), At(10));
  watch.OnEcho(PeerNumber(1), Showing({2}), At(10));
  watch.OnAsked(PeerNumber(9), At(20));
  watch.OnAsked(PeerNumber(1), At(20));
  watch.OnAsked(PeerNumber(1), At(20));
  EXPECT_EQ(watch.Unshown(decided, At(5'000), none), kNobody) << "asked at one time only";
  watch.OnAsked(PeerNumber(1), At(60));
  watch.OnAsked(PeerNumber(0), At(20));
  watch.OnAsked(PeerNumber(0), At(60));
  EXPECT_EQ(watch.Unshown(decided, At(100), none), kNobody) << "it may be on its way";
  EXPECT_EQ(watch.Unshown(decided, At(120), none), kOne);
  EXPECT_EQ(watch.Unshown(decided, At(120), [&](const Digest& v) { return v == other; }), kNobody);
}

}  // namespace
}  // namespace ostraka::protocol::echo_watch_test

#include "node/machine/contract.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/machine/small_kinds.h"

namespace ostraka::machine::contract_test {
namespace {

// Does what the test says in its next Step, and counts the calls that reached it.
template <Kind K>
class Scripted final : public Machine<K> {
 public:
  void Step(base::Time, const InputOf<K>&, Outbox<K>& out) override {
    ++steps;
    for (ActionOf<K>& action : std::exchange(says, {})) out.actions().push_back(std::move(action));
    if (during) std::exchange(during, nullptr)();
  }
  void CheckInvariants() const override {}
  base::Digest Fingerprint() const override { return {}; }

  std::vector<ActionOf<K>> says;
  std::function<void()> during;
  int steps = 0;
};

// A contract with a scripted machine that has started at time 10.
template <Kind K>
struct Started {
  explicit Started(AfterEnd after = AfterEnd::kSilent) : contract(after) {
    EXPECT_EQ(Step(10, typename K::Started{}), Breach::kNone);
  }
  Breach Step(std::int64_t at, const InputOf<K>& input, std::vector<ActionOf<K>> says = {}) {
    machine.says = std::move(says);
    Outbox<K> out;
    const Breach breach = contract.Step(machine, {at}, input, out);
    contract.CheckInvariants();
    return breach;
  }
  // A breach of the driver's does not reach the machine.
  Breach Refused(std::int64_t at, const InputOf<K>& input) {
    const int before = machine.steps;
    const Breach breach = Step(at, input);
    EXPECT_EQ(machine.steps, before) << BreachName(breach);
    return breach;
  }

  Scripted<K> machine;
  Contract<K> contract;
};

using OfTally = Started<TallyKind>;
using OfSquare = Started<SquareKind>;
using Datagram = DatagramReceived<std::uint16_t>;
using Reply = SendDatagram<std::uint16_t>;
using Save = Store<TallyRecord>;
using Tell = Observe<TallyKind::Observation>;

const Datagram kDatagram{5, BytesOf(1)};
StartJob<std::uint8_t> Job(JobId id) { return {id, std::make_shared<const std::uint8_t>(3)}; }
JobDone<std::uint16_t> Done(JobId id) { return {id, std::make_shared<const std::uint16_t>(9)}; }

// --- rule 1 -------------------------------------------------------------------------------------

TEST(Contract, StartedComesFirstAndOnce) {
  Scripted<TallyKind> machine;
  Contract<TallyKind> contract;
  Outbox<TallyKind> out;
  EXPECT_EQ(contract.Step(machine, {}, kDatagram, out), Breach::kNotStarted);
  EXPECT_EQ(machine.steps, 0);
  EXPECT_EQ(contract.Step(machine, {}, TallyStarted{}, out), Breach::kNone);
  EXPECT_EQ(contract.Step(machine, {}, TallyStarted{}, out), Breach::kStartedTwice);
  EXPECT_EQ(machine.steps, 1);
}

TEST(Contract, TimeMayStandStillAndNotGoBack) {
  OfTally run;
  EXPECT_EQ(run.Step(10, kDatagram), Breach::kNone);
  EXPECT_EQ(run.Step(12, kDatagram), Breach::kNone);
  EXPECT_EQ(run.Refused(11, kDatagram), Breach::kTimeWentBack);
  EXPECT_EQ(run.Step(12, kDatagram), Breach::kNone);
}

TEST(Contract, AStepWithinAStepIsRefused) {
  OfTally run;
  Breach inner = Breach::kNone;
  run.machine.during = [&] {
    Outbox<TallyKind> out;
    inner = run.contract.Step(run.machine, {11}, kDatagram, out);
  };
  EXPECT_EQ(run.Step(11, kDatagram), Breach::kNone);
  EXPECT_EQ(inner, Breach::kNested);
  EXPECT_EQ(run.machine.steps, 2) << "Started, and the outer one";
}

// --- rule 2 -------------------------------------------------------------------------------------

TEST(Contract, EachJobComesBackOnce) {
  OfSquare run;
  EXPECT_EQ(run.Refused(11, Done(1)), Breach::kUnknownJob);
  EXPECT_EQ(run.Step(11, TimerFired{1}), Breach::kUnknownTimer);
  EXPECT_EQ(run.Step(11, LinkChanged{PeerNumber(1), true}, {Job(1), Job(2)}), Breach::kNone);
  EXPECT_EQ(run.contract.OpenJobs(), 2U);
  EXPECT_EQ(run.Step(12, Done(2)), Breach::kNone) << "in any order";
  EXPECT_EQ(run.Refused(12, Done(2)), Breach::kUnknownJob);
  EXPECT_EQ(run.Refused(12, JobDone<std::uint16_t>{1, nullptr}), Breach::kNoResult);
  EXPECT_EQ(run.Step(12, Done(1)), Breach::kNone);
  EXPECT_EQ(run.contract.OpenJobs(), 0U);
}

TEST(Contract, AJobsIdIsFreeAgainOnceItIsBack) {
  OfSquare run;
  EXPECT_EQ(run.Step(11, LinkChanged{PeerNumber(1), true}, {Job(1)}), Breach::kNone);
  EXPECT_EQ(run.Step(12, LinkChanged{PeerNumber(1), false}, {Job(1)}), Breach::kJobIdTaken);
  EXPECT_EQ(run.Step(13, Done(1), {Job(1)}), Breach::kNone);
}

TEST(Contract, AStoppedJobComesBackAllTheSame) {
  OfSquare run;
  EXPECT_EQ(run.Step(11, LinkChanged{PeerNumber(1), true}, {Job(1), StopJob{1}}), Breach::kNone);
  EXPECT_EQ(run.contract.OpenJobs(), 1U);
  EXPECT_EQ(run.Step(13, Done(1), {StopJob{1}}), Breach::kNone);
  EXPECT_EQ(run.contract.OpenJobs(), 0U);
}

// --- rule 3 -------------------------------------------------------------------------------------

TEST(Contract, EachStoreComesBackOnceAndInOrder) {
  OfTally run;
  EXPECT_EQ(run.Refused(11, Stored{1}), Breach::kUnknownStore);
  EXPECT_EQ(run.Step(11, kDatagram, {Save{1, {}}, Save{2, {}}}), Breach::kNone);
  EXPECT_EQ(run.Refused(12, Stored{2}), Breach::kStoreOverlook);
  EXPECT_EQ(run.Step(12, Stored{1}), Breach::kNone);
  EXPECT_EQ(run.Refused(12, Stored{1}), Breach::kUnknownStore);
  EXPECT_EQ(run.Step(13, kDatagram, {Save{2, {}}}), Breach::kStoreIdTaken);
  EXPECT_EQ(run.Step(14, Stored{2}, {Save{2, {}}}), Breach::kNone);
  EXPECT_EQ(run.contract.OpenStores(), 1U);
}

// --- rule 5 -------------------------------------------------------------------------------------

TEST(Contract, AfterItsLastObservationAMachineOnlyAnswers) {
  OfTally run;
  EXPECT_EQ(run.Step(11, kDatagram, {SetTimer{1, {20}}, Save{1, {}}, Tell{TallyTold{}}}),
            Breach::kNone);
  EXPECT_FALSE(run.contract.ended());
  EXPECT_EQ(run.Step(12, kDatagram, {Tell{TallyFull{}}, Reply{5, BytesOf(1)}}), Breach::kNone);
  EXPECT_TRUE(run.contract.ended());
  EXPECT_EQ(run.Step(13, kDatagram, {Reply{5, BytesOf(1)}}), Breach::kNone);
  EXPECT_EQ(run.Step(13, kDatagram, {Reply{5, BytesOf(1)}, Save{2, {}}}), Breach::kActedAtEnd);
  EXPECT_EQ(run.Step(14, kDatagram, {Tell{TallyTold{}}}), Breach::kActedAtEnd);
  EXPECT_EQ(run.Step(15, Stored{1}, {Reply{5, BytesOf(1)}}), Breach::kNone)
      << "what waited for the store";
  EXPECT_EQ(run.Step(20, TimerFired{1}, {Reply{5, BytesOf(1)}}), Breach::kActedAtEnd)
      << "nobody asked";
}

TEST(Contract, AnAdversaryMayGoOnAfterItsEnd) {
  OfTally run(AfterEnd::kFree);
  EXPECT_EQ(run.Step(12, kDatagram, {Tell{TallyFull{}}}), Breach::kNone);
  EXPECT_EQ(run.Step(13, kDatagram, {Save{1, {}}, SetTimer{1, {20}}}), Breach::kNone);
  EXPECT_EQ(run.Step(20, TimerFired{1}, {Save{1, {}}}), Breach::kStoreIdTaken) << "the rest holds";
}

// --- rule 7 -------------------------------------------------------------------------------------

TEST(Contract, ATimerFiresOnceAndNotBeforeItsTime) {
  OfTally run;
  EXPECT_EQ(run.Refused(11, TimerFired{1}), Breach::kUnknownTimer);
  EXPECT_EQ(run.Step(11, kDatagram, {SetTimer{1, {20}}, SetTimer{2, {5}}}), Breach::kNone);
  EXPECT_EQ(run.Step(11, TimerFired{2}), Breach::kNone) << "its time was over when it was set";
  EXPECT_EQ(run.Refused(19, TimerFired{1}), Breach::kEarlyTimer);
  EXPECT_EQ(run.Step(25, TimerFired{1}), Breach::kNone) << "late is no breach";
  EXPECT_EQ(run.Refused(25, TimerFired{1}), Breach::kUnknownTimer);
}

TEST(Contract, ATimerIsReplacedOrCancelledByItsId) {
  OfTally run;
  EXPECT_EQ(run.Step(11, kDatagram, {SetTimer{1, {20}}, SetTimer{1, {30}}}), Breach::kNone);
  EXPECT_EQ(run.Refused(20, TimerFired{1}), Breach::kEarlyTimer);
  EXPECT_EQ(run.Step(20, kDatagram, {CancelTimer{1}, CancelTimer{9}}), Breach::kNone);
  EXPECT_EQ(run.Refused(30, TimerFired{1}), Breach::kUnknownTimer);
}

// --- what the caller gets -----------------------------------------------------------------------

TEST(Contract, LeavesTheActionsAndNamesTheFirstBreach) {
  OfTally run;
  Outbox<TallyKind> out;
  run.machine.says = {Save{1, {}}, Save{1, {}}, Save{2, {}}};
  EXPECT_EQ(run.contract.Step(run.machine, {11}, kDatagram, out), Breach::kStoreIdTaken);
  EXPECT_EQ(out.actions().size(), 3U);
}

TEST(Contract, ActionsThatWereInTheOutboxAreNotTheMachines) {
  OfTally run;
  Outbox<TallyKind> out;
  out.Add(Save{1, {}});  // of another machine, say
  run.machine.says = {Save{1, {}}};
  EXPECT_EQ(run.contract.Step(run.machine, {11}, kDatagram, out), Breach::kNone);
  EXPECT_EQ(run.contract.OpenStores(), 1U);
}

TEST(Contract, EveryBreachHasAName) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Breach::kActedAtEnd); ++i) {
    names.insert(BreachName(static_cast<Breach>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Breach::kActedAtEnd) + 1);
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace ostraka::machine::contract_test

#include "node/host/driver/machine_seat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/host/driver/node_driver_fixture.h"
#include "tests/unit/machine/small_kinds.h"

namespace ostraka::host::machine_seat_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Calls its function, and says that it waits for something.
class WaitingMachine final : public protocol::Machine {
 public:
  explicit WaitingMachine(FakeMachine::StepFunction step) : step_(std::move(step)) {}
  void Step(base::Time now, const protocol::Input& input, protocol::Outbox& out) override {
    step_(now, input, out);
  }
  void CheckInvariants() const override {}
  base::Digest Fingerprint() const override { return {}; }
  protocol::Progress progress() const override {
    return {.step = 4, .phase = "prove", .missing = {}};
  }

 private:
  FakeMachine::StepFunction step_;
};

class MachineSeatTest : public ::testing::Test {
 protected:
  MachineSeat<protocol::MemberKind>::Perform Performed() {
    return [this](protocol::Action& action) {
      if (const auto* send = std::get_if<protocol::Send>(&action)) {
        sent_.emplace_back(send->frame->begin(), send->frame->end());
      }
    };
  }

  boost::asio::io_context io_;
  FakeMachine::StepFunction step_;
  std::vector<protocol::TimerId> fired_;
  std::vector<std::string> sent_;
  MachineSeat<protocol::MemberKind> seat_{
      io_,
      std::make_unique<WaitingMachine>([this](base::Time now, const protocol::Input& input,
                                              protocol::Outbox& out) { step_(now, input, out); }),
      [this](protocol::TimerId id) { fired_.push_back(id); }};
};

TEST_F(MachineSeatTest, PerformsInOrderAndKeepsTheTimersToItself) {
  step_ = [](base::Time now, const protocol::Input&, protocol::Outbox& out) {
    out.Add(protocol::Send{{}, Frame("one"), nullptr});
    out.Add(protocol::SetTimer{7, now});
    out.Add(protocol::SetTimer{8, now});
    out.Add(protocol::CancelTimer{8});
    out.Add(protocol::Send{{}, Frame("two"), nullptr});
  };
  seat_.Feed(protocol::Started{}, Performed());
  EXPECT_THAT(sent_, ElementsAre("one", "two"));
  EXPECT_THAT(fired_, IsEmpty()) << "within Feed";
  io_.run();
  EXPECT_THAT(fired_, ElementsAre(7));
}

TEST_F(MachineSeatTest, TimeIsThatOfTheSeatAndNeverGoesBack) {
  std::vector<base::Time> times;
  step_ = [&](base::Time now, const protocol::Input&, protocol::Outbox&) { times.push_back(now); };
  for (int i = 0; i < 3; ++i) seat_.Feed(protocol::Stored{1}, Performed());
  EXPECT_GE(times[0], base::Time{});
  EXPECT_LE(times[0], times[1]);
  EXPECT_LE(times[1], times[2]);
  EXPECT_LE(times[2], seat_.Now());
}

TEST_F(MachineSeatTest, AfterTheStopNoTimerFiresOrIsSet) {
  step_ = [](base::Time now, const protocol::Input&, protocol::Outbox& out) {
    out.Add(protocol::SetTimer{7, now});
  };
  seat_.Feed(protocol::Started{}, Performed());
  seat_.StopTimers();
  seat_.Feed(protocol::LinkChanged{{}, true}, Performed());
  io_.run();
  EXPECT_THAT(fired_, IsEmpty());
}

TEST_F(MachineSeatTest, ANestedCallIsABug) {
  step_ = [](base::Time, const protocol::Input&, protocol::Outbox& out) {
    out.Add(protocol::Send{{}, Frame("one"), nullptr});
  };
  const auto feed_again = [this](protocol::Action&) { seat_.Feed(protocol::Stored{1}, {}); };
  EXPECT_DEATH(seat_.Feed(protocol::Started{}, feed_again), "CHECK failed");
}

TEST_F(MachineSeatTest, AMachineThatThrewIsAskedNothingMore) {
  EXPECT_EQ(seat_.progress().phase, "prove");
  step_ = [](base::Time, const protocol::Input&, protocol::Outbox&) {
    throw std::runtime_error("no");
  };
  EXPECT_THROW(seat_.Feed(protocol::Started{}, Performed()), std::runtime_error);
  EXPECT_EQ(seat_.progress().phase, "starting");
  EXPECT_DEATH(seat_.Feed(protocol::Stored{1}, Performed()), "CHECK failed");
}

TEST_F(MachineSeatTest, APerformThatThrewEndsTheMachineToo) {
  step_ = [](base::Time, const protocol::Input&, protocol::Outbox& out) {
    out.Add(protocol::Send{{}, Frame("one"), nullptr});
  };
  const auto throws = [](protocol::Action&) { throw std::runtime_error("no"); };
  EXPECT_THROW(seat_.Feed(protocol::Started{}, throws), std::runtime_error);
  EXPECT_DEATH(seat_.Feed(protocol::Stored{1}, Performed()), "CHECK failed");
}

// A kind without links and jobs.
TEST(MachineSeatOfAnotherKindTest, SeatsIt) {
  using machine::TallyKind;
  boost::asio::io_context io;
  std::size_t sent = 0;
  const MachineSeat<TallyKind>::Perform count = [&](machine::ActionOf<TallyKind>& action) {
    sent += std::holds_alternative<machine::SendDatagram<std::uint16_t>>(action);
  };
  MachineSeat<TallyKind> seat(io, std::make_unique<machine::Tally>(3), [](machine::TimerId) {});
  seat.Feed(machine::TallyStarted{}, count);
  seat.Feed(machine::DatagramReceived<std::uint16_t>{5, Frame("one")}, count);
  EXPECT_EQ(sent, 0u);
  seat.Feed(machine::Stored{1}, count);
  EXPECT_EQ(sent, 1u);
  EXPECT_EQ(seat.progress(), 1u);
}

}  // namespace
}  // namespace ostraka::host::machine_seat_test

// Several runs in one process, end to end: real sockets, ledgers, threads and machines.
#include "node/host/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <set>
#include <stdexcept>
#include <thread>

#include "node/host/run.h"
#include "node/store/ledger_reader.h"
#include "node/store/ledger_schema.h"
#include "node/store/sqlite.h"
#include "tests/unit/host/members.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::host::host_test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class HostTest : public os::TempFolderTest {
 protected:
  // Both runs have four members.
  void Make() {
    first_.emplace(dir_, 1, 4);
    second_.emplace(dir_, 2, 4);
  }
  void ExpectInterrupted(TestRun& run) {
    for (const Member& member : run.members()) {
      ASSERT_NE(member.run->report(), nullptr);
      EXPECT_EQ(member.run->report()->outcome.end, NodeEnd::kInterrupted)
          << TestRun::Describe(member);
    }
  }

  std::optional<TestRun> first_, second_;
  Host host_;
};

TEST_F(HostTest, TwoRunsOfFourMembersEndWithOneStateEach) {
  Make();
  std::set<std::thread::id> threads;
  std::size_t ended = 0;
  for (TestRun* run : {&*first_, &*second_}) {
    for (Member& member : run->members()) {
      member.ear.on_step = [&](std::uint64_t) { threads.insert(std::this_thread::get_id()); };
    }
    run->OpenAll(host_, [&](host::Run& which) {
      ++ended;
      EXPECT_NE(which.report(), nullptr);
      which.CheckInvariants();
    });
  }
  EXPECT_THAT(host_.open(), SizeIs(8));
  host_.RunToTheEnd();
  EXPECT_THAT(host_.open(), SizeIs(0));
  EXPECT_EQ(ended, 8u);
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
  EXPECT_NE(first_->manifest()->run_id, second_->manifest()->run_id);
  EXPECT_NE(first_->CommonRoot(), second_->CommonRoot());
  for (TestRun* run : {&*first_, &*second_}) {
    for (const Member& member : run->members()) {
      EXPECT_EQ(member.ear.started, 1);
      EXPECT_THAT(member.ear.halted, SizeIs(1));
      auto ledger = store::LedgerReader::Open(member.data_dir);
      ASSERT_TRUE(ledger.ok()) << ledger.status();
      EXPECT_EQ(ledger->Summary()->run_id, run->manifest()->run_id);
      EXPECT_EQ(ledger->Summary()->outcome, member.run->report()->outcome.reason);
    }
  }
}

TEST_F(HostTest, ALedgerThatCanNoLongerBeWrittenEndsItsOwnRunAlone) {
  Make();
  Member& victim = first_->members()[1];
  victim.ear.on_step = [&](std::uint64_t done) {
    if (done != 2) return;
    auto database = store::sqlite::Database::Open(victim.data_dir + "/" + store::kLedgerFileName,
                                                  store::sqlite::Database::Mode::kReadWriteCreate);
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(database->Execute("DROP TABLE slots").ok());
  };
  // Without a quarter of its members the first run would go on, so end it with its victim.
  first_->OpenAll(host_, [&](host::Run& run) {
    if (&run != victim.run.get()) return;
    for (const Member& member : first_->members()) member.run->Stop();
  });
  second_->OpenAll(host_);
  host_.RunToTheEnd();
  EXPECT_EQ(victim.run->report()->outcome.end, NodeEnd::kFailed);
  EXPECT_THAT(victim.run->report()->outcome.reason, HasSubstr("slots"));
  for (const Member& member : first_->members()) {
    if (&member == &victim) continue;
    EXPECT_EQ(member.run->report()->outcome.end, NodeEnd::kInterrupted);
  }
  second_->CommonRoot();
}

TEST_F(HostTest, ARunThatIsRefusedChangesNothingForTheOpenOnes) {
  Make();
  Ear ear;
  const auto refusal = [&](RunOptions options) {
    const auto run = host_.Open(std::move(options), ear);
    EXPECT_FALSE(run.ok());
    return run.ok() ? "" : base::MessageOf(run.status());
  };
  Member& open = first_->members()[0];
  int tried = 0;
  open.ear.on_step = [&](std::uint64_t done) {
    if (done != 2) return;
    ++tried;
    // A manifest that does not validate.
    Member& fresh = second_->members()[0];
    protocol::Manifest broken = *second_->manifest();
    broken.training.batch_size = 0;
    RunOptions options = second_->OptionsOf(fresh);
    options.manifest = std::make_shared<const protocol::Manifest>(broken);
    EXPECT_THAT(refusal(std::move(options)), HasSubstr("manifest: "));
    // A key of another run.
    options = second_->OptionsOf(fresh);
    options.key = open.key;
    EXPECT_THAT(refusal(std::move(options)), HasSubstr("is no member of this run"));
    // A folder where no ledger can be.
    options = second_->OptionsOf(fresh);
    options.files.data_dir = "/dev/null/folder";
    EXPECT_THAT(refusal(std::move(options)), HasSubstr("data folder /dev/null/folder"));
    // The folder of a run that is open here.
    options = second_->OptionsOf(fresh);
    options.files.data_dir = open.data_dir;
    EXPECT_THAT(refusal(std::move(options)), HasSubstr("in use by process"));
    // The same key and run once more, with a folder of its own.
    options = first_->OptionsOf(open);
    options.files.data_dir = dir_ + "/again";
    EXPECT_THAT(refusal(std::move(options)), HasSubstr("key"));
    EXPECT_FALSE(std::filesystem::exists(dir_ + "/again"));
    // A port that an open run has.
    options = second_->OptionsOf(fresh);
    options.network.listen_socket = os::Descriptor(-1);
    options.network.listen = "127.0.0.1:" + std::to_string(open.run->port());
    EXPECT_THAT(refusal(std::move(options)), HasSubstr("taken"));
  };
  first_->OpenAll(host_);
  host_.RunToTheEnd();
  EXPECT_EQ(tried, 1);
  EXPECT_EQ(ear.started, 0);
  first_->CommonRoot();
  // What was refused holds nothing: the same member can be opened now.
  second_->OpenAll(host_);
  host_.Stop();
  host_.RunToTheEnd();
}

TEST_F(HostTest, ARunThatIsStoppedLetsTheOtherGoOnAndCanBeOpenedAgain) {
  Make();
  std::future<void> stopper;
  first_->members()[2].ear.on_step = [&](std::uint64_t done) {
    if (done != 3) return;
    stopper = std::async(std::launch::async, [&] {
      for (const Member& member : first_->members()) member.run->Stop("a person");
    });
  };
  first_->OpenAll(host_);
  second_->OpenAll(host_);
  host_.RunToTheEnd();
  ExpectInterrupted(*first_);
  EXPECT_THAT(first_->members()[2].run->report()->outcome.reason,
              HasSubstr("stopped by a person in step"));
  second_->CommonRoot();

  first_->members()[2].ear.on_step = nullptr;
  first_->OpenAll(host_);
  host_.RunToTheEnd();
  first_->CommonRoot();
}

TEST_F(HostTest, ARunWithAReportCanBeOpenedAgainInTheVeryNextTurn) {
  Make();
  Member& member = first_->members()[0];
  std::optional<base::Status> reopened;
  std::function<void()> watch = [&] {
    if (member.run->report() == nullptr) return host_.Post(watch);
    member.run->CheckInvariants();
    reopened = host_.Open(first_->OptionsOf(member), member.ear).status();
    host_.Stop();
  };
  // It waits for its others, and keeps the host running.
  Member& waiting = second_->members()[0];
  ASSERT_TRUE(host_.Open(second_->OptionsOf(waiting), waiting.ear).ok());
  first_->OpenAll(host_);
  for (const Member& each : first_->members()) each.run->Stop();
  host_.Post(watch);
  host_.RunToTheEnd();
  ASSERT_TRUE(reopened.has_value());
  EXPECT_TRUE(reopened->ok()) << *reopened;
}

TEST_F(HostTest, AStopThatComesAfterTheLastRunEndsNoLaterOne) {
  Make();
  second_->OpenAll(host_, [&](host::Run&) {
    if (host_.open().empty()) host_.Stop("a request for the runs that were open");
  });
  host_.RunToTheEnd();
  second_->CommonRoot();
  first_->OpenAll(host_);
  host_.RunToTheEnd();
  first_->CommonRoot();
}

TEST_F(HostTest, StopBeforeTheStartEndsEveryRunWithoutAStep) {
  Make();
  host_.Stop("Ctrl-C");
  first_->OpenAll(host_);
  second_->OpenAll(host_);
  host_.RunToTheEnd();
  ExpectInterrupted(*first_);
  ExpectInterrupted(*second_);
  EXPECT_EQ(first_->members()[0].run->report()->outcome.reason,
            "stopped by Ctrl-C before the first step, with 0 of 3 members linked");
}

TEST_F(HostTest, AnExceptionThatIsOfNoRunEndsAllWithTheReason) {
  Make();
  first_->members()[0].ear.on_step = [&](std::uint64_t done) {
    if (done == 1) host_.Post([] { throw std::runtime_error("out of sockets"); });
  };
  first_->OpenAll(host_);
  second_->OpenAll(host_);
  host_.RunToTheEnd();
  for (TestRun* run : {&*first_, &*second_}) {
    for (const Member& member : run->members()) {
      EXPECT_EQ(member.run->report()->outcome.end, NodeEnd::kFailed);
      EXPECT_EQ(member.run->report()->outcome.reason, "a library failed: out of sockets");
    }
  }
}

TEST_F(HostTest, WhatIsThrownAndIsNoExceptionEndsAllTheSame) {
  Make();
  first_->members()[0].ear.on_step = [&](std::uint64_t done) {
    if (done == 1) host_.Post([] { throw 3; });
  };
  first_->OpenAll(host_);
  host_.RunToTheEnd();
  for (const Member& member : first_->members()) {
    EXPECT_EQ(member.run->report()->outcome.end, NodeEnd::kFailed);
    EXPECT_THAT(member.run->report()->outcome.reason, HasSubstr("no exception"));
  }
}

TEST_F(HostTest, AnOwnerWhoseCallbackThrowsLosesItsOwnRunAlone) {
  Make();
  first_->OpenAll(host_, [](host::Run&) { throw std::runtime_error("no mail"); });
  second_->OpenAll(host_);
  host_.RunToTheEnd();
  for (const Member& member : first_->members()) {
    EXPECT_EQ(member.run->report()->outcome.end, NodeEnd::kFailed);
    EXPECT_THAT(member.run->report()->outcome.reason, HasSubstr("no mail"));
  }
  second_->CommonRoot();
}

TEST_F(HostTest, AHostThatIsDestroyedGivesBackWhatItsRunsHeld) {
  Make();
  Host other;
  {
    Host host;
    first_->OpenAll(host);
  }
  EXPECT_EQ(first_->members()[0].run->report(), nullptr);
  first_->OpenAll(other);
  other.Stop();
  other.RunToTheEnd();
  ExpectInterrupted(*first_);
}

}  // namespace
}  // namespace ostraka::host::host_test

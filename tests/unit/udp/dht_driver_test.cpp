// Real sockets on loopback.
#include "node/net/udp/dht_driver.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/dht/samples.h"

namespace ostraka::net::dht_driver_test {
namespace {

using dht::Endpoint;

const Endpoint kAnyPort = Endpoint::V4(0x7f000001, 0);

class DhtDriverTest : public testing::Test {
 protected:
  DhtDriver& Add(std::uint64_t number, std::vector<Endpoint> bootstraps) {
    DhtDriver::Listener listener;
    listener.answered = [this](const dht::Answered& answered) {
      answered_[answered.id] = answered;
    };
    listener.kept = [this](const dht::KeptContacts& kept) { kept_ = kept; };
    drivers_.push_back(std::make_unique<DhtDriver>(
        io_,
        dht::NodeConfig{dht::KeyOf(number), dht::TestNetwork(), dht::Role::kAuto,
                        std::make_shared<crypto::PlainVerifier>()},
        listener));
    dht::Started started;
    started.wall_s = 1'800'000'000;
    started.secret.bytes.fill(static_cast<std::uint8_t>(number));
    started.bootstraps = std::move(bootstraps);
    const auto status = drivers_.back()->Start(kAnyPort, started);
    EXPECT_TRUE(status.ok()) << status.message();
    return *drivers_.back();
  }
  // Until `done`, or for a minute: a test that waits so long has failed.
  template <typename Done>
  bool RunUntil(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done() && std::chrono::steady_clock::now() < end) {
      io_.run_one_for(std::chrono::milliseconds(100));
    }
    return done();
  }

  boost::asio::io_context io_;
  std::vector<std::unique_ptr<DhtDriver>> drivers_;
  std::map<std::uint64_t, dht::Answered> answered_;
  dht::KeptContacts kept_;
};

TEST_F(DhtDriverTest, NodesOnLoopbackFindEachOther) {
  DhtDriver& first = Add(1, {});
  for (std::uint64_t i = 2; i <= 8; ++i) Add(i, {first.local()});
  ASSERT_TRUE(RunUntil([this] {
    return std::all_of(drivers_.begin() + 1, drivers_.end(),
                       [](const auto& one) { return one->progress().joined; });
  }));
  dht::Publish publish;
  publish.content.addresses = {drivers_[3]->local()};
  drivers_[3]->Ask({1, publish});
  ASSERT_TRUE(RunUntil([this] { return answered_.contains(1); }));
  EXPECT_GE(std::get<dht::Published>(answered_[1].result).stored, 1U);
  drivers_[6]->Ask({2, dht::GetPeer{dht::KeyOf(4)->id()}});
  ASSERT_TRUE(RunUntil([this] { return answered_.contains(2); }));
  const auto& records = std::get<dht::GotRecords>(answered_[2].result).records;
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].addresses, std::vector<Endpoint>{drivers_[3]->local()});
  ASSERT_TRUE(RunUntil([this] { return !kept_.contacts.empty(); }));
}

TEST_F(DhtDriverTest, APortThatIsTakenIsAnError) {
  DhtDriver& first = Add(1, {});
  UdpSocket second(io_, [](const Endpoint&, base::ByteView) {});
  const auto status = second.Open(first.local());
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(std::string(status.message()).find("127.0.0.1"), std::string::npos);
}

// As memory that has run out: the run that uses the driver goes on.
TEST_F(DhtDriverTest, WhatIsThrownClosesTheDriverAndIsSaidOnce) {
  DhtDriver& first = Add(1, {});
  DhtDriver::Listener listener;
  std::vector<std::string> failures;
  bool answered = false;
  listener.observed = [](const dht::Observation&) { throw std::runtime_error("no memory"); };
  listener.failed = [&failures](const std::string& what) { failures.push_back(what); };
  listener.answered = [&answered](const dht::Answered&) { answered = true; };
  DhtDriver broken(io_,
                   dht::NodeConfig{dht::KeyOf(2), dht::TestNetwork(), dht::Role::kAuto,
                                   std::make_shared<crypto::PlainVerifier>()},
                   listener);
  dht::Started started;
  started.wall_s = 1'800'000'000;
  started.bootstraps = {first.local()};
  ASSERT_TRUE(broken.Start(kAnyPort, started).ok());
  ASSERT_TRUE(RunUntil([&failures] { return !failures.empty(); }));
  broken.Ask({1, dht::GetPeer{dht::KeyOf(9)->id()}});
  DhtDriver& third = Add(3, {first.local()});
  ASSERT_TRUE(RunUntil([&third] { return third.progress().joined; }));
  EXPECT_EQ(failures, std::vector<std::string>{"no memory"});
  EXPECT_FALSE(answered);
}

// Each stores the other's record, and asks nobody else.
TEST_F(DhtDriverTest, OfTwoNodesEachFindsTheOther) {
  DhtDriver& first = Add(1, {});
  DhtDriver& second = Add(2, {first.local()});
  ASSERT_TRUE(RunUntil([&] { return first.progress().joined && second.progress().joined; }));
  dht::Publish publish;
  publish.content.addresses = {second.local()};
  second.Ask({1, publish});
  ASSERT_TRUE(RunUntil([this] { return answered_.contains(1); }));
  first.Ask({2, dht::GetPeer{dht::KeyOf(2)->id()}});
  ASSERT_TRUE(RunUntil([this] { return answered_.contains(2); }));
  const auto& records = std::get<dht::GotRecords>(answered_[2].result).records;
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].peer, dht::KeyOf(2)->id());
}

TEST_F(DhtDriverTest, ADriverMayGoWhileCallsAreUnderWay) {
  DhtDriver& first = Add(1, {});
  Add(2, {first.local()});
  drivers_[1]->Ask({1, dht::GetPeer{dht::KeyOf(9)->id()}});
  drivers_.clear();
  io_.run_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(answered_.empty());
}

}  // namespace
}  // namespace ostraka::net::dht_driver_test

#include "node/net/records/carried_lane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ostraka::net::carried_lane_test {
namespace {

base::PeerId Peer(std::uint8_t number) {
  base::PeerId peer;
  peer.bytes[0] = number;
  return peer;
}

// A message of `peer`, with its number in it.
base::SharedBytes Of(std::uint8_t peer, std::size_t size, std::uint8_t number = 0) {
  base::Bytes bytes(size, peer);
  bytes[1] = number;
  return std::make_shared<const base::Bytes>(std::move(bytes));
}

class CarriedLaneTest : public testing::Test {
 protected:
  std::size_t Push(std::uint8_t peer, std::size_t size, std::uint8_t number = 0) {
    const std::size_t dropped = lane_.Push(Peer(peer), Of(peer, size, number));
    lane_.CheckInvariants();
    return dropped;
  }
  // The numbers of what leaves of `peer`, until the lane is empty.
  std::vector<int> Drain(std::uint8_t peer) {
    std::vector<int> numbers;
    while (!lane_.empty()) {
      const base::SharedBytes next = lane_.Next();
      if ((*next)[0] == peer) numbers.push_back((*next)[1]);
      lane_.CheckInvariants();
    }
    return numbers;
  }

  CarriedLane lane_{100'000};
};

TEST_F(CarriedLaneTest, WhatOnePeerSendsLeavesInOrder) {
  for (std::uint8_t i = 0; i < 5; ++i) EXPECT_EQ(Push(1, 1000, i), 0u);
  EXPECT_EQ(lane_.bytes(), 5000u);
  EXPECT_EQ(Drain(1), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(lane_.bytes(), 0u);
}

TEST_F(CarriedLaneTest, NoMoreWaitsThanTheLimit) {
  std::size_t dropped = 0;
  for (std::uint8_t i = 0; i < 200; ++i) dropped += Push(1, 1000, i);
  EXPECT_EQ(dropped, 100u);
  EXPECT_EQ(lane_.bytes(), 100'000u);
  EXPECT_EQ(Drain(1).back(), 99) << "the newest were dropped";
  EXPECT_EQ(Push(1, 100'001), 1u);
  EXPECT_TRUE(lane_.empty());
}

// What several peers flood it with keeps nothing of another one out.
TEST_F(CarriedLaneTest, WhoFloodsLosesItsOwnMessagesOnly) {
  for (std::uint8_t i = 0; i < 100; ++i) {
    for (const std::uint8_t peer : {1, 2, 3}) Push(peer, 10'000);
  }
  for (std::uint8_t i = 0; i < 20; ++i) EXPECT_GE(Push(4, 1000, i), i % 10 == 0 ? 1u : 0u);
  EXPECT_LE(lane_.bytes(), 100'000u);
  EXPECT_EQ(Drain(4).size(), 20u);
}

// By key, the same peer would lose at each carrier.
TEST_F(CarriedLaneTest, OfEqualsTheOneWhoseTurnComesLastLoses) {
  Push(1, 50'000);
  Push(2, 50'000);
  EXPECT_EQ(Push(3, 100), 1u);
  EXPECT_EQ(Drain(1).size(), 1u);
  Push(2, 50'000);
  Push(1, 50'000);
  EXPECT_EQ(Push(3, 100), 1u);
  EXPECT_EQ(Drain(2).size(), 1u);
}

// Of one with long messages the line has no more than of one with short ones.
TEST_F(CarriedLaneTest, PeersTakeTurnsOfSoManyBytes) {
  for (int i = 0; i < 5; ++i) Push(1, 10'000);
  for (std::uint8_t i = 0; i < 40; ++i) Push(2, 500, i);
  std::map<int, std::size_t> sent;
  while (sent[2] < 20'000) {
    const base::SharedBytes next = lane_.Next();
    sent[(*next)[0]] += next->size();
    lane_.CheckInvariants();
  }
  EXPECT_LE(sent[1], 20'000 + CarriedLane::kTurnBytes + 10'000);
  EXPECT_GE(sent[1], 10'000u) << "and no less";
}

TEST_F(CarriedLaneTest, ForgetsAllWhenItIsCleared) {
  Push(1, 1000);
  lane_.Clear();
  EXPECT_TRUE(lane_.empty());
  EXPECT_EQ(lane_.bytes(), 0u);
  lane_.CheckInvariants();
  EXPECT_DEATH(lane_.Next(), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::net::carried_lane_test

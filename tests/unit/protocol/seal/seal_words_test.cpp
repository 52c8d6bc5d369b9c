#include "node/protocol/seal/seal_words.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

using scene::DigestOf;
using scene::KeyNumber;
using wire::MessageType;

wire::SignedEnvelope Say(std::uint32_t member, MessageType type, std::uint32_t iteration,
                         base::Bytes body) {
  const wire::Slot slot{DigestOf(99), 0, 7, wire::Phase::kC, type, 0, iteration};
  return wire::Seal({slot, DigestOf(1), KeyNumber(member)->id(), std::move(body)},
                    *KeyNumber(member));
}
wire::SignedEnvelope Vote(std::uint32_t member, std::uint32_t iteration, std::uint32_t rank,
                          std::uint64_t value = 20) {
  return Say(member, MessageType::kVote, iteration,
             wire::Encode(wire::SealVote{DigestOf(value), rank}));
}
wire::SignedEnvelope Lock(std::uint32_t member, std::uint32_t iteration) {
  return Say(member, MessageType::kLock, iteration, wire::Encode(wire::Lock{DigestOf(20)}));
}

TEST(SealWordsTest, KeepsEachWordOnceAndTwoOfASlot) {
  SealWords words;
  EXPECT_FALSE(words.slow());
  wire::Echo echo;
  EXPECT_TRUE(words.Add(Say(0, MessageType::kEcho, 0, wire::Encode(echo))));
  EXPECT_FALSE(words.slow());
  EXPECT_TRUE(words.Add(Vote(0, 2, 0)));
  EXPECT_TRUE(words.slow());
  EXPECT_FALSE(words.Add(Vote(0, 2, 0))) << "once more";
  EXPECT_TRUE(words.Add(Vote(0, 2, 0, 21))) << "its rival";
  EXPECT_FALSE(words.Add(Vote(0, 2, 0, 22))) << "nothing new about one who is caught";
  EXPECT_TRUE(words.Holds(Vote(0, 2, 0, 21)));
  EXPECT_FALSE(words.Holds(Vote(0, 2, 0, 22)));
  EXPECT_TRUE(words.Add(Vote(1, 2, 0)));
  EXPECT_EQ(words.FramesOf(KeyNumber(0)->id()).size(), 3u);
  EXPECT_EQ(words.Frames().size(), 4u);
  std::size_t bytes = 0;
  for (const auto& frame : words.Frames()) bytes += frame->size();
  EXPECT_EQ(words.bytes(), bytes);
}

// A VOTE that convicts its signer beside many LOCKs is not pushed out by VOTEs that never could.
TEST(SealWordsTest, OneMembersManyPushOutItsOwnLeastTelling) {
  SealWords words;
  words.Add(Lock(1, 1));
  words.Add(Vote(0, 2, 0));
  for (std::uint32_t k = 3; k < 500; ++k) words.Add(Vote(0, k, k));
  EXPECT_EQ(words.FramesOf(KeyNumber(0)->id()).size(), SealWords::kWordsOfOne);
  EXPECT_TRUE(words.Holds(Vote(0, 2, 0)));
  EXPECT_TRUE(words.Holds(Vote(0, 499, 499))) << "of equals the newest";
  EXPECT_TRUE(words.Holds(Lock(1, 1))) << "nobody's many push out another's";
  for (std::uint32_t k = 500; k < 600; ++k) words.Add(Vote(0, k, 0));
  EXPECT_FALSE(words.Holds(Vote(0, 2, 0))) << "all that are kept now tell more";
  EXPECT_TRUE(words.Holds(Vote(0, 599, 0)));
  words.CheckInvariants();
  std::size_t bytes = 0;
  for (const auto& frame : words.Frames()) bytes += frame->size();
  EXPECT_EQ(words.bytes(), bytes);
}

TEST(SealWordsTest, ARivalIsNotPushedOut) {
  SealWords words;
  words.Add(Lock(0, 3));
  words.Add(Say(0, MessageType::kLock, 3, wire::Encode(wire::Lock{DigestOf(21)})));
  for (std::uint32_t k = 4; k < 40; ++k) words.Add(Lock(0, k));
  words.CheckInvariants();
  EXPECT_TRUE(words.Holds(Lock(0, 3)));
  EXPECT_EQ(words.Frames().size(), SealWords::kWordsOfOne);
}

}  // namespace
}  // namespace ostraka::protocol

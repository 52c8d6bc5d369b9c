#include "node/protocol/seal/seal_transcript.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::seal_transcript_test {
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

TEST(SealTranscriptTest, KeepsEachMessageOnceAndTwoOfASlot) {
  SealTranscript transcript;
  EXPECT_FALSE(transcript.slow());
  wire::Echo echo;
  EXPECT_TRUE(transcript.Add(Say(0, MessageType::kEcho, 0, wire::Encode(echo))));
  EXPECT_FALSE(transcript.slow());
  EXPECT_TRUE(transcript.Add(Vote(0, 2, 0)));
  EXPECT_TRUE(transcript.slow());
  EXPECT_FALSE(transcript.Add(Vote(0, 2, 0))) << "once more";
  EXPECT_TRUE(transcript.Add(Vote(0, 2, 0, 21))) << "its rival";
  EXPECT_FALSE(transcript.Add(Vote(0, 2, 0, 22))) << "proves nothing new about its signer";
  EXPECT_TRUE(transcript.Holds(Vote(0, 2, 0, 21)));
  EXPECT_FALSE(transcript.Holds(Vote(0, 2, 0, 22)));
  EXPECT_TRUE(transcript.Add(Vote(1, 2, 0)));
  EXPECT_EQ(transcript.FramesOf(KeyNumber(0)->id()).size(), 3u);
  EXPECT_EQ(transcript.Frames().size(), 4u);
  std::size_t bytes = 0;
  for (const auto& frame : transcript.Frames()) bytes += frame->size();
  EXPECT_EQ(transcript.bytes(), bytes);
}

// A VOTE that convicts its signer beside many LOCKs is not displaced by VOTEs that never could.
TEST(SealTranscriptTest, AMemberDisplacesItsOwnMessageThatProvesLeast) {
  SealTranscript transcript;
  transcript.Add(Lock(1, 1));
  transcript.Add(Vote(0, 2, 0));
  for (std::uint32_t k = 3; k < 500; ++k) transcript.Add(Vote(0, k, k));
  EXPECT_EQ(transcript.FramesOf(KeyNumber(0)->id()).size(), SealTranscript::kMessagesOfOne);
  EXPECT_TRUE(transcript.Holds(Vote(0, 2, 0)));
  EXPECT_TRUE(transcript.Holds(Vote(0, 499, 499))) << "of equal ones the newest";
  EXPECT_TRUE(transcript.Holds(Lock(1, 1))) << "no member displaces messages of another";
  for (std::uint32_t k = 500; k < 600; ++k) transcript.Add(Vote(0, k, 0));
  EXPECT_FALSE(transcript.Holds(Vote(0, 2, 0))) << "all that are kept now prove more";
  EXPECT_TRUE(transcript.Holds(Vote(0, 599, 0)));
  transcript.CheckInvariants();
  std::size_t bytes = 0;
  for (const auto& frame : transcript.Frames()) bytes += frame->size();
  EXPECT_EQ(transcript.bytes(), bytes);
}

TEST(SealTranscriptTest, ARivalIsNotDisplaced) {
  SealTranscript transcript;
  transcript.Add(Lock(0, 3));
  transcript.Add(Say(0, MessageType::kLock, 3, wire::Encode(wire::Lock{DigestOf(21)})));
  for (std::uint32_t k = 4; k < 40; ++k) transcript.Add(Lock(0, k));
  transcript.CheckInvariants();
  EXPECT_TRUE(transcript.Holds(Lock(0, 3)));
  EXPECT_EQ(transcript.Frames().size(), SealTranscript::kMessagesOfOne);
}

}  // namespace
}  // namespace ostraka::protocol::seal_transcript_test

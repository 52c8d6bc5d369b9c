#include "sim/engine/memo_opener.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "node/wire/codec.h"

namespace ostraka::sim::memo_opener_test {
namespace {

base::SharedBytes Frame(std::uint8_t body) {
  const auto key = crypto::SigningKey::FromSeed(base::Bytes(crypto::SigningKey::kSeedSize, 1));
  wire::Envelope envelope;
  envelope.slot.phase = wire::Phase::kA;
  envelope.slot.type = wire::MessageType::kCommit;
  envelope.sender = key.id();
  envelope.body = {body};
  return wire::Seal(std::move(envelope), key).frame;
}

TEST(MemoOpener, OpensAFrameOnceForAll) {
  MemoOpener opener;
  const base::SharedBytes frame = Frame(1);
  const auto first = opener.Open(frame);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*first)->digest, wire::Open(frame)->digest);
  EXPECT_EQ((*first)->envelope.body, base::Bytes{1});
  EXPECT_EQ((*first)->frame, frame);
  for (int peer = 0; peer < 16; ++peer) EXPECT_EQ(*opener.Open(frame), *first);
  EXPECT_EQ(opener.opened_for_real(), 1U);
}

TEST(MemoOpener, EqualBytesOfAnotherFrameAreOpenedAnew) {
  MemoOpener opener;
  const base::SharedBytes frame = Frame(1);
  const auto copy = std::make_shared<const base::Bytes>(*frame);
  ASSERT_TRUE(opener.Open(frame).ok());
  const auto opened = opener.Open(copy);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ((*opened)->frame, copy);
  EXPECT_EQ(opener.opened_for_real(), 2U);
}

TEST(MemoOpener, RefusesABadFrameEachTime) {
  MemoOpener opener;
  base::Bytes bytes = *Frame(1);
  bytes.pop_back();
  const auto bad = std::make_shared<const base::Bytes>(std::move(bytes));
  for (std::uint64_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(opener.Open(bad).status(), wire::Open(bad).status());
    EXPECT_EQ(opener.opened_for_real(), i);
  }
  EXPECT_FALSE(opener.Open(nullptr).ok());
  EXPECT_EQ(opener.remembered(), 0U);
}

TEST(MemoOpener, DoesNotMistakeANewFrameForAForgottenOne) {
  MemoOpener opener(/*capacity=*/4);
  // An allocator gives the addresses of freed frames to new ones.
  for (std::uint8_t i = 0; i < 200; ++i) {
    const auto opened = opener.Open(Frame(i));
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ((*opened)->envelope.body, base::Bytes{i});
    EXPECT_LE(opener.remembered(), 8U);
  }
}

TEST(MemoOpener, KeepsRecentlyUsedFrames) {
  MemoOpener opener(/*capacity=*/4);
  const base::SharedBytes asked = Frame(255);
  std::vector<base::SharedBytes> others;
  for (std::uint8_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(opener.Open(asked).ok());
    ASSERT_TRUE(opener.Open(others.emplace_back(Frame(i))).ok());
  }
  EXPECT_EQ(opener.opened_for_real(), 101U);
}

}  // namespace
}  // namespace ostraka::sim::memo_opener_test

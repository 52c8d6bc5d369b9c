#include "dht/reading.h"

#include <gtest/gtest.h>

#include "tests/unit/dht/samples.h"

namespace ostraka::dht::reading_test {
namespace {

constexpr std::uint64_t kNow = 4000;

class ReadingTest : public testing::Test {
 protected:
  base::Bytes Record(std::uint64_t key, std::uint64_t seq, std::uint64_t expires = 5000) {
    const auto signer = KeyOf(key);
    Announcement content = SampleAnnouncement(*signer, seq);
    content.expires = expires;
    return SignAnnouncement(content, *signer);
  }
  Digest run_key_ = RunKey(TestNetwork(), SampleAnnouncement(*KeyOf(1)).run->run_id);
  Digest peer_key_ = PeerKey(TestNetwork(), KeyOf(1)->id());
  crypto::PlainVerifier verifier_;
};

TEST_F(ReadingTest, KeepsTheNewestOfEachOwner) {
  Reading reading(TestNetwork(), run_key_, false);
  reading.Add(kNow, {Record(1, 5), Record(2, 9)}, verifier_);
  reading.Add(kNow, {Record(1, 7), Record(2, 8)}, verifier_);
  const auto records = reading.Result();
  ASSERT_EQ(records.size(), 2U);
  for (const Announcement& one : records) {
    EXPECT_EQ(one.seq, one.peer == KeyOf(1)->id() ? 7U : 9U);
  }
  reading.CheckInvariants();
}

TEST_F(ReadingTest, AnOldRecordFromManyNodesDoesNotBeatTheNewestFromOne) {
  Reading reading(TestNetwork(), peer_key_, true);
  for (int i = 0; i < 10; ++i) reading.Add(kNow, {Record(1, 5)}, verifier_);
  reading.Add(kNow, {Record(1, 6)}, verifier_);
  for (int i = 0; i < 10; ++i) reading.Add(kNow, {Record(1, 5)}, verifier_);
  ASSERT_EQ(reading.Result().size(), 1U);
  EXPECT_EQ(reading.Result()[0].seq, 6U);
}

TEST_F(ReadingTest, OfTwoWithOneSeqTheOrderDoesNotMatter) {
  const auto result = [this](const base::Bytes& first, const base::Bytes& second) {
    Reading reading(TestNetwork(), peer_key_, true);
    reading.Add(kNow, {first, second}, verifier_);
    return reading.Result().at(0);
  };
  EXPECT_EQ(result(Record(1, 5, 5000), Record(1, 5, 5001)),
            result(Record(1, 5, 5001), Record(1, 5, 5000)));
}

TEST_F(ReadingTest, WhatDoesNotBelongIsLeftOut) {
  Reading reading(TestNetwork(), peer_key_, true);
  base::Bytes forged = Record(1, 5);
  forged[3] ^= 1;
  reading.Add(kNow, {forged, Record(2, 5), Record(1, 5, kNow - 600), base::Bytes(50)}, verifier_);
  EXPECT_TRUE(reading.Result().empty());
  const auto key = KeyOf(1);
  Announcement elsewhere = SampleAnnouncement(*key);
  elsewhere.network = NetworkOf("other");
  Reading other(TestNetwork(), PeerKey(NetworkOf("other"), key->id()), true);
  other.Add(kNow, {SignAnnouncement(elsewhere, *key)}, verifier_);
  EXPECT_TRUE(other.Result().empty()) << "of another network";
}

TEST_F(ReadingTest, AForgedNewerRecordDoesNotReplaceATrueOne) {
  Reading reading(TestNetwork(), peer_key_, true);
  base::Bytes forged = Record(1, 9);
  forged[3] ^= 1;
  reading.Add(kNow, {Record(1, 5), forged}, verifier_);
  ASSERT_EQ(reading.Result().size(), 1U);
  EXPECT_EQ(reading.Result()[0].seq, 5U);
}

TEST_F(ReadingTest, OwnersAreBounded) {
  Reading reading(TestNetwork(), run_key_, false);
  for (std::uint64_t key = 1; key < Reading::kMaxOwners + 40; ++key) {
    reading.Add(kNow, {Record(key, 5)}, verifier_);
  }
  EXPECT_EQ(reading.Result().size(), Reading::kMaxOwners);
  reading.CheckInvariants();
}

}  // namespace
}  // namespace ostraka::dht::reading_test

#include "node/wire/recording_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/wire/samples.h"
#include "tests/unit/wire/show.h"

namespace ostraka::wire::recording_codec_test {
namespace {

using testing::HasSubstr;

TEST(RecordingCodecTest, EntriesComeBack) {
  const auto head = DecodeRecordingHead(EncodeRecordingHead(SampleRecordingHead()));
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_TRUE(AreEqual(*head, SampleRecordingHead()));
  for (const RecordedInput& turn :
       {SampleRecordedStart(), SampleRecordedMessage(), SampleRecordedResult(), RecordedInput{}}) {
    const auto read = DecodeRecordedInput(EncodeRecordedInput(turn));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(AreEqual(*read, turn));
  }
  for (const RecordedOutcome& outcome : {SampleRecordedOutcome(), RecordedOutcome{}}) {
    const auto read = DecodeRecordedOutcome(EncodeRecordedOutcome(outcome));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(AreEqual(*read, outcome));
  }
}

// A list of them could claim far more memory than its file has bytes.
TEST(RecordingCodecTest, EmptyElementsAreRefused) {
  RecordingHead head = SampleRecordingHead();
  head.layout.emplace_back();
  EXPECT_THAT(base::MessageOf(DecodeRecordingHead(EncodeRecordingHead(head)).status()),
              HasSubstr("without a name"));
  RecordedInput turn = SampleRecordedStart();
  turn.store->slots.emplace_back();
  EXPECT_THAT(base::MessageOf(DecodeRecordedInput(EncodeRecordedInput(turn)).status()),
              HasSubstr("without a key"));
}

TEST(RecordingCodecTest, EachBytesThatAreCutAreRefused) {
  const Bytes bytes = EncodeRecordedInput(SampleRecordedStart());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeRecordedInput(base::ByteView(bytes).first(size)).ok()) << size;
  }
}

TEST(RecordingCodecTest, UnknownValuesAreRefused) {
  RecordingHead head = SampleRecordingHead();
  head.version = kRecordingVersion + 1;
  EXPECT_THAT(base::MessageOf(DecodeRecordingHead(EncodeRecordingHead(head)).status()),
              HasSubstr("version: out of range"));
  RecordedInput turn = SampleRecordedStart();
  turn.wishes->dials = static_cast<RecordedWishes::Dials>(kDialsCount);
  EXPECT_THAT(base::MessageOf(DecodeRecordedInput(EncodeRecordedInput(turn)).status()),
              HasSubstr("dials: unknown value"));
}

}  // namespace
}  // namespace ostraka::wire::recording_codec_test

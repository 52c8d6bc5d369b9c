#include "node/wire/recording_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/wire/samples.h"
#include "tests/unit/wire/show.h"

namespace ostraka::wire::recording_codec_test {
namespace {

using testing::HasSubstr;

TEST(RecordingCodecTest, HeadsAndTurnsComeBack) {
  const auto head = DecodeRecordingHead(EncodeRecordingHead(SampleRecordingHead()));
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_TRUE(AreEqual(*head, SampleRecordingHead()));
  for (const RecordedTurn& turn :
       {SampleRecordedStart(), SampleRecordedMessage(), SampleRecordedResult(), RecordedTurn{}}) {
    const auto read = DecodeRecordedTurn(EncodeRecordedTurn(turn));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(AreEqual(*read, turn));
  }
}

TEST(RecordingCodecTest, EachBytesThatAreCutAreRefused) {
  const Bytes bytes = EncodeRecordedTurn(SampleRecordedStart());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeRecordedTurn(base::ByteView(bytes).first(size)).ok()) << size;
  }
}

TEST(RecordingCodecTest, UnknownValuesAreRefused) {
  RecordingHead head = SampleRecordingHead();
  head.version = kRecordingVersion + 1;
  EXPECT_THAT(base::MessageOf(DecodeRecordingHead(EncodeRecordingHead(head)).status()),
              HasSubstr("version: out of range"));
  RecordedTurn turn = SampleRecordedStart();
  turn.wishes->dials = static_cast<RecordedWishes::Dials>(kDialsCount);
  EXPECT_THAT(base::MessageOf(DecodeRecordedTurn(EncodeRecordedTurn(turn)).status()),
              HasSubstr("dials: unknown value"));
}

}  // namespace
}  // namespace ostraka::wire::recording_codec_test

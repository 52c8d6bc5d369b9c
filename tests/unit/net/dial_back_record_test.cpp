#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "node/net/records/dial_back.h"
#include "node/net/records/record_reader.h"

namespace ostraka::net::dial_back_record_test {
namespace {

using base::Bytes;
using ::testing::HasSubstr;

DialBackAnswer AnyAnswer() {
  DialBackAnswer answer{9000, {}, DialOutcome::kSilent};
  answer.host.back() = 7;
  return answer;
}

TEST(DialBackRecord, HasTheBytesThatTheFormatSays) {
  EXPECT_EQ(EncodeDialBack(DialBackAsk{0x1234}), (Bytes{0x34, 0x12}));
  Bytes answer = {0x28, 0x23, 3};
  answer.resize(3 + 15);
  answer.push_back(7);
  EXPECT_EQ(EncodeDialBack(AnyAnswer()), answer);
}

TEST(DialBackRecord, ComesBackEqual) {
  for (const DialBackRecord& record :
       {DialBackRecord(DialBackAsk{1}), DialBackRecord(DialBackAsk{65535}),
        DialBackRecord(AnyAnswer())}) {
    const auto again = DecodeDialBack(TypeOf(record), EncodeDialBack(record));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, record);
  }
}

TEST(DialBackRecord, OtherBytesAreRefused) {
  const auto refused = [](RecordType type, const Bytes& body) {
    return DecodeDialBack(type, body).status().code() == absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused(RecordType::kDialBack, {}));
  EXPECT_TRUE(refused(RecordType::kDialBack, {1}));
  EXPECT_TRUE(refused(RecordType::kDialBack, {0, 0})) << "port 0";
  EXPECT_TRUE(refused(RecordType::kDialBack, {1, 0, 0}));
  Bytes answer = EncodeDialBack(AnyAnswer());
  for (const std::uint8_t outcome : {0, 8, 255}) {
    Bytes bent = answer;
    bent[2] = outcome;
    EXPECT_TRUE(refused(RecordType::kDialed, bent)) << int{outcome};
  }
  answer[0] = answer[1] = 0;
  EXPECT_TRUE(refused(RecordType::kDialed, answer)) << "port 0";
  answer.pop_back();
  EXPECT_TRUE(refused(RecordType::kDialed, answer));
}

TEST(DialBackRecord, EachOutcomeHasAName) {
  std::set<std::string> names;
  for (int i = 1; i <= 7; ++i) names.insert(DialOutcomeName(static_cast<DialOutcome>(i)));
  EXPECT_EQ(names.size(), 7u);
  EXPECT_FALSE(names.contains(""));
}

TEST(DialBackRecord, TheReaderOfALinkPassesItOn) {
  RecordReader reader(1000, false, kInitialCredit);
  reader.OpenLink();
  const auto ask = reader.Take(RecordType::kDialBack, Bytes{0x34, 0x12});
  ASSERT_TRUE(ask.ok());
  EXPECT_EQ(ask->dial_back, DialBackRecord(DialBackAsk{0x1234}));
  const auto bad = reader.Take(RecordType::kDialed, Bytes{1});
  EXPECT_THAT(base::MessageOf(bad.status()), HasSubstr("told of a dial"));
}

}  // namespace
}  // namespace ostraka::net::dial_back_record_test

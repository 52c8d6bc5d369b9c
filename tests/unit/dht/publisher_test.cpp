#include "dht/publisher.h"

#include <gtest/gtest.h>

#include "tests/unit/dht/samples.h"

namespace ostraka::dht::publisher_test {
namespace {

base::Time At(std::int64_t seconds) { return base::Time{} + base::Seconds(seconds); }

class PublisherTest : public testing::Test {
 protected:
  Publish Some(bool under_run = true) {
    Publish publish;
    publish.content.run = SampleAnnouncement(*key_).run;
    publish.under_run = under_run;
    return publish;
  }
  std::uint64_t SeqOf(const Publisher::Write& write) { return Opened(write.record).content.seq; }

  std::shared_ptr<const crypto::SigningKey> key_ = KeyOf(1);
  Publisher publisher_;
};

TEST_F(PublisherTest, WritesUnderBothKeysAndAnswersOnce) {
  EXPECT_FALSE(publisher_.IsDue(At(0)));
  EXPECT_EQ(publisher_.Set(At(0), 42, Some()), std::nullopt);
  ASSERT_TRUE(publisher_.IsDue(At(0)));
  const auto writes = publisher_.Begin(At(0), 4000, TestNetwork(), *key_);
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_EQ(writes[0].key, PeerKey(TestNetwork(), key_->id()));
  EXPECT_EQ(writes[1].key, RunKey(TestNetwork(), Some().content.run->run_id));
  const auto opened = Opened(writes[0].record);
  EXPECT_EQ(opened.content.expires, 4000 + Publisher::kTtlSeconds);
  EXPECT_EQ(publisher_.OnWritten({10, 9, false}, 3, 1), std::nullopt);
  const auto answered = publisher_.OnWritten({5, 5, true}, 2, 0);
  ASSERT_TRUE(answered.has_value());
  EXPECT_EQ(answered->id, 42U);
  EXPECT_EQ(answered->effort.queries, 15U);
  EXPECT_TRUE(answered->effort.surveyed);
  EXPECT_EQ(std::get<Published>(answered->result).stored, 5U);
  EXPECT_EQ(std::get<Published>(answered->result).refused, 1U);
  publisher_.CheckInvariants();
}

TEST_F(PublisherTest, AClosedRunIsNotListed) {
  publisher_.Set(At(0), 1, Some(/*under_run=*/false));
  EXPECT_EQ(publisher_.Begin(At(0), 4000, TestNetwork(), *key_).size(), 1U);
}

TEST_F(PublisherTest, PublishesAgainWithAHigherSeqAndNoAnswer) {
  publisher_.Set(At(0), 1, Some(false));
  const auto first = publisher_.Begin(At(0), 4000, TestNetwork(), *key_);
  EXPECT_FALSE(publisher_.IsDue(At(9999))) << "the first is still under way";
  EXPECT_TRUE(publisher_.OnWritten({}, 1, 0).has_value());
  EXPECT_FALSE(publisher_.IsDue(At(599)));
  ASSERT_TRUE(publisher_.IsDue(At(600)));
  const auto second = publisher_.Begin(At(600), 4000, TestNetwork(), *key_);
  EXPECT_GT(SeqOf(second[0]), SeqOf(first[0])) << "even if the wall clock stands still";
  EXPECT_EQ(publisher_.OnWritten({}, 1, 0), std::nullopt);
}

TEST_F(PublisherTest, AQuestionThatIsReplacedIsAnswered) {
  publisher_.Set(At(0), 1, Some(false));
  publisher_.Begin(At(0), 4000, TestNetwork(), *key_);
  EXPECT_EQ(publisher_.Set(At(1), 2, Some(false)), std::nullopt) << "1 is under way";
  const auto replaced = publisher_.Set(At(1), 3, Some(false));
  ASSERT_TRUE(replaced.has_value());
  EXPECT_EQ(replaced->id, 2U);
  EXPECT_EQ(publisher_.OnWritten({}, 1, 0)->id, 1U);
  ASSERT_TRUE(publisher_.IsDue(At(1)));
  publisher_.Begin(At(1), 4001, TestNetwork(), *key_);
  EXPECT_EQ(publisher_.OnWritten({}, 1, 0)->id, 3U);
  publisher_.CheckInvariants();
}

}  // namespace
}  // namespace ostraka::dht::publisher_test

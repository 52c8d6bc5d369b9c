#include "dht/wire/announcement.h"

#include <gtest/gtest.h>

#include "dht/wire/limits.h"
#include "tests/unit/dht/samples.h"

namespace ostraka::dht::announcement_test {
namespace {

TEST(AnnouncementTest, OpensToWhatWasSigned) {
  const auto key = KeyOf(1);
  const Announcement content = SampleAnnouncement(*key);
  const base::Bytes bytes = SignAnnouncement(content, *key);
  const auto opened = OpenAnnouncement(bytes);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ(opened->content, content);
  crypto::PlainVerifier verifier;
  EXPECT_TRUE(verifier.Verify(key->id(), opened->digest, opened->signature));
}

TEST(AnnouncementTest, WithoutARunItHasNoFieldsOfOne) {
  const auto key = KeyOf(1);
  Announcement content = SampleAnnouncement(*key);
  content.run.reset();
  content.name.clear();
  content.relays.clear();
  const auto opened = OpenAnnouncement(SignAnnouncement(content, *key));
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ(opened->content, content);
}

TEST(AnnouncementTest, EveryChangedByteIsRefusedOrChangesTheDigest) {
  const auto key = KeyOf(1);
  const base::Bytes bytes = SignAnnouncement(SampleAnnouncement(*key), *key);
  const auto good = Opened(bytes);
  crypto::PlainVerifier verifier;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    base::Bytes bent = bytes;
    bent[i] ^= 0x41;
    const auto opened = OpenAnnouncement(bent);
    if (!opened.ok()) continue;
    EXPECT_FALSE(verifier.Verify(opened->content.peer, opened->digest, opened->signature))
        << "byte " << i;
  }
}

TEST(AnnouncementTest, LimitsAreCheckedByTheDecoder) {
  const auto key = KeyOf(1);
  const auto refused = [&](const Announcement& content) {
    return !OpenAnnouncement(SignAnnouncement(content, *key)).ok();
  };
  Announcement content = SampleAnnouncement(*key);
  content.addresses.assign(kMaxAddresses + 1, content.addresses[0]);
  EXPECT_TRUE(refused(content)) << "addresses";
  content = SampleAnnouncement(*key);
  content.relays.assign(kMaxRelays + 1, content.relays[0]);
  EXPECT_TRUE(refused(content)) << "relays";
  content = SampleAnnouncement(*key);
  content.name = "a\nb";
  EXPECT_TRUE(refused(content)) << "a control character in a name";
  content.name = std::string(kMaxNameBytes + 1, 'a');
  EXPECT_TRUE(refused(content)) << "a long name";
  content = SampleAnnouncement(*key);
  content.addresses = {Endpoint::V4(0xe0000001, 1)};
  EXPECT_TRUE(refused(content)) << "multicast";
  EXPECT_FALSE(refused(SampleAnnouncement(*key)));
  EXPECT_FALSE(OpenAnnouncement(base::Bytes(kMaxRecordBytes + 8)).ok());
  EXPECT_FALSE(OpenAnnouncement(base::Bytes(63)).ok());
}

TEST(AnnouncementTest, TheLargestFitsARecord) {
  const auto key = KeyOf(1);
  Announcement content = SampleAnnouncement(*key);
  content.addresses.assign(kMaxAddresses, content.addresses[0]);
  content.relays.assign(kMaxRelays, content.relays[0]);
  content.name = std::string(kMaxNameBytes, 'a');
  EXPECT_TRUE(OpenAnnouncement(SignAnnouncement(content, *key)).ok());
}

TEST(AnnouncementTest, BelongsUnderItsOwnKeysAlone) {
  const auto key = KeyOf(1);
  const Announcement content = SampleAnnouncement(*key);
  EXPECT_TRUE(BelongsUnder(content, PeerKey(TestNetwork(), key->id())));
  EXPECT_TRUE(BelongsUnder(content, RunKey(TestNetwork(), content.run->run_id)));
  EXPECT_FALSE(BelongsUnder(content, PeerKey(TestNetwork(), KeyOf(2)->id())));
  EXPECT_FALSE(BelongsUnder(content, RunKey(NetworkOf("other"), content.run->run_id)));
  Announcement lonely = content;
  lonely.run.reset();
  EXPECT_FALSE(BelongsUnder(lonely, RunKey(TestNetwork(), content.run->run_id)));
}

}  // namespace
}  // namespace ostraka::dht::announcement_test

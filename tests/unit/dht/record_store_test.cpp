#include "dht/store/record_store.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/dht/samples.h"

namespace ostraka::dht::record_store_test {
namespace {

constexpr std::uint64_t kNow = 4000;

class RecordStoreTest : public testing::Test {
 protected:
  struct Made {
    base::Bytes bytes;
    SignedAnnouncement opened;
    Digest peer_key;
    Digest run_key;
  };
  Made Make(std::uint64_t key, std::uint64_t seq = 7, std::uint64_t expires = 5000) {
    const auto signer = KeyOf(key);
    Announcement content = SampleAnnouncement(*signer, seq);
    content.expires = expires;
    Made made;
    made.bytes = SignAnnouncement(content, *signer);
    made.opened = Opened(made.bytes);
    made.peer_key = PeerKey(TestNetwork(), signer->id());
    made.run_key = RunKey(TestNetwork(), content.run->run_id);
    return made;
  }
  Verdict Put(const Made& made, const Digest& key, std::uint32_t prefix = 1) {
    const Verdict verdict = store_.Put(kNow, key, made.opened, made.bytes, From(prefix));
    store_.CheckInvariants();
    return verdict;
  }
  static Endpoint From(std::uint32_t prefix) {
    return Endpoint::V4((std::uint32_t{20} << 24) + (prefix << 8) + 1, 7000);
  }
  std::vector<base::Bytes> Get(const Digest& key, std::uint32_t start = 0) const {
    return store_.Get(kNow, key, start, 100, 1 << 20);
  }

  RecordStore store_{NetworkOf("secret")};
};

TEST_F(RecordStoreTest, KeepsARecordUnderItsTwoKeys) {
  const Made made = Make(1);
  EXPECT_EQ(Put(made, made.peer_key), Verdict::kDone);
  EXPECT_EQ(Put(made, made.run_key), Verdict::kDone);
  EXPECT_EQ(Get(made.peer_key), std::vector<base::Bytes>{made.bytes});
  EXPECT_EQ(Get(made.run_key), std::vector<base::Bytes>{made.bytes});
  EXPECT_EQ(Put(made, Make(2).peer_key), Verdict::kBadRecord);
  EXPECT_EQ(Put(made, made.peer_key), Verdict::kDone) << "again";
  EXPECT_EQ(store_.size(), 2U);
}

TEST_F(RecordStoreTest, TheHighestSeqStays) {
  EXPECT_EQ(Put(Make(1, 7), Make(1).peer_key), Verdict::kDone);
  EXPECT_EQ(Put(Make(1, 6), Make(1).peer_key), Verdict::kOlder);
  EXPECT_EQ(Put(Make(1, 8), Make(1).peer_key), Verdict::kDone);
  EXPECT_EQ(Get(Make(1).peer_key), std::vector<base::Bytes>{Make(1, 8).bytes});
  EXPECT_EQ(store_.size(), 1U);
}

TEST_F(RecordStoreTest, OfTwoWithOneSeqAllStoresKeepTheSame) {
  const Made a = Make(1, 7, 5000);
  const Made b = Make(1, 7, 5001);
  RecordStore other(NetworkOf("another secret"));
  store_.Put(kNow, a.peer_key, a.opened, a.bytes, From(1));
  store_.Put(kNow, b.peer_key, b.opened, b.bytes, From(1));
  other.Put(kNow, b.peer_key, b.opened, b.bytes, From(1));
  other.Put(kNow, a.peer_key, a.opened, a.bytes, From(1));
  EXPECT_EQ(Get(a.peer_key), other.Get(kNow, a.peer_key, 0, 9, 9999));
}

TEST_F(RecordStoreTest, TimesFarFromNowAreRefusedAndRecordsExpire) {
  const auto verdict = [this](std::uint64_t expires) {
    const Made made = Make(1, expires, expires);
    return Put(made, made.peer_key);
  };
  EXPECT_EQ(verdict(kNow - RecordStore::kSkewSeconds), Verdict::kBadTime);
  EXPECT_EQ(verdict(kNow + RecordStore::kMaxTtlSeconds + 1), Verdict::kBadTime);
  EXPECT_EQ(verdict(kNow - RecordStore::kSkewSeconds + 1), Verdict::kDone);
  EXPECT_EQ(verdict(kNow + RecordStore::kMaxTtlSeconds), Verdict::kDone);
  store_.DropExpired(kNow + RecordStore::kMaxTtlSeconds);
  EXPECT_EQ(store_.size(), 1U) << "clocks may differ";
  store_.DropExpired(kNow + RecordStore::kMaxTtlSeconds + RecordStore::kSkewSeconds);
  EXPECT_EQ(store_.size(), 0U);
  store_.CheckInvariants();
}

TEST_F(RecordStoreTest, AKeyTakesFourOwnersOfASourcePrefixAnd64InAll) {
  int stored = 0;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const Made made = Make(i);
    stored += Put(made, made.run_key, 1) == Verdict::kDone ? 1 : 0;
  }
  EXPECT_EQ(stored, 4);
  for (std::uint64_t i = 10; i < 200; ++i) {
    const Made made = Make(i);
    Put(made, made.run_key, static_cast<std::uint32_t>(i));
  }
  EXPECT_EQ(store_.OwnersOf(Make(0).run_key), RecordStore::kMaxOwners);
}

TEST_F(RecordStoreTest, AFullKeyKeepsASampleThatHasNothingToDoWithTheOrder) {
  RecordStore backwards(NetworkOf("secret"));
  for (std::uint64_t i = 0; i < 150; ++i) {
    const Made made = Make(i);
    store_.Put(kNow, made.run_key, made.opened, made.bytes, From(static_cast<std::uint32_t>(i)));
    const Made last = Make(149 - i);
    backwards.Put(kNow, last.run_key, last.opened, last.bytes,
                  From(static_cast<std::uint32_t>(149 - i)));
  }
  EXPECT_EQ(Get(Make(0).run_key), backwards.Get(kNow, Make(0).run_key, 0, 100, 1 << 20));
}

TEST_F(RecordStoreTest, ASourcePrefixGets256Places) {
  std::size_t stored = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Made made = Make(i);
    const Verdict verdict = store_.Put(kNow, made.peer_key, made.opened, made.bytes, From(9));
    stored += verdict == Verdict::kDone ? 1 : 0;
  }
  EXPECT_EQ(stored, RecordStore::kMaxOfPrefix);
  EXPECT_EQ(store_.FromPrefix(NarrowPrefix(From(9))), RecordStore::kMaxOfPrefix);
  const Made other = Make(1000);
  EXPECT_EQ(Put(other, other.peer_key, 10), Verdict::kDone);
}

TEST_F(RecordStoreTest, AFullStoreKeepsASample) {
  RecordStore small(NetworkOf("secret"), 20);
  std::map<base::Bytes, int> kept;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Made made = Make(i);
    small.Put(kNow, made.peer_key, made.opened, made.bytes, From(static_cast<std::uint32_t>(i)));
    small.CheckInvariants();
  }
  EXPECT_EQ(small.size(), 20U);
  int late = 0;
  for (std::uint64_t i = 50; i < 100; ++i) {
    late += static_cast<int>(small.Get(kNow, Make(i).peer_key, 0, 1, 9999).size());
  }
  EXPECT_GT(late, 3) << "the first to come do not shut out the others";
  EXPECT_LT(late, 17);
}

TEST_F(RecordStoreTest, GetBeginsWhereItIsAskedToAndHasAShare) {
  for (std::uint64_t i = 0; i < 6; ++i) {
    const Made made = Make(i);
    Put(made, made.run_key, static_cast<std::uint32_t>(i));
  }
  const Digest key = Make(0).run_key;
  const auto all = Get(key);
  ASSERT_EQ(all.size(), 6U);
  const auto two = store_.Get(kNow, key, 5 + 6 * 7, 2, 9999);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0], all[5]);
  EXPECT_EQ(two[1], all[0]) << "around the end";
  EXPECT_EQ(store_.Get(kNow, key, 0, 3, 1).size(), 1U) << "the first in any case";
  EXPECT_EQ(store_.Get(kNow, key, 0, 3, 2 * all[0].size()).size(), 2U);
}

TEST_F(RecordStoreTest, OnLoopbackNoPrefixCounts) {
  for (std::uint64_t i = 0; i < 10; ++i) {
    const Made made = Make(i);
    EXPECT_EQ(store_.Put(kNow, made.run_key, made.opened, made.bytes, Endpoint::V4(0x7f000001, 1)),
              Verdict::kDone);
  }
  store_.CheckInvariants();
}

TEST_F(RecordStoreTest, AnOwnerGets16Keys) {
  const auto signer = KeyOf(1);
  int stored = 0;
  for (std::uint8_t run = 0; run < 30; ++run) {
    Announcement content = SampleAnnouncement(*signer);
    content.run->run_id.bytes.fill(run);
    const base::Bytes bytes = SignAnnouncement(content, *signer);
    const Digest key = RunKey(TestNetwork(), content.run->run_id);
    stored += store_.Put(kNow, key, Opened(bytes), bytes, From(1)) == Verdict::kDone ? 1 : 0;
  }
  EXPECT_EQ(stored, 16);
  store_.CheckInvariants();
}

}  // namespace
}  // namespace ostraka::dht::record_store_test

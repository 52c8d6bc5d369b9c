#include "crypto/hash.h"

#include <gtest/gtest.h>

#include <numeric>

// Expected values: Python's hashlib.blake2b(data, digest_size=32, person=domain).
namespace ostraka::crypto::hash_test {
namespace {

using base::AsBytes;
using base::Bytes;

Bytes Counting(std::size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

TEST(Hash, MatchesBlake2bWithThePersonalisation) {
  EXPECT_EQ(Hash("merkle.leaf/1", AsBytes("abc")).Hex(),
            "73d7cd41da6096bdffb4af535b0fda9df765d3121472d80cd0fcc64ac7f5c8a7");
  EXPECT_EQ(Hash("coin/1", {}).Hex(),
            "81e37f15c8fd1d499fb0861e866ee543dc0a8efac049bcd8d21fa647ae2ebc38");
  // A domain of all 16 bytes, and more data than one block of BLAKE2b.
  EXPECT_EQ(Hash("sixteen-chars/16", Counting(768)).Hex(),
            "1393093c917f18dc5c0dc50efb8b71e34784fbbacdcfaed03f8eb0d7ff253d1b");
}

TEST(Hash, DiffersByDomain) {
  EXPECT_NE(Hash("coin/1", AsBytes("x")), Hash("coin/2", AsBytes("x")));
  EXPECT_NE(Hash("coin", AsBytes("/1")), Hash("coin/1", AsBytes("")));
}

TEST(Hasher, EncodesNumbersLittleEndianAndSizesFirst) {
  const Digest digest = *Digest::FromBytes(Counting(32));
  EXPECT_EQ(Hasher("batch/1")
                .UpdateU64(0x0123456789abcdef)
                .UpdateSized(AsBytes("xyz"))
                .Update(digest)
                .Finish()
                .Hex(),
            "98a0b64bd205d81751fbfbed3f646b448eada67d39140f898927e27160bc7a54");
}

TEST(Hasher, DoesNotDependOnChunking) {
  const Bytes data = Counting(1000);
  const Digest whole = Hash("trace/1", data);
  for (std::size_t cut = 0; cut <= data.size(); cut += 37) {
    const ByteView view(data);
    EXPECT_EQ(Hasher("trace/1").Update(view.first(cut)).Update(view.subspan(cut)).Finish(), whole);
  }
}

TEST(Hasher, SizedFieldsAreUnambiguous) {
  EXPECT_NE(Hasher("set.root/1").UpdateSized(AsBytes("ab")).UpdateSized(AsBytes("c")).Finish(),
            Hasher("set.root/1").UpdateSized(AsBytes("a")).UpdateSized(AsBytes("bc")).Finish());
}

TEST(Hasher, CopiesAreIndependent) {
  Hasher first("trace/1");
  first.Update(AsBytes("common"));
  Hasher second = first;
  EXPECT_EQ(first.Update(AsBytes(" one")).Finish(), Hash("trace/1", AsBytes("common one")));
  EXPECT_EQ(second.Update(AsBytes(" two")).Finish(), Hash("trace/1", AsBytes("common two")));
}

TEST(HasherDeathTest, RefusesMisuse) {
  EXPECT_DEATH(Hasher(""), "CHECK failed");
  EXPECT_DEATH(Hasher("seventeen-chars-1"), "CHECK failed");
  Hasher hasher("trace/1");
  hasher.Finish();
  EXPECT_DEATH(hasher.Finish(), "CHECK failed");
  EXPECT_DEATH(hasher.Update(AsBytes("late")), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::crypto::hash_test

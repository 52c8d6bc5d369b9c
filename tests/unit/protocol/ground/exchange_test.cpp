#include "node/protocol/ground/exchange.h"

#include <gtest/gtest.h>

namespace ostraka::protocol::exchange_test {
namespace {

Manifest OfMembers(std::size_t count, std::size_t dialers = 0) {
  Manifest manifest;
  manifest.mode = Mode::kMajority;
  for (std::size_t i = 0; i < count; ++i) {
    Member member;
    member.id.bytes[0] = static_cast<std::uint8_t>(i);
    member.only_dials = i < dialers;
    manifest.members.push_back(member);
  }
  return manifest;
}

// Eight members, one of them a validator: seven own and work.
TEST(Exchange, IsPartsToOwnersAndAggregatesToMembers) {
  const Exchange exchange = ExchangeOf(OfMembers(8), 7000);
  EXPECT_EQ(exchange.sent_bytes, 6U * 4000 + 7 * 4000);
  EXPECT_EQ(exchange.received_bytes, 6U * 4000 + 6 * 4000);
}

TEST(Exchange, CodesTakeLess) {
  Manifest manifest = OfMembers(8);
  manifest.codecs = {Codec::kI8, Codec::kI16};
  const Exchange exchange = ExchangeOf(manifest, 7 * 256);
  EXPECT_EQ(exchange.sent_bytes, 6U * (256 + 4) + 7 * (512 + 4));
}

// Members that only dial own nothing, so each of the others owns a larger part.
TEST(Exchange, OnlyThoseThatCanBeDialedOwn) {
  const Exchange exchange = ExchangeOf(OfMembers(8, 4), 4000);
  EXPECT_EQ(exchange.sent_bytes, 3U * 4000 + 7 * 4000);
  EXPECT_EQ(exchange.received_bytes, 6U * 4000 + 3 * 4000);
}

}  // namespace
}  // namespace ostraka::protocol::exchange_test

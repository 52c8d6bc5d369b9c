#include "dht/requests.h"

#include <gtest/gtest.h>

#include "tests/unit/dht/samples.h"

namespace ostraka::dht::requests_test {
namespace {

base::Time Ms(std::int64_t ms) { return base::Time{} + base::Milliseconds(ms); }
Nonce NonceOf(std::uint64_t number) {
  Nonce nonce{};
  for (std::size_t i = 0; i < 8; ++i) nonce[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return nonce;
}
Request To(std::uint16_t port) {
  Request request;
  request.to = Endpoint::V4(0x14000001, port);
  return request;
}

TEST(RequestsTest, AReplyIsMatchedByNonceAndEndpointOnce) {
  Requests requests;
  ASSERT_TRUE(requests.Add(Ms(0), NonceOf(1), To(5)));
  EXPECT_FALSE(requests.Add(Ms(0), NonceOf(1), To(6))) << "the nonce is in use";
  EXPECT_EQ(requests.Find(NonceOf(2), To(5).to), nullptr);
  EXPECT_EQ(requests.Find(NonceOf(1), To(6).to), nullptr) << "from another port";
  ASSERT_NE(requests.Find(NonceOf(1), To(5).to), nullptr);
  EXPECT_EQ(requests.Take(NonceOf(1)).to, To(5).to);
  EXPECT_EQ(requests.Find(NonceOf(1), To(5).to), nullptr);
  EXPECT_TRUE(requests.Expire(Ms(9999)).empty());
}

TEST(RequestsTest, AQueryIsSlowAfterASecondAndThenLost) {
  Requests requests;
  requests.Add(Ms(0), NonceOf(1), To(1));
  requests.Add(Ms(500), NonceOf(2), To(2));
  EXPECT_EQ(requests.next_expiry(), Ms(1000));
  EXPECT_TRUE(requests.Expire(Ms(999)).empty());
  auto expired = requests.Expire(Ms(1000));
  ASSERT_EQ(expired.size(), 1U);
  EXPECT_EQ(expired[0].first, Requests::Fate::kSlow);
  EXPECT_EQ(expired[0].second.to.port, 1);
  expired = requests.Expire(Ms(2600));
  ASSERT_EQ(expired.size(), 2U);
  EXPECT_EQ(expired[0].first, Requests::Fate::kSlow);
  EXPECT_EQ(expired[0].second.to.port, 2);
  EXPECT_EQ(expired[1].first, Requests::Fate::kLost);
  EXPECT_EQ(expired[1].second.to.port, 1);
  EXPECT_EQ(requests.size(), 1U);
  EXPECT_NE(requests.Find(NonceOf(2), To(2).to), nullptr) << "a slow one may still be answered";
  requests.CheckInvariants();
}

TEST(RequestsTest, WhatWasAnsweredWakesNobody) {
  Requests requests;
  requests.Add(Ms(0), NonceOf(1), To(1));
  requests.Take(NonceOf(1));
  EXPECT_EQ(requests.next_expiry(), std::nullopt);
}

TEST(RequestsTest, TooManyAreRefused) {
  Requests requests;
  for (std::uint64_t i = 0; i < Requests::kMost; ++i) {
    EXPECT_TRUE(requests.Add(Ms(0), NonceOf(i), To(1)));
  }
  EXPECT_FALSE(requests.Add(Ms(0), NonceOf(99'999), To(1)));
  requests.CheckInvariants();
}

TEST(RequestsTest, KnowsWhomItAsked) {
  base::Rng rng(1);
  const KnownNode node = NodeIn(rng, 1);
  Requests requests;
  Request request = To(1);
  request.to = node.contact.endpoint;
  request.node = node;
  EXPECT_FALSE(requests.IsAsked(node.contact));
  requests.Add(Ms(0), NonceOf(1), request);
  EXPECT_TRUE(requests.IsAsked(node.contact));
}

}  // namespace
}  // namespace ostraka::dht::requests_test

#include "node/net/portmap/mapping_news.h"

#include <gtest/gtest.h>

namespace ostraka::net::mapping_news_test {
namespace {

TEST(MappingNewsTest, LinesGoThereAndBack) {
  const MappingNews mapped{dht::Endpoint::V4(0xcb007105, 7000), 3600, {}};
  EXPECT_EQ(LineOf(mapped), "mapped 203.0.113.5:7000 3600");
  EXPECT_EQ(ParseMappingNews(LineOf(mapped)).value(), mapped);
  const MappingNews failed{{}, 0, "the router at 192.168.1.1 does not answer NAT-PMP"};
  EXPECT_EQ(ParseMappingNews(LineOf(failed)).value(), failed);
}

TEST(MappingNewsTest, AFailureBecomesOnePrintableLineOfBoundedLength) {
  const std::string line = LineOf({{}, 0, "a\nmapped \x1b[2J" + std::string(5000, 'x')});
  EXPECT_EQ(line.size(), kMostNewsBytes);
  EXPECT_EQ(line.substr(0, 19), "failed a?mapped ?[2");
  EXPECT_TRUE(ParseMappingNews(line).ok());
}

TEST(MappingNewsTest, WhatIsNoNewsIsRefused) {
  for (const std::string line : {
           "",
           "mapped",
           "mapped 203.0.113.5:7000",
           "mapped 203.0.113.5:7000 ",
           "mapped 203.0.113.5:7000 3600 ",
           "mapped 203.0.113.5:7000 -1",
           "mapped 203.0.113.5:7000 0",
           "mapped 203.0.113.5:7000 86401",
           "mapped 203.0.113.5:7000 99999999999999999999",
           "mapped 203.0.113.5:0 3600",
           "mapped example.org:7000 3600",
           "mapped 192.168.1.5:7000 3600",
           "mapped 127.0.0.1:7000 3600",
           "mapped 224.0.0.1:7000 3600",
           "failed ",
           "failed",
           "failed a\tb",
           "removed",
           " mapped 203.0.113.5:7000 3600",
       }) {
    EXPECT_FALSE(ParseMappingNews(line).ok()) << line;
  }
  EXPECT_FALSE(ParseMappingNews("failed " + std::string(kMostNewsBytes, 'x')).ok());
}

}  // namespace
}  // namespace ostraka::net::mapping_news_test

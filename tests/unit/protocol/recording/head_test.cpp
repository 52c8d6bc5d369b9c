#include "node/protocol/recording/head.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::head_test {
namespace {

constexpr std::uint64_t kDimension = 20;

class HeadTest : public testing::Test {
 protected:
  HeadTest() {
    Manifest manifest = scene::ManifestOf(4);
    const auto keys = scene::SortedKeys(4);
    for (std::size_t i = 0; i < keys.size(); ++i) manifest.members[i].id = keys[i]->id();
    options_.manifest = std::make_shared<const Manifest>(manifest);
    options_.key = keys[1];
    options_.layout = {{"w", {4, 4}}, {"b", {4}}};
    options_.initial_parameters = std::make_shared<const std::vector<float>>(kDimension, 0.5F);
    options_.guest_bytes_a_second = 77;
  }
  base::StatusOr<PeerOptions> Read(const wire::RecordingHead& head) const {
    const auto bytes = wire::DecodeRecordingHead(wire::EncodeRecordingHead(head));
    if (!bytes.ok()) return bytes.status();
    return OptionsOf(*bytes, options_.manifest, std::make_shared<Said>());
  }

  PeerOptions options_;
};

TEST_F(HeadTest, AMachineIsMadeWithWhatTheHeadKept) {
  const auto read = Read(HeadOf(options_, {1, 2}, "1.2.3"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->key->id(), options_.key->id());
  EXPECT_EQ(*read->initial_parameters, *options_.initial_parameters);
  ASSERT_EQ(read->layout.size(), 2u);
  EXPECT_EQ(read->layout[0].name, "w");
  EXPECT_EQ(read->layout[0].shape, (std::vector<std::uint64_t>{4, 4}));
  EXPECT_EQ(read->guest_bytes_a_second, 77u);
  EXPECT_EQ(read->anchor, nullptr);
  EXPECT_NE(MakePeer(*read), nullptr);
}

TEST_F(HeadTest, WhatNoMemberCanHaveIsRefused) {
  const auto refused = [&](auto spoil) {
    wire::RecordingHead head = HeadOf(options_, {}, "0");
    spoil(head);
    return !Read(head).ok();
  };
  EXPECT_TRUE(refused([](auto& head) { head.self = scene::PeerNumber(9); }));
  EXPECT_TRUE(refused([](auto& head) { head.layout.clear(); }));
  EXPECT_TRUE(refused([](auto& head) { head.layout[0].shape[0] = ~std::uint64_t{0}; }));
  EXPECT_TRUE(refused([](auto& head) { head.state.pop_back(); }));
  EXPECT_TRUE(refused([](auto& head) { head.anchor = {1}; }));
  EXPECT_TRUE(refused([](auto& head) { head.version = wire::kRecordingVersion + 1; }));
}

}  // namespace
}  // namespace ostraka::protocol::head_test

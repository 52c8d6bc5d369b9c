#include "node/protocol/mail/post.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "crypto/sign.h"
#include "node/protocol/mail/voice.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::post_test {
namespace {

using scene::ManifestOf;
using scene::PeerNumber;
using scene::ViewBefore;

// Members 0, 1 and 2 of eight only dial.
std::shared_ptr<const Block> Head() {
  auto head = std::make_shared<Block>(ViewBefore(ManifestOf(8), 5));
  for (const std::uint32_t number : {0u, 1u, 2u}) {
    head->reach.push_back({PeerNumber(number), true, 0});
  }
  return head;
}

// A request of member `by`, of so many bytes, or up to seven more.
base::SharedBytes Frame(std::size_t bytes = 1000, std::uint32_t by = 0) {
  const wire::Slot slot = ServiceSlot(0, wire::Phase::kA, wire::MessageType::kPull);
  const auto with = [&](std::size_t body) {
    return wire::EncodeService({slot, Digest{}, PeerNumber(by), base::Bytes(body, 7)});
  };
  return with(bytes - with(0)->size());
}

wire::Forward ForwardIn(const Send& send) {
  const auto opened = wire::Open(send.frame);
  EXPECT_TRUE(opened.ok());
  EXPECT_EQ(opened->envelope.slot.type, wire::MessageType::kForward);
  return *wire::Decode<wire::Forward>(opened->envelope.body);
}

class PostTest : public testing::Test {
 protected:
  Post PostOf(std::uint32_t self, const std::vector<std::uint32_t>& linked) {
    Post post(PeerNumber(self), Digest{{9}});
    post.SetHead(Head());
    for (const std::uint32_t number : linked) post.OnLink(PeerNumber(number), true);
    return post;
  }
  // The Sends that one to `to` becomes.
  std::vector<Send> Routed(const Post& post, std::uint32_t to, base::SharedBytes frame = Frame(),
                           SharedBlob blob = nullptr) {
    Outbox out;
    out.Add(Send{PeerNumber(to), std::move(frame), std::move(blob)});
    post.Route(out, 0);
    std::vector<Send> sends;
    for (const Action& action : out.actions()) sends.push_back(std::get<Send>(action));
    return sends;
  }
};

TEST_F(PostTest, NobodyCarriesInARunThatBeganWithoutMembersThatOnlyDial) {
  Post post(PeerNumber(0), Digest{{9}}, /*carries=*/false);
  post.SetHead(Head());
  for (const std::uint32_t peer : {3U, 4U, 5U, 6U}) post.OnLink(PeerNumber(peer), true);
  const std::vector<Send> sends = Routed(post, 1);
  ASSERT_EQ(sends.size(), 1U);
  EXPECT_EQ(sends[0].to, PeerNumber(1)) << "as it was";
  EXPECT_FALSE(post.IsForSelf(PeerNumber(3), {PeerNumber(1), PeerNumber(0), *Frame()}));
  EXPECT_FALSE(post.PassOn(PeerNumber(3), {PeerNumber(3), PeerNumber(4), *Frame()}).has_value());
}

TEST_F(PostTest, AFrameGoesToOneMoreThanCanLieOfThoseThatAreLinked) {
  const Post post = PostOf(0, {3, 4, 5, 6, 7});
  const auto sends = Routed(post, 1);
  ASSERT_EQ(sends.size(), 4u);  // F = 3
  std::set<PeerId> carriers;
  for (const Send& send : sends) {
    carriers.insert(send.to);
    const wire::Forward forward = ForwardIn(send);
    EXPECT_EQ(forward.from, PeerNumber(0));
    EXPECT_EQ(forward.to, PeerNumber(1));
    EXPECT_EQ(forward.frame, *Frame());
    EXPECT_FALSE(OnlyDials(*Head(), send.to));
  }
  EXPECT_EQ(carriers.size(), 4u);
  EXPECT_EQ(Routed(PostOf(0, {3, 4}), 1).size(), 2u) << "of fewer all";
}

TEST_F(PostTest, ALinkIsUsedWhereThereIsOne) {
  const auto sends = Routed(PostOf(0, {1, 3, 4, 5, 6, 7}), 1);
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(sends[0].to, PeerNumber(1));
  Post post = PostOf(0, {1, 3, 4, 5, 6, 7});
  post.OnLink(PeerNumber(1), false);
  EXPECT_EQ(Routed(post, 1).size(), 4u);
}

TEST_F(PostTest, BulkDataAndLargeFramesAreNeverCarried) {
  const Post post = PostOf(0, {3, 4, 5, 6, 7});
  EXPECT_EQ(Routed(post, 1, Frame(), crypto::MakeBlob({1})).size(), 1u);
  EXPECT_EQ(Routed(post, 1, Frame(wire::kMaxForwardedBytes - 8)).size(), 4u);
  EXPECT_EQ(Routed(post, 1, Frame(wire::kMaxForwardedBytes + 8)).size(), 1u);
}

TEST_F(PostTest, WhatOthersSaidIsNotCarried) {
  const Post post = PostOf(0, {3, 4, 5, 6, 7});
  const auto sends = Routed(post, 1, Frame(1000, /*by=*/4));
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(sends[0].to, PeerNumber(1)) << "as it was";
  EXPECT_EQ(Routed(post, 1, std::make_shared<const base::Bytes>(3, std::uint8_t{7})).size(), 1u)
      << "and no noise";
}

TEST_F(PostTest, TwoThatCanBeDialedNeedNoCarrier) {
  EXPECT_EQ(Routed(PostOf(3, {4, 5, 6}), 7).size(), 1u);
}

// A carrier that ends with what it is told itself has passed on the rest.
TEST_F(PostTest, WhatIsCarriedComesFirst) {
  const Post post = PostOf(0, {3, 4, 5, 6, 7});
  Outbox out;
  out.Add(Send{PeerNumber(3), Frame(), nullptr});
  out.Add(Send{PeerNumber(3), Frame(), nullptr});
  out.Add(Send{PeerNumber(1), Frame(), nullptr});
  post.Route(out, 1);
  ASSERT_EQ(out.actions().size(), 6u);
  EXPECT_EQ(*std::get<Send>(out.actions()[0]).frame, *Frame()) << "before the call";
  EXPECT_EQ(ForwardIn(std::get<Send>(out.actions()[1])).to, PeerNumber(1));
  EXPECT_EQ(*std::get<Send>(out.actions()[5]).frame, *Frame());
}

// --- the carrier ---------------------------------------------------------------------------------

TEST_F(PostTest, ACarrierPassesOnWhatItsNeighbourSays) {
  const Post carrier = PostOf(5, {0, 1, 2});
  const base::Bytes frame = *Frame();
  const wire::Forward forward{PeerNumber(0), PeerNumber(1), frame};
  const auto passed = carrier.PassOn(PeerNumber(0), forward);
  ASSERT_TRUE(passed);
  EXPECT_EQ(passed->send.to, PeerNumber(1));
  EXPECT_EQ(passed->send.carried_for, PeerNumber(0)) << "the transport may drop it";
  EXPECT_TRUE(passed->service);
  EXPECT_EQ(ForwardIn(passed->send).frame, forward.frame);
  EXPECT_EQ(wire::Open(passed->send.frame)->envelope.sender, PeerNumber(5));

  EXPECT_FALSE(carrier.PassOn(PeerNumber(2), forward)) << "in another's name";
  EXPECT_FALSE(PostOf(5, {0}).PassOn(PeerNumber(0), forward)) << "no link";
  EXPECT_FALSE(carrier.PassOn(PeerNumber(0), {PeerNumber(0), PeerNumber(0), frame})) << "back";
  EXPECT_FALSE(carrier.PassOn(PeerNumber(0), {PeerNumber(0), PeerNumber(5), frame})) << "its own";
  EXPECT_FALSE(
      PostOf(5, {3, 4}).PassOn(PeerNumber(3), {PeerNumber(3), PeerNumber(4), *Frame(1000, 3)}))
      << "both can be dialed";
}

TEST_F(PostTest, ACarrierPassesOnNothingThatItsNeighbourDoesNotSay) {
  const Post carrier = PostOf(5, {0, 1, 2});
  const auto passes = [&](const base::Bytes& frame) {
    return carrier.PassOn(PeerNumber(0), {PeerNumber(0), PeerNumber(1), frame}).has_value();
  };
  EXPECT_TRUE(passes(*Frame()));
  EXPECT_FALSE(passes(*Frame(1000, 2))) << "what another one asks";
  EXPECT_FALSE(passes({1, 2, 3})) << "what nobody can read";
  EXPECT_FALSE(passes({})) << "that there is a path";
  const wire::Slot slot = ServiceSlot(0, wire::Phase::kA, wire::MessageType::kForward);
  EXPECT_FALSE(passes(*wire::EncodeService({slot, Digest{}, PeerNumber(0), {1}}))) << "another one";
}

// What others signed is carried as an answer alone, so from the ration of these.
TEST_F(PostTest, WhatIsSignedIsNoService) {
  const crypto::SigningKey key = crypto::SigningKey::FromSeed(scene::DigestOf(1).bytes);
  auto head = std::make_shared<Block>(*Head());
  head->reach.push_back({key.id(), true, 0});
  std::sort(head->reach.begin(), head->reach.end(),
            [](const auto& a, const auto& b) { return a.peer < b.peer; });
  Post carrier = PostOf(5, {1});
  carrier.OnLink(key.id(), true);
  carrier.SetHead(head);
  wire::Slot slot = ServiceSlot(0, wire::Phase::kA, wire::MessageType::kCommit);
  const auto signed_frame = wire::Seal({slot, Digest{}, key.id(), {1}}, key).frame;
  const auto passed = carrier.PassOn(key.id(), {key.id(), PeerNumber(1), *signed_frame});
  ASSERT_TRUE(passed);
  EXPECT_FALSE(passed->service);
  carrier.OnLink(PeerNumber(0), true);
  const auto answer = carrier.PassOn(PeerNumber(0), {PeerNumber(0), PeerNumber(1), *signed_frame});
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->service);
}

TEST_F(PostTest, AnAnswerGoesBackByOneCarrierAlone) {
  const Post post = PostOf(0, {3, 4, 5, 6, 7});
  const auto back = post.ByWayOf(PeerNumber(4), {PeerNumber(1), Frame(), nullptr});
  ASSERT_TRUE(back);
  EXPECT_EQ(back->to, PeerNumber(4));
  EXPECT_EQ(ForwardIn(*back).to, PeerNumber(1));
  EXPECT_EQ(ForwardIn(*back).frame, *Frame());
  EXPECT_EQ(Routed(post, 4, back->frame).size(), 1u) << "and is not carried once more";
  EXPECT_FALSE(post.ByWayOf(PeerNumber(4), {PeerNumber(1), Frame(), crypto::MakeBlob({1})}));
  EXPECT_TRUE(post.ByWayOf(PeerNumber(4), {PeerNumber(1), Frame(1000, 3), nullptr}));
  EXPECT_FALSE(
      post.ByWayOf(PeerNumber(4), {PeerNumber(1), Frame(wire::kMaxForwardedBytes + 8), nullptr}));
}

TEST_F(PostTest, SharesAreForAllThatACarrierMayBringSomethingOf) {
  EXPECT_EQ(PostOf(5, {0, 1}).CarriedFor(), 8u) << "anybody may have lost its link";
  EXPECT_EQ(PostOf(0, {3, 4}).CarriedFor(), 8u);
}

TEST_F(PostTest, AReceiverTakesWhatIsForItFromAMemberWithoutALink) {
  const Post post = PostOf(1, {4, 5});
  EXPECT_TRUE(post.IsForSelf(PeerNumber(5), {PeerNumber(0), PeerNumber(1), {1}}));
  EXPECT_FALSE(post.IsForSelf(PeerNumber(5), {PeerNumber(0), PeerNumber(2), {1}}));
  EXPECT_FALSE(post.IsForSelf(PeerNumber(5), {PeerNumber(4), PeerNumber(1), {1}})) << "linked";
  EXPECT_FALSE(post.IsForSelf(PeerNumber(5), {PeerNumber(5), PeerNumber(1), {1}})) << "itself";
  EXPECT_FALSE(post.IsForSelf(PeerNumber(5), {PeerNumber(1), PeerNumber(1), {1}})) << "in own name";
  EXPECT_FALSE(post.IsForSelf(PeerNumber(8), {PeerNumber(0), PeerNumber(1), {1}})) << "a guest";
}

TEST_F(PostTest, ALinkThatComesUpIsToldToThePairsThatItJoins) {
  const Post carrier = PostOf(5, {0, 1, 3});
  const auto sends = carrier.Introduce(PeerNumber(0));
  ASSERT_EQ(sends.size(), 2u);
  EXPECT_EQ(sends[0].to, PeerNumber(0));
  EXPECT_EQ(ForwardIn(sends[0]).from, PeerNumber(1));
  EXPECT_TRUE(ForwardIn(sends[0]).frame.empty());
  EXPECT_EQ(sends[1].to, PeerNumber(1));
  EXPECT_EQ(ForwardIn(sends[1]).from, PeerNumber(0));
  EXPECT_TRUE(carrier.Introduce(PeerNumber(3)).empty());
  EXPECT_TRUE(PostOf(2, {0, 1, 3}).Introduce(PeerNumber(0)).empty()) << "it only dials itself";
  EXPECT_TRUE(PostOf(8, {0, 1, 3}).Introduce(PeerNumber(0)).empty()) << "it is a guest";
}

}  // namespace
}  // namespace ostraka::protocol::post_test

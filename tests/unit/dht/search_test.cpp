#include "dht/lookup/search.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/dht/small_net.h"

namespace ostraka::dht::search_test {
namespace {

class SearchTest : public testing::Test {
 protected:
  SearchTest() {
    for (int i = 0; i < 3; ++i) {
      const Digest point = RandomDigest(net_.rng());
      size_.Add(point, net_.NearestIds(point, 16));
    }
  }
  // Ids around `key` from `prefixes` prefixes; they name each other alone.
  void Grind(const Digest& key, std::uint32_t prefixes) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      for (std::uint32_t prefix = 0; prefix < prefixes; ++prefix) {
        KnownNode node = NodeIn(net_.rng(), 5000 + prefix, i + 1);
        node.id = Sharing(key, 12 + prefix % 8, node.id);
        ground_.push_back(node);
      }
    }
  }
  void Play(Search& search) {
    const RoutingTable& table = net_.TableOf(net_.self());
    for (auto next = search.Next(table, size_, true); !next.empty();
         next = search.Next(table, size_, true)) {
      for (const Search::Question& question : next) {
        const bool is_ground =
            std::find(ground_.begin(), ground_.end(), question.node) != ground_.end();
        std::vector<KnownNode> answer =
            is_ground ? std::vector<KnownNode>(ground_.begin(), ground_.begin() + 16)
                      : net_.AnswerOf(question.node, question.target);
        // Honest nodes near the key know the ground ones.
        if (!is_ground && !ground_.empty() && CommonPrefix(question.target, ground_[0].id) > 6) {
          answer.insert(answer.begin(), ground_.begin(), ground_.begin() + 8);
          if (answer.size() > 16) answer.resize(16);
        }
        search.OnAnswer(question.lookup, question.node.contact, answer, {});
      }
      search.CheckInvariants();
    }
    EXPECT_TRUE(search.done());
  }

  SmallNet net_{21, 500};
  NetworkSize size_;
  std::vector<KnownNode> ground_;
};

TEST_F(SearchTest, WithoutAnAttackItIsOneLookup) {
  const Digest key = RandomDigest(net_.rng());
  Search search(key, RandomDigest(net_.rng()), {4, 2}, net_.TableOf(net_.self()), Scope::kPublic);
  Play(search);
  EXPECT_FALSE(search.surveyed());
  EXPECT_EQ(search.lookups(), 1U);
  std::vector<Digest> ids;
  for (const Found& found : search.Result()) ids.push_back(found.node.id);
  EXPECT_EQ(ids, net_.NearestIds(key, 16));
}

TEST_F(SearchTest, GroundIdsAreFoundOutAndHonestNodesOfTheRegionFound) {
  const Digest key = RandomDigest(net_.rng());
  Grind(key, 24);
  Search search(key, RandomDigest(net_.rng()), {4, 2}, net_.TableOf(net_.self()), Scope::kPublic);
  Play(search);
  EXPECT_TRUE(search.surveyed());
  std::size_t honest = 0;
  std::set<Prefix> prefixes;
  for (const Found& found : search.Result()) {
    EXPECT_TRUE(prefixes.insert(NarrowPrefix(found.node.contact.endpoint)).second);
    honest += std::find(ground_.begin(), ground_.end(), found.node) == ground_.end() ? 1 : 0;
  }
  EXPECT_GE(honest, 6U);
  EXPECT_LE(search.Result().size(), Search::kMaxInRegion);
}

TEST_F(SearchTest, ANetworkThatHasGrownIsMeasuredBeforeItIsSurveyed) {
  NetworkSize old;
  old.Add(net_.self(), net_.NearestIds(net_.self(), 5));  // when there were five
  size_ = old;
  const Digest key = RandomDigest(net_.rng());
  Search search(key, RandomDigest(net_.rng()), {4, 2}, net_.TableOf(net_.self()), Scope::kPublic);
  Play(search);
  EXPECT_EQ(search.lookups(), 2U);
  EXPECT_FALSE(search.surveyed());
}

TEST_F(SearchTest, ASmallTableIsSearchedOverOnePath) {
  EXPECT_EQ(Search::ShapeFor(31).paths, 1U);
  EXPECT_EQ(Search::ShapeFor(32).paths, 4U);
}

}  // namespace
}  // namespace ostraka::dht::search_test

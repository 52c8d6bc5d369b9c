#include "node/protocol/mail/guest_ration.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "node/base/rng.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::guest_ration_test {
namespace {

using scene::DigestOf;
using scene::PeerNumber;
using What = GuestRation::What;

constexpr std::uint64_t kAnswers = 1200;
constexpr std::uint64_t kBytes = 60'000;
const base::Time kStart{base::Seconds(100).ns};

struct Guest {
  PeerId peer;
  GuestShare share;
  std::uint64_t had = 0;
};

// By moderator, of each by invite: how many keys.
std::vector<Guest> GuestsOf(const std::vector<std::vector<int>>& moderators) {
  std::vector<Guest> guests;
  std::uint32_t number = 0;
  std::uint8_t invite = 0;
  for (std::size_t m = 0; m < moderators.size(); ++m) {
    for (const int keys : moderators[m]) {
      ++invite;
      for (int i = 0; i < keys; ++i) {
        guests.push_back(
            {PeerNumber(++number),
             {PeerNumber(1000 + static_cast<std::uint32_t>(m)), DigestOf(invite), moderators.size(),
              moderators[m].size(), static_cast<std::uint64_t>(keys)}});
      }
    }
  }
  return guests;
}

class GuestRationTest : public testing::Test {
 protected:
  // Each asks `questions` times a second, in a random order, for `seconds`.
  void Ask(std::vector<Guest>& guests, std::uint64_t questions, int seconds) {
    base::Rng rng(7);
    const std::uint64_t all = questions * guests.size();
    for (int s = 0; s < seconds; ++s) {
      for (std::uint64_t i = 0; i < all; ++i) {
        Guest& guest = guests[rng.Below(guests.size())];
        now_ = kStart + base::Seconds(s) +
               base::Nanoseconds(static_cast<std::int64_t>(1'000'000'000 / all * i));
        if (!ration_.Has(now_, guest.peer, guest.share, What::kAnswers)) continue;
        ration_.Count(now_, guest.peer, guest.share, What::kAnswers, 1);
        ++guest.had;
      }
    }
  }
  GuestRation ration_{{kAnswers, kBytes, 1000}};
  base::Time now_ = kStart;
};

// The naive way: a second's share for each second, and one second's more for the burst.
TEST_F(GuestRationTest, EachHasItsShareAndAllTogetherTheRation) {
  constexpr int kSeconds = 20;
  auto guests = GuestsOf({{10, 1}, {1, 1, 1}});
  Ask(guests, 400, kSeconds);
  std::uint64_t all = 0;
  for (const Guest& guest : guests) {
    const std::uint64_t share =
        kAnswers / (guest.share.moderators * guest.share.invites * guest.share.keys);
    const std::uint64_t most = share * (kSeconds + 1) + 1;
    EXPECT_LE(guest.had, most) << share;
    EXPECT_GE(guest.had, std::min<std::uint64_t>(share, 400) * (kSeconds - 1) * 9 / 10) << share;
    all += guest.had;
  }
  EXPECT_LE(all, kAnswers * (kSeconds + 1) + guests.size());
  EXPECT_GE(guests[10].had, 9 * guests[0].had) << "one by another invite, and one of ten";
  ration_.CheckInvariants();
}

// Attack: a key that has used its share up goes, and the next one of the same link comes.
TEST_F(GuestRationTest, NewKeysOfAnInviteHaveNoMoreThanTheInvite) {
  const auto two = GuestsOf({{1, 1}});
  std::uint64_t had = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    for (int k = 0; k < 10; ++k) {
      if (!ration_.Has(kStart, PeerNumber(2000 + i), two[0].share, What::kAnswers)) continue;
      ration_.Count(kStart, PeerNumber(2000 + i), two[0].share, What::kAnswers, 1);
      ++had;
    }
  }
  EXPECT_LE(had, kAnswers / 2 + 1);
  EXPECT_TRUE(ration_.Has(kStart, two[1].peer, two[1].share, What::kAnswers));
}

TEST_F(GuestRationTest, TheLastAnswerMayBeLongerAndIsWaitedFor) {
  const Guest one = GuestsOf({{1}})[0];
  ration_.Count(kStart, one.peer, one.share, What::kBytes, 10 * kBytes);
  const auto has = [&](base::Duration after) {
    return ration_.Has(kStart + after, one.peer, one.share, What::kBytes);
  };
  EXPECT_FALSE(has(base::Milliseconds(8'900)));
  EXPECT_TRUE(has(base::Milliseconds(9'000))) << "of ten seconds' bytes one was the burst";
  EXPECT_TRUE(ration_.Has(kStart, one.peer, one.share, What::kAnswers)) << "kinds are apart";
}

TEST_F(GuestRationTest, NoAmountOverflowsOrLastsForEver) {
  const Guest one = GuestsOf({std::vector<int>(32, 1)})[0];
  ration_.Count(kStart, one.peer, one.share, What::kBytes, ~std::uint64_t{0});
  EXPECT_FALSE(ration_.Has(kStart, one.peer, one.share, What::kBytes));
  EXPECT_TRUE(ration_.Has(kStart + base::Seconds(600), one.peer, one.share, What::kBytes));
}

TEST_F(GuestRationTest, AccountsThatOweNothingAreForgotten) {
  const GuestShare share = GuestsOf({{1}})[0].share;
  for (std::uint32_t i = 0; i < 3 * GuestRation::kMostAccounts; ++i) {
    const base::Time now = kStart + base::Milliseconds(i);
    ration_.Count(now, PeerNumber(i), share, What::kOddMessages, 1);
    ration_.CheckInvariants();
  }
}

}  // namespace
}  // namespace ostraka::protocol::guest_ration_test

#include "sim/report/peer_names.h"

#include <gtest/gtest.h>

namespace ostraka::sim::peer_names_test {
namespace {

Roster RosterOfTwo() {
  Roster roster;
  for (std::uint8_t i = 0; i < 2; ++i) {
    roster.ids.emplace_back();
    roster.ids.back().bytes.fill(static_cast<std::uint8_t>(0xa0 + i));
  }
  return roster;
}

TEST(PeerNamesTest, PutsNumbersInPlaceOfIds) {
  const Roster roster = RosterOfTwo();
  EXPECT_EQ(
      WithPeerNumbers("accused by " + roster.ids[1].Short() + ", guilty by 4 of 6 votes", roster),
      "accused by peer 1, guilty by 4 of 6 votes");
  EXPECT_EQ(WithPeerNumbers(roster.ids[0].Hex(), roster), "peer 0");
  EXPECT_EQ(WithPeerNumbers("peer 1 (" + roster.ids[1].Short() + ") and peer 0 (" +
                                roster.ids[0].Short() + ") hold different states",
                            roster),
            "peer 1 and peer 0 hold different states");
}

TEST(PeerNamesTest, LeavesOtherTextAlone) {
  const Roster roster = RosterOfTwo();
  for (const char* text : {"", "a", "decade of 1234567 faces", "0123456789abcdef", "a0a0a0a0a0"}) {
    EXPECT_EQ(WithPeerNumbers(text, roster), text);
  }
}

}  // namespace
}  // namespace ostraka::sim::peer_names_test

#include "node/cli/terminal/member_names.h"

#include <gtest/gtest.h>

namespace ostraka::cli::member_names_test {
namespace {

base::PeerId IdOf(std::uint8_t first, std::uint8_t last = 0) {
  base::PeerId id;
  id.bytes.fill(0xab);
  id.bytes.front() = first;
  id.bytes.back() = last;
  return id;
}

const base::PeerId kAnna = IdOf(0x4b);
const base::PeerId kBen = IdOf(0x51);
const base::PeerId kStranger = IdOf(0x60);

MemberNames Names() { return MemberNames({{kAnna, "anna"}, {kBen, "ben"}}); }

TEST(MemberNamesTest, AMemberIsShownByNameAndEightDigits) {
  EXPECT_EQ(Names().Shown(kAnna), "anna (4bababab)");
  EXPECT_EQ(Names().Shown(kStranger), kStranger.Short());
  EXPECT_EQ(Names().Shown(kStranger, 8), "60ababab");
  EXPECT_EQ(Names().Of(kBen), "ben");
  EXPECT_EQ(Names().Of(kStranger), "");
}

TEST(MemberNamesTest, IdsInATextBecomeNames) {
  EXPECT_EQ(
      Names().In("step 3: BANNED " + kAnna.Short() + " (verdict): " + kBen.Short() + " accuses it"),
      "step 3: BANNED anna (4bababab) (verdict): ben (51ababab) accuses it");
  EXPECT_EQ(Names().In(kAnna.Hex()), "anna (4bababab)");
  EXPECT_EQ(Names().In("\"" + kAnna.Hex() + "\"."), "\"anna (4bababab)\".");
}

TEST(MemberNamesTest, EverythingElseStays) {
  const MemberNames names = Names();
  for (const std::string& text :
       {std::string(), std::string("no id here, \xff\n"), kStranger.Short(), kStranger.Hex(),
        "x" + kAnna.Short(), kAnna.Short() + "0", kAnna.Hex().substr(0, 8),
        kAnna.Hex().substr(0, 15), std::string("zzzzzzzzzzzzzzzz"),
        kAnna.Hex().substr(0, 62) + "ff"}) {
    EXPECT_EQ(names.In(text), text);
  }
  EXPECT_EQ(MemberNames().In(kAnna.Short()), kAnna.Short());
}

TEST(MemberNamesTest, ShortDigitsOfTwoMembersNameNeither) {
  const MemberNames names({{IdOf(7, 1), "eve"}, {IdOf(7, 2), "mallory"}});
  EXPECT_EQ(names.In(IdOf(7).Short()), IdOf(7).Short());
  EXPECT_EQ(names.In(IdOf(7, 2).Hex()), "mallory (07ababab)");
}

}  // namespace
}  // namespace ostraka::cli::member_names_test

#include "node/protocol/ground/member_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/protocol/ground/manifest.h"

namespace ostraka::protocol::member_name_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

PeerId IdOf(std::uint8_t n) {
  PeerId id;
  id.bytes[0] = n;
  return id;
}

std::string ErrorOf(std::string_view name) { return base::MessageOf(CheckMemberName(name)); }

TEST(MemberNameTest, PlainNamesAreGood) {
  for (const char* name : {"a", "anna", "Dee", "edda", "facade", "node0", "B-2_x.y", "a1b2g"}) {
    EXPECT_TRUE(CheckMemberName(name).ok()) << name;
  }
  EXPECT_TRUE(CheckMemberName(std::string(kMaxNameBytes, 'x')).ok());
}

TEST(MemberNameTest, LengthIsBounded) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("1 to 24"));
  EXPECT_THAT(ErrorOf(std::string(kMaxNameBytes + 1, 'x')), HasSubstr("1 to 24"));
}

TEST(MemberNameTest, OtherBytesAreRefused) {
  for (const char* name : {"an na", "anna\n", "an\x1b[31mna", "<b>", "a(4be8)", "an=na", "a@b",
                           "\xd0\xb0nna", "a\xff"}) {
    EXPECT_THAT(ErrorOf(name), HasSubstr("letters a to z")) << name;
  }
  EXPECT_THAT(ErrorOf(std::string_view("a\0b", 3)), HasSubstr("letters a to z"));
  for (const char* name : {"1anna", "-anna", ".anna", "_a"}) {
    EXPECT_THAT(ErrorOf(name), HasSubstr("begin with a letter")) << name;
  }
}

TEST(MemberNameTest, NoNameReadsLikeAKey) {
  for (const char* name : {"a1", "be81737", "DEADBEEF", "abcdefabcdefabcd", "e9"}) {
    EXPECT_THAT(ErrorOf(name), HasSubstr("digits of a key")) << name;
  }
}

TEST(MemberNameTest, NamesOfARunDifferInMoreThanCase) {
  EXPECT_TRUE(CheckMemberNames({{IdOf(1), "anna"}, {IdOf(3), "ben"}}).ok());
  std::map<PeerId, std::string> members = {{IdOf(1), "anna"}, {IdOf(3), "Anna"}};
  EXPECT_THAT(base::MessageOf(CheckMemberNames(members)),
              HasSubstr("members 0100000000000000 and 0300000000000000 have one name, Anna"));
  members[IdOf(3)] = "a\nb";
  EXPECT_THAT(base::MessageOf(CheckMemberNames(members)), HasSubstr("member 0300000000000000: "));
}

TEST(MemberNameTest, AManifestWithABadNameIsRefused) {
  Manifest manifest;
  manifest.run_id.bytes[0] = 1;
  manifest.members = {{IdOf(1), "", "anna"}, {IdOf(2), "", "ben"}, {IdOf(3), "", "cem"}};
  EXPECT_TRUE(Validate(manifest).ok());
  manifest.members[1].name = manifest.members[2].name = "";
  EXPECT_TRUE(Validate(manifest).ok()) << "two members without a name share none";
  manifest.members[1].name = "anna";
  EXPECT_THAT(base::MessageOf(Validate(manifest)), HasSubstr("have one name"));
}

TEST(MemberNameTest, NamesOfLeavesOutMembersWithoutOne) {
  EXPECT_THAT(NamesOf({{IdOf(1), "", "anna"}, {IdOf(2), ""}}), ElementsAre(Pair(IdOf(1), "anna")));
}

}  // namespace
}  // namespace ostraka::protocol::member_name_test

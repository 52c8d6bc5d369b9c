#include "node/cli/options/invite_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "crypto/base64url.h"
#include "tests/unit/cli/options/invite_fixture.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::cli::invite_link_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class InviteLinkTest : public os::TempFolderTest {
 protected:
  static std::string Replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), by);
  }
  static std::string RefusalOf(const std::string& text) {
    const auto parsed = ParseInvite(text);
    EXPECT_FALSE(parsed.ok()) << text.substr(0, 1000);
    return parsed.ok() ? "" : base::MessageOf(parsed.status());
  }

  // As earlier versions wrote it.
  static std::string Unchecked(const std::string& file) {
    auto object = nlohmann::json::parse(file);
    object.erase("check");
    object["format"] = "ostraka invite 1";
    return object.dump() + "\n";
  }

  const std::string file_ = WriteInvite(MakeInvite());
  const std::string unchecked_ = Unchecked(file_);
};

TEST_F(InviteLinkTest, OneOfAnEarlierVersionIsRead) {
  const auto parsed = ParseInvite(LinkOf(unchecked_));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(WriteInvite(*parsed), file_);
  EXPECT_THAT(RefusalOf(Replaced(unchecked_, "invite 1", "invite 2")), HasSubstr("damaged"));
  EXPECT_THAT(RefusalOf(Replaced(file_, "invite 2", "invite 1")), HasSubstr("damaged"));
}

TEST_F(InviteLinkTest, ReadsWhatItWritesInEachForm) {
  for (const std::string& text :
       {file_, file_.substr(0, file_.size() - 1), LinkOf(file_), LinkOf(file_) + "\n"}) {
    const auto parsed = ParseInvite(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(WriteInvite(*parsed), file_);
    EXPECT_EQ(parsed->manifest.run_id, MakeInvite().manifest.run_id);
    ASSERT_TRUE(parsed->pass);
    EXPECT_EQ(parsed->pass->invite.uses, 2u);
    EXPECT_EQ(parsed->pass->invite.ends_step, 50u);
    EXPECT_EQ(parsed->pass->invite.holder, KeyOf(8).id());
    EXPECT_EQ(parsed->addresses.size(), 1u);
  }
}

TEST_F(InviteLinkTest, CarriesTheGraphAndItsConstants) {
  InviteText invite = MakeInvite();
  invite.graph.text = "a graph\n";
  invite.graph.constants = std::string("\0\xff\x80 bytes", 9);
  const auto parsed = ParseInvite(LinkOf(WriteInvite(invite)));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->graph.text, invite.graph.text);
  EXPECT_EQ(parsed->graph.constants, invite.graph.constants);
}

wire::Block AnchorOf(const InviteText& invite) {
  wire::Block block;
  block.step = 41;
  block.decision.bytes.fill(7);
  for (std::uint8_t fill = 4; fill <= 7; ++fill) block.members.push_back(KeyOf(fill).id());
  std::sort(block.members.begin(), block.members.end());
  block.thresholds = protocol::ThresholdsIn(invite.manifest, block.members.size());
  return block;
}

TEST_F(InviteLinkTest, CarriesTheBlockAtWhichItBegins) {
  InviteText invite = MakeInvite();
  BeginAt(invite, AnchorOf(invite));
  const auto parsed = ParseInvite(LinkOf(WriteInvite(invite)));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_NE(parsed->anchor, nullptr);
  EXPECT_EQ(wire::BlockDigest(*parsed->anchor), wire::BlockDigest(*invite.anchor));
  EXPECT_EQ(parsed->pass->invite.anchor, invite.pass->invite.anchor);
  EXPECT_EQ(ParseInvite(file_)->anchor, nullptr);
}

// Attack: who passes an invite on puts another history's block in place of its own.
TEST_F(InviteLinkTest, TheBlockIsTheOneThatTheModeratorSigned) {
  InviteText invite = MakeInvite();
  if (!SignedAnchor(invite.manifest, std::make_shared<const wire::Block>())) {
    GTEST_SKIP() << "a build of an earlier version signs no block";
  }
  invite.anchor = std::make_shared<const wire::Block>(AnchorOf(invite));
  EXPECT_THAT(RefusalOf(WriteInvite(invite)), HasSubstr("not as its moderator signed it"))
      << "it signed none";
  wire::Block other = AnchorOf(invite);
  BeginAt(invite, other);
  other.decision.bytes.fill(8);
  invite.anchor = std::make_shared<const wire::Block>(other);
  EXPECT_THAT(RefusalOf(WriteInvite(invite)), HasSubstr("not as its moderator signed it"));
  invite.anchor = nullptr;
  EXPECT_THAT(RefusalOf(WriteInvite(invite)), HasSubstr("not as its moderator signed it"));
}

// Nobody signed it before protocol version 13; who judges evidence reads such links.
TEST_F(InviteLinkTest, TheBlockOfAnEarlierVersionNeedsNoSignature) {
  InviteText invite = MakeInvite();
  std::istringstream lines(std::exchange(invite.manifest_text, ""));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("protocol_draft")) continue;  // a key of version 13
    if (line.starts_with("protocol_version")) line = "protocol_version = 12";
    invite.manifest_text += line + "\n";
  }
  const auto manifest = config::ParseManifest(invite.manifest_text, config::Versions::kEarlierToo);
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  invite.manifest = *manifest;
  invite.pass->by_moderator =
      protocol::SignInvite(invite.manifest.run_id, invite.pass->invite, KeyOf(9));
  invite.anchor = std::make_shared<const wire::Block>(AnchorOf(invite));
  const auto parsed = ParseInvite(WriteInvite(invite), config::Versions::kEarlierToo);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_NE(parsed->anchor, nullptr);
}

TEST_F(InviteLinkTest, ABlockThatIsNoneOfItsRunIsRefused) {
  InviteText invite = MakeInvite();
  const auto refusal_of = [&](auto edit) {
    wire::Block block = AnchorOf(invite);
    edit(block);
    invite.anchor = std::make_shared<const wire::Block>(std::move(block));
    return RefusalOf(WriteInvite(invite));
  };
  EXPECT_THAT(refusal_of([](wire::Block& block) { block.thresholds.t_s = 0; }),
              HasSubstr("a block that is none of its run"));
  EXPECT_THAT(refusal_of([](wire::Block& block) { block.decision = {}; }),
              HasSubstr("a block that is none of its run"));
  EXPECT_THAT(refusal_of([](wire::Block& block) { block.members.clear(); }),
              HasSubstr("a block that is none of its run"));
  EXPECT_THAT(RefusalOf(Replaced(file_, "\"anchor\":\"\"", "\"anchor\":\"AAAA\"")),
              HasSubstr("damaged"));
}

TEST_F(InviteLinkTest, ALinkWithoutAPassHasAllButThat) {
  InviteText link = MakeInvite();
  link.pass.reset();
  const std::string file = WriteInvite(link);
  for (const char* name : {"moderator", "by_moderator", "holder_seed", "until", "uses"}) {
    EXPECT_EQ(file.find("\"" + std::string(name) + "\""), std::string::npos) << name;
  }
  const auto parsed = ParseInvite(LinkOf(file));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_FALSE(parsed->pass);
  EXPECT_EQ(parsed->manifest.run_id, link.manifest.run_id);
  EXPECT_THAT(RefusalOf(Replaced(file, "\"graph\"", "\"holder_seed\":\"08\",\"graph\"")),
              HasSubstr("damaged"));
}

TEST_F(InviteLinkTest, WhatIsAlteredIsRefused) {
  EXPECT_THAT(RefusalOf(Replaced(unchecked_, "\"uses\":2", "\"uses\":3")),
              HasSubstr("not as its moderator signed it"));
  EXPECT_THAT(RefusalOf(Replaced(unchecked_, "\"until\":50", "\"until\":500")),
              HasSubstr("not as its moderator signed it"));
  EXPECT_THAT(RefusalOf(Replaced(unchecked_, KeyOf(9).id().Hex(), KeyOf(1).id().Hex())),
              HasSubstr("no moderator of its run"));
  EXPECT_THAT(RefusalOf(Replaced(unchecked_, "\"holder_seed\":\"08", "\"holder_seed\":\"09")),
              HasSubstr("not as its moderator signed it"));
  // The manifest of another run, in which the moderator is one too.
  InviteText other = MakeInvite(2);
  other.pass->by_moderator = MakeInvite(1).pass->by_moderator;
  EXPECT_THAT(RefusalOf(WriteInvite(other)), HasSubstr("not as its moderator signed it"));
}

TEST_F(InviteLinkTest, EveryOtherTextIsRefused) {
  for (const std::string& whole : {file_, unchecked_}) {
    for (const std::string& text :
         {std::string(),
          std::string("ostraka:"),
          std::string("{}"),
          std::string("[]"),
          std::string("nonsense"),
          whole + "\n",
          " " + whole,
          LinkOf(whole) + "=",
          LinkOf(whole + "\n"),
          LinkOf(whole).substr(0, 300),
          std::string(3 << 20, '['),
          Replaced(whole, "\"uses\":2", "\"uses\":2.0"),
          Replaced(whole, "\"uses\":2", "\"uses\":-2"),
          Replaced(whole, "\"uses\":2", "\"uses\":\"2\""),
          Replaced(whole, "\"uses\":2", "\"uses\":0"),
          Replaced(whole, "\"uses\":2", "\"uses\":257"),
          Replaced(whole, "\"uses\":2", "\"uses\":1,\"uses\":2"),
          Replaced(whole, "\"uses\":2", "\"more\":0,\"uses\":2"),
          Replaced(whole, "\"uses\":2", "\"uses\": 2"),
          Replaced(whole, ",\"uses\":2", ""),
          Replaced(whole, "\"graph\":\"\"", "\"graph\":7"),
          Replaced(whole, "\"constants\":\"\"", "\"constants\":\"A\""),
          Replaced(whole, "ostraka invite", "ostraka inwite"),
          Replaced(whole, "{\"", "[\""),
          Replaced(whole, "192.0.2.1:7000\"", "192.0.2.1:7000\",\"x\":\"y\"")}) {
      EXPECT_THAT(RefusalOf(text), StartsWith("the invite")) << text.substr(0, 80);
    }
  }
}

// Attack: what looks at an object by recursion needs a stack as deep as it. [It crashed.]
TEST_F(InviteLinkTest, DeepOnesAreRefused) {
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  for (const char* format : {"ostraka invite 1", "ostraka invite 2"}) {
    for (const char* name : {"a", "addresses", "check", "manifest"}) {
      const std::string text = std::string("{\"") + name + "\":" + deep + ",\"format\":\"" +
                               format + "\",\"graph\":\"\"}";
      EXPECT_THAT(RefusalOf(text).substr(0, 100), StartsWith("the invite")) << name;
    }
  }
}

// A bit that flips somewhere never passes, in either form.
TEST_F(InviteLinkTest, NoMutationIsAccepted) {
  InviteText invite = MakeInvite();
  BeginAt(invite, AnchorOf(invite));
  const std::string file = WriteInvite(invite);
  EXPECT_TRUE(ParseInvite(file).ok());
  for (std::size_t at = 0; at < file.size() - 1; ++at) {
    std::string text = file;
    text[at] = static_cast<char>(text[at] ^ (1 << (at % 7)));
    EXPECT_THAT(RefusalOf(text), HasSubstr("the invite ")) << at;
  }
  const std::string link = LinkOf(file_);
  for (std::size_t size = 0; size < link.size(); size += 11) RefusalOf(link.substr(0, size));
}

TEST_F(InviteLinkTest, IsReadFromALinkOrAFile) {
  const std::string path = dir_ + "/invite";
  EXPECT_EQ(ReadInvite(path).status().code(), absl::StatusCode::kNotFound);
  for (const std::string& text : {file_, LinkOf(file_) + "\n"}) {
    std::ofstream(path) << text;
    EXPECT_TRUE(ReadInvite(path).ok());
  }
  EXPECT_TRUE(ReadInvite(LinkOf(file_)).ok());
  std::ofstream(path) << std::string(3 << 20, 'x');
  EXPECT_THAT(base::MessageOf(ReadInvite(path).status()), HasSubstr("longer than 2 MiB"));
}

// Mail breaks a link of some thousand digits into lines, and people copy the marks around it.
TEST_F(InviteLinkTest, IsReadWithWhatMailAndChatsPutAroundIt) {
  const std::string link = LinkOf(file_);
  std::string lines = "\xEF\xBB\xBF";
  for (std::size_t at = 0; at < link.size(); at += 76) lines += link.substr(at, 76) + "\r\n";
  for (const std::string& text : {" " + link, "\"" + link + "\"", "<" + link + ">\n", lines}) {
    EXPECT_TRUE(ReadInvite(text).ok()) << text.substr(0, 20);
    std::ofstream(dir_ + "/link") << text;
    EXPECT_TRUE(ReadInvite(dir_ + "/link").ok()) << text.substr(0, 20);
  }
  std::ofstream(dir_ + "/file") << " " + file_;
  EXPECT_FALSE(ReadInvite(dir_ + "/file").ok()) << "a file has one text";
}

TEST_F(InviteLinkTest, NoRefusalShowsTheLink) {
  const std::string link = LinkOf(file_);
  for (const std::string& text :
       {"https://" + link, "x " + link, link + "!", link.substr(0, 900)}) {
    const std::string refusal = base::MessageOf(ReadInvite(text).status());
    EXPECT_THAT(refusal, HasSubstr("damaged"));
    EXPECT_LT(refusal.size(), 120u);
  }
}

TEST_F(InviteLinkTest, AFolderThatDidNotComeByAnInviteIsNamed) {
  EXPECT_THAT(base::MessageOf(ReadInvite(dir_).status()), HasSubstr("did not come by an invite"));
}

}  // namespace
}  // namespace ostraka::cli::invite_link_test

// The book alone: what is taken, in which order it is tried, and what a liar can make of it.
#include "node/net/mesh/address_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::net::address_book_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kManifest = AddressSource::kManifest;
constexpr auto kIncoming = AddressSource::kIncoming;
constexpr auto kAnnounced = AddressSource::kAnnounced;

base::PeerId Peer(std::uint8_t fill) {
  base::PeerId id;
  id.bytes.fill(fill);
  return id;
}

class AddressBookTest : public ::testing::Test {
 protected:
  AddressBookTest() { EXPECT_TRUE(book_.Open(peer_).ok()); }
  ~AddressBookTest() override { book_.CheckInvariants(); }

  bool Set(AddressSource source, const std::vector<std::string>& addresses) {
    const base::StatusOr<bool> is_new = book_.Set(peer_, source, addresses);
    EXPECT_TRUE(is_new.ok()) << is_new.status();
    return is_new.ok() && *is_new;
  }
  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const PeerAddress& address : book_.Of(peer_)) texts.push_back(address.text);
    return texts;
  }
  // What a round tries.
  std::vector<std::string> Round() {
    std::vector<std::string> tried;
    book_.BeginRound(peer_);
    while (const auto next = book_.Next(peer_)) tried.push_back(*next);
    return tried;
  }

  const base::PeerId peer_ = Peer(1);
  AddressBook book_{3};
};

TEST_F(AddressBookTest, ARoundTriesEachAddressOnceInTheOrderOfTrust) {
  EXPECT_TRUE(Set(kAnnounced, {"192.0.2.3:3", "192.0.2.4:4"}));
  EXPECT_TRUE(Set(kManifest, {"192.0.2.1:1", "name.example:2"}));
  EXPECT_THAT(Round(), ElementsAre("192.0.2.1:1", "name.example:2", "192.0.2.3:3", "192.0.2.4:4"));
  EXPECT_EQ(book_.Next(peer_), std::nullopt) << "the round is over";
  EXPECT_EQ(Round().size(), 4u) << "the next round tries all again";
}

TEST_F(AddressBookTest, WithinASourceIpv6IsTriedFirst) {
  Set(kAnnounced, {"192.0.2.3:3", "[2001:db8::3]:3"});
  Set(AddressSource::kRemembered, {"192.0.2.2:2", "[2001:db8::2]:2"});
  Set(kManifest, {"name.example:1", "192.0.2.1:1", "[2001:db8::1]:1"});
  EXPECT_THAT(Round(),
              ElementsAre("[2001:db8::1]:1", "name.example:1", "192.0.2.1:1", "[2001:db8::2]:2",
                          "192.0.2.2:2", "[2001:db8::3]:3", "192.0.2.3:3"));
}

TEST_F(AddressBookTest, TheAddressThatWasReachedIsTriedFirstAndFailuresAreForgotten) {
  Set(kManifest, {"192.0.2.1:1", "192.0.2.2:2"});
  EXPECT_TRUE(book_.OnFailed(peer_, "192.0.2.1:1", "is away"));
  EXPECT_FALSE(book_.OnFailed(peer_, "192.0.2.1:1", "is away")) << "no news";
  EXPECT_TRUE(book_.OnFailed(peer_, "192.0.2.1:1", "is somebody else"));
  EXPECT_TRUE(book_.OnFailed(peer_, "192.0.2.2:2", "is away")) << "news of another address";
  EXPECT_EQ(book_.Of(peer_)[0], (PeerAddress{"192.0.2.1:1", kManifest, 3, "is somebody else"}));
  book_.OnLinked(peer_, "192.0.2.2:2");
  EXPECT_THAT(Texts(), ElementsAre("192.0.2.2:2", "192.0.2.1:1"));
  EXPECT_EQ(book_.Of(peer_)[1], (PeerAddress{"192.0.2.1:1", kManifest, 0, ""}));
  EXPECT_TRUE(book_.OnFailed(peer_, "192.0.2.1:1", "is somebody else")) << "news again";
  // A link that came in says nothing of where the peer is reached.
  book_.OnLinked(peer_, "");
  EXPECT_THAT(Texts(), ElementsAre("192.0.2.2:2", "192.0.2.1:1"));
}

TEST_F(AddressBookTest, SetReplacesOneSourceAndKeepsWhatIsKnownOfAnAddress) {
  Set(kManifest, {"192.0.2.1:1"});
  Set(kAnnounced, {"192.0.2.3:3"});
  book_.OnFailed(peer_, "192.0.2.1:1", "is away");
  EXPECT_FALSE(Set(kManifest, {"192.0.2.1:1"})) << "nothing new";
  EXPECT_EQ(book_.Of(peer_)[0].failures, 1u);
  EXPECT_TRUE(Set(kManifest, {"192.0.2.2:2"}));
  EXPECT_THAT(Texts(), ElementsAre("192.0.2.2:2", "192.0.2.3:3"));
  EXPECT_FALSE(Set(kAnnounced, {}));
  EXPECT_THAT(Texts(), ElementsAre("192.0.2.2:2"));
}

TEST_F(AddressBookTest, AnAddressOfTwoSourcesStandsOnceForTheMoreTrusted) {
  Set(kAnnounced, {"192.0.2.1:1", "192.0.2.1:1"});
  EXPECT_THAT(Texts(), ElementsAre("192.0.2.1:1"));
  EXPECT_FALSE(Set(kManifest, {"192.0.2.1:1"}));
  EXPECT_EQ(book_.Of(peer_)[0].source, kManifest);
  EXPECT_FALSE(Set(kAnnounced, {"192.0.2.1:1"}));
  EXPECT_EQ(book_.Of(peer_)[0].source, kManifest);
  EXPECT_EQ(book_.Of(peer_).size(), 1u);
}

TEST_F(AddressBookTest, BoundsAreCheckedBeforeAnythingIsStored) {
  Set(kManifest, {"192.0.2.1:1"});
  const std::string long_name(AddressBook::kMaxAddressBytes, 'x');
  const std::vector<std::pair<std::vector<std::string>, std::string>> bad = {
      {{"a:1", "b:1", "c:1", "d:1", "e:1"}, "has more than 4 addresses"},
      {{"a:1", long_name + ":1"}, "has an address of 264 bytes"},
      {{"a:1", "b"}, "write host:port"},
      {{"a:1", "b:0"}, "has port 0"}};
  for (const auto& [addresses, reason] : bad) {
    const base::StatusOr<bool> set = book_.Set(peer_, kAnnounced, addresses);
    EXPECT_EQ(set.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(base::MessageOf(set.status()), HasSubstr(reason));
    EXPECT_THAT(Texts(), ElementsAre("192.0.2.1:1"));
  }
  Set(kManifest, {"a:1", "b:1", "c:1", "d:1"});
  Set(kAnnounced, {"e:1", "f:1", "g:1", "h:1"});
  EXPECT_EQ(book_.Of(peer_).size(), 8u) << "announcements take no place of the manifest's";
  book_.OnFailed(peer_, "a:1", std::string(10'000, 'x'));
  EXPECT_EQ(book_.Of(peer_)[0].last_failure.size(), AddressBook::kMaxReasonBytes);
}

TEST_F(AddressBookTest, NoMorePagesThanTheBound) {
  EXPECT_TRUE(book_.Open(Peer(2)).ok());
  EXPECT_TRUE(book_.Open(Peer(3)).ok());
  EXPECT_EQ(book_.Open(Peer(3)).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(book_.Open(Peer(4)).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(book_.Close(Peer(2)));
  EXPECT_FALSE(book_.Close(Peer(2)));
  EXPECT_TRUE(book_.Open(Peer(4)).ok());
  EXPECT_EQ(book_.size(), 3u);
}

TEST_F(AddressBookTest, WithoutAPageNothingHappens) {
  const base::PeerId stranger = Peer(9);
  EXPECT_EQ(book_.Set(stranger, kAnnounced, {"a:1"}).status().code(), absl::StatusCode::kNotFound);
  book_.NoteIncoming(stranger, "192.0.2.1:1");
  book_.BeginRound(stranger);
  EXPECT_EQ(book_.Next(stranger), std::nullopt);
  EXPECT_TRUE(book_.OnFailed(stranger, "a:1", "is away"));
  book_.OnLinked(stranger, "a:1");
  EXPECT_THAT(book_.Of(stranger), IsEmpty());
  EXPECT_EQ(book_.size(), 1u);
}

// Attack: a peer that announces without end would otherwise make a round that never ends.
TEST_F(AddressBookTest, AnAddressThatComesDuringARoundWaitsForTheNext) {
  Set(kManifest, {"192.0.2.1:1"});
  book_.BeginRound(peer_);
  EXPECT_EQ(book_.Next(peer_), "192.0.2.1:1");
  for (int i = 1; i <= 100; ++i) {
    EXPECT_TRUE(Set(kAnnounced, {"192.0.2.9:" + std::to_string(i)}));
    ASSERT_EQ(book_.Next(peer_), std::nullopt) << i;
  }
  EXPECT_THAT(Round(), ElementsAre("192.0.2.1:1", "192.0.2.9:100"));
}

TEST_F(AddressBookTest, ALinkThatCameFromElsewhereIsNotedWithThePortOfTheManifest) {
  book_.NoteIncoming(peer_, "198.51.100.7:50000");
  EXPECT_THAT(Texts(), IsEmpty()) << "a peer that is never dialed has no port";
  Set(kManifest, {"192.0.2.1:1000", "192.0.2.2:2000"});
  Set(kAnnounced, {"192.0.2.3:3000"});
  book_.NoteIncoming(peer_, "192.0.2.2:50000");
  EXPECT_EQ(Texts().size(), 3u) << "it came from where the manifest says";
  book_.NoteIncoming(peer_, "198.51.100.7:50000");
  EXPECT_THAT(Texts(), ElementsAre("192.0.2.1:1000", "192.0.2.2:2000", "198.51.100.7:1000",
                                   "192.0.2.3:3000"));
  book_.NoteIncoming(peer_, "[2001:db8::1]:50000");
  EXPECT_THAT(Texts(), ElementsAre("192.0.2.1:1000", "192.0.2.2:2000", "[2001:db8::1]:1000",
                                   "192.0.2.3:3000"))
      << "one note a peer, the newest";
  EXPECT_EQ(book_.Of(peer_)[2].source, kIncoming);
}

TEST_F(AddressBookTest, AHostNameIsItsOwnersToMove) {
  Set(kManifest, {"name.example:1000"});
  book_.NoteIncoming(peer_, "198.51.100.7:50000");
  EXPECT_THAT(Texts(), ElementsAre("name.example:1000"));
}

// What vouches opens the door for connections from there (admission.h), so no peer may vouch.
TEST_F(AddressBookTest, OnlyTheManifestVouches) {
  Set(kManifest, {"192.0.2.1:1", "192.0.2.1:2", "name.example:1"});
  Set(kAnnounced, {"192.0.2.3:3"});
  book_.NoteIncoming(peer_, "198.51.100.7:50000");
  EXPECT_TRUE(book_.Vouches("192.0.2.1"));
  EXPECT_FALSE(book_.Vouches("192.0.2.3"));
  EXPECT_FALSE(book_.Vouches("198.51.100.7"));
  EXPECT_FALSE(book_.Vouches("name.example"));
  EXPECT_TRUE(book_.Open(Peer(2)).ok());
  EXPECT_TRUE(book_.Set(Peer(2), kManifest, {"192.0.2.1:9"}).ok());
  Set(kManifest, {});
  EXPECT_TRUE(book_.Vouches("192.0.2.1")) << "another peer is there too";
  EXPECT_TRUE(book_.Close(Peer(2)));
  EXPECT_FALSE(book_.Vouches("192.0.2.1"));
}

}  // namespace
}  // namespace ostraka::net::address_book_test

#include "node/cli/options/peer_addresses.h"

#include <gmock/gmock.h>

namespace ostraka::cli::peer_addresses_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string Id(char digit) { return std::string(64, digit); }

TEST(PeerAddresses, GivesAnAddressByPeerAndTheLastOfTwo) {
  const auto addresses = PeerAddresses({Id('2') + "@b:2", Id('1') + "@a:1", Id('2') + "@[::1]:3"});
  ASSERT_TRUE(addresses.ok());
  EXPECT_THAT(*addresses, ElementsAre(Pair(*base::PeerId::FromHexDigits(Id('1')), "a:1"),
                                      Pair(*base::PeerId::FromHexDigits(Id('2')), "[::1]:3")));
}

TEST(PeerAddresses, NamesWhatIsNoAddress) {
  const std::string id = Id('1');
  for (const std::string& text :
       {std::string(), std::string("@a:1"), id, id + id + "@a:1", id.substr(1) + "g@a:1"}) {
    const auto addresses = PeerAddresses({text});
    ASSERT_FALSE(addresses.ok()) << text;
    EXPECT_THAT(base::MessageOf(addresses.status()),
                HasSubstr("--peers '" + text + "': write ID@HOST:PORT"));
  }
  for (const char* where : {"", "a", "a:", ":1", "a:65536"}) {
    EXPECT_FALSE(PeerAddresses({Id('1') + "@" + where}).ok()) << where;
  }
}

}  // namespace
}  // namespace ostraka::cli::peer_addresses_test

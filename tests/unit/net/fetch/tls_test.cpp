// HTTPS: whom the reader believes.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "tests/unit/net/fetch/fetch_fixture.h"

namespace ostraka::net::fetch_testing::tls_test {
namespace {

class TlsTest : public FetchTest {
 protected:
  // A reader that trusts `certificate` and no other.
  base::StatusOr<base::Bytes> ReadTrusting(const std::string& url, const std::string& certificate) {
    const std::string file = ::testing::TempDir() + "ostraka-authority-" + std::to_string(getpid());
    std::ofstream(file) << certificate;
    FetchParts parts;
    parts.authorities = file;
    auto read = Open(url, parts)->Read("file.bin", 3, 4, nullptr);
    EXPECT_EQ(std::remove(file.c_str()), 0);
    return read;
  }
};

TEST_F(TlsTest, ACertificateForTheNameIsTaken) {
  const Certificate good = MakeTlsCertificate("IP:127.0.0.1");
  const SmallServer server(Right(), good);
  EXPECT_EQ(Text(ReadTrusting(server.Url("https"), good.pem)), "3456");
}

TEST_F(TlsTest, ACertificateForAnotherNameIsRefused) {
  const Certificate other = MakeTlsCertificate("DNS:example.org, IP:127.0.0.2");
  const SmallServer server(Right(), other);
  ExpectFailure(ReadTrusting(server.Url("https"), other.pem), kInvalid, "certificate");
  EXPECT_TRUE(server.heads().empty());
}

TEST_F(TlsTest, ACertificateOfNobodyIsRefused) {
  const SmallServer server(Right(), MakeTlsCertificate("IP:127.0.0.1"));
  const Certificate another = MakeTlsCertificate("IP:127.0.0.1");
  ExpectFailure(ReadTrusting(server.Url("https"), another.pem), kInvalid, "certificate");
  ExpectFailure(Read(server.Url("https"), 3, 4), kInvalid, "certificate");  // the system's list
  EXPECT_TRUE(server.heads().empty());
}

TEST_F(TlsTest, AServerWithoutTlsIsLeft) {
  const SmallServer silent(Right());  // waits for the rest of a head
  FetchParts parts;
  parts.limits.connect = std::chrono::milliseconds(300);
  const auto reader = Open(silent.Url("https"), parts);
  ExpectFailure(reader->Read("file.bin", 3, 4, nullptr), kUnavailable, "in time");
  EXPECT_TRUE(silent.heads().empty());
}

TEST_F(TlsTest, AReadersRedirectDoesNotLeaveTls) {
  const SmallServer plain(Right());
  const Certificate good = MakeTlsCertificate("IP:127.0.0.1");
  const SmallServer server(Always(Redirect(plain.Url())), good);
  ExpectFailure(ReadTrusting(server.Url("https"), good.pem), kInvalid, "http:// is not protected");
  EXPECT_EQ(plain.accepted(), 0);
}

TEST_F(TlsTest, AConnectionThatTheServerLeftIsOpenedAgain) {
  const Certificate good = MakeTlsCertificate("IP:127.0.0.1");
  const SmallServer server(
      [](const Peer& peer, const std::string& head) {
        peer.Say(RightAnswer(head));
        return false;
      },
      good);
  const std::string file = ::testing::TempDir() + "ostraka-authority-" + std::to_string(getpid());
  std::ofstream(file) << good.pem;
  FetchParts parts;
  parts.authorities = file;
  const auto reader = Open(server.Url("https"), parts);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Text(reader->Read("file.bin", 3, 4, nullptr)), "3456");
  EXPECT_EQ(server.accepted(), 3);
  EXPECT_EQ(std::remove(file.c_str()), 0);
}

}  // namespace
}  // namespace ostraka::net::fetch_testing::tls_test

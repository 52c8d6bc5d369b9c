#include "node/net/fetch/https_reader.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/unit/net/fetch/fetch_fixture.h"

namespace ostraka::net::fetch_testing::https_reader_test {
namespace {

using namespace std::string_literals;

class HttpsReaderTest : public FetchTest {};

TEST_F(HttpsReaderTest, PartsComeAsTheyLie) {
  const SmallServer server(Right());
  const auto reader = Open(server.Url() + "data/v1");
  EXPECT_EQ(reader->place(), server.Url() + "data/v1/");
  EXPECT_EQ(Text(reader->Read("file.bin", 0, 16, nullptr)), kFile);
  EXPECT_EQ(Text(reader->Read("file.bin", 0, 1, nullptr)), "0");
  EXPECT_EQ(Text(reader->Read("file.bin", 3, 4, nullptr)), "3456");
  EXPECT_EQ(Text(reader->Read("file.bin", 15, 1, nullptr)), "f");
  EXPECT_EQ(PathOf(server.heads()[0]), "/data/v1/file.bin");
  EXPECT_EQ(FieldOf(server.heads()[2], "Range"), "bytes=3-6");
}

TEST_F(HttpsReaderTest, AConnectionIsUsedAgain) {
  const SmallServer server([](const Peer& peer, const std::string& head) {
    return peer.Say(PathOf(head) == "/none" ? Sized(404, "a page") : RightAnswer(head));
  });
  const auto reader = Open(server.Url());
  for (std::uint64_t begin = 0; begin < 5; ++begin) {
    EXPECT_TRUE(reader->Read("file.bin", begin, 3, nullptr).ok());
    EXPECT_FALSE(reader->ReadWhole("none", 100, nullptr).ok());
  }
  EXPECT_EQ(server.heads().size(), 10u);
  EXPECT_EQ(server.accepted(), 1);
}

TEST_F(HttpsReaderTest, WholeFilesComeUpToTheMost) {
  const SmallServer server(Right());
  const auto reader = Open(server.Url());
  EXPECT_EQ(Text(reader->ReadWhole("file.bin", 16, nullptr)), kFile);
  EXPECT_EQ(Text(reader->ReadWhole("file.bin", 1'000'000, nullptr)), kFile);
  EXPECT_EQ(FieldOf(server.heads()[0], "Range"), "(none)");
  ExpectFailure(reader->ReadWhole("file.bin", 15, nullptr), kInvalid,
                "the file has 16 bytes, and at most 15 are read");
}

TEST_F(HttpsReaderTest, AnEmptyFileIsAFile) {
  const SmallServer server(Always(Sized(200, "")));
  EXPECT_EQ(Text(Open(server.Url())->ReadWhole("file.bin", 0, nullptr)), "");
}

TEST_F(HttpsReaderTest, AFileOfUnknownLengthEndsAtTheMost) {
  const SmallServer server([](const Peer& peer, const std::string&) {
    peer.Say(Head(200, "Transfer-Encoding: chunked\r\n"));
    while (peer.Say("10\r\n" + std::string(kFile) + "\r\n")) continue;  // for ever
    return false;
  });
  ExpectFailure(Open(server.Url())->ReadWhole("file.bin", 50'000, nullptr), kInvalid,
                "the file has more than 50000 bytes");
}

TEST_F(HttpsReaderTest, AWholeFileServesARangeThatIsAllOfIt) {
  const SmallServer server(Always(Sized(200, std::string(kFile))));
  EXPECT_EQ(Text(Read(server.Url(), 0, 16)), kFile);
  ExpectFailure(Read(server.Url(), 0, 15), kInvalid, "the whole file where a part was asked for");
  ExpectFailure(Read(server.Url(), 0, 17), kInvalid, "the whole file where a part was asked for");
  ExpectFailure(Read(server.Url(), 1, 15), kInvalid, "the whole file where a part was asked for");
}

TEST_F(HttpsReaderTest, AnotherRangeIsRefused) {
  for (const char* const range :
       {"bytes 0-2/16", "bytes 3-7/16", "bytes 3-5/16", "bytes 4-6/16", "bytes 3-6/6",
        "bytes 6-3/16", "bytes 3-6", "bytes */16", "items 3-6/16", "bytes -3-6/16",
        "bytes 3-18446744073709551622/*", ""}) {
    const SmallServer server(Always(Sized(206, "3456", "Content-Range: "s + range + "\r\n")));
    const auto read = Read(server.Url(), 3, 4);
    ExpectFailure(read, kInvalid, "the server");
  }
  const SmallServer none(Always(Sized(206, "3456")));
  ExpectFailure(Read(none.Url(), 3, 4), kInvalid, "does not say which bytes");
  const SmallServer star(Always(Sized(206, "3456", "content-range:bytes 3-6/*\r\n")));
  EXPECT_EQ(Text(Read(star.Url(), 3, 4)), "3456");
}

TEST_F(HttpsReaderTest, OneByteTooManyEndsTheTransfer) {
  const std::string range = "Content-Range: bytes 3-6/16\r\n";
  const SmallServer five(Always(Sized(206, "34567", range)));
  ExpectFailure(Read(five.Url(), 3, 4), kInvalid, "5 bytes where 4 were asked for");
  std::atomic<bool> ended = false;
  const SmallServer endless([&](const Peer& peer, const std::string&) {
    peer.Say(Head(206, range));
    while (peer.Say(std::string(1000, 'x'))) continue;
    ended = true;
    return false;
  });
  {
    const auto reader = Open(endless.Url());
    ExpectFailure(reader->Read("file.bin", 3, 4, nullptr), kInvalid, "more bytes than were asked");
    while (!ended) std::this_thread::yield();  // though the reader is still there
  }
  const SmallServer whole(Once(Head(200, "") + std::string(kFile)));
  ExpectFailure(Read(whole.Url(), 0, 4), kInvalid, "more bytes than were asked");
}

TEST_F(HttpsReaderTest, AnAnswerThatEndsEarlyIsWorthAnotherTry) {
  const std::string range = "Content-Range: bytes 3-6/16\r\n";
  const SmallServer sized(Once(Head(206, range + "Content-Length: 4\r\n") + "345"));
  ExpectFailure(Read(sized.Url(), 3, 4), kUnavailable, "ended early");
  const SmallServer open(Once(Head(206, range) + "345"));
  ExpectFailure(Read(open.Url(), 3, 4), kUnavailable, "ended early");
  const SmallServer nothing(Once(""));
  ExpectFailure(Read(nothing.Url(), 3, 4), kUnavailable, "ended early");
  const SmallServer head(Once("HTTP/1.1 206 Partial\r\nContent-Ra"));
  ExpectFailure(Read(head.Url(), 3, 4), kUnavailable, "");
}

TEST_F(HttpsReaderTest, EncodedBodiesAreRefused) {
  const std::string range = "Content-Range: bytes 3-6/16\r\n";
  for (const char* const field : {"Content-Encoding: gzip", "CONTENT-ENCODING:br",
                                  "Content-Encoding:", "Content-Encoding: identity, gzip",
                                  "Transfer-Encoding: gzip, chunked"}) {
    const SmallServer server(Always(Sized(206, "3456", range + field + "\r\n")));
    ExpectFailure(Read(server.Url(), 3, 4), kInvalid, "as it is");
  }
  const SmallServer plain(Always(Sized(206, "3456", range + "Content-Encoding: Identity\r\n")));
  EXPECT_EQ(Text(Read(plain.Url(), 3, 4)), "3456");
}

TEST_F(HttpsReaderTest, ThreeRedirectsAreFollowedAndNoFourth) {
  const SmallServer server([](const Peer& peer, const std::string& head) {
    const std::string path = PathOf(head);
    if (path == "/three/file.bin") return peer.Say(Redirect("/2?Signature=a%2Fb~c_&Expires=5"));
    if (path == "/four/file.bin") return peer.Say(Redirect("/three/file.bin"));
    if (path.starts_with("/2?")) return peer.Say(Redirect("//" + FieldOf(head, "Host") + "/1"));
    if (path == "/1") return peer.Say(Redirect("http://" + FieldOf(head, "Host") + "/0"));
    return peer.Say(RightAnswer(head));
  });
  EXPECT_EQ(Text(Read(server.Url() + "three", 3, 4)), "3456");
  EXPECT_EQ(PathOf(server.heads()[1]), "/2?Signature=a%2Fb~c_&Expires=5");
  EXPECT_EQ(FieldOf(server.heads()[3], "Range"), "bytes=3-6");
  EXPECT_EQ(server.accepted(), 1);
  ExpectFailure(Read(server.Url() + "four", 3, 4), kInvalid, "more than 3 times");
  EXPECT_EQ(server.heads().size(), 4u + 4u);
}

TEST_F(HttpsReaderTest, RedirectsToWhatNoSourceMayBeAreRefused) {
  for (const std::string& to :
       {"http://example.com/file.bin"s, "http://10.0.0.1/file.bin"s, "ftp://127.0.0.1/file.bin"s,
        "file:///etc/passwd"s, "https://user:word@127.0.0.1/file.bin"s,
        "https://127.0.0.1/file.bin#evil"s, "https://127.0.0.1:0/evil"s,
        "https://127.0.0.1/" + std::string(8000, 'x'), "https://127.0.0.1/<evil>"s}) {
    const SmallServer server(Always(Redirect(to)));
    const auto read = Read(server.Url(), 3, 4);
    ExpectFailure(read, kInvalid, "to an address that is not taken");
    EXPECT_EQ(read.status().ToString().find("evil"), std::string::npos) << read.status();
    EXPECT_EQ(server.heads().size(), 1u) << to;
  }
  const SmallServer nowhere(Always(Sized(302, "")));
  ExpectFailure(Read(nowhere.Url(), 3, 4), kInvalid, "does not say where");
}

TEST_F(HttpsReaderTest, ARedirectDoesNotLeadIntoOwnNetworks) {
  const SmallServer inside(Right());
  for (const std::string& to :
       {"https://10.0.0.1/file.bin"s, "https://169.254.169.254/latest/"s, "https://[fd00::1]/x"s,
        "https://[::ffff:192.168.0.1]/x"s, "https://2130706434/x"s,  // 127.0.0.2
        "https://127.0.0.2:" + std::to_string(inside.port()) + "/x"}) {
    const SmallServer server(Always(Redirect(to)));
    FetchParts parts;  // the server's address alone is taken for a public one
    parts.may_connect = [](const IpAddress& address) {
      return address == ParseIp("127.0.0.1") || WhyNotPublic(address).empty();
    };
    const auto read = Open(server.Url(), parts)->Read("file.bin", 3, 4, nullptr);
    ExpectFailure(read, kInvalid, "a redirect of 127.0.0.1 leads to ");
    ExpectFailure(read, kInvalid, "--allow-private-sources");
  }
  EXPECT_EQ(inside.accepted(), 0);
}

TEST_F(HttpsReaderTest, ASourceOnThisMachineIsRefusedUnlessAllowed) {
  const SmallServer server(Right());
  const std::string port = std::to_string(server.port());
  for (const std::string& host :
       {"127.0.0.1"s, "localhost"s, "0.0.0.0"s, "2130706433"s, "0x7f.1"s}) {
    const auto reader = OpenHttps("https://" + host + ":" + port, {});
    ASSERT_TRUE(reader.ok()) << reader.status();
    const auto read = (*reader)->Read("file.bin", 0, 1, nullptr);
    ExpectFailure(read, kInvalid, host + " leads to ");
    ExpectFailure(read, kInvalid, "--allow-private-sources");
  }
  EXPECT_FALSE(OpenHttps(server.Url(), {}).ok());  // http://
  EXPECT_EQ(server.accepted(), 0);
  EXPECT_EQ(Text(Read("http://localhost:" + port, 0, 3)), "012");
}

TEST_F(HttpsReaderTest, StatusesSayWhetherToTryAgain) {
  for (const auto& [status, code] : {std::pair{404, kNotFound},
                                     {410, kNotFound},
                                     {400, kInvalid},
                                     {401, kInvalid},
                                     {403, kInvalid},
                                     {416, kInvalid},
                                     {451, kInvalid},
                                     {408, kUnavailable},
                                     {429, kUnavailable},
                                     {500, kUnavailable},
                                     {503, kUnavailable},
                                     {300, kInvalid},
                                     {304, kInvalid},
                                     {204, kInvalid},
                                     {201, kInvalid},
                                     {999, kUnavailable}}) {
    const SmallServer server(
        Once(Head(status, "Content-Range: bytes */16\r\nContent-Length: 0\r\n")));
    ExpectFailure(Read(server.Url(), 3, 4), code,
                  status == 204 || status == 201 ? "" : std::to_string(status));
  }
}

TEST_F(HttpsReaderTest, AnErrorsPageOfAnyLengthIsNotRead) {
  const SmallServer server([](const Peer& peer, const std::string&) {
    peer.Say(Head(404, ""));
    while (peer.Say(std::string(1000, 'x'))) continue;
    return false;
  });
  ExpectFailure(Read(server.Url(), 3, 4), kNotFound, "404");
}

TEST_F(HttpsReaderTest, NoWordOfTheServerIsInAMessage) {
  const std::string evil = "\x1b[2Jevil\a";
  for (const std::string& answer :
       {"HTTP/1.1 404 " + evil + "\r\nContent-Length: 4\r\nX: " + evil + "\r\n\r\nevil",
        "HTTP/1.1 " + evil + "\r\n\r\n", evil + "\r\n\r\n",
        "HTTP/1.1 206 OK\r\nContent-Range: " + evil + "\r\n\r\n",
        "HTTP/1.1 206 OK\r\n" + evil + "\r\n\r\n",
        "HTTP/1.1 302 OK\r\nLocation: https://" + evil + "/\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: " + evil + "\r\n\r\n"}) {
    const SmallServer server(Once(answer));
    const auto read = Read(server.Url(), 3, 4);
    ASSERT_FALSE(read.ok());
    ExpectFailure(read, read.status().code(), "file.bin");
    EXPECT_EQ(read.status().ToString().find("evil"), std::string::npos) << read.status();
  }
}

TEST_F(HttpsReaderTest, AHostThatTakesNoConnectionIsWorthAnotherTry) {
  std::uint16_t port = 0;
  const os::Descriptor held = HoldPort(port);
  ExpectFailure(Read("http://127.0.0.1:" + std::to_string(port), 3, 4), kUnavailable,
                "takes no connection");
}

TEST_F(HttpsReaderTest, NamesThatAreNoneReachNoServer) {
  const SmallServer server(Right());
  const auto reader = Open(server.Url());
  for (const std::string& name : {""s, "."s, ".."s, "../x"s, "a/b"s, ".hidden"s, "a b"s, "a?b"s,
                                  "a%2f"s, "a\nb"s, "a\0b"s, "\xc3\xa4"s, std::string(201, 'x')}) {
    ExpectFailure(reader->Read(name, 0, 1, nullptr), kInvalid, "letters, digits");
    ExpectFailure(reader->ReadWhole(name, 1, nullptr), kInvalid, "letters, digits");
  }
  ExpectFailure(reader->Read("file.bin", ~std::uint64_t{0}, 1, nullptr), kInvalid,
                "no file has the bytes");
  EXPECT_EQ(server.accepted(), 0);
  EXPECT_TRUE(reader->Read(std::string(200, 'x'), 0, 1, nullptr).ok());
}

// Environment and files of the user must not change where a request goes, nor say who asks.
TEST_F(HttpsReaderTest, ARequestSaysNothingOfTheUser) {
  std::string home = ::testing::TempDir() + "ostraka-home-XXXXXX";
  ASSERT_NE(mkdtemp(home.data()), nullptr);
  std::ofstream(home + "/.netrc") << "machine 127.0.0.1 login me password secret\n";
  setenv("HOME", home.c_str(), 1);                 // NOLINT(concurrency-mt-unsafe)
  setenv("http_proxy", "http://127.0.0.1:1", 1);   // NOLINT(concurrency-mt-unsafe)
  setenv("all_proxy", "socks5://127.0.0.1:1", 1);  // NOLINT(concurrency-mt-unsafe)
  const SmallServer server([](const Peer& peer, const std::string&) {
    return peer.Say(Sized(200, "x", "Set-Cookie: id=1\r\nAlt-Svc: h2=\":1\"\r\n"));
  });
  const auto reader = Open(server.Url());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Text(reader->ReadWhole("file.bin", 1, nullptr)), "x");
  const std::string host = "127.0.0.1:" + std::to_string(server.port());
  for (const std::string& head : server.heads()) {
    EXPECT_EQ(head, "GET /file.bin HTTP/1.1\r\nHost: " + host +
                        "\r\nUser-Agent: ostraka\r\nAccept: */*\r\n\r\n");
  }
  EXPECT_EQ(server.heads().size(), 2u);
  unsetenv("http_proxy");  // NOLINT(concurrency-mt-unsafe)
  unsetenv("all_proxy");   // NOLINT(concurrency-mt-unsafe)
  std::filesystem::remove_all(home);
}

}  // namespace
}  // namespace ostraka::net::fetch_testing::https_reader_test

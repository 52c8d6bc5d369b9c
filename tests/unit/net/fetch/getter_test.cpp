// Limits of time and size, through the reader.
#include "node/net/fetch/getter.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>

#include "tests/unit/net/fetch/fetch_fixture.h"

namespace ostraka::net::fetch_testing::getter_test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kBriefly{300};
constexpr milliseconds kForEver{1'000'000};
// Half a second is promised; a loaded machine gets more.
constexpr milliseconds kSoon{5'000};

class GetterTest : public FetchTest {
 protected:
  static base::StatusOr<base::Bytes> ReadWithin(const std::string& url, const FetchLimits& limits,
                                                const base::RangeReader::Unwanted& unwanted = {}) {
    FetchParts parts;
    parts.limits = limits;
    return Open(url, parts)->Read("file.bin", 3, 4, unwanted);
  }
  // Limits that no test reaches, so that the one that it sets is what ends a transfer.
  static FetchLimits Patient() {
    FetchLimits limits;
    limits.connect = limits.least_whole = limits.stall = kForEver;
    return limits;
  }
};

// Says `piece` again and again, as fast as it is taken.
Handler ForEver(std::string before, std::string piece) {
  return
      [before = std::move(before), piece = std::move(piece)](const Peer& peer, const std::string&) {
        peer.Say(before);
        while (peer.Say(piece)) continue;
        return false;
      };
}

// Says `before`, and then nothing.
Handler Silence(std::string before) {
  return [before = std::move(before)](const Peer& peer, const std::string&) {
    peer.Say(before);
    peer.WaitForEnd();
    return false;
  };
}

const std::string kGoodHead = Head(206, "Content-Range: bytes 3-6/16\r\nContent-Length: 4\r\n");

TEST_F(GetterTest, HeadsWithoutEndAreRefused) {
  const std::string ok = "HTTP/1.1 206 Partial\r\n";
  const SmallServer many(ForEver(ok, "X-More: and more\r\n"));
  ExpectFailure(ReadWithin(many.Url(), Patient()), kInvalid, "more than 65536 bytes");
  const SmallServer early(ForEver("", "HTTP/1.1 103 Early\r\nX: y\r\n\r\n"));
  ExpectFailure(ReadWithin(early.Url(), Patient()), kInvalid, "more than 65536 bytes");
  const SmallServer wide(ForEver(ok + "X-More: ", std::string(1000, 'x')));
  ExpectFailure(ReadWithin(wide.Url(), Patient()), kInvalid, "a line of the server's answer");
  const SmallServer trailers(
      ForEver(Head(206, "Content-Range: bytes 3-6/16\r\nTransfer-Encoding: chunked\r\n") +
                  "4\r\n3456\r\n0\r\n",
              "X-More: and more\r\n"));
  ExpectFailure(ReadWithin(trailers.Url(), Patient()), kInvalid, "more than 65536 bytes");
}

TEST_F(GetterTest, AnAnswerBeforeTheAnswerIsPassedOver) {
  const SmallServer server(
      Always("HTTP/1.1 103 Early\r\nContent-Range: bytes 0-0/1\r\n\r\n" + kGoodHead + "3456"));
  EXPECT_EQ(Text(ReadWithin(server.Url(), {})), "3456");
}

TEST_F(GetterTest, AServerThatFallsSilentIsLeft) {
  FetchLimits limits = Patient();
  limits.stall = kBriefly;
  for (const std::string& before : {std::string(), kGoodHead, kGoodHead + "34"}) {
    const SmallServer server(Silence(before));
    ExpectFailure(ReadWithin(server.Url(), limits), kUnavailable, "sends too little");
  }
}

TEST_F(GetterTest, ChunksOfNothingAreNoProgress) {
  FetchLimits limits = Patient();
  limits.stall = kBriefly;
  const SmallServer server(ForEver(
      Head(206, "Content-Range: bytes 3-6/16\r\nTransfer-Encoding: chunked\r\n") + "1;", "x=y;"));
  ExpectFailure(ReadWithin(server.Url(), limits), kUnavailable, "sends too little");
}

TEST_F(GetterTest, ARequestHasATimeThatGrowsWithItsSize) {
  FetchLimits limits = Patient();
  limits.least_whole = kBriefly;
  const SmallServer server(Silence(kGoodHead + "3"));
  ExpectFailure(ReadWithin(server.Url(), limits), kUnavailable, "takes too long");
  limits.bytes_a_second = 4;  // one second more
  const auto begun = Clock::now();
  ExpectFailure(ReadWithin(server.Url(), limits), kUnavailable, "takes too long");
  EXPECT_GE(Clock::now() - begun, kBriefly + milliseconds(1000));
}

TEST_F(GetterTest, RedirectsShareTheTimeOfTheirRequest) {
  FetchLimits limits = Patient();
  limits.least_whole = kBriefly;
  const auto opened = Clock::now();
  const SmallServer server([&](const Peer& peer, const std::string& head) {
    if (PathOf(head) != "/file.bin") {
      peer.WaitForEnd();
      return false;
    }
    while (Clock::now() - opened < kBriefly / 2) std::this_thread::yield();
    return peer.Say(Redirect("/next"));
  });
  ExpectFailure(ReadWithin(server.Url(), limits), kUnavailable, "takes too long");
  EXPECT_EQ(server.heads().size(), 2u);
}

TEST_F(GetterTest, AHostThatDoesNotAnswerIsLeft) {
  std::uint16_t port = 0;
  const os::Descriptor held = HoldPort(port);
  ASSERT_EQ(listen(held.get(), 0), 0);
  // Those that fill the queue of a socket that nobody accepts from.
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  std::vector<os::Descriptor> first;
  for (int i = 0; i < 3; ++i) {
    first.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    (void)connect(first.back().get(), reinterpret_cast<const sockaddr*>(&at), sizeof at);
  }
  FetchLimits limits = Patient();
  limits.connect = kBriefly;
  const auto read = ReadWithin("http://127.0.0.1:" + std::to_string(port), limits);
  ExpectFailure(read, kUnavailable, "does not answer in time");
}

TEST_F(GetterTest, WhatNobodyWantsEnds) {
  for (const std::string& before : {std::string(), kGoodHead, kGoodHead + "34"}) {
    std::atomic<bool> asked = false;
    std::atomic<bool> gone = false;
    {
      const SmallServer server([&](const Peer& peer, const std::string&) {
        peer.Say(before);
        asked = true;
        peer.WaitForEnd();
        gone = true;
        return false;
      });
      Clock::time_point since{};
      const auto reader = Open(server.Url());
      const auto read = reader->Read("file.bin", 3, 4, [&] {
        if (asked && since == Clock::time_point{}) since = Clock::now();
        return asked.load();
      });
      EXPECT_LT(Clock::now() - since, kSoon);
      ExpectFailure(read, kCancelled, "nobody wants");
      while (!gone) std::this_thread::yield();  // the connection is closed, the reader is not
    }
  }
}

TEST_F(GetterTest, AFastServerDoesNotKeepUnwantedFromBeingAsked) {
  std::atomic<int> looks = 0;
  const SmallServer server(ForEver(Head(200, ""), std::string(100'000, 'x')));
  const auto read = Open(server.Url())->ReadWhole("file.bin", std::uint64_t{1} << 40, [&looks] {
    return ++looks == 3;
  });
  ExpectFailure(read, kCancelled, "nobody wants");
}

TEST_F(GetterTest, WhatNobodyWantedIsNotBegun) {
  const SmallServer server(Right());
  const auto reader = Open(server.Url());
  ExpectFailure(reader->Read("file.bin", 3, 4, [] { return true; }), kCancelled, "nobody wants");
  EXPECT_EQ(server.accepted(), 0);
  EXPECT_EQ(Text(reader->Read("file.bin", 3, 4, [] { return false; })), "3456");
}

}  // namespace
}  // namespace ostraka::net::fetch_testing::getter_test

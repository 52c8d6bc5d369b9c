#include "node/http/http_server.h"

#include <gmock/gmock.h>

#include <chrono>
#include <vector>

#include "tests/unit/http/http_fixture.h"

namespace ostraka::http::http_server_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const HttpPlace kLoopback{.address = "127.0.0.1:0", .socket_path = {}};

TEST_F(HttpTest, AnswersGetAndHeadWithoutTheQuery) {
  Serve(kLoopback);
  const std::string answer = Ask("GET /status?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 7\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\n/status"));
  const std::string head = Ask("HEAD /status HTTP/1.1\r\nHost: 127.0.0.1:99\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Length: 7\r\n"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  EXPECT_THAT(Ask("GET /none HTTP/1.1\r\nHost: [::1]:9\r\n\r\n"), HasSubstr("404 Not Found"));
}

// Should a text of a peer ever be escaped badly, nothing in it runs, and nothing leaves this
// server.
TEST_F(HttpTest, EveryAnswerForbidsForeignScriptsStylesAndFrames) {
  Serve(kLoopback);
  for (const char* request : {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                              "GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n",
                              "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "nonsense\r\n\r\n"}) {
    const std::string answer = Ask(request);
    for (const char* header :
         {"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; ",
          "frame-ancestors 'none'", "X-Content-Type-Options: nosniff",
          "Cross-Origin-Resource-Policy: same-origin", "Referrer-Policy: no-referrer"}) {
      EXPECT_THAT(answer, HasSubstr(header)) << request;
    }
    EXPECT_THAT(answer, Not(HasSubstr("unsafe-inline")));
  }
}

TEST_F(HttpTest, ALargeAnswerArrivesWhole) {
  const std::string body(3 << 20, 'x');
  Serve(kLoopback, {}, body);
  const auto got =
      HttpGet({.address = "127.0.0.1:" + std::to_string(server_->port()), .socket_path = {}}, "/",
              base::Seconds(10), 4 << 20);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->body, body);
}

TEST_F(HttpTest, OtherMethodsAndTargetsAreRefused) {
  Serve(kLoopback);
  const std::string refused = Ask("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(refused, HasSubstr("Allow: GET, HEAD"));
  for (const char* target : {"*", "status", "https://localhost/", "localhost:80", "http:/x"}) {
    EXPECT_THAT(Ask("GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                StartsWith("HTTP/1.1 400"))
        << target;
  }
  EXPECT_THAT(Ask("GET / HTTP/2.0\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 505"));
}

// The method is what is wrong with them, not the size of what they send.
TEST_F(HttpTest, AMethodWithABodyIsRefusedForTheMethodAndTheAnswerArrives) {
  Serve(kLoopback);
  const std::string head = " / HTTP/1.1\r\nHost: localhost\r\n";
  for (const std::string method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    for (const std::string& rest :
         {std::string("Content-Length: 5\r\n\r\nhello"),
          std::string("Content-Length: 5\r\n\r\nhe"),  // the rest never comes
          std::string("Expect: 100-continue\r\nContent-Length: 1000000\r\n\r\n"),
          "Content-Length: 500000\r\n\r\n" + std::string(500'000, 'x'),
          std::string("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")}) {
      const RawClient client(server_->port());
      client.Say(method + head + rest);
      client.SayNoMore();
      const std::string answer = client.Hear();
      EXPECT_THAT(answer, StartsWith("HTTP/1.1 405")) << method << rest.substr(0, 40);
      EXPECT_THAT(answer, HasSubstr("Allow: GET, HEAD"));
      EXPECT_THAT(answer, HasSubstr("Connection: close"));
    }
  }
}

TEST_F(HttpTest, TheAbsoluteFormOfATargetIsServed) {
  Serve(kLoopback);
  const auto ask = [this](const std::string& target, const std::string& host) {
    return Ask("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  };
  EXPECT_THAT(ask("http://localhost:9464/status?x=1", "localhost"), HasSubstr("\r\n\r\n/status"));
  EXPECT_THAT(ask("HTTP://LocalHost/status", "evil.example"), HasSubstr("\r\n\r\n/status"));
  EXPECT_TRUE(ask("http://127.0.0.1", "localhost").ends_with("\r\n\r\n/"));
  EXPECT_TRUE(ask("http://[::1]:80?x", "localhost").ends_with("\r\n\r\n/"));
  EXPECT_THAT(ask("http://evil.example/status", "localhost"), StartsWith("HTTP/1.1 403"));
  for (const char* none : {"http:///status", "http://u@localhost/", "http://localhost:x/"}) {
    EXPECT_THAT(ask(none, "localhost"), StartsWith("HTTP/1.1 400")) << none;
  }
}

// A page in the visitor's browser may let its own name resolve to 127.0.0.1.
TEST_F(HttpTest, OnLoopbackOnlyLoopbackNamesAreServed) {
  Serve(kLoopback);
  for (const char* version : {"1.0", "1.1"}) {
    const auto ask = [&](const std::string& host) {
      return Ask("GET / HTTP/" + std::string(version) + "\r\nHost: " + host + "\r\n\r\n");
    };
    for (const char* host : {"evil.example", "evil.example:80", "10.0.0.1", "", ":80",
                             "localhost.evil", "127.0.0.1.evil.example", "[::2]", "%6cocalhost"}) {
      EXPECT_THAT(ask(host), StartsWith("HTTP/1.1 403")) << version << host;
    }
    for (const char* host : {"LOCALHOST", "LocalHost:9464", "127.9.9.9", "[::1]", "localhost:"}) {
      EXPECT_THAT(ask(host), StartsWith("HTTP/1.1 200")) << version << host;
    }
  }
}

TEST_F(HttpTest, AMalformedHostIsRefusedWhereverTheServerListens) {
  for (const char* address : {"127.0.0.1:0", "0.0.0.0:0"}) {
    Serve({.address = address, .socket_path = {}});
    for (const char* host :
         {"[", "[::1", "[::1]x", "[localhost]", "localhost:http", "localhost:80:80", "::1",
          "local host", "user@localhost", "localhost/", "http://localhost", "%zz", "a%4"}) {
      EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"),
                  StartsWith("HTTP/1.1 400"))
          << host;
    }
    EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"),
                StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(Ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400"));
    Stop();
    io_.restart();
  }
}

// A browser names a host in every request, so one without any is no page's.
TEST_F(HttpTest, AProbeInHttp10NeedsNoHost) {
  Serve(kLoopback);
  EXPECT_THAT(Ask("GET /status HTTP/1.0\r\n\r\n"), HasSubstr("\r\n\r\n/status"));
  EXPECT_THAT(Ask("HEAD /status HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpTest, GarbageIsAnsweredOnceOrClosedAndNeverServed) {
  Serve(kLoopback);
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte += static_cast<char>(i);
  for (const std::string& garbage :
       {every_byte, std::string("\x16\x03\x01\x02\x00\x01", 6), std::string("GET\r\n\r\n"),
        std::string("GET / HTTP/9.9\r\n\r\n"), std::string("GET / HTTP/1.1\r\nHost\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"),
        std::string("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "5\r\nhello\r\n0\r\n\r\n")}) {
    const RawClient client(server_->port());
    client.Say(garbage);
    client.SayNoMore();
    EXPECT_THAT(client.Hear(), Not(HasSubstr(" 200 "))) << garbage;
  }
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpTest, ARequestThatIsTooLargeIsCutOff) {
  Serve(kLoopback, {.max_connections = 4, .max_request_bytes = 1024, .timeout = base::Seconds(5)});
  const std::string long_field(4000, 'x');
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + long_field + "\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Ask("GET /" + long_field + " HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
}

TEST_F(HttpTest, SlowConnectionsAreClosed) {
  Serve(kLoopback,
        {.max_connections = 4, .max_request_bytes = 1024, .timeout = base::Milliseconds(50)});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Ask("GET / HTTP/1.1\r\nHo"), "");
  EXPECT_EQ(Ask(""), "");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(100));
}

TEST_F(HttpTest, FullServerClosesTheOldestConnectionForANewOne) {
  constexpr std::size_t kRoom = 4;
  Serve(kLoopback,
        {.max_connections = kRoom, .max_request_bytes = 1024, .timeout = base::Seconds(60)});
  std::vector<RawClient> dawdlers;
  for (std::size_t i = 0; i < kRoom; ++i) {
    dawdlers.emplace_back(server_->port());
    dawdlers.back().Say("GET");
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  }
  // The oldest connection was closed; the newest still holds its place.
  EXPECT_EQ(dawdlers.front().Hear(), "");
  dawdlers.back().Say(" / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(dawdlers.back().Hear(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpTest, AUnixSocketIsServedAndRemoved) {
  const HttpPlace place{.address = {}, .socket_path = root_ + "/status.sock"};
  Serve(place);
  EXPECT_EQ(server_->port(), 0);
  const auto got = HttpGet(place, "/status");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->body, "/status");
  Stop();
  EXPECT_FALSE(std::filesystem::exists(place.socket_path));
}

TEST_F(HttpTest, DestroyedWithClientsItClosesThem) {
  Serve(kLoopback, {.max_connections = 4, .max_request_bytes = 1024, .timeout = base::Seconds(60)});
  const RawClient client(server_->port());
  client.Say("GET");
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  Stop();
  EXPECT_EQ(client.Hear(), "");
}

TEST_F(HttpTest, TakenPortIsReported) {
  Serve(kLoopback);
  const std::string taken = "127.0.0.1:" + std::to_string(server_->port());
  const auto second = HttpServer::Make(io_, {.address = taken, .socket_path = {}},
                                       [](std::string_view) { return HttpResponse{}; });
  EXPECT_THAT(base::MessageOf(second.status()), HasSubstr("the port is taken"));
}

TEST(IsLoopbackTest, RecognizesLoopbackAddresses) {
  for (const char* address : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:80"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
  for (const char* address :
       {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "example.org:1", "nonsense", ""}) {
    EXPECT_FALSE(IsLoopback(address)) << address;
  }
}

}  // namespace
}  // namespace ostraka::http::http_server_test

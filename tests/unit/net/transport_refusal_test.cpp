// Who is not let in, and what is said of them. A stranger meets a node whose members are known;
// each must be closed with the reason that helps a person, and none may become a link.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/rsa.h>

#include <optional>

#include "tests/unit/net/transport_raw_peer.h"

namespace ostraka::net::transport_refusal_test {
namespace {

namespace asio = boost::asio;

class TransportRefusal : public ::testing::Test {
 protected:
  TransportRefusal() : node_(1) { node_.options.members = {{TestKey(4)->id(), ""}}; }
  ~TransportRefusal() override { EXPECT_TRUE(node_.links.empty()) << "somebody got in"; }

  void Start() { node_.Start(io_); }
  // Until the node has said `text`, and has let go of whoever it said it of.
  void ExpectNotice(const std::string& text) {
    EXPECT_TRUE(RunUntil(
        io_, [&] { return node_.Noticed(text) && node_.transport->counters().half_open == 0; }))
        << "not said: " << text << "\nsaid: " << node_.AllNotices();
  }
  // A TLS client whose handshake the node refuses; the client may notice only later.
  void TryTls(const RawTls& tls) {
    RawPeer peer(node_.port(), tls.Context());
    RunScript(io_, peer, [&peer] {
      try {
        peer.Tls();
        peer.Upgrade();
      } catch (const boost::system::system_error&) {
        return;
      }
      throw std::runtime_error("the node went on to WebSocket");
    });
  }
  // A member (or not) that says `hello`; returns the reason with which it is closed.
  std::string TryHello(const Hello& hello, std::size_t key_rank = 4) {
    RawPeer peer(node_.port(), *MakeTlsContext(*TestKey(key_rank)));
    std::string reason;
    RunScript(io_, peer, [&] {
      peer.Tls();
      peer.Upgrade();
      peer.Say(hello);
      reason = peer.ReadUntilClosed();
      if (peer.close_code() != 4001) throw std::runtime_error("closed with another code");
    });
    return reason;
  }
  void TryBytes(const std::string& bytes, const std::string& notice) {
    RawPeer peer(node_.port(), RawTls().Context());
    peer.SendBytes(bytes);
    ExpectNotice(notice);
  }

  asio::io_context io_;
  TestNode node_;
};

TEST_F(TransportRefusal, AnotherRun) {
  Start();
  Hello hello = GoodHello();
  hello.run_id = RunId(9);
  const std::string reason =
      "has a manifest that differs from ours: use the same bytes (its run is 0909090909090909, "
      "ours "
      "is 0707070707070707)";
  EXPECT_EQ(TryHello(hello), reason);
  ExpectNotice(TestKey(4)->id().Short());
  ExpectNotice(reason);
}

TEST_F(TransportRefusal, AnotherProtocolVersion) {
  Start();
  Hello hello = GoodHello();
  hello.version = 2;
  EXPECT_EQ(TryHello(hello), "speaks protocol 2, we speak 1");
  ExpectNotice("speaks protocol 2, we speak 1");
}

TEST_F(TransportRefusal, AnotherProtocolVersionWithALongerHello) {
  Start();
  RawPeer peer(node_.port(), *MakeTlsContext(*TestKey(4)));
  RunScript(io_, peer, [&peer] {
    peer.Tls();
    peer.Upgrade();
    Hello hello = GoodHello();
    hello.version = 3;
    base::Bytes longer = EncodeHello(hello);
    longer.resize(200);
    peer.Write(RecordType::kHello, longer);
    peer.ReadUntilClosed();
  });
  ExpectNotice("speaks protocol 3, we speak 1");
}

TEST_F(TransportRefusal, UnprotectedMeetsProtected) {
  Start();
  Hello hello = GoodHello();
  hello.capabilities = kCapabilityUnhashed;
  EXPECT_EQ(TryHello(hello), "runs unprotected, we run protected");
}

TEST_F(TransportRefusal, ProtectedMeetsUnprotected) {
  node_.options.allow_unhashed = true;
  Start();
  EXPECT_EQ(TryHello(GoodHello()), "runs protected, we run unprotected");
}

TEST_F(TransportRefusal, NotAMember) {
  Start();
  EXPECT_EQ(TryHello(GoodHello(), 5), "is not a member of this run");
  ExpectNotice(TestKey(5)->id().Short());
}

TEST_F(TransportRefusal, OurOwnKey) {
  Start();
  RawPeer peer(node_.port(), *MakeTlsContext(*TestKey(1)));
  RunScript(io_, peer, [&peer] { peer.Tls(); });
  ExpectNotice("has our own identity key");
}

TEST_F(TransportRefusal, NoCertificate) {
  Start();
  TryTls({});
  ExpectNotice("showed no Ed25519 certificate");
}

TEST_F(TransportRefusal, RsaCertificate) {
  Start();
  const KeyPtr key(EVP_RSA_gen(2048), &EVP_PKEY_free);
  const CertificatePtr certificate = Certify(key.get(), key.get());
  // OpenSSL finds no signature algorithm in common and so sends none.
  TryTls({.key = key.get(), .certificate = certificate.get()});
  ExpectNotice("showed no Ed25519 certificate");
}

TEST_F(TransportRefusal, CertificateSignedBySomebodyElse) {
  Start();
  const KeyPtr key = Ed25519Key(*TestKey(4));
  const KeyPtr other = Ed25519Key(*TestKey(5));
  const CertificatePtr certificate = Certify(key.get(), other.get());
  TryTls({.key = key.get(), .certificate = certificate.get()});
  ExpectNotice("showed a certificate that its own key did not sign");
}

TEST_F(TransportRefusal, ChainOfCertificates) {
  Start();
  const KeyPtr key = Ed25519Key(*TestKey(4));
  const KeyPtr other = Ed25519Key(*TestKey(5));
  const CertificatePtr certificate = Certify(key.get(), key.get());
  const CertificatePtr extra = Certify(other.get(), other.get());
  TryTls({.key = key.get(), .certificate = certificate.get(), .extra = extra.get()});
  ExpectNotice("showed a chain of certificates");
}

TEST_F(TransportRefusal, WrongAlpn) {
  Start();
  const KeyPtr key = Ed25519Key(*TestKey(4));
  const CertificatePtr certificate = Certify(key.get(), key.get());
  TryTls({.key = key.get(), .certificate = certificate.get(), .alpn = "h2"});
  ExpectNotice("speaks TLS, but not ALPN \"ostraka\"");
}

TEST_F(TransportRefusal, NoAlpn) {
  Start();
  const KeyPtr key = Ed25519Key(*TestKey(4));
  const CertificatePtr certificate = Certify(key.get(), key.get());
  TryTls({.key = key.get(), .certificate = certificate.get(), .alpn = ""});
  ExpectNotice("did not ask for ALPN \"ostraka\"");
}

TEST_F(TransportRefusal, OldTls) {
  Start();
  TryTls({.max_version = TLS1_2_VERSION});
  ExpectNotice("does not speak TLS 1.3");
}

TEST_F(TransportRefusal, PlainHttp) {
  Start();
  TryBytes("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "speaks plain HTTP; this port takes TLS only");
}

TEST_F(TransportRefusal, Junk) {
  Start();
  TryBytes(std::string("\xff\x00\x01junk", 7), "does not speak TLS (its first byte is 0xff)");
  TryBytes("\n", "does not speak TLS (its first byte is 0x0a)");
}

TEST_F(TransportRefusal, JunkThatBeginsLikeTls) {
  Start();
  TryBytes("\x16\x03\x01\xff\xff" + std::string(300, '\xee'), "does not speak TLS");
}

TEST_F(TransportRefusal, LeavesWithoutAWord) {
  Start();
  { RawPeer peer(node_.port(), RawTls().Context()); }
  ExpectNotice("left without a word");
}

TEST_F(TransportRefusal, HttpInsideTls) {
  Start();
  RawPeer peer(node_.port(), *MakeTlsContext(*TestKey(4)));
  RunScript(io_, peer, [&peer] {
    peer.Tls();
    peer.WriteInTls("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  });
  ExpectNotice("does not speak WebSocket");
}

TEST_F(TransportRefusal, SomethingElseThanHello) {
  Start();
  RawPeer peer(node_.port(), *MakeTlsContext(*TestKey(4)));
  RunScript(io_, peer, [&peer] {
    peer.Tls();
    peer.Upgrade();
    peer.Write(RecordType::kControl, {1, 2, 3});
    peer.ReadUntilClosed();
  });
  ExpectNotice("said something else before HELLO");
}

TEST_F(TransportRefusal, AMessageBeforeGo) {
  Start();
  // Key 0 is smaller than ours, so it is the one to say GO.
  node_.transport.reset();
  TestNode node(1);
  node.options.members = {{TestKey(0)->id(), ""}};
  node.Start(io_);
  RawPeer peer(node.port(), *MakeTlsContext(*TestKey(0)));
  RunScript(io_, peer, [&peer] {
    peer.Tls();
    peer.Upgrade();
    peer.Say(GoodHello());
    peer.Write(RecordType::kControl, {1, 2, 3});
    peer.ReadUntilClosed();
  });
  ASSERT_TRUE(RunUntil(io_, [&] { return node.Noticed("said something else before GO"); }));
  EXPECT_TRUE(node.messages.empty());
  EXPECT_TRUE(node.links.empty());
}

TEST_F(TransportRefusal, ALongFirstRecord) {
  Start();
  RawPeer peer(node_.port(), *MakeTlsContext(*TestKey(4)));
  RunScript(io_, peer, [&peer] {
    peer.Tls();
    peer.Upgrade();
    peer.Write(RecordType::kHello, base::Bytes(100'000));
    peer.ReadUntilClosed();
  });
  ExpectNotice("sent a record of more than 256 bytes");
}

// Everyone who dawdles is closed, each with the phase in which it was waited for.
TEST_F(TransportRefusal, Dawdlers) {
  node_.options.timeouts.opening = base::Milliseconds(400);
  node_.options.timeouts.handshake = base::Milliseconds(800);
  node_.options.timeouts.hello = base::Milliseconds(1600);
  Start();
  const TlsContext good = *MakeTlsContext(*TestKey(4));
  RawPeer silent(node_.port(), good);
  RawPeer in_tls(node_.port(), good);
  in_tls.SendBytes("\x16\x03\x01");
  // A whole ClientHello, and no answer to what it is answered.
  RawPeer in_answer(node_.port(), good);
  in_answer.SendBytes(FirstBytesOf(good));
  RawPeer in_upgrade(node_.port(), good);
  RawPeer in_hello(node_.port(), good);
  RunScript(io_, in_upgrade, [&] { in_upgrade.Tls(); });
  RunScript(io_, in_hello, [&] {
    in_hello.Tls();
    in_hello.Upgrade();
  });
  ExpectNotice("said nothing within 400 ms");
  ExpectNotice("did not finish the TLS handshake within 400 ms");
  ExpectNotice("did not finish the TLS handshake within 800 ms");
  ExpectNotice("did not finish the WebSocket upgrade within 800 ms");
  ExpectNotice("said no HELLO within 1600 ms");
}

TEST_F(TransportRefusal, MoreSilentConnectionsThanAllowed) {
  node_.options.admission.waiting = 10;
  Start();
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 15; ++i) {
    peers.push_back(std::make_unique<RawPeer>(node_.port(), RawTls().Context()));
  }
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.transport->counters().accepted == 15; }));
  EXPECT_EQ(node_.transport->counters().half_open, 10u);
  EXPECT_EQ(node_.transport->counters().refused, 5u);
  EXPECT_TRUE(node_.Noticed("gave way to others: it was the oldest of those who had said nothing"));
  peers.clear();
  ASSERT_TRUE(RunUntil(io_, [&] { return node_.transport->counters().half_open == 0; }));
}

// The dialing side is as careful.
TEST_F(TransportRefusal, TheMemberWeDialedIsSomebodyElse) {
  TestNode other(5);
  other.options.members = {{node_.id(), ""}};
  other.Start(io_);
  node_.options.members = {{TestKey(4)->id(), other.address()}};
  Start();
  ExpectNotice("is " + TestKey(5)->id().Short() + ", not the " + TestKey(4)->id().Short());
}

TEST_F(TransportRefusal, TheMemberWeDialedHasAnRsaCertificate) {
  const KeyPtr key(EVP_RSA_gen(2048), &EVP_PKEY_free);
  const CertificatePtr certificate = Certify(key.get(), key.get());
  const RawTls tls{.key = key.get(), .certificate = certificate.get()};
  asio::io_context io;
  asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  const std::string address = "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
  node_.options.members = {{TestKey(4)->id(), address}};
  Start();
  const TlsContext context = tls.Context();
  SSL_CTX_up_ref(context.get());
  asio::ssl::context wrapped(context.get());
  auto server = std::async(std::launch::async, [&] {
    asio::ssl::stream<asio::ip::tcp::socket> stream(acceptor.accept(), wrapped);
    boost::system::error_code refused;
    stream.handshake(asio::ssl::stream_base::server, refused);
    return refused.failed();
  });
  ExpectNotice("has no Ed25519 certificate");
  EXPECT_TRUE(server.get());
}

TEST_F(TransportRefusal, TheMemberWeDialedSpeaksNoTls) {
  asio::io_context io;
  asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  const std::string address = "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
  node_.options.members = {{TestKey(4)->id(), address}};
  Start();
  auto server = std::async(std::launch::async, [&] {
    asio::ip::tcp::socket socket = acceptor.accept();
    asio::write(socket, asio::buffer(std::string("HTTP/1.1 400 Bad Request\r\n\r\n")));
    return socket;
  });
  ExpectNotice("does not speak TLS");
  server.get();
}

TEST(TransportMake, PortTakenIsOneLineThatSaysWhatToDo) {
  asio::io_context io;
  TestNode first(0), second(1);
  first.Start(io);
  second.options.listen = first.address();
  const int unused = std::exchange(second.options.listen_fd, -1);
  TransportEvents events;
  events.message = [](const PeerId&, base::SharedBytes, crypto::SharedBlob) {};
  events.link = [](const PeerId&, bool) {};
  const auto made = Transport::Make(io, second.options, events);
  second.options.listen_fd = unused;
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), absl::StatusCode::kUnavailable);
  const std::string message = base::MessageOf(made.status());
  EXPECT_THAT(message, ::testing::HasSubstr(first.address() + ": the port is taken"));
  EXPECT_THAT(message, ::testing::HasSubstr("choose another port"));
  EXPECT_THAT(message, ::testing::Not(::testing::HasSubstr("\n")));
}

TEST(TransportMake, MembersMustMakeSense) {
  asio::io_context io;
  TransportEvents events;
  events.message = [](const PeerId&, base::SharedBytes, crypto::SharedBlob) {};
  events.link = [](const PeerId&, bool) {};
  const auto message_for = [&](std::vector<TransportMember> members) {
    TransportOptions options;
    options.key = TestKey(0);
    options.members = std::move(members);
    const auto made = Transport::Make(io, options, events);
    return made.ok() ? "ok" : base::MessageOf(made.status());
  };
  const PeerId peer = TestKey(1)->id();
  EXPECT_EQ(message_for({{peer, "127.0.0.1:1"}, {TestKey(0)->id(), "127.0.0.1:2"}}), "ok");
  EXPECT_THAT(message_for({{peer, "127.0.0.1"}}), ::testing::HasSubstr("write host:port"));
  EXPECT_THAT(message_for({{peer, "127.0.0.1:0"}}), ::testing::HasSubstr("port 0"));
  EXPECT_THAT(message_for({{peer, ""}, {peer, ""}}), ::testing::HasSubstr("named twice"));
}

}  // namespace
}  // namespace ostraka::net::transport_refusal_test

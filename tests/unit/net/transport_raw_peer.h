// A peer that speaks the channel by hand and can say anything: blocking Beast, in a thread of its
// own beside the io_context of the transport under test.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "node/base/bytes.h"
#include "node/net/link/tls_identity.h"
#include "node/net/records/hello.h"
#include "node/net/records/record.h"
#include "tests/unit/net/transport_net.h"

namespace ostraka::net {

using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using CertificatePtr = std::unique_ptr<X509, decltype(&X509_free)>;

KeyPtr Ed25519Key(const crypto::SigningKey& key);
// A certificate for `key`, signed by `signer`.
CertificatePtr Certify(EVP_PKEY* key, EVP_PKEY* signer);

// What a raw peer brings to TLS. By default nothing that the transport would accept.
struct RawTls {
  EVP_PKEY* key = nullptr;  // null: no certificate
  X509* certificate = nullptr;
  X509* extra = nullptr;         // sent after it
  std::string alpn = "ostraka";  // empty: none
  std::string run = {};          // offered after it, unless empty (AlpnOfRun)
  int max_version = TLS1_3_VERSION;
  TlsContext Context() const;
};

class RawPeer {
 public:
  using Stream =
      boost::beast::websocket::stream<boost::beast::ssl_stream<boost::asio::ip::tcp::socket>>;

  // Connects to 127.0.0.1:`port`.
  RawPeer(std::uint16_t port, const TlsContext& tls);

  void Tls();
  void Upgrade();
  void SendBytes(const std::string& bytes);   // on the bare socket
  void WriteInTls(const std::string& bytes);  // after Tls, instead of Upgrade
  void Say(const Hello& hello) { Write(RecordType::kHello, EncodeHello(hello)); }
  void Write(RecordType type, const base::Bytes& body);
  void WriteBytes(const base::Bytes& message, bool binary = true);
  // The body of the next record. REQUIRES: it has this type (else throws).
  base::Bytes Read(RecordType type);
  // The reason with which the other side closes; what comes before is dropped.
  std::string ReadUntilClosed();
  std::uint16_t close_code() const { return stream_.reason().code; }

  Hello ReadHello();
  // All the way to a link; returns its id. `decides`: this peer's id is the smaller.
  std::uint64_t Link(const Hello& hello, bool decides, std::uint64_t link_id = 1);

  // Unblocks a thread that reads.
  void ShutDown();

 private:
  boost::asio::io_context io_;
  boost::asio::ssl::context tls_;
  Stream stream_;
};

// What a client with that context sends first: its ClientHello.
std::string FirstBytesOf(const TlsContext& tls);

// What well-formed peers say in these tests.
Hello GoodHello(std::uint64_t instance = 1, std::uint64_t lost_link = 0);
// The body of an ANNOUNCE.
base::Bytes Announcement(std::uint64_t blob_bytes, const base::Digest& root,
                         const std::string& frame = "frame");
// The body of a LEAVES record with all leaves of `data`.
base::Bytes LeavesOf(const base::Bytes& data);

// Runs `script` in a thread while the transport's io_context runs here; fails the test if it throws
// or does not end.
void RunScript(boost::asio::io_context& io, RawPeer& peer, const std::function<void()>& script);

}  // namespace ostraka::net

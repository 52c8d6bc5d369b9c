#include "tests/unit/net/transport_raw_peer.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <array>
#include <stdexcept>

#include "node/base/check.h"
#include "node/base/little_endian.h"

namespace ostraka::net {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;

asio::ssl::context Wrap(const TlsContext& tls) {
  SSL_CTX_up_ref(tls.get());
  return asio::ssl::context(tls.get());
}

}  // namespace

KeyPtr Ed25519Key(const crypto::SigningKey& key) {
  return {EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, key.seed().data(), 32),
          &EVP_PKEY_free};
}

CertificatePtr Certify(EVP_PKEY* key, EVP_PKEY* signer) {
  CertificatePtr certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  const bool is_edwards = EVP_PKEY_get_base_id(signer) == EVP_PKEY_ED25519 ||
                          EVP_PKEY_get_base_id(signer) == EVP_PKEY_ED448;
  OSTRAKA_CHECK(X509_sign(certificate.get(), signer, is_edwards ? nullptr : EVP_sha256()) > 0);
  return certificate;
}

TlsContext RawTls::Context() const {
  const TlsContext context(SSL_CTX_new(TLS_method()), &SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), max_version);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  if (key != nullptr) {
    OSTRAKA_CHECK(SSL_CTX_use_certificate(context.get(), certificate) == 1);
    OSTRAKA_CHECK(SSL_CTX_use_PrivateKey(context.get(), key) == 1);
  }
  if (extra != nullptr) OSTRAKA_CHECK(SSL_CTX_add1_chain_cert(context.get(), extra) == 1);
  if (!alpn.empty()) {
    std::string list = static_cast<char>(alpn.size()) + alpn;
    if (!run.empty()) list += static_cast<char>(run.size()) + run;
    SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(list.data()),
                            static_cast<unsigned>(list.size()));
  }
  return context;
}

RawPeer::RawPeer(std::uint16_t port, const TlsContext& tls) : tls_(Wrap(tls)), stream_(io_, tls_) {
  auto& socket = boost::beast::get_lowest_layer(stream_);
  socket.connect({asio::ip::address_v4::loopback(), port});
  socket.set_option(asio::ip::tcp::no_delay(true));
}

void RawPeer::Tls() { stream_.next_layer().handshake(asio::ssl::stream_base::client); }

void RawPeer::Upgrade() {
  stream_.binary(true);
  stream_.auto_fragment(false);
  stream_.handshake("localhost", "/");
}

void RawPeer::SendBytes(const std::string& bytes) {
  asio::write(boost::beast::get_lowest_layer(stream_), asio::buffer(bytes));
}

void RawPeer::WriteInTls(const std::string& bytes) {
  asio::write(stream_.next_layer(), asio::buffer(bytes));
}

void RawPeer::Write(RecordType type, const base::Bytes& body) {
  base::Bytes record = {static_cast<std::uint8_t>(type)};
  record.insert(record.end(), body.begin(), body.end());
  WriteBytes(record);
}

void RawPeer::WriteBytes(const base::Bytes& message, bool binary) {
  stream_.binary(binary);
  stream_.write(asio::buffer(message.data(), message.size()));
}

base::Bytes RawPeer::Read(RecordType type) {
  while (true) {
    boost::beast::flat_buffer buffer;
    const std::size_t size = stream_.read(buffer);
    const auto* data = static_cast<const std::uint8_t*>(buffer.data().data());
    if (size == 0) throw std::runtime_error("an empty record came");
    if (data[0] == static_cast<std::uint8_t>(type)) return {data + 1, data + size};
    // Credit comes at any time.
    if (data[0] != static_cast<std::uint8_t>(RecordType::kCredit)) {
      throw std::runtime_error("a record of another type came");
    }
  }
}

std::string RawPeer::ReadUntilClosed() {
  boost::system::error_code ec;
  while (!ec) {
    boost::beast::flat_buffer buffer;
    stream_.read(buffer, ec);
  }
  if (ec != websocket::error::closed) throw boost::system::system_error(ec);
  return std::string(stream_.reason().reason.data(), stream_.reason().reason.size());
}

Hello RawPeer::ReadHello() {
  const auto hello = DecodeHello(Read(RecordType::kHello), 1);
  if (!hello.ok()) throw std::runtime_error(base::MessageOf(hello.status()));
  return *hello;
}

std::uint64_t RawPeer::Link(const Hello& hello, bool decides, std::uint64_t link_id) {
  Tls();
  Upgrade();
  Say(hello);
  ReadHello();
  if (!decides) return base::ReadLittleEndian(Read(RecordType::kGo));
  base::Bytes body;
  base::AppendLittleEndian(body, link_id, 8);
  Write(RecordType::kGo, body);
  return link_id;
}

void RawPeer::ShutDown() {
  ::shutdown(boost::beast::get_lowest_layer(stream_).native_handle(), SHUT_RDWR);
}

std::string FirstBytesOf(const TlsContext& tls) {
  SSL* ssl = SSL_new(tls.get());
  BIO* out = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl, BIO_new(BIO_s_mem()), out);
  SSL_set_connect_state(ssl);
  SSL_do_handshake(ssl);  // wants an answer, which never comes
  char* data = nullptr;
  const long size = BIO_get_mem_data(out, &data);
  std::string bytes(data, static_cast<std::size_t>(size));
  SSL_free(ssl);
  return bytes;
}

Hello GoodHello(std::uint64_t instance, std::uint64_t lost_link) {
  return {.version = 1,
          .run_id = RunId(7),
          .capabilities = 0,
          .instance = instance,
          .lost_link = lost_link};
}

base::Bytes Announcement(std::uint64_t blob_bytes, const base::Digest& root,
                         const std::string& frame) {
  base::Bytes body;
  base::AppendLittleEndian(body, blob_bytes, 8);
  body.insert(body.end(), root.bytes.begin(), root.bytes.end());
  body.insert(body.end(), frame.begin(), frame.end());
  return body;
}

base::Bytes LeavesOf(const base::Bytes& data) {
  base::Bytes body;
  for (const base::Digest& leaf : crypto::ChunkLeaves(data)) {
    body.insert(body.end(), leaf.bytes.begin(), leaf.bytes.end());
  }
  return body;
}

void RunScript(asio::io_context& io, RawPeer& peer, const std::function<void()>& script) {
  std::future<void> ended = std::async(std::launch::async, script);
  const auto is_ready = [&ended] {
    return ended.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  if (!RunUntil(io, is_ready)) {
    ADD_FAILURE() << "the script did not end";
    peer.ShutDown();
  }
  try {
    ended.get();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "the script failed: " << error.what();
  }
}

}  // namespace ostraka::net

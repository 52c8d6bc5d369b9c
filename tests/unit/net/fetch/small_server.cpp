#include "tests/unit/net/fetch/small_server.h"

#include <netinet/in.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "node/base/check.h"

namespace ostraka::net::fetch_testing {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Sheet = std::unique_ptr<X509, decltype(&X509_free)>;
using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

constexpr long kCertificateSeconds = 24 * 60 * 60;
constexpr std::size_t kMostHead = 64 * 1024;

std::string TextOf(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return {data, static_cast<std::size_t>(size)};
}

Memory Reading(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

os::Descriptor Bind(std::uint16_t& port) {
  os::Descriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&at);
  OSTRAKA_CHECK(fd.ok() && bind(fd.get(), any, sizeof at) == 0);
  socklen_t size = sizeof at;
  OSTRAKA_CHECK(getsockname(fd.get(), any, &size) == 0);
  port = ntohs(at.sin_port);
  return fd;
}

}  // namespace

bool Peer::Say(std::string_view text) const {
  while (!text.empty()) {
    const long sent = tls_ != nullptr ? SSL_write(tls_, text.data(), static_cast<int>(text.size()))
                                      : send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

long Peer::Receive(char* data, std::size_t size) const {
  if (tls_ != nullptr) return SSL_read(tls_, data, static_cast<int>(size));
  return recv(fd_, data, size, 0);
}

void Peer::WaitForEnd() const {
  char lost[4096];
  while (Receive(lost, sizeof lost) > 0) continue;
}

std::string Peer::HearHead() const {
  std::string head;
  char byte = 0;
  while (head.size() < kMostHead && Receive(&byte, 1) == 1) {
    head += byte;
    if (head.ends_with("\r\n\r\n")) return head;
  }
  return {};
}

Certificate MakeTlsCertificate(const std::string& names) {
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const Sheet sheet(X509_new(), &X509_free);
  X509_set_version(sheet.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(sheet.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(sheet.get()), -kCertificateSeconds);
  X509_gmtime_adj(X509_getm_notAfter(sheet.get()), kCertificateSeconds);
  X509_set_pubkey(sheet.get(), key.get());
  X509_NAME* const name = X509_get_subject_name(sheet.get());
  const auto* const common = reinterpret_cast<const unsigned char*>("a test");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common, -1, -1, 0);
  X509_set_issuer_name(sheet.get(), name);
  X509_EXTENSION* const also =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
  X509_add_ext(sheet.get(), also, -1);
  X509_EXTENSION_free(also);
  OSTRAKA_CHECK(X509_sign(sheet.get(), key.get(), EVP_sha256()) > 0);
  const Memory certificate(BIO_new(BIO_s_mem()), &BIO_free);
  const Memory secret(BIO_new(BIO_s_mem()), &BIO_free);
  PEM_write_bio_X509(certificate.get(), sheet.get());
  PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return {TextOf(certificate.get()), TextOf(secret.get())};
}

SmallServer::SmallServer(Handler handler) : handler_(std::move(handler)), listening_(Bind(port_)) {
  OSTRAKA_CHECK(listen(listening_.get(), SOMAXCONN) == 0);
  thread_ = std::thread([this] { Accept(); });
}

SmallServer::SmallServer(Handler handler, const Certificate& certificate)
    : handler_(std::move(handler)),
      tls_(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free),
      listening_(Bind(port_)) {
  std::signal(SIGPIPE, SIG_IGN);  // SSL_write to a client that is gone
  const Memory pem = Reading(certificate.pem);
  const Memory secret = Reading(certificate.key_pem);
  const Sheet sheet(PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr), &X509_free);
  const Key key(PEM_read_bio_PrivateKey(secret.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  OSTRAKA_CHECK(SSL_CTX_use_certificate(tls_.get(), sheet.get()) == 1 &&
                SSL_CTX_use_PrivateKey(tls_.get(), key.get()) == 1);
  OSTRAKA_CHECK(listen(listening_.get(), SOMAXCONN) == 0);
  thread_ = std::thread([this] { Accept(); });
}

SmallServer::~SmallServer() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  shutdown(listening_.get(), SHUT_RDWR);
  thread_.join();
  for (std::thread& talk : talks_) talk.join();
}

std::string SmallServer::Url(const std::string& scheme) const {
  return scheme + "://127.0.0.1:" + std::to_string(port_) + "/";
}

std::vector<std::string> SmallServer::heads() const {
  const std::lock_guard lock(mutex_);
  return heads_;
}

void SmallServer::Accept() {
  for (;;) {
    const int fd = accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    ++accepted_;
    const std::lock_guard lock(mutex_);
    open_.push_back(fd);
    if (stopped_) shutdown(fd, SHUT_RDWR);
    talks_.emplace_back([this, fd] { Serve(fd); });
  }
}

void SmallServer::Serve(int fd) {
  if (tls_ == nullptr) {
    Talk({fd, nullptr});
  } else {
    const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(tls_.get()), &SSL_free);
    SSL_set_fd(tls.get(), fd);
    if (SSL_accept(tls.get()) == 1) Talk({fd, tls.get()});
  }
  const std::lock_guard lock(mutex_);
  std::erase(open_, fd);
  close(fd);
}

void SmallServer::Talk(const Peer& peer) {
  for (;;) {
    const std::string head = peer.HearHead();
    if (head.empty()) return;
    {
      const std::lock_guard lock(mutex_);
      heads_.push_back(head);
    }
    if (!handler_(peer, head)) return;
  }
}

std::string PathOf(const std::string& head) {
  const std::size_t begin = head.find(' ') + 1;
  return head.substr(begin, head.find(' ', begin) - begin);
}

std::string FieldOf(const std::string& head, const std::string& name) {
  const std::size_t found = head.find("\r\n" + name + ": ");
  if (found == std::string::npos) return "(none)";
  const std::size_t begin = found + name.size() + 4;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

os::Descriptor HoldPort(std::uint16_t& port) { return Bind(port); }

}  // namespace ostraka::net::fetch_testing

// A server on 127.0.0.1 that answers what a test tells it to, byte for byte.
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "node/os/descriptor.h"

namespace ostraka::net::fetch_testing {

// The server's end of a connection.
class Peer {
 public:
  Peer(int fd, SSL* tls) : fd_(fd), tls_(tls) {}
  // False: the client is gone.
  bool Say(std::string_view text) const;
  // Until the client closes, or the server is stopped; what it says meanwhile is lost.
  void WaitForEnd() const;
  // Up to the empty line; empty: the client is gone.
  std::string HearHead() const;

 private:
  long Receive(char* data, std::size_t size) const;

  const int fd_;
  SSL* const tls_;
};

// Called with each head that comes. False: the server closes the connection.
using Handler = std::function<bool(const Peer& peer, const std::string& head)>;

struct Certificate {
  std::string pem;  // signed by itself
  std::string key_pem;
};
// `names`: as OpenSSL writes them, such as "IP:127.0.0.1" or "DNS:example.org".
Certificate MakeTlsCertificate(const std::string& names);

class SmallServer {
 public:
  explicit SmallServer(Handler handler);
  SmallServer(Handler handler, const Certificate& certificate);
  ~SmallServer();
  SmallServer(const SmallServer&) = delete;
  SmallServer& operator=(const SmallServer&) = delete;

  std::uint16_t port() const { return port_; }
  // "http://127.0.0.1:PORT/", or with another scheme.
  std::string Url(const std::string& scheme = "http") const;
  int accepted() const { return accepted_; }
  std::vector<std::string> heads() const;

 private:
  using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
  void Accept();
  void Serve(int fd);
  void Talk(const Peer& peer);

  const Handler handler_;
  Context tls_{nullptr, &SSL_CTX_free};
  std::uint16_t port_ = 0;
  os::Descriptor listening_;  // sets port_
  std::atomic<int> accepted_ = 0;
  mutable std::mutex mutex_;  // of what follows
  bool stopped_ = false;
  std::vector<int> open_;
  std::vector<std::string> heads_;
  std::vector<std::thread> talks_;
  std::thread thread_;
};

// The path of a head's first line; a header's value, or "(none)".
std::string PathOf(const std::string& head);
std::string FieldOf(const std::string& head, const std::string& name);

// A port of 127.0.0.1 at which nobody listens, held while the descriptor lives.
os::Descriptor HoldPort(std::uint16_t& port);

}  // namespace ostraka::net::fetch_testing

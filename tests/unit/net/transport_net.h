// Transports on real sockets of 127.0.0.1, all on one io_context, and what they reported.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crypto/merkle.h"
#include "crypto/sign.h"
#include "node/net/mesh/transport.h"

namespace ostraka::net {

// Deterministic and distinct; sorted by id, so that key 0 has the smallest.
std::shared_ptr<const crypto::SigningKey> TestKey(std::size_t rank);
inline constexpr std::size_t kTestKeys = 8;

base::SharedBytes Frame(const std::string& text);
// `size` bytes that differ from place to place.
crypto::SharedBlob TestBlob(std::size_t size, std::uint8_t seed = 1);
base::Digest RunId(std::uint8_t fill);

struct Received {
  PeerId from;
  std::string frame;
  crypto::SharedBlob blob;
};

// One transport and its log.
class TestNode {
 public:
  // Short timeouts and no stagger; `options` may be edited before Start.
  explicit TestNode(std::size_t key_rank);
  ~TestNode();

  // Binds (options.listen_fd unless the test chose otherwise) and starts.
  void Start(boost::asio::io_context& io);
  // Gone without a word, as a process that is killed; the port stays ours for the next Start.
  void Kill();

  const PeerId& id() const { return options.key->id(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::uint16_t port() const { return port_; }
  TransportMember AsMember() const { return {id(), address()}; }
  // True if a notice contains `text`.
  bool Noticed(const std::string& text) const;
  std::string AllNotices() const;
  std::size_t Ups() const;
  std::size_t Downs() const;

  TransportOptions options;
  std::unique_ptr<Transport> transport;
  std::vector<Received> messages;
  std::vector<std::pair<PeerId, bool>> links;
  std::vector<std::string> notices;
  std::function<void(const Received&)> on_message;      // may be null
  std::function<void(const PeerId&, bool up)> on_link;  // likewise
  std::function<void(const PeerId&, const DialBackRecord&)> on_dial_back;
  std::function<void(const PeerId&, const DataRecord&)> on_data;

 private:
  int keep_fd_ = -1;  // a duplicate of the listening socket, so that nobody takes the port
  std::uint16_t port_ = 0;
};

// Each node gets all of them as members.
void Introduce(const std::vector<TestNode*>& nodes);

// Runs `io` until `condition` holds; false if it does not within the deadline.
bool RunUntil(boost::asio::io_context& io, const std::function<bool()>& condition,
              Duration deadline = base::Seconds(20));

}  // namespace ostraka::net

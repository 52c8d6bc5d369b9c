// Every connection of a node, from its making until its socket is closed, and what they share: the
// settings and the two rates.
//
// Promises:
//   N1  A connection that was made here is held until Release, so that its events find it.
//   N2  After the destructor no connection calls its owner.
//
// May not know: which connection is a link, members, admission.
//
// Memory: the connections (transport.h). The callers bound their number.
//
// What an attacker can do here: nothing; admission decides who gets a connection.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node/net/link/connection.h"
#include "node/net/link/pacer.h"
#include "node/net/mesh/transport.h"

namespace ostraka::net {

class ConnectionPool {
 public:
  // REQUIRES: `owner` outlives the pool.
  ConnectionPool(boost::asio::io_context& io, const TransportOptions& options, TlsContext tls,
                 ConnectionOwner& owner);
  ~ConnectionPool();
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  // Both return a connection that the caller must Start.
  std::shared_ptr<Connection> Accept(Caller caller);
  std::shared_ptr<Connection> Dial(const PeerId& expected, const std::string& address);

  // The reference to a connection of this pool. REQUIRES: it was not released.
  const std::shared_ptr<Connection>& At(const Connection& connection) const;
  // The connections whose id is `peer`: proven, or dialed for it.
  std::vector<std::shared_ptr<Connection>> Of(const PeerId& peer) const;
  std::vector<std::shared_ptr<Connection>> All() const;
  // The socket is closed. REQUIRES: it was not released.
  void Release(const Connection& connection);

  const LinkLimits& limits() const { return settings_.limits; }
  std::size_t size() const { return open_.size(); }
  bool empty() const { return open_.empty(); }

 private:
  std::shared_ptr<Connection> Keep(std::shared_ptr<Connection> connection);

  boost::asio::io_context& io_;
  Pacer sending_;
  Pacer receiving_;
  Pacer from_guests_;
  const ConnectionSettings settings_;
  ConnectionOwner& owner_;
  std::map<const Connection*, std::shared_ptr<Connection>> open_;
};

}  // namespace ostraka::net

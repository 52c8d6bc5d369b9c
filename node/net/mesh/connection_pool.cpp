#include "node/net/mesh/connection_pool.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/net/records/record.h"

namespace ostraka::net {
namespace {

// The limits with defaults resolved from the other options.
LinkLimits EffectiveLimits(const TransportOptions& options) {
  LinkLimits limits = options.link;
  if (limits.bulk_queue_bytes == 0) {
    constexpr std::uint64_t kBlobs = 64;
    constexpr std::uint64_t kLeast = std::uint64_t{64} << 20;
    limits.bulk_queue_bytes = std::max(kLeast, options.max_blob_bytes > ~std::uint64_t{0} / kBlobs
                                                   ? ~std::uint64_t{0}
                                                   : kBlobs * options.max_blob_bytes);
  }
  // Granted bulk arrives at once, so under a rate cap the credit must be small.
  if (options.max_bytes_per_second > 0) limits.credit_bytes = kInitialCredit;
  limits.credit_bytes = std::max(limits.credit_bytes, kInitialCredit);
  return limits;
}

// Guests ask, and have next to nothing to say.
std::uint64_t GuestRate(const TransportOptions& options) {
  constexpr std::uint64_t kUsual = 4 << 20;
  if (options.max_bytes_per_second == 0) return kUsual;
  return std::max<std::uint64_t>(1, options.max_bytes_per_second / Pacer::kGuestsOneIn);
}

}  // namespace

ConnectionPool::ConnectionPool(boost::asio::io_context& io, const TransportOptions& options,
                               TlsContext tls, ConnectionOwner& owner)
    : io_(io),
      sending_(io, options.max_bytes_per_second),
      receiving_(io, options.max_bytes_per_second),
      from_guests_(io, GuestRate(options)),
      settings_{.tls = std::move(tls),
                .sending = &sending_,
                .receiving = &receiving_,
                .from_guests = &from_guests_,
                .max_blob_bytes = options.max_blob_bytes,
                .allow_unhashed = options.allow_unhashed,
                .timeouts = options.timeouts,
                .limits = EffectiveLimits(options)},
      owner_(owner) {}

ConnectionPool::~ConnectionPool() {
  for (const auto& [key, connection] : open_) connection->Abandon();  // N2
}

std::shared_ptr<Connection> ConnectionPool::Accept(Caller caller) {
  return Keep(Connection::Accepted(io_, settings_, owner_, std::move(caller)));
}

std::shared_ptr<Connection> ConnectionPool::Dial(const PeerId& expected,
                                                 const std::string& address) {
  return Keep(Connection::Dialed(io_, settings_, owner_, expected, address));
}

std::shared_ptr<Connection> ConnectionPool::Keep(std::shared_ptr<Connection> connection) {
  const bool is_new = open_.emplace(connection.get(), connection).second;
  OSTRAKA_CHECK(is_new);  // N1
  return connection;
}

const std::shared_ptr<Connection>& ConnectionPool::At(const Connection& connection) const {
  const auto found = open_.find(&connection);
  OSTRAKA_CHECK(found != open_.end());  // N1
  return found->second;
}

std::vector<std::shared_ptr<Connection>> ConnectionPool::Of(const PeerId& peer) const {
  std::vector<std::shared_ptr<Connection>> found;
  for (const auto& [key, connection] : open_) {
    if (connection->peer() == peer) found.push_back(connection);
  }
  return found;
}

std::vector<std::shared_ptr<Connection>> ConnectionPool::All() const {
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& [key, connection] : open_) all.push_back(connection);
  return all;
}

void ConnectionPool::Release(const Connection& connection) {
  OSTRAKA_CHECK(open_.erase(&connection) == 1);  // N1
}

}  // namespace ostraka::net

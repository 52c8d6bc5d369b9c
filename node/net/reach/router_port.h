// The port that this node asks its router for (node/net/portmap), and what became of it, for people
// and for what is announced.
//
// Promises:
//   P1  `outside` is what the router granted last, until its time has passed without a renewal.
//   P2  Each piece of news is one notice, a renewal of the same address none.
//
// May not know: the DHT, links.
// Memory: one address and one line.
// What an attacker can do here: as portmap/port_mapping.h says.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/base/time.h"
#include "node/net/mesh/notices.h"
#include "node/net/portmap/port_mapping.h"

namespace ostraka::net {

struct RouterPortStatus {
  bool asked = false;
  std::optional<dht::Endpoint> outside;  // leads to this node
  std::string problem;                   // one line; empty: none
};

class RouterPort {
 public:
  using Notice = std::function<void(NoticeLevel level, const std::string& line)>;

  explicit RouterPort(Notice notice) : notice_(std::move(notice)) {}

  // `mapper`: the program and its first arguments; this adds the port. `udp`: that port, too.
  void Start(boost::asio::io_context& io, std::vector<std::string> mapper, std::uint16_t port,
             bool udp);
  void Stop() { mapping_.reset(); }
  // P1 as of `now`.
  RouterPortStatus StatusAt(base::Time now) const;
  // Nothing is known of a router that was not asked; a forwarded address is public.
  void CheckInvariants() const;

 private:
  void OnMapped(const MappingNews& news);
  void OnFailed(const std::string& why);

  const Notice notice_;
  std::unique_ptr<PortMapping> mapping_;
  RouterPortStatus status_;
  base::Time until_;  // of status_.outside
};

}  // namespace ostraka::net

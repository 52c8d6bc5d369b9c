// A port that the router forwards to this node, kept forwarded for as long as this object lives:
// the parent's side of the port mapper, which is another process (mapper_child.h).
//
// Promises:
//   M1  `mapped` and `failed` get only what ParseMappingNews lets through; a mapper that writes
//       anything else, or more than kMostNewsBytes without a line end, is not listened to again.
//   M2  No callback comes within a call, nor after the destructor.
//   M3  `failed` comes once more when the mapper has ended, and then nothing.
//
// May not know: the DHT, links, the key.
// Memory: one line.
// What an attacker can do here: as the router, have this node announce a public address that leads
// to somebody else. Whoever dials it finds a host without the key, once each back-off.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/net/portmap/mapping_news.h"

namespace boost::asio {
class io_context;
}

namespace ostraka::net {

struct PortMappingEvents {
  std::function<void(const MappingNews& news)> mapped;  // again at each renewal
  std::function<void(const std::string& why)> failed;
};

class PortMapping {
 public:
  // `command`: the program and its arguments, such as "/proc/self/exe", "portmap", "--keep".
  // Unavailable: as from StartMapper. REQUIRES: both events are set.
  static base::StatusOr<std::unique_ptr<PortMapping>> Start(boost::asio::io_context& io,
                                                            const std::vector<std::string>& command,
                                                            PortMappingEvents events);
  // Tells the mapper to end the forwarding, and does not wait for it.
  ~PortMapping();
  PortMapping(const PortMapping&) = delete;
  PortMapping& operator=(const PortMapping&) = delete;

 private:
  struct State;
  explicit PortMapping(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace ostraka::net

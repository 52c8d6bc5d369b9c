#include "node/net/reach/router_port.h"

#include <utility>

#include "node/base/check.h"
#include "node/os/steady_clock.h"

namespace ostraka::net {

void RouterPort::Start(boost::asio::io_context& io, std::vector<std::string> mapper,
                       std::uint16_t port, bool udp) {
  status_.asked = true;
  mapper.insert(mapper.end(), {"--port", std::to_string(port)});
  if (udp) mapper.emplace_back("--udp");
  auto started = PortMapping::Start(io, mapper,
                                    {.mapped = [this](const MappingNews& news) { OnMapped(news); },
                                     .failed = [this](const std::string& why) { OnFailed(why); }});
  if (!started.ok()) return OnFailed(base::MessageOf(started.status()));
  mapping_ = *std::move(started);
}

RouterPortStatus RouterPort::StatusAt(base::Time now) const {
  RouterPortStatus status = status_;
  if (status.outside && now >= until_) status.outside.reset();
  return status;
}

void RouterPort::OnMapped(const MappingNews& news) {
  const bool is_new = status_.outside != news.outside || !status_.problem.empty();
  status_ = {true, news.outside, {}};
  until_ = os::SteadyNow() + base::Seconds(news.seconds);
  if (is_new) {
    notice_(NoticeLevel::kInfo,
            "the router forwards " + dht::TextOf(news.outside) + " to this node");
  }
  CheckInvariants();
}

void RouterPort::OnFailed(const std::string& why) {
  if (std::exchange(status_.problem, why) == why) return;
  notice_(NoticeLevel::kWarning, "no port is forwarded by the router: " + why +
                                     "; forward it by hand if others cannot reach this node");
}

void RouterPort::CheckInvariants() const {
  OSTRAKA_CHECK(status_.asked || (!status_.outside && status_.problem.empty()));
  OSTRAKA_CHECK(!status_.outside || dht::ScopeOf(*status_.outside) == dht::Scope::kPublic);
}

}  // namespace ostraka::net

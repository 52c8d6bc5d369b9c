#include "node/net/portmap/port_mapping.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/error_code.hpp>
#include <utility>

#include "node/base/check.h"
#include "node/net/portmap/mapper_child.h"

namespace ostraka::net {

struct PortMapping::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& io, MapperChild child, PortMappingEvents all)
      : to(std::move(child.to)), from(io, child.from.Release()), events(std::move(all)) {}

  void Read() {
    from.async_read_some(boost::asio::buffer(bytes),
                         [self = std::weak_ptr<State>(shared_from_this())](
                             const boost::system::error_code& error, std::size_t count) {
                           if (const auto alive = self.lock()) alive->OnRead(!error, count);
                         });
  }

  void OnRead(bool ok, std::size_t count) {
    if (!ok) return End("it has ended");
    // A callback may destroy the mapping.
    const std::shared_ptr<State> alive = shared_from_this();
    partial.append(bytes.data(), count);
    for (std::size_t end = partial.find('\n'); end != std::string::npos; end = partial.find('\n')) {
      const auto news = ParseMappingNews(std::string_view(partial).substr(0, end));
      partial.erase(0, end + 1);
      if (!news.ok()) return End(base::MessageOf(news.status()));
      if (news->failure.empty()) {
        events.mapped(*news);
      } else {
        events.failed(news->failure);
      }
      if (!from.is_open()) return;
    }
    if (partial.size() > kMostNewsBytes) return End("it writes no lines");
    Read();
  }

  void End(const std::string& why) {
    Close();
    events.failed("the port mapper is off: " + why);
  }

  void Close() {
    boost::system::error_code ignored;  // nothing is written to it
    from.close(ignored);
    to = os::Descriptor(-1);
  }

  os::Descriptor to;
  boost::asio::posix::stream_descriptor from;
  const PortMappingEvents events;
  std::array<char, kMostNewsBytes> bytes{};
  std::string partial;
};

PortMapping::PortMapping(std::shared_ptr<State> state) : state_(std::move(state)) {}

PortMapping::~PortMapping() { state_->Close(); }

base::StatusOr<std::unique_ptr<PortMapping>> PortMapping::Start(
    boost::asio::io_context& io, const std::vector<std::string>& command,
    PortMappingEvents events) {
  OSTRAKA_CHECK(events.mapped && events.failed);
  ASSIGN_OR_RETURN(MapperChild child, StartMapper(command));
  auto state = std::make_shared<State>(io, std::move(child), std::move(events));
  state->Read();
  return std::unique_ptr<PortMapping>(new PortMapping(std::move(state)));
}

}  // namespace ostraka::net

#include "node/http/serve_for.h"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <string>
#include <utility>

#include "node/os/stop_signals.h"

namespace ostraka::http {

base::Status ServeFor(const HttpPlace& place, base::Duration time, HttpHandler handler) {
  boost::asio::io_context io(1);
  ASSIGN_OR_RETURN(const auto server, HttpServer::Make(io, place, std::move(handler)));
  const os::StopSignals signals(io, [&io](const std::string& /*name*/) {
    io.stop();
    return false;
  });
  io.run_for(std::chrono::nanoseconds(time.ns));
  return base::OkStatus();
}

}  // namespace ostraka::http

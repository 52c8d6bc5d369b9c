#include "node/cli/options/http_options.h"

#include <CLI/CLI.hpp>

#include "node/http/http_server.h"
#include "node/os/endpoint.h"

namespace ostraka::cli {

void AddHttpOptions(CLI::App& command, HttpOptions& options) {
  command.add_option("--http", options.address,
                     "HOST:PORT (port 0: any) for a page that shows the run, and for /status, "
                     "/metrics (Prometheus) and /healthz; on this machine only");
  command.add_flag("--http-remote", options.remote,
                   "let --http listen on addresses that other machines reach");
}

// Anyone who can connect can read the members, their ids and their state, without a password.
base::Status CheckHttp(const HttpOptions& options) {
  if (options.address.empty()) return base::OkStatus();
  const auto address = os::ParseHostPort(options.address);
  if (!address.ok()) return base::InvalidArgument("--http " + base::MessageOf(address.status()));
  if (options.remote || http::IsLoopback(options.address)) return base::OkStatus();
  return base::InvalidArgument("--http " + options.address +
                               ": other machines could read it without a password; use 127.0.0.1 "
                               "(and an SSH tunnel), or add --http-remote if the network is yours");
}

}  // namespace ostraka::cli

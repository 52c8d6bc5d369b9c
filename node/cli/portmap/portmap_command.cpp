// ostraka portmap: a port of the router that leads to this machine.
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "node/cli/portmap/commands.h"
#include "node/net/portmap/mapping_news.h"
#include "node/net/portmap/nat_pmp.h"

namespace ostraka::cli {
namespace {

using net::Forwarded;
using net::MappingNews;
using net::NatPmp;

constexpr std::uint32_t kSeconds = 3600;       // asked for
constexpr std::uint32_t kLeastWait = 30;       // seconds between renewals
constexpr std::uint32_t kAskAgain = 300;       // seconds after a failure
constexpr std::uint32_t kLongestWait = 43200;  // seconds, whatever the router grants

struct PortmapOptions {
  std::uint16_t port = 0;
  bool udp = false;
  bool keep = false;
  bool remove = false;
};

std::vector<Forwarded> WhatOf(const PortmapOptions& options) {
  if (options.udp) return {Forwarded::kUdp, Forwarded::kTcp};
  return {Forwarded::kTcp};
}

// TCP's mapping; the router may give UDP another port, which the DHT learns from others.
base::StatusOr<NatPmp::Mapping> MapAll(const PortmapOptions& options) {
  ASSIGN_OR_RETURN(NatPmp router, NatPmp::Open());
  NatPmp::Mapping mapping;
  for (const Forwarded what : WhatOf(options)) {
    ASSIGN_OR_RETURN(mapping, router.Map(what, options.port, kSeconds));
  }
  mapping.seconds = std::min(mapping.seconds, net::kLongestMappingSeconds);
  return mapping;
}

base::Status UnmapAll(const PortmapOptions& options) {
  ASSIGN_OR_RETURN(NatPmp router, NatPmp::Open());
  for (const Forwarded what : WhatOf(options)) {
    RETURN_IF_ERROR(router.Unmap(what, options.port));
  }
  return base::OkStatus();
}

// True once stdin has ended, and with it the parent.
bool ParentEnds(std::uint32_t seconds) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, static_cast<int>(seconds * 1000)) <= 0) return false;
  char byte = 0;
  return read(STDIN_FILENO, &byte, 1) <= 0;
}

// Renews at half of the time that the router grants. A node that cannot be told ends this as well.
ExitCode Keep(const PortmapOptions& options) {
  bool mapped = false;
  for (;;) {
    const auto mapping = MapAll(options);
    MappingNews news;
    if (mapping.ok()) {
      news = {mapping->outside, mapping->seconds, {}};
    } else {
      news.failure = base::MessageOf(mapping.status());
    }
    mapped = mapped || mapping.ok();
    std::printf("%s\n", LineOf(news).c_str());
    if (std::fflush(stdout) != 0) break;
    const std::uint32_t wait =
        mapping.ok() ? std::clamp(mapping->seconds / 2, kLeastWait, kLongestWait) : kAskAgain;
    if (ParentEnds(wait)) break;
  }
  // Nobody is left to be told how this ends; without it the router forgets within the hour.
  if (mapped) static_cast<void>(UnmapAll(options).ok());
  return kDone;
}

base::StatusOr<ExitCode> Portmap(const PortmapOptions& options) {
  if (options.port == 0) return base::InvalidArgument("--port: write a port from 1 to 65535");
  if (options.keep) return Keep(options);
  if (options.remove) {
    RETURN_IF_ERROR(UnmapAll(options));
    std::printf("the router forwards port %u no longer\n", unsigned{options.port});
    return kDone;
  }
  ASSIGN_OR_RETURN(const NatPmp::Mapping mapping, MapAll(options));
  std::printf("%s leads to port %u of this machine for %u s\n",
              dht::TextOf(mapping.outside).c_str(), unsigned{options.port}, mapping.seconds);
  return kDone;
}

}  // namespace

void AddPortmapCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("portmap", "have the router forward a port (NAT-PMP)");
  auto options = std::make_shared<PortmapOptions>();
  command->add_option("--port", options->port, "TCP port of this machine")->required();
  command->add_flag("--udp", options->udp, "the same UDP port, too");
  auto* keep = command->add_flag(
      "--keep", options->keep, "renew until stdin ends, and write a line each time: for programs");
  command->add_flag("--remove", options->remove, "end the forwarding")->excludes(keep);
  command->footer(
      "Example: ostraka portmap --port 7000\n"
      "A node does this by itself with --map-port (docs/network.md).\n"
      "Exit codes: 0 done; 3 the router refuses or does not answer");
  command->callback([options, &invocation] {
    invocation.body = [options]() -> ExitCode {
      const auto code = Portmap(*options);
      return code.ok() ? *code : Fail(code.status());
    };
  });
}

}  // namespace ostraka::cli

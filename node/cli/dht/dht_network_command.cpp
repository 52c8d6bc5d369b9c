// ostraka dht bootstrap, get, put, ping, crawl: the DHT as it is out there.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "node/cli/dht/commands.h"
#include "node/cli/dht/dht_ping.h"
#include "node/cli/dht/dht_session.h"
#include "node/cli/options/dht_options.h"
#include "node/cli/terminal/passphrase.h"
#include "node/cli/views/node_json.h"
#include "node/net/udp/resolver.h"
#include "node/os/stop_signals.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kCrawlPoints = 64;  // looked up, spread over the space
constexpr std::size_t kMostCrawled = 4096;

struct NetworkOptions {
  std::string network = net::kPublicDht;
  std::vector<std::string> bootstraps;
  std::string key;
  PassphraseOptions passphrase;
  std::string listen = "[::]:0";
  std::vector<std::string> announce;
  std::string what;  // an id, or an address
  bool json = false;
};

json Texts(const std::vector<dht::Endpoint>& endpoints) {
  json texts = json::array();
  for (const dht::Endpoint& endpoint : endpoints) texts.push_back(dht::TextOf(endpoint));
  return texts;
}

std::string Line(const std::vector<dht::Endpoint>& endpoints) {
  std::string line;
  for (const dht::Endpoint& endpoint : endpoints) line += " " + dht::TextOf(endpoint);
  return line;
}

base::Status Check(const NetworkOptions& options) {
  if (options.network.empty()) return base::InvalidArgument("--network: write a name");
  return CheckBootstraps(options.bootstraps, "--bootstrap");
}

base::StatusOr<std::unique_ptr<DhtSession>> Joined(const NetworkOptions& options,
                                                   std::shared_ptr<const crypto::SigningKey> key) {
  RETURN_IF_ERROR(Check(options));
  ASSIGN_OR_RETURN(std::unique_ptr<DhtSession> session,
                   DhtSession::Open({.network = options.network,
                                     .bootstraps = options.bootstraps,
                                     .role = dht::Role::kClient,
                                     .key = std::move(key),
                                     .local = {}}));
  RETURN_IF_ERROR(session->Join());
  return session;
}

base::StatusOr<std::shared_ptr<const crypto::SigningKey>> KeyOf(const NetworkOptions& options) {
  ASSIGN_OR_RETURN(crypto::SigningKey key, LoadKey(options.key, options.passphrase));
  return std::make_shared<const crypto::SigningKey>(std::move(key));
}

base::StatusOr<ExitCode> Bootstrap(const NetworkOptions& options) {
  RETURN_IF_ERROR(Check(options));
  const auto local = net::NumericEndpoint(options.listen);
  if (!local) {
    return base::InvalidArgument("--listen '" + options.listen +
                                 "': write an address and a port, such as [::]:9000 (all "
                                 "addresses) or 127.0.0.1:9000");
  }
  DhtSessionOptions session_options{.network = options.network,
                                    .bootstraps = options.bootstraps,
                                    .role = dht::Role::kServer,
                                    .key = nullptr,
                                    .local = *local};
  if (!options.key.empty()) {
    ASSIGN_OR_RETURN(session_options.key, KeyOf(options));
  }
  auto opened = DhtSession::Open(session_options);
  if (!opened.ok()) {
    return base::Unavailable(base::MessageOf(opened.status()) + "; choose another with --listen");
  }
  const std::unique_ptr<DhtSession> session = *std::move(opened);
  const std::string id = session->id().Hex();
  if (options.json) {
    PrintJson({{"event", "started"}, {"id", id}, {"port", session->local().port}});
  } else {
    std::printf("serves the DHT \"%s\" as %s at UDP %s, until Ctrl-C\n", options.network.c_str(),
                id.c_str(), dht::TextOf(session->local()).c_str());
  }
  std::fflush(stdout);
  bool stopped = false;
  const os::StopSignals signals(session->io(), [&stopped](const std::string&) {
    stopped = true;
    return false;
  });
  session->RunUntil([&stopped] { return stopped; }, std::nullopt);
  const dht::Progress progress = session->progress();
  if (options.json) {
    PrintJson({{"event", "stopped"}, {"nodes", progress.nodes}, {"records", progress.records}});
  } else {
    std::printf("stopped; it knew %u nodes and held %u records\n", progress.nodes,
                progress.records);
  }
  return kDone;
}

base::StatusOr<ExitCode> Get(const NetworkOptions& options) {
  const auto peer = base::PeerId::FromHexDigits(options.what);
  if (!peer) {
    return base::InvalidArgument("'" + options.what +
                                 "' is no id: give 64 hexadecimal digits, as `ostraka key show` "
                                 "prints them");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<DhtSession> session, Joined(options, nullptr));
  ASSIGN_OR_RETURN(const dht::Answered answered, session->Ask(dht::GetPeer{*peer}));
  const auto& records = std::get<dht::GotRecords>(answered.result).records;
  const bool found = !records.empty();
  if (options.json) {
    json result = {{"ok", found}, {"id", peer->Hex()}, {"queries", answered.effort.queries}};
    if (found) {
      result["addresses"] = Texts(records[0].addresses);
      result["seq"] = records[0].seq;
      result["expires"] = records[0].expires;
      result["reachable"] = records[0].reachable;
    }
    PrintJson(result);
  } else if (found) {
    std::printf("%s is at%s\n", peer->Hex().c_str(), Line(records[0].addresses).c_str());
  } else {
    std::printf("%s announces nothing (%u nodes asked)\n", peer->Hex().c_str(),
                answered.effort.answers);
  }
  return found ? kDone : kNegative;
}

base::StatusOr<ExitCode> Put(const NetworkOptions& options) {
  ASSIGN_OR_RETURN(std::vector<dht::Endpoint> addresses,
                   AnnouncedOf(options.announce, "--announce"));
  ASSIGN_OR_RETURN(const auto key, KeyOf(options));
  ASSIGN_OR_RETURN(const std::unique_ptr<DhtSession> session, Joined(options, key));
  dht::Publish publish;
  publish.content.addresses = std::move(addresses);
  ASSIGN_OR_RETURN(const dht::Answered answered, session->Ask(publish));
  const auto& published = std::get<dht::Published>(answered.result);
  if (options.json) {
    PrintJson({{"ok", published.stored > 0},
               {"id", key->id().Hex()},
               {"stored", published.stored},
               {"refused", published.refused}});
  } else {
    std::printf("%s is announced at%s: stored by %u nodes for 30 minutes, refused by %u\n",
                key->id().Hex().c_str(), Line(publish.content.addresses).c_str(), published.stored,
                published.refused);
  }
  return published.stored > 0 ? kDone : kNegative;
}

base::StatusOr<ExitCode> Ping(const NetworkOptions& options) {
  RETURN_IF_ERROR(CheckBootstraps({options.what}, "address"));
  const base::Digest network = dht::NetworkOf(options.network);
  const auto pong = PingDht(options.what, network, base::Seconds(3));
  if (!pong.ok()) return pong.status();
  if (options.json) {
    PrintJson({{"ok", true},
               {"id", pong->peer.Hex()},
               {"address", dht::TextOf(pong->endpoint)},
               {"milliseconds", pong->milliseconds},
               {"seen_as", dht::TextOf(pong->seen)},
               {"server", pong->server}});
  } else {
    std::printf("%s at %s answers in %.1f ms; it sees us at %s, and is %s\n",
                pong->peer.Hex().c_str(), dht::TextOf(pong->endpoint).c_str(), pong->milliseconds,
                dht::TextOf(pong->seen).c_str(), pong->server ? "a server" : "no server");
  }
  return kDone;
}

base::StatusOr<ExitCode> Crawl(const NetworkOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<DhtSession> session, Joined(options, nullptr));
  std::map<base::PeerId, dht::Endpoint> nodes;
  for (std::size_t point = 0; point < kCrawlPoints && nodes.size() < kMostCrawled; ++point) {
    dht::FindNodes find;
    crypto::FillRandom(find.target.bytes);
    find.target.bytes[0] = static_cast<std::uint8_t>(point * 256 / kCrawlPoints);
    ASSIGN_OR_RETURN(const dht::Answered answered, session->Ask(find));
    for (const dht::Contact& node : std::get<dht::FoundNodes>(answered.result).nodes) {
      nodes.emplace(node.peer, node.endpoint);
    }
  }
  if (options.json) {
    json list = json::array();
    for (const auto& [peer, endpoint] : nodes) {
      list.push_back({{"id", peer.Hex()}, {"address", dht::TextOf(endpoint)}});
    }
    PrintJson({{"ok", !nodes.empty()},
               {"nodes", std::move(list)},
               {"estimate", session->progress().network}});
  } else {
    for (const auto& [peer, endpoint] : nodes) {
      std::printf("%s  %s\n", peer.Hex().c_str(), dht::TextOf(endpoint).c_str());
    }
    std::printf("%zu nodes answered lookups of %zu points\n", nodes.size(), kCrawlPoints);
  }
  return nodes.empty() ? kNegative : kDone;
}

using Body = base::StatusOr<ExitCode> (*)(const NetworkOptions&);

CLI::App* Add(CLI::App& dht, const char* name, const char* text, Body body,
              const std::shared_ptr<NetworkOptions>& options, Invocation& invocation) {
  CLI::App* command = dht.add_subcommand(name, text);
  command->add_option("--network", options->network, "name of the DHT")->capture_default_str();
  command->add_flag("--json", options->json, "print JSON (docs/json.md)");
  command->callback([options, body, &invocation] {
    invocation.body = [options, body] {
      const auto code = body(*options);
      return code.ok() ? *code : Fail(code.status());
    };
  });
  return command;
}

CLI::Option* AddBootstraps(CLI::App& command, NetworkOptions& options) {
  return command.add_option("--bootstrap", options.bootstraps,
                            "HOST:PORT of a node of the DHT, such as a member with --dht on");
}

}  // namespace

void AddDhtNetworkCommands(CLI::App& dht, Invocation& invocation) {
  auto options = std::make_shared<NetworkOptions>();
  auto* bootstrap = Add(dht, "bootstrap", "serve the DHT, for others to begin at", Bootstrap,
                        options, invocation);
  AddBootstraps(*bootstrap, *options);
  bootstrap->add_option("--listen", options->listen, "ADDRESS:PORT to receive UDP at")
      ->capture_default_str();
  bootstrap->add_option("--key", options->key, "its key file (default: a new key each time)");
  AddPassphraseOptions(*bootstrap, options->passphrase);
  bootstrap->footer("Example: ostraka dht bootstrap --listen [::]:9000");

  auto* get =
      Add(dht, "get", "find the addresses that a member announces", Get, options, invocation);
  get->add_option("id", options->what, "its id, of 64 hexadecimal digits")->required();
  AddBootstraps(*get, *options)->required();
  get->footer(
      "Example: ostraka dht get ID --bootstrap 192.0.2.7:9000\n"
      "Exit codes: 0 found; 1 it announces nothing; 3 no node answers");

  auto* put = Add(dht, "put", "announce the addresses of a key, for half an hour", Put, options,
                  invocation);
  put->add_option("--key", options->key, "identity key file")->required();
  AddPassphraseOptions(*put, options->passphrase);
  put->add_option("--announce", options->announce, "ADDRESS:PORT at which the member is reached")
      ->required();
  AddBootstraps(*put, *options)->required();
  put->footer(
      "Example: ostraka dht put --key me.key --announce 192.0.2.7:9000 --bootstrap "
      "192.0.2.9:9000");

  auto* ping =
      Add(dht, "ping", "ask who is at an address, and where it sees us", Ping, options, invocation);
  ping->add_option("address", options->what, "HOST:PORT")->required();
  ping->footer("Example: ostraka dht ping 192.0.2.7:9000");

  auto* crawl = Add(dht, "crawl", "list the nodes of the DHT", Crawl, options, invocation);
  AddBootstraps(*crawl, *options)->required();
  crawl->footer("Example: ostraka dht crawl --bootstrap 192.0.2.7:9000");
}

}  // namespace ostraka::cli

#include "node/cli/join/link_parts.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "crypto/key_file.h"
#include "node/cli/options/manifest_options.h"
#include "node/cli/options/peer_addresses.h"
#include "node/cli/terminal/new_file.h"
#include "node/store/ledger_reader.h"
#include "node/train/exact/constants_file.h"

namespace ostraka::cli {
namespace {

// Longer arguments are refused by Linux.
constexpr std::size_t kLongestArgument = 128 << 10;

base::StatusOr<std::string> TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxInviteBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return base::Unavailable("cannot read " + path);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

base::StatusOr<train::GraphFiles> GraphOfRun(const std::string& path) {
  train::GraphFiles files;
  if (path.empty()) return files;
  ASSIGN_OR_RETURN(files.text, train::ReadGraphFile(path));
  ASSIGN_OR_RETURN(const exact::Graph graph, train::GraphOf(files.text));
  ASSIGN_OR_RETURN(files.constants, train::ReadConstants(path, graph));
  return files;
}

// The newest block of a node of the run, from its data folder; null: no folder was given.
base::StatusOr<std::shared_ptr<const wire::Block>> AnchorFrom(const std::string& data_dir,
                                                              const base::Digest& run_id) {
  if (data_dir.empty()) return nullptr;
  ASSIGN_OR_RETURN(store::LedgerReader ledger, store::LedgerReader::OpenOf(data_dir, run_id));
  ASSIGN_OR_RETURN(wire::Block block, ledger.LastBlock());
  return std::make_shared<const wire::Block>(std::move(block));
}

// The members of the genesis may have gone, and their addresses with them.
void WarnIfNobodyAnswers(const InviteText& text) {
  if (text.anchor == nullptr) return;
  const std::vector<base::PeerId>& members = text.anchor->members;
  const auto has_address = [&text](const base::PeerId& peer) {
    return text.addresses.contains(peer) ||
           std::any_of(text.manifest.members.begin(), text.manifest.members.end(),
                       [&](const auto& one) { return one.id == peer && !one.address.empty(); });
  };
  if (std::any_of(members.begin(), members.end(), has_address)) return;
  std::fprintf(stderr,
               "warning: no member of today has an address in this link, so only the DHT can find "
               "one: give some by --peers ID@HOST:PORT\n");
}

}  // namespace

void AddLinkParts(CLI::App& command, LinkPartsOptions& options) {
  command.add_option("--peers", options.peers,
                     "ID@HOST:PORT: addresses of members that replace those of the manifest");
  command.add_option("--graph", options.graph,
                     "the run's graph file, if it trains one (default: the manifest's path and "
                     ".graph)");
  WritesTo(command.add_option("--file", options.file,
                              "write it to this new file (mode 0600) instead of printing a link"));
}

base::StatusOr<InviteText> PartsOf(const LinkPartsOptions& options, const std::string& path,
                                   protocol::Manifest manifest) {
  ASSIGN_OR_RETURN(std::string text, TextOf(path));
  ASSIGN_OR_RETURN(auto addresses, PeerAddresses(options.peers));
  ASSIGN_OR_RETURN(train::GraphFiles graph, GraphOfRun(GraphFileOf(options.graph, path, manifest)));
  ASSIGN_OR_RETURN(auto anchor, AnchorFrom(options.data_dir, manifest.run_id));
  InviteText parts{std::move(text),      std::move(manifest), std::nullopt,
                   std::move(addresses), std::move(graph),    std::move(anchor)};
  WarnIfNobodyAnswers(parts);
  return parts;
}

base::Status PassOn(const InviteText& text, const std::string& file) {
  const std::string written = WriteInvite(text);
  // What this program writes, it must read.
  RETURN_IF_ERROR(ParseInvite(written).status());
  if (!file.empty()) return crypto::WriteKeyFile(file, written);
  const std::string link = LinkOf(written);
  if (link.size() >= kLongestArgument) {
    return base::InvalidArgument("the invite is too long for a link: write it with --file");
  }
  std::printf("%s\n", link.c_str());
  return base::OkStatus();
}

}  // namespace ostraka::cli

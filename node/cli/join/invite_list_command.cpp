// ostraka invite list: the invites that a moderator has made, and what became of each.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/cli/join/invite_commands.h"
#include "node/cli/join/issued_invites.h"
#include "node/cli/terminal/exit_code.h"
#include "node/cli/views/node_json.h"
#include "node/config/manifest_toml.h"
#include "node/protocol/ground/invite.h"
#include "node/protocol/rules/invite_book.h"
#include "node/store/ledger_reader.h"
#include "node/store/revocation_file.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

struct ListOptions {
  std::string manifest;
  std::string key;
  std::string data_dir;
  bool as_json = false;
};

// Whether `invite` is taken back by a revocation that the node of the folder is to pass on: the
// newest block may not have it yet.
bool IsBeingRevoked(const std::vector<wire::Revocation>& held, const base::Digest& run_id,
                    const wire::Invite& invite) {
  return std::any_of(held.begin(), held.end(), [&](const wire::Revocation& each) {
    if (each.moderator != invite.moderator) return false;
    return !each.invite ||
           protocol::InviteDigest(run_id, *each.invite) == protocol::InviteDigest(run_id, invite);
  });
}

// Null if no folder was given.
base::StatusOr<std::optional<wire::Block>> NewestBlock(const std::string& data_dir,
                                                       const base::Digest& run_id) {
  if (data_dir.empty()) return std::nullopt;
  ASSIGN_OR_RETURN(store::LedgerReader ledger, store::LedgerReader::OpenOf(data_dir, run_id));
  ASSIGN_OR_RETURN(wire::Block block, ledger.LastBlock());
  return block;
}

// Of a moderator that has used nothing the block knows nothing.
wire::Moderator ModeratorIn(const wire::Block& head, const base::PeerId& peer) {
  const auto known = std::find_if(head.moderators.begin(), head.moderators.end(),
                                  [&](const wire::Moderator& one) { return one.peer == peer; });
  return known == head.moderators.end() ? wire::Moderator{} : *known;
}

// Why it lets nobody in any more, in a word or two; "open" if it does.
std::string StateOf(const protocol::Manifest& manifest, const wire::Invite& invite,
                    const wire::Block& head, const wire::UsedInvite& used) {
  const std::uint64_t next = HeightOf(head);
  const wire::Voucher voucher = protocol::VoucherOf(manifest.run_id, invite);
  if (next >= invite.ends_step) return "ended";
  if (!protocol::InviteBook(head, next).RefusalOf(voucher, manifest, next)) return "open";
  if (used.revoked || ModeratorIn(head, invite.moderator).revoked) return "revoked";
  return used.used >= invite.uses ? "used up" : "no quota left";
}

// What the run knows of one invite. Without a block: only what its maker said.
json EntryOf(const protocol::Manifest& manifest, const wire::Invite& invite,
             const std::optional<wire::Block>& head) {
  const base::Digest name = protocol::InviteDigest(manifest.run_id, invite);
  json entry = {{"id", name.Hex()},
                {"moderator", invite.moderator.Hex()},
                {"uses", invite.uses},
                {"until", invite.ends_step}};
  if (!head) return entry;
  const auto known = std::find_if(head->invites.begin(), head->invites.end(),
                                  [&](const wire::UsedInvite& one) { return one.invite == name; });
  const wire::UsedInvite used = known == head->invites.end() ? wire::UsedInvite{} : *known;
  entry["state"] = StateOf(manifest, invite, *head, used);
  // The run forgets what an invite that has ended let in.
  if (entry["state"] != "ended" || used.used > 0) entry["let_in"] = used.used;
  return entry;
}

void PrintEntry(const json& entry) {
  const std::string let_in =
      entry.contains("let_in") ? std::to_string(entry["let_in"].get<std::uint64_t>()) : "?";
  std::printf("%-16s  %6s of %-4llu  %10llu  %s\n",
              entry["id"].get<std::string>().substr(0, 16).c_str(), let_in.c_str(),
              entry["uses"].get<unsigned long long>(), entry["until"].get<unsigned long long>(),
              entry.value("state", std::string("?")).c_str());
}

void PrintModerators(const protocol::Manifest& manifest, const wire::Block& head) {
  for (const base::PeerId& peer : manifest.join.moderators) {
    const wire::Moderator has = ModeratorIn(head, peer);
    std::printf("moderator %s: %u of %u used%s\n", peer.Short().c_str(), has.admitted,
                manifest.join.quota, has.revoked ? "; all of its invites are revoked" : "");
  }
}

base::Status List(const ListOptions& options) {
  ASSIGN_OR_RETURN(const protocol::Manifest manifest, config::ReadManifestFile(options.manifest));
  ASSIGN_OR_RETURN(const IssuedInvites issued, IssuedBy(options.key, manifest.run_id));
  if (!issued.complaint.empty()) {
    std::fprintf(stderr, "%s\n", PrintableLine(issued.complaint).c_str());
  }
  ASSIGN_OR_RETURN(const auto head, NewestBlock(options.data_dir, manifest.run_id));
  std::vector<wire::Revocation> held;
  if (!options.data_dir.empty()) {
    store::RevocationFile file(options.data_dir, manifest.run_id, manifest.join.moderators);
    const base::Status read = file.Refresh();
    if (!read.ok()) std::fprintf(stderr, "%s\n", PrintableLine(base::MessageOf(read)).c_str());
    held = file.held();
  }
  json entries = json::array();
  for (const wire::Invite& invite : issued.invites) {
    json entry = EntryOf(manifest, invite, head);
    if (entry.value("state", "") == "open" && IsBeingRevoked(held, manifest.run_id, invite)) {
      entry["state"] = "being revoked";
    }
    entries.push_back(std::move(entry));
  }
  if (options.as_json) {
    PrintJson(entries);
    return base::OkStatus();
  }
  if (issued.invites.empty()) {
    std::fprintf(stderr, "no invite of this run is noted in %s.invites\n", options.key.c_str());
  } else {
    std::printf("%-16s  %14s  %10s  %s\n", "invite", "let in", "until step", "state");
  }
  for (const json& entry : entries) PrintEntry(entry);
  if (head) {
    PrintModerators(manifest, *head);
  } else {
    std::fprintf(stderr, "--data-dir, a node's data folder, tells what became of them\n");
  }
  return base::OkStatus();
}

}  // namespace

void AddInviteList(CLI::App& command, Invocation& invocation) {
  auto options = std::make_shared<ListOptions>();
  auto* list = command.add_subcommand("list", "the invites that a key has made, and their state");
  list->add_option("--manifest", options->manifest, "the run's manifest")->required();
  list->add_option("--key", options->key,
                   "key file of the moderator: its invites are noted in `<key file>.invites`")
      ->required();
  list->add_option("--data-dir", options->data_dir,
                   "data folder of a node of the run: how many keys each has let in");
  list->add_flag("--json", options->as_json, "print a JSON array");
  list->footer(
      "Example: ostraka invite list --manifest run.toml --key me.key --data-dir out/node0");
  list->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = List(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });
}

}  // namespace ostraka::cli

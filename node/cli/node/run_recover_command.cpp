// ostraka run recover: a new run that continues from the last common state of one that cannot.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "node/cli/node/commands.h"
#include "node/cli/node/recovery.h"
#include "node/cli/terminal/member_names.h"
#include "node/cli/terminal/new_file.h"
#include "node/cli/views/node_json.h"
#include "node/config/manifest_toml.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::cli {
namespace {

struct RecoverOptions {
  std::string manifest_file;
  std::vector<std::string> data_dirs;
  std::vector<std::string> without;  // ids
  std::string out_file;
  bool json = false;
};

void Print(const RecoverOptions& options, const RecoveryPlan& plan,
           const protocol::Manifest& manifest, const MemberNames& names) {
  const auto step = static_cast<unsigned long long>(manifest.origin->step);
  if (options.json) {
    nlohmann::json left_out = nlohmann::json::array();
    for (const auto& [peer, why] : plan.left_out) {
      left_out.push_back({{"peer", peer.Hex()}, {"reason", why}});
    }
    nlohmann::json result = {{"file", options.out_file},
                             {"run_id", manifest.run_id.Hex()},
                             {"parted_at", nullptr},
                             {"step", step},
                             {"origin", plan.checkpoint},
                             {"members", manifest.members.size()},
                             {"steps", manifest.training.steps},
                             {"left_out", left_out},
                             {"guilty", plan.guilty}};
    if (plan.parted_at) result["parted_at"] = *plan.parted_at;
    return PrintJson(result);
  }
  if (plan.parted_at) {
    std::printf("the ledgers differ from step %llu on\n",
                static_cast<unsigned long long>(*plan.parted_at));
  } else {
    std::printf("the ledgers agree\n");
  }
  std::printf(
      "%s: run %s continues from the state after step %llu, with %zu members for %llu steps\n",
      PrintableLine(options.out_file).c_str(), manifest.run_id.Hex().c_str(), step,
      manifest.members.size(), static_cast<unsigned long long>(manifest.training.steps));
  for (const auto& [peer, why] : plan.left_out) {
    const std::string name = names.Of(peer);
    std::printf("without %s%s%s: %s\n", name.c_str(), name.empty() ? "" : " ", peer.Hex().c_str(),
                PrintableLine(names.In(why)).c_str());
  }
  if (plan.parted_at && plan.guilty == 0) {
    std::printf(
        "no member is proven guilty of the fork: no two messages in these folders contradict each "
        "other. Folders of members on the other branch may hold such messages; --without leaves "
        "out a member that you name\n");
  }
  std::printf("each member needs both files: ostraka node %s --origin %s --key ...\n",
              PrintableLine(options.out_file).c_str(), PrintableLine(plan.checkpoint).c_str());
}

base::Status Recover(const RecoverOptions& options) {
  std::vector<base::PeerId> without;
  for (const std::string& text : options.without) {
    const auto peer = base::PeerId::FromHexDigits(text);
    if (!peer)
      return base::InvalidArgument("--without '" + text +
                                   "' is no peer id: give 64 hexadecimal digits, as `ostraka key "
                                   "show` prints them");
    without.push_back(*peer);
  }
  ASSIGN_OR_RETURN(const protocol::Manifest old,
                   config::ReadManifestFile(options.manifest_file, config::Versions::kEarlierToo));
  ASSIGN_OR_RETURN(const RecoveryPlan plan, PlanRecovery(old, options.data_dirs, without));
  base::Digest nonce;
  crypto::FillRandom(nonce.bytes);
  const std::string text = config::WriteManifest(plan.manifest, nonce);
  ASSIGN_OR_RETURN(const protocol::Manifest written, config::ParseManifest(text));
  RETURN_IF_ERROR(WriteNewFile(options.out_file, text));
  Print(options, plan, written, MemberNames(protocol::NamesOf(old.members)));
  return base::OkStatus();
}

}  // namespace

void AddRunRecoverCommand(CLI::App& run, Invocation& invocation) {
  auto options = std::make_shared<RecoverOptions>();
  auto* command = run.add_subcommand(
      "recover", "write the manifest of a new run that continues one that forked or stalled");
  command->add_option("manifest", options->manifest_file, "the old run's manifest")->required();
  command
      ->add_option("data_dirs", options->data_dirs,
                   "data folders of the old run's members, or copies of them")
      ->required();
  WritesTo(command->add_option("--out", options->out_file, "the manifest to write"))->required();
  command->add_option("--without", options->without,
                      "id of a member to leave out, whatever the ledgers say");
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(
      "Example: ostraka run recover run.toml mine/ theirs/ --out next.toml\n"
      "For a run that forked, lost too many members, or is of an earlier version. The new run "
      "starts\n"
      "from the newest state that the folders share, without members that are banned or proven\n"
      "guilty. The members compare the output, and then start their nodes with the new manifest "
      "and\n"
      "--origin.");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = Recover(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });
}

}  // namespace ostraka::cli

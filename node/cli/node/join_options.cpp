#include "node/cli/node/join_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "crypto/sign.h"
#include "node/protocol/ground/setting.h"
#include "node/wire/limits.h"

namespace ostraka::cli {
namespace {

base::StatusOr<std::vector<base::PeerId>> KeysOf(const std::vector<std::string>& texts,
                                                 const std::string& option) {
  std::vector<base::PeerId> keys;
  for (const std::string& text : texts) {
    const auto id = base::PeerId::FromHexDigits(text);
    if (!id || !crypto::IsKey(*id)) {
      return base::InvalidArgument(option + " '" + text +
                                   "' is no key's id: give 64 hexadecimal digits, as `ostraka key "
                                   "show` prints them");
    }
    keys.push_back(*id);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace

void AddJoinOptions(CLI::App& command, JoinOptions& options) {
  command.add_option("--moderator", options.moderators,
                     "ID of a key that signs invites, once for each: who has an invite may come "
                     "into the running run (`ostraka invite new`)");
  command.add_option("--allow", options.allow,
                     "ID of a key that may come into the running run without an invite");
  command.add_option(
      std::string(protocol::setting::kQuota.flag), options.quota,
      std::string(protocol::setting::kQuota.help) +
          " over the whole run (default: " + std::to_string(protocol::JoinPlan{}.quota) + ")");
  command.add_option(std::string(protocol::setting::kSeats.flag), options.seats,
                     "members at once, those of the beginning included (default: a seat for "
                     "everybody that may come, at most " +
                         std::to_string(wire::kMaxPeers) + ")");
}

base::StatusOr<protocol::JoinPlan> JoinPlanOf(const JoinOptions& options, std::size_t members) {
  protocol::JoinPlan plan;
  ASSIGN_OR_RETURN(plan.moderators, KeysOf(options.moderators, "--moderator"));
  ASSIGN_OR_RETURN(plan.allow, KeysOf(options.allow, "--allow"));
  if (options.quota && plan.moderators.empty()) {
    return base::InvalidArgument("--quota is of moderators: give --moderator, or leave it out");
  }
  if (plan.moderators.empty() && plan.allow.empty()) {
    if (!options.seats) return plan;
    return base::InvalidArgument(
        "--seats is for those that come later: give --moderator or --allow, or leave it out");
  }
  plan.policy =
      plan.moderators.empty() ? protocol::JoinPolicy::kAllowlist : protocol::JoinPolicy::kInvite;
  plan.quota = options.quota.value_or(plan.quota);
  const std::uint64_t wanted =
      members + plan.allow.size() + std::uint64_t{plan.quota} * plan.moderators.size();
  plan.seats = options.seats.value_or(
      static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, wire::kMaxPeers)));
  return plan;
}

}  // namespace ostraka::cli

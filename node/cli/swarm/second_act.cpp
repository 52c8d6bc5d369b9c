#include "node/cli/swarm/second_act.h"

#include <algorithm>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/cli/options/invite_link.h"
#include "node/protocol/ground/invite.h"

namespace ostraka::cli {
namespace {

// Beyond the index of any node.
constexpr std::uint64_t kModerator = 1 << 20;
constexpr std::uint64_t kHolders = 2 << 20;

// It signs the invites, and is no member.
crypto::SigningKey ModeratorOf(std::uint64_t seed) { return SwarmKey(seed, kModerator); }

std::uint32_t Guests(const SwarmOptions& options) { return options.joins + options.intruders; }

}  // namespace

std::vector<Scene> PlanSecondAct(const SwarmOptions& options) {
  const std::uint64_t steps = options.manifest.manifest.training.steps;
  std::vector<Scene> scenes;
  for (std::uint32_t i = 0; i < options.joins; ++i) {
    scenes.push_back({Scene::What::kComes, steps / 10 + 2 * i, options.peers + i});
  }
  for (std::uint32_t i = 0; i < options.intruders; ++i) {
    const std::size_t node = options.peers + options.joins + i;
    scenes.push_back({Scene::What::kComes, steps / 5 + 2 * i, node});
  }
  for (std::uint32_t i = 0; i < options.leaves; ++i) {
    scenes.push_back({Scene::What::kLeaves, steps * 2 / 5 + 2 * i, std::size_t{1} + i});
  }
  std::stable_sort(scenes.begin(), scenes.end(),
                   [](const Scene& a, const Scene& b) { return a.at_step < b.at_step; });
  return scenes;
}

crypto::SigningKey SwarmKey(std::uint64_t seed, std::uint64_t index) {
  return crypto::SigningKey::FromSeed(
      crypto::Hasher(crypto::kDomainSwarmKey).UpdateU64(seed).UpdateU64(index).Finish().view());
}

void OpenFor(const SwarmOptions& options, protocol::Manifest& manifest) {
  if (Guests(options) == 0) return;
  manifest.join.policy = protocol::JoinPolicy::kInvite;
  manifest.join.moderators = {ModeratorOf(options.seed).id()};
  manifest.join.quota = Guests(options);
  manifest.join.seats = options.peers + Guests(options);
}

std::string InviteFor(const SwarmOptions& options, const std::string& manifest_text,
                      const protocol::Manifest& manifest, std::size_t index) {
  const bool intrudes = index >= std::size_t{options.peers} + options.joins;
  const std::uint64_t holder = intrudes ? 0 : index;
  const crypto::SigningKey moderator = ModeratorOf(options.seed);
  InvitePass pass{{}, {}, SwarmKey(options.seed, kHolders + holder)};
  pass.invite = {.moderator = moderator.id(),
                 .holder = pass.holder.id(),
                 .uses = intrudes ? options.intruders : 1,
                 .ends_step = manifest.training.steps};
  pass.by_moderator = protocol::SignInvite(manifest.run_id, pass.invite, moderator);
  return WriteInvite({manifest_text, manifest, std::move(pass), {}, {}, nullptr});
}

}  // namespace ostraka::cli

// The second act of a swarm: who comes in and who leaves while the others train.
//
//   joins      honest keys, each by an invite of one use
//   intruders  attackers, all by one public invite
//   leaves     honest members of the genesis, as a person's Ctrl-C would have them leave
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "crypto/sign.h"
#include "node/base/status.h"
#include "node/cli/swarm/swarm.h"
#include "node/train/exact/graph_file.h"

namespace ostraka::cli {

struct Scene {
  enum class What : std::uint8_t { kComes, kLeaves };
  What what = What::kComes;
  std::uint64_t at_step = 0;  // when the first node has the block of this step
  std::size_t node = 0;
};

// One honest key after the other comes in from a tenth of the run's steps on, the attackers from a
// fifth on, and the members leave from two fifths on: the first honest nodes but node 0, which is
// watched. By step.
std::vector<Scene> PlanSecondAct(const SwarmOptions& options);

// The key of node `index` of the swarm of that seed.
crypto::SigningKey SwarmKey(std::uint64_t seed, std::uint64_t index);
// The manifest's rules for a swarm with a second act; as it is without one.
void OpenFor(const SwarmOptions& options, protocol::Manifest& manifest);
// The invite file of a node that comes in. `index` is that of the node.
std::string InviteFor(const SwarmOptions& options, const std::string& manifest_text,
                      const protocol::Manifest& manifest, std::size_t index);

}  // namespace ostraka::cli

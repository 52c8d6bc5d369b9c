// Somebody in front of an honest node of the DHT: sees each datagram first, and may answer, drop or
// forge. What it leaves alone its node answers as honest nodes do, so it is known and kept in
// tables.
//
// Thread safety: none; one swarm.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dht/wire/known_node.h"
#include "dht/wire/messages.h"
#include "node/base/rng.h"
#include "node/base/status.h"
#include "sim/dht/swarm.h"

namespace ostraka::sim::dhtsim {

// What the adversaries of a swarm know together.
struct Coven {
  base::Digest network;
  std::vector<dht::KnownNode> members;
  std::vector<dht::KnownNode> honest;  // some honest nodes
  std::vector<Endpoint> bystanders;    // addresses where nobody runs a node
  std::vector<std::shared_ptr<const crypto::SigningKey>> sock_puppets;  // keys without a node
  base::Digest run_id;  // whose key store_flood fills
};

class Adversary {
 public:
  virtual ~Adversary() = default;
  // A datagram for `peer`. True: its node does not get it.
  virtual bool OnDatagram(Swarm& swarm, std::uint32_t peer, const Endpoint& from,
                          const base::SharedBytes& bytes) = 0;
  // Every virtual second.
  virtual void OnSecond(Swarm&, std::uint32_t) {}
};

inline constexpr std::string_view kAdversaries[] = {"colluder", "grinder",     "poison", "replay",
                                                    "silent",   "store_flood", "spoof"};

// InvalidArgument: no such adversary. `coven` is filled later, and outlives the adversary.
base::StatusOr<std::unique_ptr<Adversary>> MakeAdversary(std::string_view name,
                                                         std::shared_ptr<const Coven> coven,
                                                         const base::Rng& rng);

}  // namespace ostraka::sim::dhtsim

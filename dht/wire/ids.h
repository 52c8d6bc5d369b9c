// Places in the DHT's space of 256 bits: nodes and keys, and the distance between them.
//
//   network = H(kDomainDhtNetwork, name)
//   node id = H(kDomainDhtNode, network | peer id)
//   keys    = H(kDomainDhtRun, network | run id), H(kDomainDhtPeer, network | peer id)
//
// What an attacker can do here: make keys until a node id falls close to a place of its choice, 17
// us a try. So ids prove nothing but a key, and limits count by address (dht/table/prefix_rule.h).
// Why an id is not tied to an address (BEP 42): keys move, and NATs share addresses.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "node/base/ids.h"

namespace ostraka::dht {

using base::Digest;
using base::PeerId;

Digest NetworkOf(std::string_view name);
Digest NodeIdOf(const Digest& network, const PeerId& peer);
Digest RunKey(const Digest& network, const Digest& run_id);
Digest PeerKey(const Digest& network, const PeerId& peer);

// The number of leading bits that both have, 0..256.
unsigned CommonPrefix(const Digest& a, const Digest& b);
// Whether `a` is nearer to `target` than `b` is, by XOR. A strict order for distinct ids.
bool IsNearer(const Digest& target, const Digest& a, const Digest& b);
// The top 64 bits of the XOR distance: for estimates of density.
std::uint64_t TopDistance(const Digest& a, const Digest& b);

}  // namespace ostraka::dht

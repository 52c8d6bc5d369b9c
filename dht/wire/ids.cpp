#include "dht/wire/ids.h"

#include <bit>

#include "crypto/domains.h"
#include "crypto/hash.h"

namespace ostraka::dht {
namespace {

Digest Place(std::string_view domain, const Digest& network, base::ByteView id) {
  return crypto::Hasher(domain).Update(network).Update(id).Finish();
}

std::uint64_t BigEndian(const Digest& digest, std::size_t word) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8 | digest.bytes[8 * word + i];
  return value;
}

}  // namespace

Digest NetworkOf(std::string_view name) {
  return crypto::Hash(crypto::kDomainDhtNetwork, base::AsBytes(name));
}

Digest NodeIdOf(const Digest& network, const PeerId& peer) {
  return Place(crypto::kDomainDhtNode, network, peer.view());
}

Digest RunKey(const Digest& network, const Digest& run_id) {
  return Place(crypto::kDomainDhtRun, network, run_id.view());
}

Digest PeerKey(const Digest& network, const PeerId& peer) {
  return Place(crypto::kDomainDhtPeer, network, peer.view());
}

unsigned CommonPrefix(const Digest& a, const Digest& b) {
  for (unsigned word = 0; word < 4; ++word) {
    const std::uint64_t differ = BigEndian(a, word) ^ BigEndian(b, word);
    if (differ != 0) return 64 * word + static_cast<unsigned>(std::countl_zero(differ));
  }
  return 256;
}

bool IsNearer(const Digest& target, const Digest& a, const Digest& b) {
  for (std::size_t i = 0; i < Digest::kSize; ++i) {
    if (a.bytes[i] == b.bytes[i]) continue;
    return (a.bytes[i] ^ target.bytes[i]) < (b.bytes[i] ^ target.bytes[i]);
  }
  return false;
}

std::uint64_t TopDistance(const Digest& a, const Digest& b) {
  return BigEndian(a, 0) ^ BigEndian(b, 0);
}

}  // namespace ostraka::dht

// Nodes, keys and messages for tests of the DHT.
#pragma once

#include <cstdint>
#include <memory>

#include "dht/wire/known_node.h"
#include "dht/wire/messages.h"
#include "node/base/rng.h"

namespace ostraka::dht {

inline base::Digest RandomDigest(base::Rng& rng) {
  base::Digest digest;
  for (std::uint8_t& byte : digest.bytes) byte = static_cast<std::uint8_t>(rng.Below(256));
  return digest;
}

// The key of number `number`.
inline std::shared_ptr<const crypto::SigningKey> KeyOf(std::uint64_t number) {
  base::Rng rng(number);
  return std::make_shared<const crypto::SigningKey>(
      crypto::SigningKey::FromSeed(RandomDigest(rng).view()));
}

inline base::Digest TestNetwork() { return NetworkOf("test"); }

// A node of the /24 20.0.`prefix`.0, with any id.
inline KnownNode NodeIn(base::Rng& rng, std::uint32_t prefix, std::uint32_t host = 1) {
  KnownNode node;
  node.id = RandomDigest(rng);
  node.contact.peer.bytes = node.id.bytes;
  node.contact.endpoint = Endpoint::V4((std::uint32_t{20} << 24) + (prefix << 8) + host, 7000);
  return node;
}

// `id` with its first `bits` bits as in `self`, and the next one not.
inline base::Digest Sharing(const base::Digest& self, unsigned bits, base::Digest id) {
  for (unsigned bit = 0; bit <= bits; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80 >> (bit % 8));
    const std::uint8_t own = self.bytes[bit / 8] & mask;
    const std::uint8_t wanted = bit < bits ? own : own ^ mask;
    id.bytes[bit / 8] = static_cast<std::uint8_t>((id.bytes[bit / 8] & ~mask) | wanted);
  }
  return id;
}

inline Announcement SampleAnnouncement(const crypto::SigningKey& key, std::uint64_t seq = 7) {
  Announcement content;
  content.network = TestNetwork();
  content.peer = key.id();
  content.seq = seq;
  content.expires = 5000;
  content.addresses = {Endpoint::V4(0x14000001, 7000)};
  content.name = "node.example.org:7000";
  content.relays = {{key.id(), Endpoint::V4(0x14000201, 7001)}};
  content.reachable = true;
  RunState run;
  run.run_id.bytes.fill(9);
  run.height = 77;
  run.head.bytes.fill(5);
  run.serves_state = true;
  run.free_seats = 3;
  content.run = run;
  return content;
}

inline SignedAnnouncement Opened(const base::Bytes& bytes) { return *OpenAnnouncement(bytes); }

}  // namespace ostraka::dht

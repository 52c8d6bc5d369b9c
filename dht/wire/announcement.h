// A record of the DHT: what a peer says about itself, signed by it. There is one form, stored under
// up to two keys: RunKey of the run that it names, and PeerKey of its peer.
//
// bytes = signature 64 | core, canonical (dht.capnp). Signed: H(kDomainDhtRecord, core).
//
// What an attacker can do here: say anything about itself. Nobody can announce another peer,
// another network's announcement names another network, and an old one has a lower `seq` and
// expires. The DHT decides nothing: a lie about an address costs a dial, as the link's TLS key
// proves who answers.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "crypto/sign.h"
#include "dht/wire/endpoint.h"
#include "dht/wire/ids.h"
#include "node/base/status.h"

namespace ostraka::dht {

struct Contact {  // a peer at an address
  static constexpr std::size_t kSize = PeerId::kSize + Endpoint::kSize;
  PeerId peer;
  Endpoint endpoint;
  auto operator<=>(const Contact&) const = default;
};
void HashValue(crypto::Hasher& hasher, const Contact& contact);

struct RunState {  // what the peer says about its run
  Digest run_id;
  std::uint64_t height = 0;   // of its newest block
  Digest head;                // that block's digest
  bool serves_state = false;  // it hands the model's state to newcomers
  std::uint32_t free_seats = 0;
  bool operator==(const RunState&) const = default;
};

struct Announcement {
  Digest network;
  PeerId peer;
  std::uint64_t seq = 0;            // grows with each announcement of the peer
  std::uint64_t expires = 0;        // seconds since 1970
  std::vector<Endpoint> addresses;  // at most kMaxAddresses, the preferred one first
  std::string name;                 // "host:port", or empty
  std::vector<Contact> relays;      // members that forward messages to it, at most kMaxRelays
  bool reachable = false;           // it can be dialed
  std::optional<RunState> run;
  bool operator==(const Announcement&) const = default;
};

struct SignedAnnouncement {
  Announcement content;
  Digest digest;  // what is signed
  crypto::Signature signature;
};

// Whether the lists and the name are within the limits (dht/wire/limits.h).
bool FitsRecord(const Announcement& content);

// REQUIRES: key.id() == content.peer, FitsRecord(content).
base::Bytes SignAnnouncement(const Announcement& content, const crypto::SigningKey& key);

// Decodes and checks the limits, not the signature. InvalidArgument with a reason; any bytes are
// safe.
base::StatusOr<SignedAnnouncement> OpenAnnouncement(base::ByteView bytes);

// Whether the announcement may be stored under `key`.
bool BelongsUnder(const Announcement& content, const Digest& key);

}  // namespace ostraka::dht

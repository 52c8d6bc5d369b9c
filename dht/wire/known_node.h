// A contact with its place: the node id follows from the network and the peer, and is kept because
// it costs a hash.
//
// Thread safety: plain value.
#pragma once

#include "dht/wire/announcement.h"

namespace ostraka::dht {

struct KnownNode {
  Contact contact;
  Digest id;  // NodeIdOf(network, contact.peer)
  bool operator==(const KnownNode&) const = default;
};

inline KnownNode Located(const Digest& network, const Contact& contact) {
  return {contact, NodeIdOf(network, contact.peer)};
}

inline void HashValue(crypto::Hasher& hasher, const KnownNode& node) {
  const auto& [contact, id] = node;
  HashValue(hasher, contact);
  hasher.Update(id);
}

}  // namespace ostraka::dht

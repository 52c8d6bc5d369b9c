// Internal to dht/wire, included by its .cpp files only: fields that both decoders read.
//
// Thread safety: pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "dht/wire/announcement.h"
#include "node/wire/canonical.h"

namespace ostraka::dht::internal {

using wire::internal::AsData;
using wire::internal::DecodeCanonical;
using wire::internal::EncodeCanonical;
using wire::internal::ReadEnum;
using wire::internal::ReadId;
using wire::internal::Refuse;

inline base::ByteView AsView(capnp::Data::Reader data) { return {data.begin(), data.size()}; }

inline base::Bytes Joined(const std::vector<Endpoint>& endpoints) {
  base::Bytes bytes;
  for (const Endpoint& endpoint : endpoints) AppendEndpoint(bytes, endpoint);
  return bytes;
}
inline base::Bytes Joined(const std::vector<Contact>& contacts) {
  base::Bytes bytes;
  bytes.reserve(contacts.size() * Contact::kSize);
  for (const Contact& contact : contacts) {
    bytes.insert(bytes.end(), contact.peer.bytes.begin(), contact.peer.bytes.end());
    AppendEndpoint(bytes, contact.endpoint);
  }
  return bytes;
}

// An address that some host can have: the receiver may send to it.
inline base::Status ReadUsable(base::ByteView bytes, std::string_view name, Endpoint& out) {
  if (bytes.size() != Endpoint::kSize) return Refuse(name, "must be 18 bytes");
  out = ReadEndpoint(bytes);
  return IsUsable(out) ? base::OkStatus() : Refuse(name, "no address of a host");
}

inline base::Status ReadEndpoints(capnp::Data::Reader data, std::string_view name, std::size_t max,
                                  std::vector<Endpoint>& out) {
  const base::ByteView bytes = AsView(data);
  if (bytes.size() % Endpoint::kSize != 0) return Refuse(name, "must be 18 bytes each");
  if (bytes.size() / Endpoint::kSize > max) return Refuse(name, "too many");
  for (std::size_t at = 0; at < bytes.size(); at += Endpoint::kSize) {
    RETURN_IF_ERROR(ReadUsable(bytes.subspan(at, Endpoint::kSize), name, out.emplace_back()));
  }
  return base::OkStatus();
}

inline base::Status ReadContacts(capnp::Data::Reader data, std::string_view name, std::size_t max,
                                 std::vector<Contact>& out) {
  const base::ByteView bytes = AsView(data);
  if (bytes.size() % Contact::kSize != 0) return Refuse(name, "must be 50 bytes each");
  if (bytes.size() / Contact::kSize > max) return Refuse(name, "too many");
  out.reserve(bytes.size() / Contact::kSize);
  for (std::size_t at = 0; at < bytes.size(); at += Contact::kSize) {
    Contact& contact = out.emplace_back();
    contact.peer = *PeerId::FromBytes(bytes.subspan(at, PeerId::kSize));
    RETURN_IF_ERROR(
        ReadUsable(bytes.subspan(at + PeerId::kSize, Endpoint::kSize), name, contact.endpoint));
  }
  return base::OkStatus();
}

// Exactly 16 bytes.
inline base::Status ReadSixteen(capnp::Data::Reader data, std::string_view name,
                                std::array<std::uint8_t, 16>& out) {
  if (data.size() != out.size()) return Refuse(name, "must be 16 bytes");
  std::copy(data.begin(), data.end(), out.begin());
  return base::OkStatus();
}

}  // namespace ostraka::dht::internal

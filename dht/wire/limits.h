// Limits on what travels in a datagram of the DHT. Decoders check them before they allocate.
#pragma once

#include <cstddef>

namespace ostraka::dht {

// Every query has exactly this size and a reply at most, so no reply is longer than its query.
// 1,200 bytes pass every path of the internet unfragmented (the least MTU of IPv6 is 1,280).
inline constexpr std::size_t kDatagramBytes = 1200;
inline constexpr std::size_t kHeaderBytes = 24;  // magic 4 | version 1 | kind 1 | length 2 | nonce
inline constexpr std::size_t kMaxRecordBytes = 800;  // a signed Announcement; typically 300
inline constexpr std::size_t kMaxContacts = 16;      // in one reply
inline constexpr std::size_t kMaxRecords = 3;        // in one reply
// Records take at most this share of a reply, so that contacts have room and a lookup goes on. The
// first record of a reply always fits.
inline constexpr std::size_t kMaxRecordShareBytes = 512;
inline constexpr std::size_t kMaxAddresses = 4;    // of one Announcement
inline constexpr std::size_t kMaxRelays = 3;       // of one Announcement
inline constexpr std::size_t kMaxNameBytes = 100;  // "host:port"

}  // namespace ostraka::dht

// What a node has learned of addresses and keeps over restarts, as the text of a file in its data
// folder (kLearnedFileName):
//
//   ostraka learned 1
//   announced <id> <seq> <expires> <address>...
//       a member's newest announcement; perhaps no address
//   linked <id> <address>...
//       where a link to the member stood, not in the manifest
//   node <id> <address>
//       a node of the DHT
//
// The file is this node's own and holds nothing secret; its text is still read as untrusted, so
// that a damaged file costs what it held and nothing else.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dht/wire/announcement.h"
#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::net {

inline constexpr char kLearnedFileName[] = "learned";
inline constexpr std::size_t kMostLearnedBytes = 1 << 20;
inline constexpr std::size_t kMostLearnedMembers = 2048;
inline constexpr std::size_t kMostLearnedNodes = 64;

struct LearnedMember {
  // Of its newest announcement. Until that has expired, one with a lower seq is a replay.
  std::uint64_t seq = 0;
  std::uint64_t expires = 0;           // seconds since 1970; 0: none yet
  std::vector<std::string> announced;  // what may be dialed of it (address_policy.h)
  std::vector<std::string> linked;
  bool operator==(const LearnedMember&) const = default;
};

struct Learned {
  std::map<base::PeerId, LearnedMember> members;
  std::vector<dht::Contact> nodes;
  bool operator==(const Learned&) const = default;
};

std::string TextOf(const Learned& learned);

// InvalidArgument: "line N ..." says what is wrong; also beyond the limits above, and beyond
// AddressBook's for a member. Any text is safe.
base::StatusOr<Learned> ParseLearned(std::string_view text);

}  // namespace ostraka::net

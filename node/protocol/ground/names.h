// The names that a manifest gives to its members, for people.
//
// Thread safety: a pure function.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/protocol/ground/manifest.h"

namespace ostraka::protocol {

// Of the members that have one.
inline std::map<PeerId, std::string> NamesOf(const std::vector<Member>& members) {
  std::map<PeerId, std::string> names;
  for (const Member& member : members) {
    if (!member.name.empty()) names.emplace(member.id, member.name);
  }
  return names;
}

}  // namespace ostraka::protocol

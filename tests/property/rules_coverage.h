// Which situations of docs/protocol/ a block shows: a generator that never meets a rule
// proves nothing about it.
//
// Thread safety: pure functions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/property/naive_rules.h"

namespace ostraka::protocol {

// How often each situation was met. Every situation has an entry from the start.
using Coverage = std::map<std::string, std::size_t>;
Coverage NothingYet();
// REQUIRES: `block` follows `head` by `sealed`.
void NoteSituations(const wire::Block& head, const Manifest& manifest, const naive::Sealed& sealed,
                    const wire::Block& block, Coverage& coverage);

// The entry of `peer`, or null.
template <typename Entry>
const Entry* EntryOf(const std::vector<Entry>& list, const PeerId& peer) {
  for (const Entry& entry : list) {
    if (entry.peer == peer) return &entry;
  }
  return nullptr;
}
// The PROOFs that are sealed present and can be read.
std::vector<wire::Proof> ProofsOf(const naive::Sealed& sealed);

}  // namespace ostraka::protocol

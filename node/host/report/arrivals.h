// Which of the members that a block admits came for the first time, and which returned.
//
// Thread safety: pure functions.
#pragma once

#include <algorithm>
#include <vector>

#include "node/base/ids.h"
#include "node/wire/block.h"

namespace ostraka::host {

// `peer` came with this block: the run did not know it, or kept no seat for it.
inline bool CameWith(const wire::Block& block, const base::PeerId& peer) {
  return !block.genesis && std::any_of(block.standings.begin(), block.standings.end(),
                                       [&](const wire::Standing& standing) {
                                         return standing.peer == peer &&
                                                standing.came_step == block.step;
                                       });
}

// Of those that the block admits, by key.
struct Admitted {
  std::vector<base::PeerId> came;
  std::vector<base::PeerId> returned;
};
inline Admitted AdmittedBy(const wire::Block& block) {
  Admitted admitted;
  for (const base::PeerId& peer : block.joined) {
    (CameWith(block, peer) ? admitted.came : admitted.returned).push_back(peer);
  }
  return admitted;
}

}  // namespace ostraka::host

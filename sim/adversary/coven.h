// The shared state of colluders: their identities, one seed, the vectors that they agreed on, and a
// record of each one's deviations, by which checkers ask whether it was caught.
//
// In one simulation all adversaries share one object; each attacking real node has its own, made
// from one public list, and obtains equal vectors.
//
// Thread safety: none; one simulation or one node's protocol thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "aggregation/attacks/attacks.h"
#include "node/base/ids.h"
#include "node/protocol/ground/state.h"

namespace ostraka::sim {

// The deviations of one adversary, in steps of the run.
struct Deeds {
  std::uint64_t first_step = 0;
  std::uint64_t last_step = 0;
  std::uint64_t count = 0;
};

class Coven {
 public:
  Coven(std::vector<base::PeerId> members, std::uint64_t seed);

  const std::vector<base::PeerId>& members() const { return members_; }  // by key
  bool Contains(const base::PeerId& peer) const;
  std::uint64_t seed() const { return seed_; }

  // The vector that all colluders send in `step` from `parameters`: computed at the first call,
  // then shared. Keeps the last few.
  protocol::SharedVector Agree(std::uint64_t step, const protocol::SharedVector& parameters,
                               const std::function<std::vector<float>()>& make);

  // State of an attack from one agreed vector to the next.
  aggregation::AttackState& memory() { return memory_; }

  // Data of one step that colluders share. Keeps the newest few steps.
  struct Whispers {
    std::set<base::PeerId> guilty;  // senders of a false gradient
    // By draw: coins, including the colluders' own before they are revealed; and the colluder that
    // withholds its coin.
    std::map<std::uint32_t, std::map<base::PeerId, base::Digest>> coins;
    std::map<std::uint32_t, base::PeerId> keeper;
  };
  Whispers& whispers(std::uint64_t step);

  // Records which of a colluder's machines (bits) signed a message, since a friend's machine gets
  // messages of its own kind only. 0: not known, as for another process. Keeps the newest few
  // thousand.
  void NoteSaid(const base::Digest& message, std::uint8_t machine);
  std::uint8_t SaidBy(const base::Digest& message) const;

  // Called each time that an adversary departs from the protocol.
  void Confess(const base::PeerId& peer, std::uint64_t step);
  const std::map<base::PeerId, Deeds>& deeds() const { return deeds_; }

 private:
  struct Agreed {
    std::uint64_t step = 0;
    protocol::SharedVector parameters;
    protocol::SharedVector vector;
  };
  std::vector<base::PeerId> members_;
  std::uint64_t seed_;
  std::deque<Agreed> agreed_;  // newest first
  aggregation::AttackState memory_;
  std::map<std::uint64_t, Whispers> whispers_;
  std::map<base::PeerId, Deeds> deeds_;
  std::map<base::Digest, std::uint8_t> said_;
  std::deque<base::Digest> said_order_;  // oldest first
};

}  // namespace ostraka::sim

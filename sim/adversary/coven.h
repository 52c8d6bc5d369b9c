// What colluders share: who they are, one seed, the vectors they have worked out together, and a
// record of what each has done, against which checkers ask whether it was caught.
//
// In one simulation all adversaries share one object; each attacking real node has its own, made
// from the same public list, and the vectors come out the same.
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

// What one adversary did, in steps of the run.
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

  // The vector that all colluders send in `step` from `parameters`: made by the first who asks,
  // given to the others. The last few are kept.
  protocol::SharedVector Agree(std::uint64_t step, const protocol::SharedVector& parameters,
                               const std::function<std::vector<float>()>& make);

  // What an attack remembers between the vectors that it agreed on.
  aggregation::AttackState& memory() { return memory_; }

  // What colluders tell each other of a step. The newest few are kept.
  struct Whispers {
    std::set<base::PeerId> guilty;  // who sent another gradient
    // By draw: coins, their own before they are shown among them; and who keeps its own.
    std::map<std::uint32_t, std::map<base::PeerId, base::Digest>> coins;
    std::map<std::uint32_t, base::PeerId> keeper;
  };
  Whispers& whispers(std::uint64_t step);

  // Which of a colluder's machines (bits) signed a message: friends' machines hear their own kind
  // only. 0: not known, as of another process. The newest few thousand are kept.
  void NoteSaid(const base::Digest& message, std::uint8_t machine);
  std::uint8_t SaidBy(const base::Digest& message) const;

  // An adversary says so each time that it leaves the protocol.
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

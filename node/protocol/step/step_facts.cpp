#include "node/protocol/step/step_facts.h"

namespace ostraka::protocol {

using wire::Phase;

const Digest& StepFacts::ParentOf(Phase phase) const {
  switch (phase) {
    case Phase::kA:
      return parent_a;
    case Phase::kB:
      return parent_b;
    case Phase::kC:
      return parent_c;
    case Phase::kGenesis:
      break;
  }
  static const Digest kNoParent;
  return kNoParent;
}

std::uint32_t StepFacts::DrawOf(Phase phase) const {
  switch (phase) {
    case Phase::kB:
      return reading.draw;
    case Phase::kA:
    case Phase::kC:
    case Phase::kGenesis:
      break;
  }
  return 0;
}

const Inbox::Version* Usable(const Inbox& inbox, const StepFacts& facts, const Inbox::Place& place,
                             const PeerId& sender) {
  const Inbox::Item* item = inbox.Find(place, sender);
  return item == nullptr ? nullptr : item->Naming(facts.ParentOf(place.phase));
}

void StepFacts::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, reading, parent_a, parent_b, parent_c, my_column, muted);
}

}  // namespace ostraka::protocol

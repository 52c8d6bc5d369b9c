#include "node/protocol/step/results.h"

#include "node/base/check.h"
#include "node/protocol/ground/numbers.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

void Results::TakeHeld() {
  OSTRAKA_CHECK(facts_.seal_a_decided());  // else no result is wanted, and the wait would end
  bool all = true;
  for (std::uint32_t j = 0; j < results_.size(); ++j) {
    if (!IsMissing(j)) continue;
    const PeerId& owner = facts_.roles().owners[j];
    const Inbox::Version* item =
        Usable(core_.inbox, facts_, facts_.PlaceOf(Phase::kA, MessageType::kResult, 0, j), owner);
    if (item != nullptr && Take(j, item->blob)) continue;
    const SharedBlob kept = core_.chain.ResultAt(facts_.number(), j);
    if (kept != nullptr && Take(j, kept)) continue;
    all = false;
  }
  if (all) closed_ = true;
}

bool Results::Take(std::size_t column, const SharedBlob& blob) {
  OSTRAKA_CHECK(blob != nullptr);
  if (column >= results_.size() || !IsWanted(column)) return false;
  const SealedStep& sealed = facts_.reading.sealed;
  if (blob->root != sealed.aggregates[column]->result_root) return false;  // R1
  if (results_[column] != nullptr) return true;
  // Once for each column: its owner chose the root, and reading all of it again at each message
  // would cost.
  if (spoilt_[column] == blob->root) return false;
  if (!HoldsValues(codec(), blob->data, sealed.roles.parts[column].size())) {
    spoilt_[column] = blob->root;
    return false;
  }
  results_[column] = blob;
  core_.KeepResult(facts_.number(), static_cast<std::uint32_t>(column),
                   blob);  // R2
  return true;
}

Column Results::ColumnOf(std::size_t column) const {
  OSTRAKA_CHECK(facts_.coin_known());
  const auto index = static_cast<std::uint32_t>(column);
  return {.part_index = index,
          .range = facts_.roles().parts[column],
          .result = results_[column],
          .direction_seed = DirectionSeed(facts_.reading.randomness, facts_.number(), index),
          .codec = codec()};
}

Codec Results::codec() const { return core_.manifest->codecs.results; }

void Results::CheckInvariants() const {
  OSTRAKA_CHECK(closed_ || !expired_);
  for (std::size_t j = 0; j < results_.size(); ++j) {
    if (results_[j] == nullptr) continue;
    OSTRAKA_CHECK(IsWanted(j));
    const Digest& sealed = facts_.reading.sealed.aggregates[j]->result_root;
    OSTRAKA_CHECK(results_[j]->root == sealed);  // R1
  }
}

void Results::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, results_, closed_, expired_);
}

}  // namespace ostraka::protocol

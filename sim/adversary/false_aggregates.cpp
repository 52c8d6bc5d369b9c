#include "sim/adversary/false_aggregates.h"

#include <span>

#include "sim/adversary/shift.h"

namespace ostraka::sim {

using Do = Deviation::Do;

protocol::AggregateResult FalseAggregates::Altered(const protocol::AggregateSpec& spec,
                                                   const protocol::AggregateResult& truth,
                                                   const Deviation& how) {
  if (how.what == Do::kScale) {
    std::vector<float> values = ResultOf(spec, truth);
    for (float& value : values) value = static_cast<float>(value * how.scale);
    return AsResult(spec, values);
  }
  crypto::Blob blob = *truth.result;
  if (how.what == Do::kZeroRoot) blob.root = {};
  if (how.what == Do::kWrongRoot) blob.root.bytes[0] ^= 1;
  return {std::make_shared<const crypto::Blob>(std::move(blob))};
}

bool FalseAggregates::ChangeBody(const EditorTurn& turn, const Deviation& how,
                                 wire::Envelope& own) {
  auto aggregate = wire::Decode<wire::Aggregate>(own.body);
  if (!aggregate.ok() || !ChangesBody(how.what)) return false;
  if (how.what == Do::kFullBitmap) {
    const std::size_t members = turn.round() ? turn.round()->roles.workers.size() : 0;
    for (std::size_t i = 0; i < members && i / 8 < aggregate->included.size(); ++i) {
      aggregate->included[i / 8] |= static_cast<std::uint8_t>(1U << (i % 8));
    }
  } else {
    aggregate->commits_root.bytes[0] ^= 1;
  }
  own.body = wire::Encode(*aggregate);
  return true;
}

}  // namespace ostraka::sim

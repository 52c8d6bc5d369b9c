// An aggregator that reports a false aggregate, and colluding workers whose false numbers hide it
// from the size and sum checks (cover_up.cpp). Also used by wrong_aggregate.
//
// Thread safety: none; one owner.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "sim/adversary/adversary.h"
#include "sim/adversary/editor_options.h"

namespace ostraka::sim {

struct CoverStyle {
  // Returns the false aggregate; nullopt: the true one is reported this time.
  std::function<std::optional<protocol::AggregateResult>(
      const EditorTurn&, const protocol::AggregateSpec&, const protocol::AggregateResult&)>
      lie;
  bool show = true;         // the aggregator shows the parts of convicted colluders
  bool one = false;         // the first colluder by key absorbs all columns; else the next by key
  bool claim_size = false;  // every colluder states a size above all others in that column
};

std::unique_ptr<Editor> MakeCovered(const EditorOptions& options, CoverStyle style);

}  // namespace ostraka::sim

// An aggregator that lies, and friends among its senders who state numbers under which nobody sees
// it (cover_up.cpp).
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
  // What the aggregator gives in place of the truth; nullopt: the truth, this time.
  std::function<std::optional<protocol::AggregateResult>(
      const Turn&, const protocol::AggregateSpec&, const protocol::AggregateResult&)>
      lie;
  bool show = true;         // they answer for the parts of convicted friends
  bool one = false;         // the first friend by key absorbs for all; else the next one by key
  bool claim_size = false;  // every friend states a size beyond all others in that column
};

std::unique_ptr<Editor> MakeCovered(const EditorOptions& options, CoverStyle style);

}  // namespace ostraka::sim

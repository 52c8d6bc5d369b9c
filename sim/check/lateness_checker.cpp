#include "sim/check/lateness_checker.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ostraka::sim {

base::Status HonestNeverLate::OnAction(std::uint32_t peer, const protocol::Action& action) {
  const auto* done = Observed<protocol::StepDone>(action);
  if (!done) return base::OkStatus();
  const std::vector<base::PeerId>& joined = done->block->joined;
  for (const wire::Lateness& late : done->block->lateness) {
    const auto charged = roster_.IndexOf(late.peer);
    if (!charged || !roster_.IsHonest(*charged) || roster_.IsUnlucky(*charged)) continue;
    if (std::find(joined.begin(), joined.end(), late.peer) != joined.end()) {
      begun_with_[late.peer] = late.ms;
    }
    if (late.ms <= begun_with_[late.peer]) continue;
    return base::FailedPrecondition(Named(roster_, peer) + " charged honest " +
                                    Named(roster_, *charged) + " with " + std::to_string(late.ms) +
                                    " ms in step " + std::to_string(done->block->step));
  }
  return base::OkStatus();
}

}  // namespace ostraka::sim

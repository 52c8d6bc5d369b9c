#include "sim/setup/departures.h"

#include <algorithm>
#include <vector>

namespace ostraka::sim {
namespace {

constexpr std::uint64_t kStepsOfSaying = 3;

}  // namespace

Departures DrawDepartures(base::Rng rng, const SimOptions& options, const Roster& roster) {
  Departures departures;
  std::vector<std::uint32_t> honest;
  for (std::uint32_t peer = 0; peer < roster.ids.size(); ++peer) {
    if (roster.IsHonest(peer)) {
      if (!roster.Comes(peer)) honest.push_back(peer);
    } else if (options.attackers_leave > 0) {
      departures[peer] = options.attackers_leave;
    }
  }
  for (std::uint32_t i = 0; i < options.leaves; ++i) {
    std::swap(honest[i], honest[i + rng.Below(honest.size() - i)]);
    departures[honest[i]] = 1 + rng.Below(std::max<std::uint64_t>(1, options.steps / 2));
  }
  return departures;
}

protocol::Told::Leave LeavingFrom(std::uint64_t step, bool honest) {
  protocol::Told::Leave leave;
  leave.from = step;
  if (honest) leave.until = step + kStepsOfSaying;
  return leave;
}

void Homecoming::OnStep(const StepRecord& record) {
  if (!roster_.IsHonest(record.peer)) return;
  const bool left =
      std::any_of(record.actions.begin(), record.actions.end(), [](const protocol::Action& action) {
        const auto* halted = Observed<protocol::Halted>(action);
        return halted != nullptr && halted->why == protocol::Halted::Why::kLeft;
      });
  if (!left) return;
  simulator_->ScheduleCrash(record.now, record.peer);
  simulator_->ScheduleRestart(record.now + away_, record.peer);
}

}  // namespace ostraka::sim

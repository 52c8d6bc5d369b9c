#include "sim/engine/checker.h"

namespace ostraka::sim {

std::optional<std::uint32_t> Roster::IndexOf(const base::PeerId& id) const {
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == id) return i;
  }
  return std::nullopt;
}

std::string Named(const Roster& roster, std::uint32_t peer) {
  return "peer " + std::to_string(peer) + " (" + roster.ids[peer].Short() + ")";
}

void CheckerSet::Judge(const Checker& checker, const base::Status& status, base::Time now,
                       std::uint64_t sequence) {
  if (status.ok() || failure_) return;
  failure_ = Failure{std::string(checker.name()), base::MessageOf(status), now, sequence};
}

void CheckerSet::OnStep(const StepRecord& record) {
  if (failure_ || !roster_.IsHonest(record.peer)) return;
  for (const protocol::Action& action : record.actions) {
    for (const auto& checker : checkers_) {
      Judge(*checker, checker->OnAction(record.peer, action), record.now, record.sequence);
    }
  }
}

void CheckerSet::Finish(base::Time now) {
  for (const auto& checker : checkers_) {
    if (failure_) return;
    Judge(*checker, checker->AtEnd(), now, 0);
  }
}

}  // namespace ostraka::sim

#include "sim/check/look_checker.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace ostraka::sim {

void Looks::OnStep(const StepRecord& record) {
  const std::uint64_t so_far = (*opened_)[record.peer];
  const std::uint64_t opened = so_far - std::exchange(before_[record.peer], so_far);
  if (!roster_.IsHonest(record.peer) || !fault_.ok()) return;
  const auto* message = std::get_if<protocol::MessageReceived>(&record.input);
  if (message == nullptr) return;
  const auto sent = static_cast<std::uint64_t>(std::count_if(
      record.actions.begin(), record.actions.end(),
      [](const auto& action) { return std::holds_alternative<protocol::Send>(action); }));
  if (opened <= kOwn + sent) return;
  const auto from = roster_.IndexOf(message->from);
  fault_ = base::FailedPrecondition(Named(roster_, record.peer) + " decoded " +
                                    std::to_string(opened) + " frames for one message of " +
                                    (from ? Named(roster_, *from) : "a stranger") + ", and sent " +
                                    std::to_string(sent));
}

// A question that is not answered leads to no action, so the next one tells, of whomever.
base::Status Looks::OnAction(std::uint32_t /*peer*/, const protocol::Action& /*action*/) {
  return fault_;
}

}  // namespace ostraka::sim

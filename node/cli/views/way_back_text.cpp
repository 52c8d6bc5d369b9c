#include "node/cli/views/way_back_text.h"

#include <algorithm>

#include "node/cli/terminal/human.h"

namespace ostraka::cli {
namespace {

// "step 1444 (in about 17 s)".
std::string StepText(const WayBackFacts& facts, std::uint64_t step) {
  const std::string text = "step " + std::to_string(step);
  if (!facts.step_seconds) return text;
  const double steps = static_cast<double>(step - facts.step);
  return text + " (in about " + SpanText(steps * *facts.step_seconds) + ")";
}

std::string UntilText(const WayBackFacts& facts, std::uint64_t step) {
  return step >= facts.steps ? "until the run ends" : "until " + StepText(facts, step);
}

// Without a seat that is kept.
std::string DoorText(const WayBackFacts& facts) {
  const std::uint64_t until = facts.way.door_until;
  if (until == protocol::kNoStep) return "while a seat is free, as the manifest names it";
  return "by its invite " + UntilText(facts, until) + ", while a seat is free";
}

}  // namespace

std::string WayBackText(const WayBackFacts& facts) {
  const protocol::WayBack& way = facts.way;
  const std::uint64_t last = std::max(way.seat_until, way.door_until);
  if (facts.step >= facts.steps || way.from >= facts.steps || last <= facts.step) return "";
  std::string text;
  if (facts.is_member) text = "started again it goes on; if the others drop it meanwhile, ";
  text += facts.is_member || facts.was_one ? "it may come back " : "it may come in ";
  if (way.from > facts.step) text += "from " + StepText(facts, way.from) + " on, ";
  if (way.seat_until <= facts.step) return text + DoorText(facts);
  text += UntilText(facts, way.seat_until) + ", as its seat is kept";
  if (way.seat_until >= facts.steps) return text;
  if (way.door_until <= way.seat_until) return text + "; then it needs a new invite of a moderator";
  return text + "; then " + DoorText(facts);
}

}  // namespace ostraka::cli

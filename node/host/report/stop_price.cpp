#include "node/host/report/stop_price.h"

#include <string_view>

#include "node/base/check.h"
#include "node/protocol/rules/standing.h"

namespace ostraka::host {
namespace {

// The last clause of PriceOf.
constexpr std::string_view kStartsAgain = "; the same command starts it again";

constexpr std::int64_t kOneSecond = base::Seconds(1).ns;

// Rounded up: "42 s".
std::string Seconds(base::Duration duration) {
  return std::to_string((duration.ns + kOneSecond - 1) / kOneSecond) + " s";
}

// "1000 steps (about 130 s)"
std::string BarText(const Stopping& stopping) {
  const std::string steps = std::to_string(protocol::kBarredSteps) + " steps";
  if (stopping.recent_step.ns == 0) return steps;
  const auto count = static_cast<std::int64_t>(protocol::kBarredSteps);
  return steps + " (about " + Seconds(stopping.recent_step * count) + ")";
}

// A drop that is not its first bars it, whatever it is for.
std::string DropText(const Stopping& stopping) {
  const wire::Standing* standing = protocol::StandingOf(stopping.head->standings, stopping.self);
  if (standing == nullptr || standing->drops == 0) {
    return "drop it, and it follows the run and asks to be let in again";
  }
  return "drop it, not for the first time, and it only watches for " + BarText(stopping) +
         " before it asks to be let in again";
}

}  // namespace

std::string PriceOf(const Stopping& stopping) {
  OSTRAKA_CHECK(stopping.head != nullptr);
  const std::string again(kStartsAgain);
  if (stopping.head->thresholds.t_s == 0) {
    return "the others cannot go on without it, and wait: nothing is lost" + again;
  }
  switch (stopping.owed) {
    case Owed::kNothing:
      return "the others wait for it: back at work within " + Seconds(stopping.waits.parts) +
             " it has lost nothing; after " + Seconds(stopping.waits.messages) + " they " +
             DropText(stopping) + again;
    case Owed::kCoin:
      return "it has committed to a coin and not shown it: unless it is back within " +
             Seconds(stopping.waits.coins) + " the others drop it, and it only watches for " +
             BarText(stopping) + " before it may ask to be let in again" + again;
    case Owed::kProof:
      return "its PROOF is not out: after " + Seconds(stopping.waits.messages) + " the others " +
             DropText(stopping) + again;
    case Owed::kEcho:
      return "its last ECHO of the step may not be out: the others may wait for it, and " +
             DropText(stopping) + again;
  }
  return "";
}

std::string OutcomeAtRest(std::string outcome) {
  if (outcome.ends_with(kStartsAgain)) outcome.resize(outcome.size() - kStartsAgain.size());
  return outcome;
}

std::string StopsWithBlockText(const std::string& by, const Stopping& stopping) {
  OSTRAKA_CHECK(stopping.owed != Owed::kNothing);
  std::string text = "stopping with the block of step " + std::to_string(stopping.step) +
                     ", for which the others need this node: ";
  if (stopping.recent_step.ns > 0) {
    const std::int64_t ms = stopping.recent_step.ns / base::Milliseconds(1).ns;
    text += "a step took " +
            (ms < 10'000 ? std::to_string(ms) + " ms" : Seconds(stopping.recent_step)) +
            " of late, and ";
  }
  text += "this one is given " + Seconds(stopping.waits.step) + "; " + by +
          " again stops it at once, and then ";
  return text + PriceOf(stopping);
}

}  // namespace ostraka::host

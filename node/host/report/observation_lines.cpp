#include "node/host/report/observation_lines.h"

#include <variant>

namespace ostraka::host {
namespace {

constexpr base::Duration kTellEvery = base::Seconds(5);

std::string StepName(std::uint64_t step) { return "step " + std::to_string(step); }

}  // namespace

std::optional<ObservationLine> ObservationLines::Of(base::Time now,
                                                    const protocol::Observation& seen) {
  if (const auto* slow = std::get_if<protocol::SlowSeal>(&seen)) {
    // For those who study agreement; people are told for whom the run waits (waiting.h).
    return ObservationLine{net::NoticeLevel::kDebug, StepName(slow->step) + ": " + slow->reason};
  }
  if (const auto* away = std::get_if<protocol::Away>(&seen)) {
    return ObservationLine{net::NoticeLevel::kWarning,
                           "out of the run since " + StepName(away->step) + ": " + away->reason +
                               "; it follows, and asks to be let in"};
  }
  if (const auto* barred = std::get_if<protocol::Barred>(&seen)) {
    return ObservationLine{
        net::NoticeLevel::kWarning,
        "out since " + StepName(barred->step) +
            ", after it had committed to a coin and before it showed it, or dropped not for the "
            "first time, or gone within 1000 steps of a return: it follows as an observer, and may "
            "ask to come back from " +
            StepName(barred->until) + " on"};
  }
  if (const auto* unconfirmed = std::get_if<protocol::Unconfirmed>(&seen)) {
    return ObservationLine{
        net::NoticeLevel::kWarning,
        "asks to come in since block " + std::to_string(unconfirmed->since) +
            ", and no member confirms it: they confirm a node that answers within " +
            std::to_string(unconfirmed->at_most.ns / 1'000'000) +
            " ms and keeps up with the newest blocks, so this machine or its line may be too slow "
            "for the run"};
  }
  if (const auto* slow = std::get_if<protocol::Slow>(&seen)) {
    const bool more = slow->used_ms > told_late_ms_;
    told_late_ms_ = slow->Lasts() ? slow->used_ms : 0;
    if (!slow->Lasts() || !more) return std::nullopt;
    return ObservationLine{
        net::NoticeLevel::kWarning,
        StepName(slow->step) + ": this node is slow: it has let the others wait " +
            std::to_string(slow->used_ms) + " of the " + std::to_string(slow->allowed_ms) +
            " ms that it may, and is dropped beyond them; what helps: fewer programs beside it, a "
            "faster link, or, in another run, a larger patience_ms or a smaller batch_size"};
  }
  if (const auto* staying = std::get_if<protocol::Staying>(&seen)) {
    std::string whom = staying->others.front().Short();
    if (staying->others.size() > 1) {
      whom += " and " + std::to_string(staying->others.size() - 1) + " more";
    }
    return ObservationLine{net::NoticeLevel::kInfo,
                           "the run is over; this node stays for " +
                               std::to_string((staying->at_most.ns + 999'999'999) / 1'000'000'000) +
                               " s at most, to help " + whom + " to end it"};
  }
  if (const auto* back = std::get_if<protocol::Back>(&seen)) {
    return ObservationLine{net::NoticeLevel::kInfo,
                           "a member from " + StepName(back->step) + " on"};
  }
  if (const auto* way = std::get_if<protocol::CatchingUp>(&seen)) {
    const bool just_told = last_catching_up_line_ && now - *last_catching_up_line_ < kTellEvery;
    // A member on probation is at the head after each step.
    const bool arrives = way->height >= way->head && !was_at_head_;
    was_at_head_ = way->height >= way->head;
    if (just_told && !arrives) return std::nullopt;
    last_catching_up_line_ = now;
    return ObservationLine{net::NoticeLevel::kInfo, "catching up: " + way->detail};
  }
  return std::nullopt;
}

}  // namespace ostraka::host

#include "sim/report/step_diagram.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>
#include <variant>

#include "node/wire/codec.h"
#include "sim/page/axes.h"
#include "sim/page/svg.h"

namespace ostraka::sim {
namespace {

constexpr std::uint64_t kKept = 2;  // newest steps, beside the chosen one
constexpr std::size_t kMostLetters = 96;

std::string Shortened(std::string text) {
  if (text.size() > kMostLetters) text = text.substr(0, kMostLetters - 3) + "...";
  return text;
}

}  // namespace

// --- recording ----------------------------------------------------------------------------------

StepRecorder::StepRecorder(Roster roster, std::optional<std::uint64_t> chosen)
    : roster_(std::move(roster)), chosen_(chosen) {}

void StepRecorder::OnStep(const StepRecord& record) {
  if (const auto* message = std::get_if<protocol::MessageReceived>(&record.input)) {
    OnArrival(record, *message);
  }
  for (const protocol::Action& action : record.actions) {
    if (const auto* send = std::get_if<protocol::Send>(&action)) OnSend(record, *send);
    const auto* observe = std::get_if<protocol::Observe>(&action);
    if (observe && roster_.IsHonest(record.peer)) OnObservation(record, observe->what);
  }
}

StepRecorder::InProgress* StepRecorder::At(std::uint64_t step) {
  const auto known = steps_.find(step);
  if (known != steps_.end()) return &known->second;
  if (step != chosen_ && step + kKept <= newest_) return nullptr;
  InProgress& fresh = steps_[step];
  fresh.recorded.step = step;
  newest_ = std::max(newest_, step);
  std::erase_if(steps_, [this](const auto& entry) {
    return entry.first != chosen_ && entry.first != last_done_ && entry.first + kKept <= newest_;
  });
  const auto kept = steps_.find(step);
  return kept == steps_.end() ? nullptr : &kept->second;
}

void StepRecorder::OnSend(const StepRecord& record, const protocol::Send& send) {
  if (send.frame != last_frame_) {
    last_frame_ = send.frame;
    const auto opened = wire::Open(send.frame);
    last_slot_ = opened.ok() ? std::optional(opened->envelope.slot) : std::nullopt;
  }
  const auto to = roster_.IndexOf(send.to);
  const bool drawn = last_slot_ && last_slot_->phase != wire::Phase::kGenesis &&
                     !wire::IsService(last_slot_->type);
  if (!drawn || !to || *to == record.peer) return;
  InProgress* at = At(last_slot_->step);
  if (at == nullptr) return;
  at->under_way[{record.peer, *to}].emplace_back(send.frame, at->recorded.messages.size());
  at->recorded.messages.push_back({record.peer, *to, last_slot_->type, record.now, std::nullopt});
}

void StepRecorder::OnArrival(const StepRecord& record, const protocol::MessageReceived& message) {
  const auto from = roster_.IndexOf(message.from);
  if (!from) return;
  for (auto& [step, at] : steps_) {
    const auto sent = at.under_way.find({*from, record.peer});
    if (sent == at.under_way.end()) continue;
    const auto place = std::find_if(sent->second.begin(), sent->second.end(),
                                    [&](const auto& one) { return one.first == message.frame; });
    if (place == sent->second.end()) continue;
    at.recorded.messages[place->second].arrived = record.now;
    sent->second.erase(place);
    return;
  }
}

void StepRecorder::OnObservation(const StepRecord& record, const protocol::Observation& what) {
  if (const auto* sealed = std::get_if<protocol::Sealed>(&what)) {
    const auto phase = static_cast<wire::Phase>(sealed->phase);
    if (phase == wire::Phase::kGenesis) return;
    Note(record, sealed->step,
         std::string("seal ") + wire::PhaseName(phase) + " decided" +
             (sealed->draw > 0 ? ", draw " + std::to_string(sealed->draw) : "") +
             (sealed->iteration > 0 ? " in iteration " + std::to_string(sealed->iteration) : ""));
  } else if (const auto* slow = std::get_if<protocol::SlowSeal>(&what)) {
    Note(record, slow->step,
         std::string("seal ") + wire::PhaseName(static_cast<wire::Phase>(slow->phase)) +
             " is slow: " + slow->reason);
  } else if (const auto* suspicion = std::get_if<protocol::Suspicion>(&what)) {
    const auto peer = roster_.IndexOf(suspicion->peer);
    Note(record, suspicion->step,
         suspicion->check + ": " + (peer ? "peer " + std::to_string(*peer) + ", " : "") +
             suspicion->reason);
  } else if (const auto* done = std::get_if<protocol::StepDone>(&what)) {
    OnBlock(record, *done->block);
  }
}

void StepRecorder::OnBlock(const StepRecord& record, const wire::Block& block) {
  if (block.genesis) return;
  if (!block.removals.empty() && !chosen_) chosen_ = block.step;
  if (!last_done_ || *last_done_ < block.step) last_done_ = block.step;
  for (const wire::Removal& removal : block.removals) {
    const auto peer = roster_.IndexOf(removal.peer);
    Note(record, block.step,
         std::string(wire::RemovalKindName(removal.kind)) + ": peer " +
             (peer ? std::to_string(*peer) : removal.peer.Short()) + ", " + removal.reason);
  }
  Note(record, block.step, "block, " + std::to_string(block.members.size()) + " members");
}

void StepRecorder::Note(const StepRecord& record, std::uint64_t step, std::string text) {
  InProgress* at = At(step);
  if (at == nullptr) return;
  text = Shortened(std::move(text));
  std::vector<RecordedStep::Note>& notes = at->recorded.notes;
  const bool known = std::any_of(notes.begin(), notes.end(),
                                 [&](const RecordedStep::Note& note) { return note.text == text; });
  if (!known) notes.push_back({record.now, std::move(text)});
}

std::optional<RecordedStep> StepRecorder::Recorded() const {
  const auto which = chosen_ ? chosen_ : last_done_;
  const auto place = which ? steps_.find(*which) : steps_.end();
  return place == steps_.end() ? std::nullopt : std::optional(place->second.recorded);
}

// --- drawing ------------------------------------------------------------------------------------

namespace {

constexpr double kLeft = 78;
constexpr double kTop = 84;
constexpr double kLane = 104;
constexpr double kPixelsPerMs = 2;
constexpr double kLongestWait = 30;  // pixels
constexpr double kLabelHeight = 15;
constexpr double kNoteGap = 40;

// Maps time to the page, downwards: proportional, but with long waits shortened.
class Clock {
 public:
  explicit Clock(std::set<base::Time> times) {
    double y = kTop + 14;
    base::Time last;
    for (const base::Time time : times) {
      const double ms = static_cast<double>((time - last).ns) / 1e6;
      if (!ys_.empty()) y += std::min(ms * kPixelsPerMs, kLongestWait);
      ys_[time] = y;
      last = time;
    }
    bottom_ = y + 14;
  }
  double YOf(base::Time time) const { return ys_.at(time); }
  double bottom() const { return bottom_; }
  const std::map<base::Time, double>& all() const { return ys_; }

 private:
  std::map<base::Time, double> ys_;
  double bottom_ = kTop;
};

// The indices of the peers to show: those that the step removed, then the first others.
std::vector<std::uint32_t> Shown(const RecordedStep& step, const Roster& roster, std::size_t most) {
  std::vector<std::uint32_t> order;
  for (const bool named : {true, false}) {
    for (std::uint32_t peer = 0; peer < roster.ids.size(); ++peer) {
      const std::string name = ": peer " + std::to_string(peer) + ",";
      const bool is_named =
          std::any_of(step.notes.begin(), step.notes.end(), [&](const RecordedStep::Note& note) {
            return note.text.find(name) != std::string::npos;
          });
      if (is_named == named) order.push_back(peer);
    }
  }
  order.resize(std::min(most, order.size()));
  std::sort(order.begin(), order.end());
  return order;
}

std::string Seconds(base::Time time) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f s", static_cast<double>(time.ns) / 1e9);
  return text;
}

class Diagram {
 public:
  Diagram(const RecordedStep& step, const Roster& roster, std::size_t most)
      : step_(step),
        roster_(roster),
        peers_(Shown(step, roster, most)),
        clock_(TimesOf(step, peers_)) {
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      lanes_[peers_[i]] = kLeft + kLane * (static_cast<double>(i) + 0.5);
    }
    for (const RecordedStep::Message& message : step.messages) {
      if (IsShown(message)) types_.insert(message.type);
    }
  }

  std::string Draw() const {
    double widest = 0;
    for (const RecordedStep::Note& note : step_.notes) {
      widest = std::max(widest, page::WidthOf(note.text));
    }
    const double notes_left = kLeft + kLane * static_cast<double>(peers_.size()) + kNoteGap;
    const double bottom =
        std::max(clock_.bottom(), kTop + kLabelHeight * static_cast<double>(step_.notes.size()));
    page::Svg svg(std::max(notes_left + widest, kLeft + kTypeWidth * kTypesARow) + 10, bottom + 20,
                  "messages of step " + std::to_string(step_.step));
    DrawLegend(svg);
    DrawLanes(svg);
    for (const RecordedStep::Message& message : step_.messages) {
      if (IsShown(message)) DrawArrow(message, svg);
    }
    DrawNotes(notes_left, bottom, svg);
    return svg.Finish();
  }

 private:
  static constexpr double kTypeWidth = 96;
  static constexpr int kTypesARow = 9;

  static std::set<base::Time> TimesOf(const RecordedStep& step,
                                      const std::vector<std::uint32_t>& peers) {
    const auto has = [&](std::uint32_t peer) {
      return std::binary_search(peers.begin(), peers.end(), peer);
    };
    std::set<base::Time> times;
    for (const RecordedStep::Message& message : step.messages) {
      if (!has(message.from) || !has(message.to)) continue;
      times.insert(message.sent);
      if (message.arrived) times.insert(*message.arrived);
    }
    for (const RecordedStep::Note& note : step.notes) times.insert(note.at);
    return times;
  }

  bool IsShown(const RecordedStep::Message& message) const {
    return lanes_.contains(message.from) && lanes_.contains(message.to);
  }
  page::Stroke StrokeFor(wire::MessageType type) const {
    const auto place = std::distance(types_.begin(), types_.find(type));
    page::Stroke stroke = page::StrokeOf(static_cast<std::size_t>(place));
    stroke.width = 0.9;
    return stroke;
  }

  void DrawLegend(page::Svg& svg) const {
    int number = 0;
    for (const wire::MessageType type : types_) {
      const double x = kLeft + kTypeWidth * (number % kTypesARow);
      const double y = 14 + 16.0 * (number / kTypesARow);
      page::Stroke stroke = StrokeFor(type);
      stroke.width = 2;
      svg.Line({x, y - 4}, {x + 18, y - 4}, stroke);
      svg.Text({x + 23, y}, wire::MessageTypeName(type));
      ++number;
    }
  }

  void DrawLanes(page::Svg& svg) const {
    for (const std::uint32_t peer : peers_) {
      const double x = lanes_.at(peer);
      const bool honest = roster_.IsHonest(peer);
      svg.Text({x, kTop - 16}, "peer " + std::to_string(peer),
               {12, page::Anchor::kMiddle, honest ? "#222222" : "#b03000", true});
      svg.Text({x, kTop - 2}, honest ? "honest" : "Byzantine",
               {10, page::Anchor::kMiddle, honest ? "#666666" : "#b03000", false});
      svg.Line({x, kTop + 4}, {x, clock_.bottom()},
               {honest ? "#888888" : "#b03000", 1.2, honest ? "" : "5 3"});
    }
    double last = 0;
    for (const auto& [time, y] : clock_.all()) {
      if (y - last < 28) continue;
      svg.Text({kLeft - 12, y + 4}, Seconds(time), {10, page::Anchor::kEnd, "#666666", false});
      last = y;
    }
  }

  void DrawArrow(const RecordedStep::Message& message, page::Svg& svg) const {
    const page::Stroke stroke = StrokeFor(message.type);
    const page::Place from{lanes_.at(message.from), clock_.YOf(message.sent)};
    const double x = lanes_.at(message.to);
    if (!message.arrived) {  // a short arrow: it never arrived
      const double way = x > from.x ? 18 : -18;
      svg.Line(from, {from.x + way, from.y + 4}, stroke);
      svg.Circle({from.x + way, from.y + 4}, 2, "#d55e00");
      return;
    }
    const page::Place to{x, clock_.YOf(*message.arrived)};
    svg.Line(from, to, stroke);
    const double back = to.x > from.x ? -5 : 5;
    svg.Area({to, {to.x + back, to.y - 2.5}, {to.x + back, to.y + 2.5}}, stroke.color, 1);
  }

  void DrawNotes(double left, double bottom, page::Svg& svg) const {
    std::vector<double> wanted;
    for (const RecordedStep::Note& note : step_.notes) wanted.push_back(clock_.YOf(note.at));
    const std::vector<double> ys = page::Spread(wanted, kLabelHeight, kTop, bottom + 8);
    for (std::size_t i = 0; i < ys.size(); ++i) {
      svg.Line({left - kNoteGap + 4, wanted[i]}, {left - 5, ys[i]}, {"#999999", 0.8, ""});
      svg.Text({left, ys[i] + 4}, step_.notes[i].text);
    }
  }

  const RecordedStep& step_;
  const Roster& roster_;
  std::vector<std::uint32_t> peers_;
  Clock clock_;
  std::map<std::uint32_t, double> lanes_;  // x coordinate of each peer that is shown
  std::set<wire::MessageType> types_;
};

}  // namespace

std::string StepSvg(const RecordedStep& step, const Roster& roster, std::size_t most) {
  return Diagram(step, roster, most).Draw();
}

}  // namespace ostraka::sim

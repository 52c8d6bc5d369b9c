#include "sim/report/step_svg.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "sim/page/axes.h"
#include "sim/page/svg.h"

namespace ostraka::sim {
namespace {

constexpr double kLeft = 118;
constexpr double kTop = 84;
constexpr double kLane = 68;
constexpr double kPixelsPerMs = 1.6;
constexpr double kLongestWait = 26;  // pixels
constexpr double kLineHeight = 15;
constexpr double kNoteGap = 34;
constexpr double kNoteWidth = 390;

struct Offenders {
  std::vector<std::uint32_t> peers;  // ascending
  const char* why = "";
};

Offenders OffendersOf(const RecordedStep& step, const Roster& roster) {
  if (!step.removed.empty()) return {step.removed, "which the step banned or dropped"};
  Offenders byzantine{{}, "the Byzantine members"};
  for (const RecordedStep::Message& message : step.messages) {
    if (!roster.IsHonest(message.from)) byzantine.peers.push_back(message.from);
  }
  std::sort(byzantine.peers.begin(), byzantine.peers.end());
  byzantine.peers.erase(std::unique(byzantine.peers.begin(), byzantine.peers.end()),
                        byzantine.peers.end());
  if (!byzantine.peers.empty()) return byzantine;
  return {{0}, "as an example"};
}

// The peers to show: offenders, then the first others.
std::vector<std::uint32_t> Shown(const Offenders& offenders, const Roster& roster,
                                 std::size_t most) {
  std::vector<std::uint32_t> order = offenders.peers;
  for (std::uint32_t peer = 0; peer < roster.ids.size(); ++peer) {
    if (!std::binary_search(offenders.peers.begin(), offenders.peers.end(), peer)) {
      order.push_back(peer);
    }
  }
  order.resize(std::min(most, order.size()));
  std::sort(order.begin(), order.end());
  return order;
}

// Maps time to the page, downwards: proportional, but with long waits shortened.
class Clock {
 public:
  explicit Clock(const std::set<base::Time>& times) {
    double y = kTop + 16;
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

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f s", seconds);
  return text;
}
std::string Seconds(base::Time time) { return Seconds(static_cast<double>(time.ns) / 1e9); }

std::string PeerText(std::uint32_t peer) { return "peer " + std::to_string(peer); }

std::string TipOf(const RecordedStep::Message& message) {
  const std::string what = PeerText(message.from) + " sends " +
                           wire::MessageTypeName(message.type) + " to " + PeerText(message.to) +
                           " at " + Seconds(message.sent);
  if (!message.arrived) return what + "; it never arrives";
  return what + "; it takes " + Seconds((*message.arrived - message.sent).seconds());
}

class Diagram {
 public:
  Diagram(const RecordedStep& step, const Roster& roster, std::size_t most)
      : step_(step),
        roster_(roster),
        offenders_(OffendersOf(step, roster)),
        peers_(Shown(offenders_, roster, most)),
        dots_(FirstOfOthers()),
        clock_(Times()) {
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      lanes_[peers_[i]] = kLeft + kLane * (static_cast<double>(i) + 0.5);
    }
    for (const RecordedStep::Message& message : step.messages) {
      if (IsShown(message.from)) types_.insert(message.type);
    }
    for (const RecordedStep::Note& note : step.notes) {
      notes_.push_back(page::Wrapped(note.text, kNoteWidth));
    }
  }

  std::string Draw() const {
    const double right = kLeft + kLane * static_cast<double>(peers_.size());
    const std::vector<double> ys = NotePlaces();
    double bottom = clock_.bottom();
    if (!ys.empty()) {
      bottom =
          std::max(bottom, ys.back() + kLineHeight * static_cast<double>(notes_.back().size()));
    }
    const double width = std::max(right + kNoteGap + kNoteWidth, kLeft + kTypeWidth * kTypesARow);
    page::Svg svg(width + 10, bottom + 12, "messages of step " + std::to_string(step_.step));
    DrawBands(right, svg);
    DrawLegend(svg);
    DrawLanes(svg);
    DrawDots(svg);
    for (const RecordedStep::Message& message : step_.messages) {
      if (IsDrawn(message)) DrawArrow(message, svg);
    }
    DrawNotes(right, ys, svg);
    return svg.Finish();
  }

 private:
  static constexpr double kTypeWidth = 92;
  static constexpr int kTypesARow = 9;

  bool IsShown(std::uint32_t peer) const {
    return std::binary_search(peers_.begin(), peers_.end(), peer);
  }
  bool IsOffender(std::uint32_t peer) const {
    return std::binary_search(offenders_.peers.begin(), offenders_.peers.end(), peer);
  }
  bool IsDrawn(const RecordedStep::Message& message) const {
    return IsOffender(message.from) && IsShown(message.from) && IsShown(message.to);
  }

  // When each peer that is no offender first sends a message of a kind. Later ones
  // are mostly answers that repeat that message to a peer that asked, hundreds in a slow seal.
  struct Dot {
    base::Time at;
    std::size_t receivers = 0;  // at that time
  };
  using Dots = std::map<std::tuple<std::uint32_t, wire::Phase, wire::MessageType>, Dot>;
  Dots FirstOfOthers() const {
    Dots dots;
    for (const RecordedStep::Message& message : step_.messages) {
      if (!IsShown(message.from) || IsOffender(message.from)) continue;
      const auto [place, fresh] =
          dots.insert({{message.from, message.phase, message.type}, {message.sent, 0}});
      if (place->second.at == message.sent) ++place->second.receivers;
    }
    return dots;
  }

  std::set<base::Time> Times() const {
    std::set<base::Time> times;
    for (const auto& [what, dot] : dots_) times.insert(dot.at);
    for (const RecordedStep::Message& message : step_.messages) {
      if (!IsDrawn(message)) continue;
      times.insert(message.sent);
      if (message.arrived) times.insert(*message.arrived);
    }
    for (const RecordedStep::Note& note : step_.notes) times.insert(note.at);
    return times;
  }

  // A type has one look in the diagrams of all steps.
  static page::Stroke StrokeFor(wire::MessageType type) {
    page::Stroke stroke = page::NeutralStrokeOf(static_cast<std::size_t>(type));
    stroke.width = 1.2;
    return stroke;
  }

  // A band begins with the first message of its phase and lasts until the next one begins.
  void DrawBands(double right, page::Svg& svg) const {
    constexpr const char* kWords[] = {"", "collect", "reveal", "prove"};
    std::map<wire::Phase, base::Time> begins;
    for (const RecordedStep::Message& message : step_.messages) {
      if (!clock_.all().contains(message.sent)) continue;
      const auto [place, fresh] = begins.emplace(message.phase, message.sent);
      if (!fresh) place->second = std::min(place->second, message.sent);
    }
    bool shaded = true;
    for (auto band = begins.begin(); band != begins.end(); ++band, shaded = !shaded) {
      const double top = clock_.YOf(band->second) - 7;
      const auto next = std::next(band);
      const double end = next == begins.end() ? clock_.bottom() : clock_.YOf(next->second) - 7;
      if (shaded) svg.Box({0, top}, right + 8, std::max(end - top, 0.0), "#f1f4f8");
      const auto phase = static_cast<std::size_t>(band->first);
      svg.Text({6, top + 15}, std::string("seal ") + wire::PhaseName(band->first),
               {11, page::Anchor::kStart, "#222222", true});
      svg.Text({6, top + 29}, kWords[phase], {10, page::Anchor::kStart, "#666666", false});
    }
  }

  void DrawLegend(page::Svg& svg) const {
    int number = 0;
    for (const wire::MessageType type : types_) {
      const double x = kLeft + kTypeWidth * (number % kTypesARow);
      const double y = 14 + 16.0 * (number / kTypesARow);
      page::Stroke stroke = StrokeFor(type);
      stroke.width = 2.5;
      svg.Line({x, y - 4}, {x + 18, y - 4}, stroke);
      svg.Text({x + 23, y}, wire::MessageTypeName(type));
      ++number;
    }
  }

  void DrawLanes(page::Svg& svg) const {
    for (const std::uint32_t peer : peers_) {
      const double x = lanes_.at(peer);
      const bool honest = roster_.IsHonest(peer);
      svg.Text({x, kTop - 18}, PeerText(peer),
               {12, page::Anchor::kMiddle, honest ? "#222222" : page::kByzantineColor, true});
      svg.Text({x, kTop - 4}, honest ? "honest" : "Byzantine",
               {10, page::Anchor::kMiddle, honest ? "#666666" : page::kByzantineColor, false});
      svg.Line({x, kTop + 4}, {x, clock_.bottom()},
               {honest ? page::kHonestColor : page::kByzantineColor, 1.2, honest ? "" : "5 3"});
    }
    DrawWaits(svg);
    double last = 0;
    for (const auto& [time, y] : clock_.all()) {
      if (y - last < 30) continue;
      svg.Text({kLeft - 8, y + 4}, Seconds(time), {10, page::Anchor::kEnd, "#666666", false});
      last = y;
    }
  }

  // A dashed line where a long wait was shortened.
  void DrawWaits(page::Svg& svg) const {
    constexpr double kLong = 0.5;  // seconds
    const double right = kLeft + kLane * static_cast<double>(peers_.size());
    for (auto time = clock_.all().begin(); time != clock_.all().end(); ++time) {
      const auto next = std::next(time);
      if (next == clock_.all().end()) return;
      const double passed = (next->first - time->first).seconds();
      if (passed < kLong) continue;
      const double y = (time->second + next->second) / 2;
      svg.WithTip(Seconds(passed) + " pass", [&] {
        svg.Line({kLeft - 6, y}, {right, y}, {"#777777", 1.4, "1 4"});
      });
    }
  }

  void DrawDots(page::Svg& svg) const {
    for (const auto& [what, dot] : dots_) {
      const auto& [from, phase, type] = what;
      const std::string tip = PeerText(from) + " sends " + wire::MessageTypeName(type) + " to " +
                              std::to_string(dot.receivers) +
                              (dot.receivers == 1 ? " peer" : " peers") + " at " + Seconds(dot.at);
      const page::Place place{lanes_.at(from), clock_.YOf(dot.at)};
      const std::string color = StrokeFor(type).color;
      svg.WithTip(tip, [&] { svg.Circle(place, 3.2, color); });
    }
  }

  void DrawArrow(const RecordedStep::Message& message, page::Svg& svg) const {
    const page::Stroke stroke = StrokeFor(message.type);
    const page::Place from{lanes_.at(message.from), clock_.YOf(message.sent)};
    const double x = lanes_.at(message.to);
    svg.WithTip(TipOf(message), [&] {
      if (!message.arrived) {  // a short arrow: it never arrived
        const double way = x > from.x ? 18 : -18;
        svg.Line(from, {from.x + way, from.y + 4}, stroke);
        svg.Circle({from.x + way, from.y + 4}, 2.5, "#222222");
        return;
      }
      const page::Place to{x, clock_.YOf(*message.arrived)};
      svg.Line(from, to, stroke);
      const double back = to.x > from.x ? -7 : 7;
      svg.Area({to, {to.x + back, to.y - 3.5}, {to.x + back, to.y + 3.5}}, stroke.color, 1);
    });
  }

  // As near as possible below its time and the note before it.
  std::vector<double> NotePlaces() const {
    std::vector<double> ys;
    double next = kTop;
    for (std::size_t i = 0; i < notes_.size(); ++i) {
      ys.push_back(std::max(clock_.YOf(step_.notes[i].at), next));
      next = ys.back() + kLineHeight * static_cast<double>(notes_[i].size()) + 3;
    }
    return ys;
  }

  void DrawNotes(double right, const std::vector<double>& ys, page::Svg& svg) const {
    for (std::size_t i = 0; i < ys.size(); ++i) {
      const double y = clock_.YOf(step_.notes[i].at);
      svg.Line({right + 8, y}, {right + kNoteGap - 5, ys[i]}, {"#999999", 0.8, ""});
      double line = ys[i] + 4;
      for (const std::string& text : notes_[i]) {
        svg.Text({right + kNoteGap, line}, text);
        line += kLineHeight;
      }
    }
  }

  const RecordedStep& step_;
  const Roster& roster_;
  const Offenders offenders_;
  const std::vector<std::uint32_t> peers_;
  const Dots dots_;
  const Clock clock_;
  std::map<std::uint32_t, double> lanes_;  // x coordinate of each peer that is shown
  std::set<wire::MessageType> types_;
  std::vector<std::vector<std::string>> notes_;  // lines of each note
};

}  // namespace

std::string StepSvg(const RecordedStep& step, const Roster& roster, std::size_t most) {
  return Diagram(step, roster, most).Draw();
}

std::string StepCaption(const RecordedStep& step, const Roster& roster) {
  const Offenders offenders = OffendersOf(step, roster);
  std::string peers;
  for (const std::uint32_t peer : offenders.peers) {
    peers += (peers.empty() ? "" : ", ") + std::to_string(peer);
  }
  peers = (offenders.peers.size() == 1 ? "peer " : "peers ") + peers;
  return "Step " + std::to_string(step.step) +
         ", time downwards; long waits are shortened. "
         "Arrows: the signed messages of " +
         peers + ", " + offenders.why +
         ", from sending to arrival. Dots: when each of the others first sends a message of a "
         "kind. Dashed lines across: waits of half a second and more. At the right: what honest "
         "peers observed. Point at an arrow or a dot for its times. Of more "
         "than eight peers only these and the first others are shown.";
}

}  // namespace ostraka::sim

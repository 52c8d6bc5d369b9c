#include "sim/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

#include "node/train/trainer.h"
#include "sim/page/axes.h"
#include "sim/page/html.h"
#include "sim/page/svg.h"

namespace ostraka::sim {
namespace {

constexpr double kWidth = 800;
constexpr page::PlotArea kArea{64, 20, 560, 200};
constexpr char kHonest[] = "#0072b2";
constexpr char kByzantine[] = "#d55e00";
constexpr char kUnprotected[] = "#777777";

// --- the runs -----------------------------------------------------------------------------------

class Historian final : public StepObserver {
 public:
  Historian(Roster roster, train::Trainer* trainer)
      : roster_(std::move(roster)), trainer_(trainer) {}

  void OnStep(const StepRecord& record) override {
    if (!roster_.IsHonest(record.peer)) return;
    for (const protocol::Action& action : record.actions) {
      const auto* done = Observed<protocol::StepDone>(action);
      if (done != nullptr && !done->block->genesis) Note(*done);
    }
  }
  History Take() { return std::move(history_); }

 private:
  void Note(const protocol::StepDone& done) {
    const wire::Block& block = *done.block;
    if (!history_.rows.empty() && block.step <= history_.rows.back().step) return;
    History::Row row;
    row.step = block.step;
    for (const base::PeerId& member : block.members) {
      const auto peer = roster_.IndexOf(member);
      ++(peer && !roster_.IsHonest(*peer) ? row.byzantine : row.honest);
    }
    const auto evaluation = trainer_->Evaluate(*done.state.parameters);
    row.loss = evaluation.ok() ? evaluation->loss : std::nan("");
    history_.rows.push_back(row);
  }

  Roster roster_;
  train::Trainer* trainer_;
  History history_;
};

class Both final : public StepObserver {
 public:
  Both(StepObserver& one, StepObserver& other) : one_(one), other_(other) {}
  void OnStep(const StepRecord& record) override {
    one_.OnStep(record);
    other_.OnStep(record);
  }

 private:
  StepObserver& one_;
  StepObserver& other_;
};

SimOptions Unprotected(SimOptions options) {
  options.unprotected = true;
  options.crashes = 0;
  options.blackouts = 0;
  options.cut = "none";
  return options;
}

// --- drawing ------------------------------------------------------------------------------------

struct Series {
  std::string name;
  std::string color;
  std::vector<page::Place> places;
};

void DrawSeries(const std::vector<Series>& all, page::Svg& svg) {
  std::vector<double> wanted;
  for (const Series& series : all) {
    svg.Path(series.places, {series.color, 1.8, ""});
    wanted.push_back(series.places.back().y);
  }
  const std::vector<double> ys = page::Spread(wanted, 16, kArea.top, kArea.bottom() + 6);
  for (std::size_t i = 0; i < all.size(); ++i) {
    svg.Line({all[i].places.back().x, wanted[i]}, {kArea.right() + 12, ys[i]},
             {all[i].color, 0.8, ""});
    svg.Text({kArea.right() + 16, ys[i] + 4}, all[i].name,
             {11, page::Anchor::kStart, all[i].color, true});
  }
}

class StepAxis {
 public:
  explicit StepAxis(const History& history)
      : last_(static_cast<double>(std::max<std::uint64_t>(history.rows.back().step, 1))) {}
  double XOf(std::uint64_t step) const {
    return kArea.left + kArea.width * std::min(1.0, static_cast<double>(step) / last_);
  }
  void Draw(page::Svg& svg) const {
    for (const double tick : page::RoundTicks(last_)) {
      page::DrawTick(kArea, XOf(static_cast<std::uint64_t>(tick)), tick, svg);
    }
    page::DrawTitleBelow(kArea, "step", svg);
  }

 private:
  double last_;
};

void DrawLevel(double y, const std::string& text, page::Svg& svg) {
  svg.Line({kArea.left, y}, {kArea.right(), y}, {"#dddddd", 0.8, ""});
  svg.Text({kArea.left - 6, y + 4}, text, {11, page::Anchor::kEnd, "#444444", false});
}

std::string Short(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

std::string MembersSvg(const ReportInput& input) {
  page::Svg svg(kWidth, kArea.bottom() + 42, "members of each kind, by step");
  const StepAxis axis(input.history);
  const double most = static_cast<double>(input.roster.ids.size());
  const auto y_of = [&](double count) { return kArea.YOf(count / most); };
  for (const double tick : page::RoundTicks(most)) DrawLevel(y_of(tick), Short(tick), svg);
  axis.Draw(svg);
  Series honest{"honest members", kHonest, {}};
  Series byzantine{"Byzantine members", kByzantine, {}};
  for (const History::Row& row : input.history.rows) {
    const double x = axis.XOf(row.step);
    for (auto& [series, count] : {std::pair{&honest, row.honest}, {&byzantine, row.byzantine}}) {
      // Members leave at a block, so the line steps down and does not slope.
      if (!series->places.empty()) series->places.push_back({x, series->places.back().y});
      series->places.push_back({x, y_of(count)});
    }
  }
  DrawSeries({honest, byzantine}, svg);
  return svg.Finish();
}

// The powers of ten between which losses are drawn.
struct Decades {
  double low = 0;
  double high = 1;

  double YOf(double loss) const {
    const double share = (std::log10(std::max(loss, 1e-300)) - low) / (high - low);
    return kArea.YOf(std::clamp(share, 0.0, 1.0));
  }
};

Decades DecadesOf(const std::vector<const History*>& all) {
  constexpr double kMost = 12;  // a loss beyond 10^12 is drawn at the edge
  double least = INFINITY;
  double most = 0;
  for (const History* history : all) {
    for (const History::Row& row : history->rows) {
      if (!std::isfinite(row.loss) || row.loss <= 0) continue;
      least = std::min(least, row.loss);
      most = std::max(most, row.loss);
    }
  }
  if (most == 0) return {};
  Decades decades{std::floor(std::log10(least)), std::ceil(std::log10(most))};
  decades.high = std::clamp(decades.high, decades.low + 1, std::max(kMost, decades.low + 1));
  return decades;
}

// The points up to the first loss that is no number.
Series LossSeries(const History& history, const StepAxis& axis, const Decades& decades,
                  std::string name, std::string color) {
  Series series{std::move(name), std::move(color), {}};
  for (const History::Row& row : history.rows) {
    if (!std::isfinite(row.loss)) break;
    series.places.push_back({axis.XOf(row.step), decades.YOf(row.loss)});
  }
  if (series.places.size() < history.rows.size()) series.name += ", then not a number";
  if (series.places.empty()) series.places.push_back({kArea.left, kArea.top});
  return series;
}

std::string LossSvg(const ReportInput& input) {
  page::Svg svg(kWidth, kArea.bottom() + 42, "loss by step, with and without protection");
  const StepAxis axis(input.history);
  const Decades decades = DecadesOf({&input.history, &input.unprotected});
  const double every = std::ceil((decades.high - decades.low) / 6);
  for (double power = decades.low; power <= decades.high; power += every) {
    DrawLevel(decades.YOf(std::pow(10, power)), Short(std::pow(10, power)), svg);
  }
  axis.Draw(svg);
  std::vector<Series> all = {LossSeries(input.history, axis, decades, "with protection", kHonest)};
  if (!input.unprotected.rows.empty()) {
    all.push_back(LossSeries(input.unprotected, axis, decades, "without", kUnprotected));
  }
  DrawSeries(all, svg);
  return svg.Finish();
}

// --- the page -----------------------------------------------------------------------------------

std::string Number(std::uint64_t value) { return std::to_string(value); }

std::string RemovalTable(const ReportInput& input) {
  if (input.result.removals.empty()) return page::Tag("p", "No member was removed.") + "\n";
  std::string rows = page::Tag("tr", page::Tag("th", "peer") + page::Tag("th", "who", "text") +
                                         page::Tag("th", "step") + page::Tag("th", "how", "text") +
                                         page::Tag("th", "why", "text")) +
                     "\n";
  for (const wire::Removal& removal : input.result.removals) {
    const auto peer = input.roster.IndexOf(removal.peer);
    const bool honest = peer && input.roster.IsHonest(*peer);
    const bool drop = removal.kind == wire::RemovalKind::kDrop;
    rows += page::Tag("tr",
                      page::Tag("td", peer ? Number(*peer) : page::Escaped(removal.peer.Short())) +
                          page::Tag("td", honest ? "honest" : "Byzantine", "text") +
                          page::Tag("td", Number(removal.step)) +
                          page::Tag("td",
                                    std::string(drop ? "dropped" : "banned by ") +
                                        (drop ? "" : wire::RemovalKindName(removal.kind)),
                                    "text") +
                          page::Tag("td", page::Escaped(removal.reason), "text")) +
            "\n";
  }
  return page::Table(rows);
}

std::string Summary(const ReportInput& input) {
  const SimOptions& options = input.options;
  const SimResult& result = input.result;
  std::string text = Number(options.peers) + " peers, " + Number(options.byzantine) +
                     " of them Byzantine: " + options.attack + " from step " +
                     Number(options.attack_from_step) + " on &middot; " + Number(result.steps) +
                     " steps &middot; seed " + Number(options.seed) + " &middot; " +
                     Number(result.byzantine_removed) + " removals of Byzantine peers, " +
                     Number(result.honest_removed) + " of honest ones";
  if (result.detection_steps) {
    text += " &middot; " + Number(*result.detection_steps) +
            " steps from the first misdeed to the last ban or drop";
  }
  std::string body = page::Tag("p", text) + "\n";
  if (result.failure) {
    body += page::Tag("p", page::Tag("b", "A checker failed: " +
                                              page::Escaped(result.failure->checker + ": " +
                                                            result.failure->message))) +
            "\n";
  }
  return body;
}

std::string LossCaption(const ReportInput& input) {
  std::string caption =
      "Loss on held-out data after each step, on a logarithmic axis: with protection, and the same "
      "attack, keys and network with plain averaging.";
  if (!input.same_faults) {
    caption += " The run without protection had no crash and no cut, which it could not bear.";
  }
  return caption;
}

std::string StepSection(const ReportInput& input) {
  if (!input.step) return "";
  const std::string step = Number(input.step->step);
  std::string text;
  for (const RecordedStep::Note& note : input.step->notes) {
    text += page::Tag("tr", page::Tag("td", Short(static_cast<double>(note.at.ns) / 1e9) + " s") +
                                page::Tag("td", page::Escaped(note.text), "text")) +
            "\n";
  }
  return page::Tag("h2", "Step " + step) + "\n" +
         page::Figure(StepSvg(*input.step, input.roster),
                      "Signed messages of step " + step +
                          ", from sending to arrival, and the observations of honest peers. Time "
                          "runs downwards; long waits are shortened. Of more than eight peers only "
                          "those that the step removed and the first others are shown.") +
         page::Table(text);
}

}  // namespace

std::string ReportHtml(const ReportInput& input) {
  const std::string title =
      "ostraka sim: " + input.options.attack + ", seed " + Number(input.options.seed);
  const std::string body =
      page::Tag("h1", page::Escaped(title)) + "\n" + Summary(input) + page::Tag("h2", "Removals") +
      "\n" + page::Figure(MembersSvg(input), "Members after each step, honest and Byzantine.") +
      RemovalTable(input) + page::Tag("h2", "Loss") + "\n" +
      page::Figure(LossSvg(input), LossCaption(input)) + StepSection(input) +
      page::Tag("h2", "Repeat this run") + "\n" +
      page::Tag("pre", page::Escaped(input.result.replay)) + "\n" +
      page::Tag("p", "Put this line into a file and give it to ostraka sim --replay.") + "\n";
  return page::Document(title, body);
}

base::StatusOr<Report> MakeReport(const SimOptions& options, std::optional<std::uint64_t> step,
                                  const std::function<void(const std::string&)>& progress) {
  if (options.unprotected) {
    return base::InvalidArgument(
        "a report compares a protected run with an unprotected one: leave --unprotected out");
  }
  ReportInput input;
  input.options = options;
  ASSIGN_OR_RETURN(input.roster, RosterOf(options));
  ASSIGN_OR_RETURN(const auto trainer, ToyTrainerOf(options));
  Historian historian(input.roster, trainer.get());
  StepRecorder recorder(input.roster, step);
  Both both(historian, recorder);
  progress("running it with protection");
  ASSIGN_OR_RETURN(input.result, RunSimulation(options, {}, &both));
  input.history = historian.Take();
  input.step = recorder.Recorded();
  if (input.history.rows.empty()) {
    return base::FailedPrecondition(
        "the run ended before its first step: there is nothing to show");
  }
  if (step && !input.step) {
    return base::InvalidArgument("the run never came to step " + std::to_string(*step) +
                                 ": its last was " +
                                 std::to_string(input.history.rows.back().step));
  }
  const SimOptions plain = Unprotected(options);
  input.same_faults = options.crashes == 0 && options.blackouts == 0 && options.cut == "none";
  Historian plain_historian(input.roster, trainer.get());
  progress("running it without");
  RETURN_IF_ERROR(RunSimulation(plain, {}, &plain_historian).status());
  input.unprotected = plain_historian.Take();
  Report report;
  report.html = ReportHtml(input);
  report.result = std::move(input.result);
  return report;
}

}  // namespace ostraka::sim

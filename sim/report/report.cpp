#include "sim/report/report.h"

#include <cstdio>
#include <map>
#include <utility>

#include "sim/page/html.h"
#include "sim/page/svg.h"
#include "sim/report/figures.h"
#include "sim/report/peer_names.h"
#include "sim/report/step_svg.h"
#include "sim/trainers/trainers.h"

namespace ostraka::sim {
namespace {

// --- the runs -----------------------------------------------------------------------------------

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

// --- the page -----------------------------------------------------------------------------------

std::string Number(std::uint64_t value) { return std::to_string(value); }

std::string MomentText(base::Time time) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f s", static_cast<double>(time.ns) / 1e9);
  return text;
}

std::string RowOf(const ReportInput& input, std::optional<std::uint32_t> peer, std::uint64_t step,
                  const std::string& how, const std::string& why) {
  const bool honest = peer && input.roster.IsHonest(*peer);
  return page::Tag("tr", page::Tag("td", peer ? Number(*peer) : "?") +
                             page::Tag("td", honest ? "honest" : "Byzantine", "text") +
                             page::Tag("td", Number(step)) + page::Tag("td", how, "text") +
                             page::Tag("td", page::Escaped(WithPeerNumbers(why, input.roster)),
                                       "text long")) +
         "\n";
}

// Bans, drops and returns, in the order of the steps.
std::string ChangesTable(const ReportInput& input) {
  std::multimap<std::uint64_t, std::string> rows;
  for (const wire::Removal& removal : input.result.removals) {
    const bool ban = wire::IsBan(removal.kind);
    rows.emplace(removal.step,
                 RowOf(input, input.roster.IndexOf(removal.peer), removal.step,
                       ban ? std::string("banned by ") + wire::RemovalKindName(removal.kind)
                           : std::string("dropped"),
                       wire::TextOf(removal.reason)));
  }
  for (const History::Return& one : input.history.returns) {
    rows.emplace(one.step, RowOf(input, one.peer, one.step, "returned", ""));
  }
  if (rows.empty()) return page::Tag("p", "No member was banned or dropped.") + "\n";
  std::string text = page::Tag("tr", page::Tag("th", "peer") + page::Tag("th", "who", "text") +
                                         page::Tag("th", "step") + page::Tag("th", "what", "text") +
                                         page::Tag("th", "why", "text")) +
                     "\n";
  for (const auto& [step, row] : rows) text += row;
  return page::Table(text);
}

std::string MembersCaption(const ReportInput& input) {
  const auto [first, last] = StepsOfChange(input);
  const std::uint64_t end = input.history.rows.back().step;
  std::string text = "Members after each step, honest and Byzantine. ";
  if (first > 0 || last < end) {
    text += "Shown are steps " + Number(first) + " to " + Number(last) + " of " + Number(end + 1) +
            "; in the others nobody was banned, dropped or returned. ";
  }
  return text + "Point at a mark for the peers.";
}

// How many of the peers for which `counts` holds are Byzantine, and how many honest.
std::string ByTruthText(const ReportInput& input, const char* what,
                        const std::vector<std::optional<std::uint32_t>>& peers) {
  std::size_t honest = 0;
  for (const auto& peer : peers) honest += peer && input.roster.IsHonest(*peer) ? 1 : 0;
  return std::string(" &middot; ") + what + ": " + Number(peers.size() - honest) + " Byzantine, " +
         Number(honest) + " honest";
}

std::string Summary(const ReportInput& input) {
  const SimOptions& options = input.options;
  const SimResult& result = input.result;
  const std::string attackers =
      options.byzantine == 0 ? "none of them Byzantine"
                             : Number(options.byzantine) + " of them Byzantine: " + options.attack +
                                   " from step " + Number(options.attack_from_step) + " on";
  std::string text = Number(options.peers) + " peers, " + attackers + " &middot; " +
                     Number(result.steps) + " steps &middot; seed " + Number(options.seed);
  std::vector<std::optional<std::uint32_t>> banned;
  std::vector<std::optional<std::uint32_t>> dropped;
  std::vector<std::optional<std::uint32_t>> returned;
  for (const wire::Removal& removal : result.removals) {
    (wire::IsBan(removal.kind) ? banned : dropped).push_back(input.roster.IndexOf(removal.peer));
  }
  for (const History::Return& one : input.history.returns) returned.emplace_back(one.peer);
  text += ByTruthText(input, "banned", banned) + ByTruthText(input, "dropped", dropped) +
          ByTruthText(input, "returned", returned);
  if (result.detection_steps) {
    text += " &middot; " + Number(*result.detection_steps) +
            " steps from the first misdeed to the last ban or drop";
  }
  std::string body = page::Tag("p", text) + "\n";
  if (result.failure) {
    body +=
        page::Tag("p", page::Tag("b", "A checker failed: " + page::Escaped(WithPeerNumbers(
                                                                 result.failure->checker + ": " +
                                                                     result.failure->message,
                                                                 input.roster)))) +
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
    text += page::Tag("tr", page::Tag("td", MomentText(note.at)) +
                                page::Tag("td", page::Escaped(note.text), "text long")) +
            "\n";
  }
  return page::Tag("h2", "Step " + step) + "\n" +
         page::Figure(StepSvg(*input.step, input.roster), StepCaption(*input.step, input.roster)) +
         page::Table(text);
}

}  // namespace

std::string ReportHtml(const ReportInput& input) {
  const std::string title =
      "ostraka sim: " + input.options.attack + ", seed " + Number(input.options.seed);
  const std::string body =
      page::Tag("h1", page::Escaped(title)) + "\n" + Summary(input) +
      page::Tag("h2", "Bans, drops and returns") + "\n" +
      page::Figure(MembersSvg(input), MembersCaption(input)) + ChangesTable(input) +
      page::Tag("h2", "Loss") + "\n" + page::Figure(LossSvg(input), LossCaption(input)) +
      StepSection(input) + page::Tag("h2", "Repeat this run") + "\n" +
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
  ASSIGN_OR_RETURN(const auto trainer, TrainerOf(options));
  Historian historian(input.roster, *trainer);
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
  progress("running it without");
  ASSIGN_OR_RETURN(RunAndHistory unprotected, RunWithHistory(plain));
  input.unprotected = std::move(unprotected.history);
  Report report;
  report.html = ReportHtml(input);
  report.run = {std::move(input.result), std::move(input.roster), std::move(input.history)};
  return report;
}

}  // namespace ostraka::sim

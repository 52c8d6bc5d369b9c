#include "node/cli/terminal/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "node/base/check.h"
#include "node/cli/terminal/exit_code.h"
#include "node/cli/terminal/human.h"

namespace ostraka::cli {
namespace {

constexpr double kNewest = 0.1;  // weight of the newest step in the pace

}  // namespace

std::string EvaluationText(const std::string& metric, double value, double loss) {
  const std::string text = "loss " + FourDigits(loss);
  return metric == "loss" ? text : text + ", " + metric + " " + FourDigits(value);
}

std::string SampleText(std::string_view prompt, std::string_view text) {
  std::string line = "\"" + PrintableText(prompt, /*whole=*/true) + "\" -> \"" +
                     PrintableText(text, /*whole=*/true) + "\"";
  const auto breaks = [](char c) { return c == '\n' || c == '\r' || c == '\t'; };
  std::replace_if(line.begin(), line.end(), breaks, ' ');
  return line;
}

std::string AbsenceText(const AbsenceFacts& facts) {
  std::string text = facts.since ? "out since step " + std::to_string(*facts.since)
                                 : std::string("out of the run");
  if (!facts.may_return) return text + ", and asks to return";
  text += ", may ask to return from step " + std::to_string(*facts.may_return) + " on";
  if (facts.seconds) text += " (in about " + SpanText(*facts.seconds) + ")";
  return text;
}

std::string ProgressLine(const ProgressFacts& facts) {
  // A run outlasts its plan by some steps after a late ban.
  std::string line =
      "step " + std::to_string(facts.done) +
      (facts.done > facts.steps ? ", beyond the " + std::to_string(facts.steps) + " planned"
                                : " of " + std::to_string(facts.steps));
  if (!facts.state.empty()) line += ", " + facts.state;
  if (facts.cases > 0) {
    line += ", " + std::to_string(facts.cases) + (facts.cases == 1 ? " case" : " cases");
  }
  const std::string batch =
      facts.batch_loss ? ", own batch's loss " + FourDigits(*facts.batch_loss) : std::string();
  line += facts.evaluation.empty() ? batch : ", " + facts.evaluation;
  if (facts.seconds_left) line += ", " + SpanText(*facts.seconds_left) + " left";
  if (facts.step_seconds) line += ", " + SpanText(*facts.step_seconds) + " a step";
  if (!facts.evaluation.empty()) line += batch;
  return line + ", " + std::to_string(facts.members) + " members";
}

void Progress::Done(std::uint64_t step, double now) {
  // Steps that were caught up on at once say nothing about the pace.
  if (done_at_ && step == *done_ + 1) {
    const double took = now - *done_at_;
    step_seconds_ = step_seconds_ ? *step_seconds_ + kNewest * (took - *step_seconds_) : took;
  }
  done_ = step;
  done_at_ = now;
  CheckInvariants();
}

std::string Progress::Line(std::size_t members, std::size_t cases) const {
  if (!done_) return "";
  ProgressFacts facts{.done = *done_ + 1,
                      .steps = steps_,
                      .members = members,
                      .cases = cases,
                      .state = {},
                      .evaluation = evaluation_,
                      .batch_loss = batch_loss_,
                      .step_seconds = step_seconds_,
                      .seconds_left = {}};
  if (step_seconds_) {
    facts.seconds_left =
        static_cast<double>(steps_ - std::min(facts.done, steps_)) * *step_seconds_;
  }
  return ProgressLine(facts);
}

void Progress::CheckInvariants() const {
  OSTRAKA_CHECK(done_.has_value() == done_at_.has_value());
  OSTRAKA_CHECK(!step_seconds_ || *step_seconds_ >= 0);
}

std::string FitToScreen(std::string_view text, std::size_t columns) {
  if (columns == 0) return std::string(text);
  while (text.size() >= columns) {
    const std::size_t last = text.rfind(", ");
    if (last == std::string_view::npos) return std::string(text.substr(0, columns - 1));
    text = text.substr(0, last);
  }
  return std::string(text);
}

std::size_t ScreenColumns(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void DrawOver(std::string_view text) {
  std::fprintf(stderr, "\r\x1b[K%s", FitToScreen(text, ScreenColumns(STDERR_FILENO)).c_str());
}

}  // namespace ostraka::cli

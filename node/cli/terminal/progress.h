// The line that tells a person how far a run is: "step 61 of 300, loss 0.1406, 23 s left, 97 ms a
// step, own batch's loss 0.1302, 5 members". What matters most comes first: a narrow terminal has
// no room for the rest.
//
// Promises
// P1  The pace is a mean of the steps that were counted, in which a newer step weighs more.
// May not know: where the line is shown.
// Memory: a few numbers, and the text of the newest evaluation.
// What an attacker can do here: nothing; the numbers are this program's own.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ostraka::cli {

// "loss 0.1406, accuracy 0.9120"; the metric of some models is the loss itself.
std::string EvaluationText(const std::string& metric, double value, double loss);

// "\"ROMEO: but\" -> \" soft, what light\"", on one line that is safe on a terminal.
std::string SampleText(std::string_view prompt, std::string_view text);

// Of a node that is out of its run for now.
struct AbsenceFacts {
  std::optional<std::uint64_t> since;       // the step in which it was dropped or left
  std::optional<std::uint64_t> may_return;  // it may not ask before this step; nullopt: it asks
  std::optional<double> seconds;            // until then
};
// "out since step 473, may ask to return from step 1473 on (in about 61 s)".
std::string AbsenceText(const AbsenceFacts& facts);

// What the line says; texts that are empty and numbers that are not there are left out.
struct ProgressFacts {
  std::uint64_t done = 0;  // steps
  std::uint64_t steps = 0;
  std::size_t members = 0;
  std::size_t cases = 0;   // open ones
  std::string state;       // of a node that does not take part as others do
  std::string evaluation;  // EvaluationText
  std::optional<double> batch_loss;
  std::optional<double> step_seconds;
  std::optional<double> seconds_left;
};
std::string ProgressLine(const ProgressFacts& facts);

// The facts of a run that somebody watches by its events alone (`ostraka swarm`).
class Progress {
 public:
  explicit Progress(std::uint64_t steps) : steps_(steps) {}

  // Step `step` is done at `now`, in seconds of a clock that never goes back.
  void Done(std::uint64_t step, double now);
  // The loss on the own batch of the newest step. Without an evaluation it stands in its place.
  void Batch(double loss) { batch_loss_ = loss; }
  void Evaluated(const std::string& text) { evaluation_ = text; }

  // `members` and `cases` (open ones) as of the last step. Empty before the first.
  std::string Line(std::size_t members, std::size_t cases) const;

  void CheckInvariants() const;

 private:
  const std::uint64_t steps_;
  std::optional<std::uint64_t> done_;   // the newest step
  std::optional<double> done_at_;       // of done_
  std::optional<double> step_seconds_;  // P1
  std::optional<double> batch_loss_;
  std::string evaluation_;
};

// `text`, whose last parts between ", " are left out until it has fewer bytes than `columns`: the
// last column stays free, because some terminals wrap after it, and a line that wraps leaves its
// first half behind each time that it is drawn anew. A first part that is too long is cut. 0
// columns: not known, and nothing is left out.
std::string FitToScreen(std::string_view text, std::size_t columns);

// Columns of the terminal behind `descriptor`; 0 if it is none or does not say.
std::size_t ScreenColumns(int descriptor);

// Draws `text` over what the line on stderr says. REQUIRES: stderr is a terminal.
void DrawOver(std::string_view text);

}  // namespace ostraka::cli

// A trained graph that continues a text, token by token, by the kernels that trained it.
//
//   LogitsAfter(tokens) -> one number for each token that may come next -> DrawToken
//
// The graph is one of training: tokens and targets of a fixed batch and context. The text goes into
// its first record, and the logits are those of the text's last position; a text that is longer
// than the context is seen from its end.
//
// Thread safety: one call at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "exact/graph/graph.h"
#include "exact/run/runner.h"
#include "node/base/rng.h"
#include "node/base/status.h"
#include "node/train/tokens/speech.h"

namespace ostraka::train {

// The inputs of a graph that takes texts: tokens, and targets of as many positions.
struct TextInputs {
  std::size_t count = 0;    // of positions, in all records
  std::size_t context = 0;  // of positions, in one
  std::int64_t bound = 0;   // of tokens, above all
  bool targets_first = false;
  std::vector<std::size_t> drawn = {};  // counts of inputs that are drawn, which follow the two
  std::vector<float> ones = {};         // as many as the largest of them, from the first With on

  // Nothing is dropped: what is drawn is 1. The spans are of the arguments and of this, until the
  // next call. REQUIRES: `count` tokens and targets.
  std::vector<exact::InputValues> With(std::span<const std::int32_t> tokens,
                                       std::span<const std::int32_t> targets);
};
// InvalidArgument: it takes other inputs.
base::StatusOr<TextInputs> TextInputsOf(const exact::Graph& graph);

class TextModel {
 public:
  // InvalidArgument: the graph continues no texts: it takes no tokens, its loss is of no logits, or
  // what it says of a position depends on later ones, as of a model that fills gaps.
  // Errors of PlanMemory. REQUIRES: `constants` are the graph's, and `parameters` its count.
  static base::StatusOr<TextModel> Make(const exact::Graph& graph,
                                        std::vector<std::vector<float>> constants,
                                        std::vector<float> parameters);

  std::uint32_t vocabulary() const { return vocabulary_; }
  std::size_t context() const { return inputs_.context; }

  // Of the token that follows `tokens`: vocabulary() numbers, at least one of them finite. Errors
  // of Runner::Loss; InvalidArgument: none is finite. REQUIRES: at least one token; all below
  // vocabulary().
  base::StatusOr<std::vector<float>> LogitsAfter(std::span<const std::int32_t> tokens);

 private:
  // As Make, but for what later positions do.
  static base::StatusOr<TextModel> MakeAny(const exact::Graph& graph,
                                           std::vector<std::vector<float>> constants,
                                           std::vector<float> parameters);
  friend base::Status CheckNoLeak(const exact::Graph& graph,
                                  std::vector<std::vector<float>> constants,
                                  std::vector<float> parameters);
  TextModel() = default;
  base::StatusOr<bool> IsCausal();

  std::uint32_t vocabulary_ = 0;
  TextInputs inputs_;
  std::vector<float> parameters_;
  std::vector<std::int32_t> tokens_;   // [batch, context]
  std::vector<std::int32_t> targets_;  // as many; any token: the loss is not looked at
  std::unique_ptr<aggregation::SerialExecutor> executor_;  // outlives runner_
  std::unique_ptr<exact::Runner> runner_;
};

// InvalidArgument: of a graph that learns texts, whose targets are the tokens one place later, what
// it says of a position depends on that place, so it would learn to copy what it sees. Errors of
// PlanMemory. REQUIRES: as Make.
base::Status CheckNoLeak(const exact::Graph& graph, std::vector<std::vector<float>> constants,
                         std::vector<float> parameters);

// How a token is drawn from logits. With temperature 0 it is the likeliest, the first of equals.
struct Sampling {
  double temperature = 0.8;  // >= 0; logits are divided by it
  std::uint32_t top_k = 0;   // of the likeliest alone; 0: of all
  double top_p = 1;          // of the likeliest that together have this probability; in (0, 1]
};
// Tokens that are not finite are never drawn. REQUIRES: a finite logit.
std::int32_t DrawToken(std::span<const float> logits, const Sampling& sampling, base::Rng& rng);

// DrawToken of those that `speech` knows. nullopt: none of these is finite.
std::optional<std::int32_t> DrawKnown(std::vector<float> logits, const Speech& speech,
                                      const Sampling& sampling, base::Rng& rng);

}  // namespace ostraka::train

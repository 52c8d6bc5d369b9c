// What a model writes, for people: a held-out text, continued after the model was evaluated.
//
// Each token takes one micro-batch by the evaluation's own engine, plan and parameters, so a sample
// needs no memory of its own. It ends where anything else is to be computed.
//
// Thread safety: one call at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "exact/graph/graph.h"
#include "node/base/status.h"
#include "node/train/exact/graph_engine.h"
#include "node/train/exact/text_model.h"
#include "node/train/tokens/speech.h"
#include "node/train/trainer.h"

namespace ostraka::train {

class TextSampler {
 public:
  // nullopt: the graph takes no texts (TextInputsOf).
  static std::optional<TextSampler> Make(const exact::Graph& graph, Speech speech);

  // Continues the beginning of the first record of `inputs`, the graph's, by at most `most` tokens.
  // nullopt: none was added, because nobody wants it, what the model says of a token depends on
  // later ones, or it says nothing that is a token.
  std::optional<TextSample> Continue(GraphEngine& engine, std::span<const float> parameters,
                                     std::span<const exact::InputValues> inputs, std::size_t most,
                                     const std::function<base::Status()>& check_wanted);

 private:
  TextSampler(const TextInputs& inputs, Speech speech)
      : inputs_(inputs),
        speech_(std::move(speech)),
        record_(inputs.count),
        targets_(inputs.count) {}
  // Of the graph, with `tokens` at the beginning of its first record, and `later` behind them.
  std::vector<exact::InputValues> InputsFor(std::span<const std::int32_t> tokens,
                                            std::int32_t later);
  // The row of the last of `tokens`; empty if the graph has no row of logits a position.
  std::vector<float> RowOf(std::span<const float> logits, std::size_t tokens) const;
  base::Status FindWhetherCausal(GraphEngine& engine, std::span<const float> parameters,
                                 std::span<const std::int32_t> tokens);
  std::string TextOf(std::span<const std::int32_t> tokens) const;

  TextInputs inputs_;
  Speech speech_;
  std::vector<std::int32_t> record_;
  std::vector<std::int32_t> targets_;  // any: the loss is not looked at
  std::optional<bool> causal_;         // known after the first sample
};

}  // namespace ostraka::train

#include "node/train/exact/text_sampler.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "node/base/rng.h"

namespace ostraka::train {
namespace {

constexpr std::size_t kPrompt = 16;  // tokens, if the context has twice as many

}  // namespace

std::optional<TextSampler> TextSampler::Make(const exact::Graph& graph, Speech speech) {
  const auto inputs = TextInputsOf(graph);
  if (!inputs.ok() || inputs->context < 2) return std::nullopt;
  return TextSampler(*inputs, std::move(speech));
}

std::vector<exact::InputValues> TextSampler::InputsFor(std::span<const std::int32_t> tokens,
                                                       std::int32_t later) {
  tokens = tokens.last(std::min(tokens.size(), inputs_.context));
  std::fill(record_.begin(), record_.end(), later);
  std::copy(tokens.begin(), tokens.end(), record_.begin());
  return inputs_.With(record_, targets_);
}

std::vector<float> TextSampler::RowOf(std::span<const float> logits, std::size_t tokens) const {
  const std::size_t width = logits.size() / inputs_.count;
  if (width == 0 || logits.size() % inputs_.count != 0) return {};
  const std::size_t known = std::min<std::size_t>(width, static_cast<std::size_t>(inputs_.bound));
  const auto row = logits.subspan((std::min(tokens, inputs_.context) - 1) * width, known);
  return {row.begin(), row.end()};
}

base::Status TextSampler::FindWhetherCausal(GraphEngine& engine, std::span<const float> parameters,
                                            std::span<const std::int32_t> tokens) {
  std::vector<std::vector<float>> rows;
  const MicroBatches two{
      .count = 2,
      .inputs =
          [&](std::size_t i) {
            return InputsFor(tokens, i == 0 ? 0 : static_cast<std::int32_t>(inputs_.bound) - 1);
          },
      .check_wanted = {}};
  RETURN_IF_ERROR(engine.Losses(parameters, two, [&](float, std::span<const float> logits) {
    rows.push_back(RowOf(logits, tokens.size()));
  }));
  if (std::any_of(rows[0].begin(), rows[0].end(), [](float each) { return std::isnan(each); })) {
    return base::OkStatus();  // of other parameters it can be told
  }
  causal_ = !rows[0].empty() && rows[0] == rows[1];
  return base::OkStatus();
}

std::optional<TextSample> TextSampler::Continue(GraphEngine& engine,
                                                std::span<const float> parameters,
                                                std::span<const exact::InputValues> inputs,
                                                std::size_t most,
                                                const std::function<base::Status()>& check_wanted) {
  const auto record = inputs[inputs_.targets_first ? 1 : 0].integers;
  const auto prompt = record.first(std::min(kPrompt, inputs_.context / 2));
  std::vector<std::int32_t> tokens(prompt.begin(), prompt.end());
  if (!check_wanted().ok()) return std::nullopt;
  if (!causal_ && !FindWhetherCausal(engine, parameters, tokens).ok()) return std::nullopt;
  if (!causal_.value_or(false)) return std::nullopt;
  bool speaks = true;
  const MicroBatches each_token{
      .count = most,
      .inputs = [&](std::size_t) { return InputsFor(tokens, 0); },
      .check_wanted = [&] { return speaks ? check_wanted() : base::Cancelled("no token"); }};
  const base::Status ended =
      engine.Losses(parameters, each_token, [&](float, std::span<const float> logits) {
        base::Rng rng(tokens.size());  // the same draws for each state, to be compared
        const auto token = DrawKnown(RowOf(logits, tokens.size()), speech_, Sampling{}, rng);
        if (token) tokens.push_back(*token);
        speaks = token.has_value();
      });
  if (tokens.size() == prompt.size()) return std::nullopt;
  // However it ended, what is there was said by this state.
  static_cast<void>(ended);
  const auto all = std::span<const std::int32_t>(tokens);
  return TextSample{TextOf(all.first(prompt.size())), TextOf(all.subspan(prompt.size()))};
}

std::string TextSampler::TextOf(std::span<const std::int32_t> tokens) const {
  std::string text;
  for (const std::int32_t token : tokens) {
    // A prompt may have tokens that no text has.
    if (speech_.Knows(static_cast<std::size_t>(token))) text += speech_.BytesOf(token);
  }
  return text;
}

}  // namespace ostraka::train

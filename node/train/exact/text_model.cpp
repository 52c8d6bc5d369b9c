#include "node/train/exact/text_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "exact/program/differentiate.h"
#include "node/base/check.h"
#include "node/train/exact/graph_file.h"
#include "node/train/exact/graph_trainer.h"

namespace ostraka::train {
namespace {

base::Status NoTextModel(const std::string& why) {
  return base::InvalidArgument("this model continues no text: " + why);
}

}  // namespace

base::StatusOr<TextInputs> TextInputsOf(const exact::Graph& graph) {
  const exact::Input* tokens = InputNamed(graph, "tokens");
  const exact::Input* targets = InputNamed(graph, "targets");
  if (graph.given_count() != 2 || tokens == nullptr || targets == nullptr || targets->is_drawn() ||
      tokens->type.element != exact::Element::kInt || tokens->type.shape.size() != 2 ||
      targets->type.count() != tokens->type.count() || tokens->lowest > 0 || targets->lowest > 0) {
    return NoTextModel("it does not take tokens and targets of [batch, positions]");
  }
  TextInputs inputs{.count = static_cast<std::size_t>(tokens->type.count()),
                    .context = static_cast<std::size_t>(tokens->type.shape[1]),
                    .bound = tokens->bound,
                    .targets_first = targets == &graph.inputs.front()};
  for (const exact::Input& drawn : std::span(graph.inputs).subspan(2)) {
    inputs.drawn.push_back(static_cast<std::size_t>(drawn.type.count()));
  }
  return inputs;
}

std::vector<exact::InputValues> TextInputs::With(std::span<const std::int32_t> tokens,
                                                 std::span<const std::int32_t> targets) {
  std::vector<exact::InputValues> values = {{{}, tokens}, {{}, targets}};
  if (targets_first) std::swap(values[0], values[1]);
  if (!drawn.empty()) ones.resize(*std::max_element(drawn.begin(), drawn.end()), 1.0F);
  for (const std::size_t own : drawn) values.push_back({.floats = std::span(ones).first(own)});
  return values;
}

base::StatusOr<TextModel> TextModel::MakeAny(const exact::Graph& graph,
                                             std::vector<std::vector<float>> constants,
                                             std::vector<float> parameters) {
  ASSIGN_OR_RETURN(TextInputs text, TextInputsOf(graph));
  ASSIGN_OR_RETURN(exact::PlannedProgram plan,
                   exact::PlanMemory(exact::Differentiate(graph), {.max_bytes = kMaxPeakBytes}, 1));
  if (!plan.program.logits) return NoTextModel("its loss is of no logits");
  const std::size_t logits = plan.program.buffers[*plan.program.logits].count;
  if (logits % text.count != 0 || logits == 0) {
    return NoTextModel("it has not one row of logits for each position");
  }
  TextModel model;
  model.vocabulary_ = static_cast<std::uint32_t>(
      std::min<std::int64_t>(text.bound, static_cast<std::int64_t>(logits / text.count)));
  model.parameters_ = std::move(parameters);
  model.tokens_.resize(text.count);
  model.targets_.resize(text.count);
  model.inputs_ = std::move(text);
  model.executor_ = std::make_unique<aggregation::SerialExecutor>();
  model.runner_ = std::make_unique<exact::Runner>(std::move(plan), std::move(constants),
                                                  exact::BestKernels(), *model.executor_);
  return model;
}

base::StatusOr<TextModel> TextModel::Make(const exact::Graph& graph,
                                          std::vector<std::vector<float>> constants,
                                          std::vector<float> parameters) {
  ASSIGN_OR_RETURN(TextModel model, MakeAny(graph, std::move(constants), std::move(parameters)));
  ASSIGN_OR_RETURN(const bool causal, model.IsCausal());
  if (causal) return model;
  return NoTextModel("what it says of a position depends on later ones");
}

base::Status CheckNoLeak(const exact::Graph& graph, std::vector<std::vector<float>> constants,
                         std::vector<float> parameters) {
  auto model = TextModel::MakeAny(graph, std::move(constants), std::move(parameters));
  if (!model.ok()) {
    // Of a graph without rows of logits nobody can say so.
    return model.status().code() == absl::StatusCode::kInvalidArgument ? base::OkStatus()
                                                                       : model.status();
  }
  ASSIGN_OR_RETURN(const bool causal, model->IsCausal());
  if (causal) return base::OkStatus();
  return base::InvalidArgument(
      "the model sees the tokens that it is to predict: what it says of a position depends on "
      "later ones, and the targets of a text are the tokens one place later. Give its attention a "
      "causal mask");
}

base::StatusOr<std::vector<float>> TextModel::LogitsAfter(std::span<const std::int32_t> tokens) {
  OSTRAKA_CHECK(!tokens.empty());
  tokens = tokens.last(std::min(tokens.size(), inputs_.context));
  std::copy(tokens.begin(), tokens.end(), tokens_.begin());
  RETURN_IF_ERROR(runner_->Loss(parameters_, inputs_.With(tokens_, targets_)).status());
  const std::span<const float> all = runner_->Logits();
  const std::size_t width = all.size() / tokens_.size();
  const auto row = all.subspan((tokens.size() - 1) * width, vocabulary_);
  if (std::none_of(row.begin(), row.end(), [](float logit) { return std::isfinite(logit); })) {
    return NoTextModel("its logits are no numbers: its training failed");
  }
  return std::vector<float>(row.begin(), row.end());
}

// What stands behind the text in the record must not matter.
base::StatusOr<bool> TextModel::IsCausal() {
  if (inputs_.context < 2) return true;
  std::vector<std::vector<float>> found;
  for (const std::int32_t later : {0, static_cast<std::int32_t>(vocabulary_) - 1}) {
    std::fill(tokens_.begin(), tokens_.end(), later);
    const std::int32_t first = 0;
    ASSIGN_OR_RETURN(found.emplace_back(), LogitsAfter({&first, 1}));
  }
  const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  return std::equal(found[0].begin(), found[0].end(), found[1].begin(), same);
}

std::int32_t DrawToken(std::span<const float> logits, const Sampling& sampling, base::Rng& rng) {
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (std::isfinite(logits[i])) order.push_back(static_cast<std::int32_t>(i));
  }
  OSTRAKA_CHECK(!order.empty());
  std::stable_sort(order.begin(), order.end(),
                   [logits](std::int32_t a, std::int32_t b) { return logits[a] > logits[b]; });
  if (sampling.temperature == 0) return order.front();
  if (sampling.top_k > 0) order.resize(std::min<std::size_t>(order.size(), sampling.top_k));
  std::vector<double> weights;
  double sum = 0;
  for (const std::int32_t token : order) {
    const double above = double{logits[order.front()]} - double{logits[token]};
    sum += weights.emplace_back(std::exp(-above / sampling.temperature));
  }
  double kept = 0;
  std::size_t count = 0;
  while (count < order.size() && (count == 0 || kept < sampling.top_p * sum)) {
    kept += weights[count++];
  }
  double left = rng.Unit() * kept;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    left -= weights[i];
    if (left < 0) return order[i];
  }
  return order[count - 1];
}

std::optional<std::int32_t> DrawKnown(std::vector<float> logits, const Speech& speech,
                                      const Sampling& sampling, base::Rng& rng) {
  bool any = false;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (!speech.Knows(i)) logits[i] = -std::numeric_limits<float>::infinity();
    any = any || std::isfinite(logits[i]);
  }
  if (!any) return std::nullopt;
  return DrawToken(logits, sampling, rng);
}

}  // namespace ostraka::train

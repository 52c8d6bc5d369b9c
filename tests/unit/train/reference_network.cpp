#include "tests/unit/train/reference_network.h"

#include <cmath>

namespace ostraka::train {
namespace {

// A fully connected layer inside the flat vectors: `outputs` rows of `inputs` weights, then the
// biases.
struct Layer {
  std::size_t offset;
  std::size_t inputs;
  std::size_t outputs;
  std::size_t bias() const { return offset + inputs * outputs; }
  std::size_t end() const { return bias() + outputs; }
};

std::vector<double> Forward(const Layer& layer, std::span<const float> parameters,
                            const std::vector<double>& input) {
  std::vector<double> output(layer.outputs);
  for (std::size_t o = 0; o < layer.outputs; ++o) {
    output[o] = parameters[layer.bias() + o];
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      output[o] += parameters[layer.offset + o * layer.inputs + i] * input[i];
    }
  }
  return output;
}

// Adds the layer's share of the gradient and returns the gradient by its input.
std::vector<double> Backward(const Layer& layer, std::span<const float> parameters,
                             const std::vector<double>& input, const std::vector<double>& by_output,
                             std::vector<double>& gradient) {
  std::vector<double> by_input(layer.inputs, 0);
  for (std::size_t o = 0; o < layer.outputs; ++o) {
    gradient[layer.bias() + o] += by_output[o];
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      gradient[layer.offset + o * layer.inputs + i] += by_output[o] * input[i];
      by_input[i] += by_output[o] * parameters[layer.offset + o * layer.inputs + i];
    }
  }
  return by_input;
}

// Cross entropy of `logits`, which become its gradient by them.
double CrossEntropy(std::vector<double>& logits, std::size_t label) {
  double total = 0;
  for (const double logit : logits) total += std::exp(logit);
  const double loss = std::log(total) - logits[label];
  for (double& logit : logits) logit = std::exp(logit) / total;
  logits[label] -= 1;
  return loss;
}

}  // namespace

ReferenceResult ReferenceGradient(const Examples& examples, std::span<const std::uint32_t> rows,
                                  std::size_t class_count, std::size_t hidden, bool flip_labels,
                                  std::span<const float> parameters) {
  const Layer first{
      .offset = 0, .inputs = examples.feature_count, .outputs = hidden == 0 ? class_count : hidden};
  const Layer second{.offset = first.end(), .inputs = hidden, .outputs = class_count};
  ReferenceResult result{.loss = 0, .gradient = std::vector<double>(parameters.size(), 0)};
  for (const std::uint32_t row : rows) {
    const std::size_t truth = examples.labels[row];
    const std::size_t label = flip_labels ? class_count - 1 - truth : truth;
    std::vector<double> input(examples.row(row).begin(), examples.row(row).end());
    for (double& feature : input) feature = 2 * feature - 1;
    std::vector<double> outputs = Forward(first, parameters, input);
    if (hidden == 0) {
      result.loss += CrossEntropy(outputs, label);
      Backward(first, parameters, input, outputs, result.gradient);
      continue;
    }
    for (double& unit : outputs) unit = unit > 0 ? unit : 0;
    std::vector<double> logits = Forward(second, parameters, outputs);
    result.loss += CrossEntropy(logits, label);
    std::vector<double> by_unit = Backward(second, parameters, outputs, logits, result.gradient);
    for (std::size_t i = 0; i < hidden; ++i) by_unit[i] = outputs[i] > 0 ? by_unit[i] : 0;
    Backward(first, parameters, input, by_unit, result.gradient);
  }
  const auto count = static_cast<double>(rows.size());
  result.loss /= count;
  for (double& value : result.gradient) value /= count;
  return result;
}

}  // namespace ostraka::train

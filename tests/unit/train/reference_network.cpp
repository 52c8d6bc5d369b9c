#include "tests/unit/train/reference_network.h"

#include <cmath>
#include <memory>

namespace ostraka::train {
namespace {

using Values = std::vector<double>;

// One layer of the network; a layer with parameters knows their place in the flat vectors.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual Values Forward(std::span<const float> parameters, const Values& input) const = 0;
  // Adds the layer's share of the gradient and returns the gradient by its input.
  virtual Values Backward(std::span<const float> parameters, const Values& input,
                          const Values& by_output, Values& gradient) const = 0;
};

// `outputs` rows of `inputs` weights, then the biases.
class Linear final : public Layer {
 public:
  Linear(std::size_t offset, std::size_t inputs, std::size_t outputs)
      : offset_(offset), inputs_(inputs), outputs_(outputs) {}
  std::size_t end() const { return offset_ + (inputs_ + 1) * outputs_; }

  Values Forward(std::span<const float> parameters, const Values& input) const override {
    Values output(outputs_);
    for (std::size_t o = 0; o < outputs_; ++o) {
      output[o] = parameters[Bias(o)];
      for (std::size_t i = 0; i < inputs_; ++i) output[o] += parameters[Weight(o, i)] * input[i];
    }
    return output;
  }
  Values Backward(std::span<const float> parameters, const Values& input, const Values& by_output,
                  Values& gradient) const override {
    Values by_input(inputs_, 0);
    for (std::size_t o = 0; o < outputs_; ++o) {
      gradient[Bias(o)] += by_output[o];
      for (std::size_t i = 0; i < inputs_; ++i) {
        gradient[Weight(o, i)] += by_output[o] * input[i];
        by_input[i] += by_output[o] * parameters[Weight(o, i)];
      }
    }
    return by_input;
  }

 private:
  std::size_t Weight(std::size_t o, std::size_t i) const { return offset_ + o * inputs_ + i; }
  std::size_t Bias(std::size_t o) const { return offset_ + inputs_ * outputs_ + o; }

  std::size_t offset_;
  std::size_t inputs_;
  std::size_t outputs_;
};

class Relu final : public Layer {
 public:
  Values Forward(std::span<const float>, const Values& input) const override {
    Values output = input;
    for (double& value : output) value = value > 0 ? value : 0;
    return output;
  }
  Values Backward(std::span<const float>, const Values& input, const Values& by_output,
                  Values&) const override {
    Values by_input = by_output;
    for (std::size_t i = 0; i < input.size(); ++i) by_input[i] = input[i] > 0 ? by_output[i] : 0;
    return by_input;
  }
};

// 3 x 3, stride 1, zeros around: weights [output][input][3][3], then the biases.
class Convolution final : public Layer {
 public:
  Convolution(std::size_t offset, const ImageShape& input, std::size_t outputs)
      : offset_(offset), input_(input), outputs_(outputs) {}
  std::size_t end() const { return Bias(outputs_); }

  Values Forward(std::span<const float> parameters, const Values& input) const override {
    Values output(outputs_ * pixels());
    for (std::size_t o = 0; o < outputs_; ++o) {
      for (std::size_t p = 0; p < pixels(); ++p) output[o * pixels() + p] = parameters[Bias(o)];
    }
    ForEachProduct([&](std::size_t weight, std::size_t in, std::size_t out) {
      output[out] += parameters[weight] * input[in];
    });
    return output;
  }
  Values Backward(std::span<const float> parameters, const Values& input, const Values& by_output,
                  Values& gradient) const override {
    Values by_input(input.size(), 0);
    for (std::size_t o = 0; o < outputs_; ++o) {
      for (std::size_t p = 0; p < pixels(); ++p) gradient[Bias(o)] += by_output[o * pixels() + p];
    }
    ForEachProduct([&](std::size_t weight, std::size_t in, std::size_t out) {
      gradient[weight] += by_output[out] * input[in];
      by_input[in] += by_output[out] * parameters[weight];
    });
    return by_input;
  }

 private:
  std::size_t pixels() const { return std::size_t{input_.height} * input_.width; }
  std::size_t Bias(std::size_t o) const { return offset_ + 9 * outputs_ * input_.channels + o; }

  // visit(weight, input, output), all flat indices, for every product that the convolution sums.
  template <typename Visit>
  void ForEachProduct(const Visit& visit) const {
    for (std::size_t o = 0; o < outputs_; ++o) {
      for (std::size_t i = 0; i < input_.channels; ++i) {
        for (std::size_t tap = 0; tap < 9; ++tap) {
          const std::size_t weight = offset_ + (o * input_.channels + i) * 9 + tap;
          for (std::size_t y = 0; y < input_.height; ++y) {
            // One above the first row is beyond the last, as an unsigned number.
            const std::size_t from_y = y + tap / 3 - 1;
            if (from_y >= input_.height) continue;
            for (std::size_t x = 0; x < input_.width; ++x) {
              const std::size_t from_x = x + tap % 3 - 1;
              if (from_x >= input_.width) continue;
              visit(weight, i * pixels() + from_y * input_.width + from_x,
                    o * pixels() + y * input_.width + x);
            }
          }
        }
      }
    }
  }

  std::size_t offset_;
  ImageShape input_;
  std::size_t outputs_;
};

// The largest of each 2 x 2; odd rows and columns at the end are dropped.
class MaxPool final : public Layer {
 public:
  explicit MaxPool(const ImageShape& input) : input_(input) {}
  ImageShape output() const { return {input_.channels, input_.height / 2, input_.width / 2}; }

  Values Forward(std::span<const float>, const Values& input) const override {
    Values values;
    for (const std::size_t index : Largest(input)) values.push_back(input[index]);
    return values;
  }
  Values Backward(std::span<const float>, const Values& input, const Values& by_output,
                  Values&) const override {
    Values by_input(input.size(), 0);
    const std::vector<std::size_t> largest = Largest(input);
    for (std::size_t i = 0; i < largest.size(); ++i) by_input[largest[i]] += by_output[i];
    return by_input;
  }

 private:
  std::vector<std::size_t> Largest(const Values& input) const {
    std::vector<std::size_t> largest;
    for (std::size_t c = 0; c < input_.channels; ++c) {
      for (std::size_t y = 0; y + 1 < input_.height; y += 2) {
        for (std::size_t x = 0; x + 1 < input_.width; x += 2) {
          const std::size_t corner = (c * input_.height + y) * input_.width + x;
          std::size_t best = corner;
          for (const std::size_t other :
               {corner + 1, corner + input_.width, corner + input_.width + 1}) {
            if (input[other] > input[best]) best = other;
          }
          largest.push_back(best);
        }
      }
    }
    return largest;
  }

  ImageShape input_;
};

class Network {
 public:
  Network(const ReferenceNetwork& network, const ImageShape& shape, std::size_t classes) {
    ImageShape image = shape;
    if (network.model == "cnn") {
      image = AddStage(image, 16);
      image = AddStage(image, 32);
    }
    std::size_t width = image.value_count();
    if (network.model != "softmax") {
      AddLinear(width, network.hidden);
      layers_.push_back(std::make_unique<Relu>());
      width = network.hidden;
    }
    AddLinear(width, classes);
  }

  // Adds the gradient of the cross entropy of one example, which it returns.
  double Add(std::span<const float> parameters, Values input, std::size_t label,
             Values& gradient) const {
    std::vector<Values> inputs;
    for (const auto& layer : layers_) {
      inputs.push_back(std::move(input));
      input = layer->Forward(parameters, inputs.back());
    }
    double total = 0;
    for (const double logit : input) total += std::exp(logit);
    const double loss = std::log(total) - input[label];
    Values by_output = input;
    for (double& logit : by_output) logit = std::exp(logit) / total;
    by_output[label] -= 1;
    for (std::size_t i = layers_.size(); i > 0; --i) {
      by_output = layers_[i - 1]->Backward(parameters, inputs[i - 1], by_output, gradient);
    }
    return loss;
  }

 private:
  ImageShape AddStage(const ImageShape& input, std::uint32_t channels) {
    auto convolution = std::make_unique<Convolution>(end_, input, channels);
    end_ = convolution->end();
    auto pool = std::make_unique<MaxPool>(ImageShape{channels, input.height, input.width});
    const ImageShape output = pool->output();
    layers_.push_back(std::move(convolution));
    layers_.push_back(std::make_unique<Relu>());
    layers_.push_back(std::move(pool));
    return output;
  }
  void AddLinear(std::size_t inputs, std::size_t outputs) {
    auto linear = std::make_unique<Linear>(end_, inputs, outputs);
    end_ = linear->end();
    layers_.push_back(std::move(linear));
  }

  std::vector<std::unique_ptr<Layer>> layers_;
  std::size_t end_ = 0;  // of the parameters so far
};

}  // namespace

ReferenceResult ReferenceGradient(const ReferenceNetwork& network, const Dataset& data,
                                  const Examples& examples, std::span<const std::uint32_t> rows,
                                  std::span<const float> parameters) {
  const bool one_hot = data.max_value == kSymbols;
  ImageShape inputs = data.shape;
  if (one_hot) inputs.width *= data.class_count;
  const Network layers(network, inputs, data.class_count);
  ReferenceResult result{.loss = 0, .gradient = Values(parameters.size(), 0)};
  for (const std::uint32_t row : rows) {
    const std::size_t label = examples.labels[row];
    Values input;
    for (const std::uint8_t value : examples.image(row)) {
      if (!one_hot) input.push_back(2.0 * value / data.max_value - 1);
      for (std::size_t symbol = 0; one_hot && symbol < data.class_count; ++symbol) {
        input.push_back(symbol == value ? std::sqrt(data.class_count) : 0);
      }
    }
    result.loss += layers.Add(parameters, std::move(input), label, result.gradient);
  }
  const auto count = static_cast<double>(rows.size());
  result.loss /= count;
  for (double& value : result.gradient) value /= count;
  return result;
}

}  // namespace ostraka::train

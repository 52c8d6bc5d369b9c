// Layers of models over a GraphBuilder. Only layers.cpp, models.cpp and transformers.cpp include
// this.
//
// Promises: with LoRA the only parameters are factors, and every other weight is a constant of the
// base; a weight that the base lacks becomes status(), not a crash.
// Memory: proportional to the model's number of tensors.
// Thread safety: none; one owner.
#pragma once

#include <string>
#include <vector>

#include "exact/models/graph_builder.h"
#include "exact/models/models.h"

namespace ostraka::exact {

class Layers {
 public:
  explicit Layers(const ModelOptions& options) : options_(options) {}

  GraphBuilder& builder() { return builder_; }

  // A weight of the model: a parameter, or with LoRA a constant of the base. One name is one value,
  // however often it is asked for.
  Node Weight(const std::string& name, Shape shape, Initial initial, float scale = 0);
  // x W^T + b under NAME.weight and NAME.bias; with LoRA plus the two factors.
  Node Linear(const std::string& name, Node x, std::int64_t columns, bool bias, float deviation);
  Node LayerNorm(const std::string& name, Node x);
  Node RmsNorm(const std::string& name, Node x);
  Node Table(const ConstantTensor& table);
  Node Scaled(Node x, float factor);

  // NotFound becomes the model's error: weights that the base lacks.
  base::Status status() const { return status_; }
  Model Finish(Node loss);

 private:
  Node Parametrize(const std::string& name, Shape shape, Initial initial, float scale);

  const ModelOptions& options_;
  GraphBuilder builder_;
  std::map<std::string, Node> known_;
  std::vector<ConstantTensor> tables_;
  base::Status status_;
};

// Each gives the loss. REQUIRES: MakeModel has checked the options.
Node BuildGpt(const ModelOptions& options, Layers& layers, bool shared);
Node BuildLlama(const ModelOptions& options, Layers& layers);
Node BuildVit(const ModelOptions& options, Layers& layers);

}  // namespace ostraka::exact

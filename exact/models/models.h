// Graphs of well-known models, and of LoRA over a frozen base.
//
// Inputs: "tokens" and "targets" of gpt, llama and albert, "pixels" and "targets" of vit,
// "features" and "targets" of mlp and softmax. A target of -1 is left out of the loss. Parameters
// are named as the modules of a PyTorch model would be.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "exact/graph/graph.h"

namespace ostraka::exact {

struct ModelOptions {
  std::string model = "gpt";  // gpt, llama, albert, vit, mlp, softmax
  std::int64_t batch = 8;

  // gpt, llama, albert, vit.
  std::int64_t layers = 4;
  std::int64_t width = 128;
  std::int64_t heads = 4;
  std::int64_t groups = 0;    // llama: heads of key and value; 0: as many as heads
  std::int64_t context = 64;  // gpt, llama, albert: tokens
  std::int64_t vocabulary = 256;

  // vit: images of `channels` x `side` x `side`, cut into patches.
  std::int64_t channels = 1;
  std::int64_t side = 28;
  std::int64_t patch = 7;

  // mlp, softmax, and the classes of vit.
  std::int64_t features = 64;
  std::int64_t hidden = 64;
  std::int64_t classes = 10;

  // LoRA: every weight is a constant with the hash that `base` gives, and each linear layer gets
  // two factors of this rank. 0: no LoRA.
  std::int64_t lora_rank = 0;
  std::map<std::string, base::Digest> base = {};
};

// A constant that a model needs, by value.
struct ConstantTensor {
  std::string name;
  std::vector<std::int64_t> shape = {};
  std::vector<float> values = {};
};

struct Model {
  Graph graph;
  std::vector<ConstantTensor> constants;  // those that are no part of a base: tables of angles
};

// InvalidArgument: an unknown model, an extent out of range or that does not divide another, a base
// that lacks a weight. The graph of a model that is returned passes CheckGraph.
base::StatusOr<Model> MakeModel(const ModelOptions& options);

// The names that ModelOptions::model takes.
const std::vector<std::string>& ModelNames();

// crypto::Hash(kDomainConstant, the floats, little-endian).
base::Digest HashOfConstant(const std::vector<float>& values);

}  // namespace ostraka::exact

// Hashes of whole gradients of models: one for each, whatever computes it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "exact/kernels/conformance.h"
#include "tests/unit/exact/problem.h"

namespace ostraka::exact::testing {

struct NamedProblem {
  std::string name;
  Problem problem;
};

// Large enough that two threads share products, rows and maps.
inline ModelOptions DigestOptions(const std::string& model) {
  return {.model = model,
          .batch = 8,
          .layers = model == "albert" ? 2 : 1,
          .width = 64,
          .heads = 4,
          .groups = model == "llama" ? 2 : 0,
          .context = 64,
          .vocabulary = 96,
          .channels = 1,
          .side = 32,
          .patch = 4,
          .features = 64,
          .hidden = 1024,
          .classes = 10};
}

inline std::vector<NamedProblem> DigestProblems() {
  std::vector<NamedProblem> problems;
  for (const char* name : {"gpt", "llama", "albert", "vit", "mlp", "softmax"}) {
    const Model model = MakeModel(DigestOptions(name)).value();
    problems.push_back({name, DrawProblem(model.graph, 1, 0.05F, model.constants)});
  }
  ModelOptions lora = DigestOptions("gpt");
  for (const Parameter& parameter : problems[0].problem.graph.parameters) {
    lora.base[parameter.name] = base::Digest{};
  }
  lora.lora_rank = 8;
  problems.push_back({"lora", DrawProblem(MakeModel(lora).value().graph, 1, 0.05F)});
  NamedProblem subnormal{"gpt_subnormal", problems[0].problem};
  base::Rng rng(5);
  const std::vector<float> specials = {1e-45F, -1e-40F, 0x1p-126F, -0.0F};
  for (float& value : subnormal.problem.parameters) {
    if (rng.Chance(1, 5)) value = specials[rng.Below(specials.size())];
  }
  problems.push_back(std::move(subnormal));
  // A NaN with another sign and payload: it reaches every part of the gradient.
  NamedProblem nan{"gpt_nan", problems[0].problem};
  nan.problem.parameters[nan.problem.parameters.size() / 2] = std::bit_cast<float>(0xffc00099U);
  problems.push_back(std::move(nan));
  return problems;
}

inline base::Digest DigestOf(Gradient gradient) {
  gradient.values.push_back(gradient.loss);
  return crypto::Hash(crypto::kDomainConformance,
                      base::AsBytes(std::span<const float>(gradient.values)));
}

inline base::Digest DigestOf(const Problem& problem, const Kernels& kernels,
                             const Executor& executor, std::size_t threads) {
  return DigestOf(GradientOf(problem, kernels, executor, threads));
}

// What DigestOf gives for each of DigestProblems, shortened (docs/numerics.md 7).
inline const std::map<std::string, std::string> kRecordedDigests = {
    {"albert", "c3ab69f1c9cdd2a2"},  {"gpt", "9b74a6938c226693"},
    {"gpt_nan", "8188383fa0d96f39"}, {"gpt_subnormal", "6aa4a36d7068081a"},
    {"llama", "f0b395a8d8924787"},   {"lora", "30d75b0dfff047aa"},
    {"mlp", "94ea553912cc3b38"},     {"softmax", "9b959959693db726"},
    {"vit", "c7ce1041545bf7c4"},
};

}  // namespace ostraka::exact::testing

#include "exact/models/models.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "exact/graph/check.h"
#include "exact/models/layers.h"
#include "node/base/suggest.h"

namespace ostraka::exact {
namespace {

const std::vector<std::string> kModels = {"gpt", "llama", "albert", "vit", "mlp", "softmax"};
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 24;
constexpr std::int64_t kMaxLayers = 256;
constexpr std::int64_t kMaxContext = std::int64_t{1} << 16;  // of a record of tokens

bool Fits(std::initializer_list<std::int64_t> extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) {
    if (extent > kMaxElements / count) return false;
    count *= extent;
  }
  return true;
}

// Whether every tensor of a model has at most kMaxElements elements, so that no builder meets a
// type that no graph may have.
bool AllTensorsFit(const ModelOptions& options) {
  const std::int64_t rank = std::max<std::int64_t>(options.lora_rank, 1);
  if (options.model == "mlp" || options.model == "softmax") {
    const std::int64_t inner = options.model == "mlp" ? options.hidden : options.features;
    return Fits({options.batch, std::max({options.features, inner, options.classes})}) &&
           (options.model == "softmax" || Fits({inner, options.features})) &&
           Fits({options.classes, inner});
  }
  const std::int64_t across = std::max<std::int64_t>(options.side / options.patch, 1);
  const bool is_vit = options.model == "vit";
  const std::int64_t positions = is_vit ? across * across : options.context;
  const std::int64_t outputs = is_vit ? options.classes : options.vocabulary;
  const std::int64_t widest = std::max({4 * options.width, outputs, rank});
  const bool pixels_fit =
      !is_vit || (Fits({options.batch, options.channels, options.side, options.side}) &&
                  Fits({options.width, options.channels, options.patch, options.patch}));
  return pixels_fit && Fits({options.batch, positions, widest}) && Fits({options.width, widest}) &&
         Fits({4 * options.width, std::max(options.width, rank)}) && Fits({outputs, rank}) &&
         Fits({positions, options.width});
}

base::Status CheckOptions(const ModelOptions& options) {
  if (std::find(kModels.begin(), kModels.end(), options.model) == kModels.end()) {
    return base::InvalidArgument("unknown model '" + options.model + "'" +
                                 base::SuggestionFor(options.model, kModels));
  }
  for (const std::int64_t extent :
       {options.batch, options.layers, options.width, options.heads, options.context,
        options.vocabulary, options.channels, options.side, options.patch, options.features,
        options.hidden, options.classes}) {
    if (extent < 1 || extent > kMaxExtent) {
      return base::InvalidArgument("sizes of a model are 1 to " + std::to_string(kMaxExtent));
    }
  }
  if (options.context > kMaxContext) {
    return base::InvalidArgument("the context of a model is at most " +
                                 std::to_string(kMaxContext));
  }
  if (options.layers > kMaxLayers) {
    return base::InvalidArgument("a model has at most " + std::to_string(kMaxLayers) + " layers");
  }
  if (options.lora_rank < 0 || options.lora_rank > kMaxExtent) {
    return base::InvalidArgument("the rank of LoRA is 1 to " + std::to_string(kMaxExtent));
  }
  if (options.width % options.heads != 0) {
    return base::InvalidArgument("the width must be a multiple of the heads");
  }
  if (options.model == "llama" && options.width / options.heads % 2 != 0) {
    return base::InvalidArgument("llama rotates pairs: width / heads must be even");
  }
  if (options.groups < 0 || (options.groups > 0 && options.heads % options.groups != 0)) {
    return base::InvalidArgument("the heads must be a multiple of the groups");
  }
  if (options.model == "vit" && options.side % options.patch != 0) {
    return base::InvalidArgument("the side of an image must be a multiple of the patch");
  }
  if (!AllTensorsFit(options)) {
    return base::InvalidArgument("a tensor of this model would have more than " +
                                 std::to_string(kMaxElements) + " elements: make it smaller");
  }
  return base::OkStatus();
}

// Uniform in +-1/sqrt(fan-in), as node/train/initial.h has it.
float FanInBound(std::int64_t fan_in) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(fan_in)));
}

Node BuildPerceptron(const ModelOptions& options, Layers& layers) {
  GraphBuilder& builder = layers.builder();
  Node x = builder.AddFloats("features", {options.batch, options.features});
  const Node targets = builder.AddIntegers("targets", {options.batch}, -1, options.classes);
  const auto linear = [&](const std::string& name, std::int64_t columns) {
    const std::int64_t fan_in = builder.shape_of(x).back();
    const float bound = FanInBound(fan_in);
    x = builder.Apply(
        Op::kLinear,
        {x, layers.Weight(name + ".weight", {columns, fan_in}, Initial::kUniform, bound),
         layers.Weight(name + ".bias", {columns}, Initial::kUniform, bound)});
  };
  if (options.model == "softmax") {
    linear("linear", options.classes);
  } else {
    linear("layers.0", options.hidden);
    x = builder.Apply(Op::kRelu, {x});
    linear("layers.1", options.classes);
  }
  return builder.Apply(Op::kCrossEntropy, {x, targets});
}

Node Build(const ModelOptions& options, Layers& layers) {
  if (options.model == "gpt") return BuildGpt(options, layers, false);
  if (options.model == "albert") return BuildGpt(options, layers, true);
  if (options.model == "llama") return BuildLlama(options, layers);
  if (options.model == "vit") return BuildVit(options, layers);
  return BuildPerceptron(options, layers);
}

}  // namespace

const std::vector<std::string>& ModelNames() { return kModels; }

base::Digest HashOfConstant(const std::vector<float>& values) {
  return crypto::Hash(crypto::kDomainConstant, base::AsBytes(std::span<const float>(values)));
}

base::StatusOr<Model> MakeModel(const ModelOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  if (options.lora_rank > 0 && (options.model == "mlp" || options.model == "softmax")) {
    return base::InvalidArgument("LoRA is for gpt, llama, albert and vit");
  }
  Layers layers(options);
  const Node loss = Build(options, layers);
  RETURN_IF_ERROR(layers.status());
  Model model = layers.Finish(loss);
  RETURN_IF_ERROR(CheckGraph(model.graph));
  return model;
}

}  // namespace ostraka::exact

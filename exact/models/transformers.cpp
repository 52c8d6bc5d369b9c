// gpt, albert, llama and vit.
#include <cmath>
#include <string>

#include "exact/models/layers.h"
#include "exact/models/rotary.h"

namespace ostraka::exact {
namespace {

constexpr float kDeviation = 0.02F;

// 1/sqrt(width of a head).
float ScoreScale(const ModelOptions& options) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(options.width / options.heads)));
}

// Projections into the residual stream begin smaller, by 1/sqrt of their number (Radford et al.
// 2019).
float ResidualDeviation(const ModelOptions& options) {
  return static_cast<float>(0.02 / std::sqrt(2.0 * static_cast<double>(options.layers)));
}

Node SplitHeads(GraphBuilder& builder, Node x, std::int64_t heads) {
  const Shape& shape = builder.shape_of(x);
  return builder.Reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
}

Node JoinHeads(GraphBuilder& builder, Node x) {
  const Shape& shape = builder.shape_of(x);
  return builder.Reshape(x, {shape[0], shape[1], shape[2] * shape[3]});
}

// A block with layer norms before attention and a gelu perceptron, as gpt and vit have it.
Node Block(const ModelOptions& options, Layers& layers, const std::string& name, Node x,
           bool causal) {
  GraphBuilder& builder = layers.builder();
  const float residual = ResidualDeviation(options);
  const Node normed = layers.LayerNorm(name + ".ln_1", x);
  const auto heads = [&](const std::string& which) {
    const Node projected =
        layers.Linear(name + ".attn." + which, normed, options.width, true, kDeviation);
    return SplitHeads(builder, projected, options.heads);
  };
  const Node query = heads("q");
  const Node key = heads("k");
  const Node value = heads("v");
  const Node attended = builder.Apply(Op::kAttention, {query, key, value},
                                      {.causal = causal ? 1 : 0, .scale = ScoreScale(options)});
  const Node projected = layers.Linear(name + ".attn.proj", JoinHeads(builder, attended),
                                       options.width, true, residual);
  x = builder.Apply(Op::kAdd, {x, projected});
  Node hidden = layers.LayerNorm(name + ".ln_2", x);
  hidden = layers.Linear(name + ".mlp.fc", hidden, 4 * options.width, true, kDeviation);
  hidden = builder.Apply(Op::kGeluTanh, {hidden});
  hidden = layers.Linear(name + ".mlp.proj", hidden, options.width, true, residual);
  return builder.Apply(Op::kAdd, {x, hidden});
}

struct TokenInputs {
  Node tokens;
  Node targets;
};
TokenInputs AddTokens(const ModelOptions& options, GraphBuilder& builder) {
  const Shape shape = {options.batch, options.context};
  const Node tokens = builder.AddIntegers("tokens", shape, 0, options.vocabulary);
  return {tokens, builder.AddIntegers("targets", shape, -1, options.vocabulary)};
}

// x with pairs (i, i + width / 2) of each head turned by the angles of its position.
Node Rotate(GraphBuilder& builder, Node x, Node cosines, Node sines) {
  const Shape shape = builder.shape_of(x);
  const std::int64_t half = shape[3] / 2;
  const Node first = builder.Apply(Op::kSlice, {x}, {.axis = 3, .begin = 0, .end = half});
  const Node second = builder.Apply(Op::kSlice, {x}, {.axis = 3, .begin = half, .end = shape[3]});
  const auto times = [&](Node a, Node b) { return builder.Apply(Op::kMul, {a, b}); };
  const Node left = builder.Apply(Op::kSub, {times(first, cosines), times(second, sines)});
  const Node right = builder.Apply(Op::kAdd, {times(second, cosines), times(first, sines)});
  return builder.Apply(Op::kCat, {left, right}, {.axis = 3});
}

// The angles' tables for a number of heads.
struct Angles {
  Node cosines;
  Node sines;
};
Angles ExpandAngles(const ModelOptions& options, GraphBuilder& builder, const Angles& tables,
                    std::int64_t heads) {
  const std::int64_t pairs = options.width / options.heads / 2;
  const auto expand = [&](Node table) {
    const Node apart = builder.Reshape(table, {options.context, 1, pairs});
    return builder.Expand(apart, {options.batch, options.context, heads, pairs});
  };
  return {expand(tables.cosines), expand(tables.sines)};
}

// One block of llama.
Node LlamaBlock(const ModelOptions& options, Layers& layers, const std::string& name, Node x,
                const Angles& query_angles, const Angles& key_angles, std::int64_t groups) {
  GraphBuilder& builder = layers.builder();
  const float residual = ResidualDeviation(options);
  const std::int64_t group_width = options.width / options.heads * groups;
  const Node normed = layers.RmsNorm(name + ".input_layernorm", x);
  const auto heads = [&](const std::string& which, std::int64_t columns, std::int64_t count) {
    const Node projected =
        layers.Linear(name + ".self_attn." + which, normed, columns, false, kDeviation);
    return SplitHeads(builder, projected, count);
  };
  const Node query = Rotate(builder, heads("q_proj", options.width, options.heads),
                            query_angles.cosines, query_angles.sines);
  const Node key =
      Rotate(builder, heads("k_proj", group_width, groups), key_angles.cosines, key_angles.sines);
  const Node value = heads("v_proj", group_width, groups);
  const Node attended = builder.Apply(Op::kAttention, {query, key, value},
                                      {.causal = 1, .scale = ScoreScale(options)});
  const Node projected = layers.Linear(name + ".self_attn.o_proj", JoinHeads(builder, attended),
                                       options.width, false, residual);
  x = builder.Apply(Op::kAdd, {x, projected});
  const Node hidden = layers.RmsNorm(name + ".post_attention_layernorm", x);
  // The gate's width: 8/3 of the model's, so that three matrices have as many weights as gpt's two.
  const std::int64_t inner = options.width * 8 / 3;
  const Node gate = layers.Linear(name + ".mlp.gate_proj", hidden, inner, false, kDeviation);
  const Node up = layers.Linear(name + ".mlp.up_proj", hidden, inner, false, kDeviation);
  const Node gated = builder.Apply(Op::kMul, {builder.Apply(Op::kSilu, {gate}), up});
  const Node down = layers.Linear(name + ".mlp.down_proj", gated, options.width, false, residual);
  return builder.Apply(Op::kAdd, {x, down});
}

}  // namespace

Node BuildGpt(const ModelOptions& options, Layers& layers, bool shared) {
  GraphBuilder& builder = layers.builder();
  const TokenInputs inputs = AddTokens(options, builder);
  const Node table = layers.Weight("wte.weight", {options.vocabulary, options.width},
                                   Initial::kNormal, kDeviation);
  const Node positions =
      layers.Weight("wpe.weight", {options.context, options.width}, Initial::kNormal, kDeviation);
  Node x = builder.Apply(Op::kEmbedding, {table, inputs.tokens});
  x = builder.Apply(Op::kAdd, {x, builder.Expand(positions, builder.shape_of(x))});
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    x = Block(options, layers, shared ? "h" : "h." + std::to_string(layer), x, true);
  }
  x = layers.LayerNorm("ln_f", x);
  const Node logits = builder.Apply(Op::kLinear, {x, table});
  return builder.Apply(Op::kCrossEntropy, {logits, inputs.targets});
}

Node BuildLlama(const ModelOptions& options, Layers& layers) {
  GraphBuilder& builder = layers.builder();
  const TokenInputs inputs = AddTokens(options, builder);
  const std::int64_t groups = options.groups == 0 ? options.heads : options.groups;
  const std::int64_t pairs = options.width / options.heads / 2;
  RotaryTables tables = MakeRotaryTables(options.context, pairs);
  const Angles angles = {
      layers.Table({"rotary.cos", {options.context, pairs}, std::move(tables.cosines)}),
      layers.Table({"rotary.sin", {options.context, pairs}, std::move(tables.sines)})};
  const Node table = layers.Weight("model.embed_tokens.weight", {options.vocabulary, options.width},
                                   Initial::kNormal, kDeviation);
  const Angles query_angles = ExpandAngles(options, builder, angles, options.heads);
  const Angles key_angles =
      groups == options.heads ? query_angles : ExpandAngles(options, builder, angles, groups);
  Node x = builder.Apply(Op::kEmbedding, {table, inputs.tokens});
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    x = LlamaBlock(options, layers, "model.layers." + std::to_string(layer), x, query_angles,
                   key_angles, groups);
  }
  x = layers.RmsNorm("model.norm", x);
  const Node logits = layers.Linear("lm_head", x, options.vocabulary, false, kDeviation);
  return builder.Apply(Op::kCrossEntropy, {logits, inputs.targets});
}

Node BuildVit(const ModelOptions& options, Layers& layers) {
  GraphBuilder& builder = layers.builder();
  const std::int64_t across = options.side / options.patch;
  const std::int64_t patches = across * across;
  const std::int64_t values = options.channels * options.patch * options.patch;
  const Node pixels =
      builder.AddFloats("pixels", {options.batch, options.channels, options.side, options.side});
  const Node targets = builder.AddIntegers("targets", {options.batch}, -1, options.classes);
  // A convolution by patches: its weight [width, channels, patch, patch] as [width, values].
  Node x = builder.Reshape(
      pixels, {options.batch, options.channels, across, options.patch, across, options.patch});
  x = builder.Apply(Op::kPermute, {x}, {.order = {0, 2, 4, 1, 3, 5}});
  x = builder.Reshape(x, {options.batch, patches, values});
  x = layers.Linear("patch_embed.proj", x, options.width, true, kDeviation);
  const Node positions =
      layers.Weight("pos_embed", {patches, options.width}, Initial::kNormal, kDeviation);
  x = builder.Apply(Op::kAdd, {x, builder.Expand(positions, builder.shape_of(x))});
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    x = Block(options, layers, "blocks." + std::to_string(layer), x, false);
  }
  x = layers.LayerNorm("norm", x);
  x = builder.Apply(Op::kMean, {x}, {.axis = 1});
  const Node logits = layers.Linear("head", x, options.classes, true, kDeviation);
  return builder.Apply(Op::kCrossEntropy, {logits, targets});
}

}  // namespace ostraka::exact

// Grids that ship with the program, each with the source of its numbers.
#include <array>

#include "node/base/suggest.h"
#include "sim/compare/plan/grid_toml.h"

namespace ostraka::compare {
namespace {

struct Preset {
  std::string_view name;
  std::string_view text;
};

constexpr std::array<Preset, 4> kPresets = {{
    {"smoke",
     R"(# Seconds: two rules' hyperparameters are chosen on validation data, and the protocol beside them.
name = "smoke"
model = "softmax"
peers = 8
byzantine = 2
rules = ["mean", "median", "centered_clip:tau=0.1|1", "krum+nnm", "btard"]
attacks = ["none", "sign_flip", "alie"]
attack_from = 10
seeds = "0..2"
steps = 60
learning_rate = [0.05, 0.2]
momentum = 0.9
study = true
)"},
    {"btard-2022",
     R"(# The attacks and hyperparameters of "Secure Distributed Training at Scale" (ICML 2022), ResNet-18 on
# CIFAR-10: 16 workers, 3 or 7 Byzantine, batch 8 a worker, rate 0.01, momentum 0.9, weight decay
# 5e-4, seeds 0 to 4, tau 1 at the server. Ours: digits, a softmax and a small network, 600 steps for
# about 5,100, so that the attack starts at step 120 (1,000 there) with gradients 120 steps old (1,000
# there); heavy-ball momentum for Nesterov's, and a linear schedule for the first fifth of a cosine,
# as the protocol has these and all rules must train alike; no alarm, as in the paper. Krum is ByzFL's
# variant: the paper's needs n >= 2f + 3, and 7 of 16 is more.
name = "btard-2022"
model = ["softmax", "mlp"]
peers = 16
byzantine = [3, 7]
rules = ["mean", "median", "geometric_median", "centered_clip:tau=1", "krum:variant=byzfl+nnm", "trimmed_mean+nnm", "btard:alarm=0"]
attacks = ["none", "sign_flip", "random_direction", "label_flip", "delayed:steps=120", "ipm:eps=0.1", "ipm:eps=0.6", "alie"]
attack_from = 120
seeds = "0..4"
steps = 600
batch_size = 8
learning_rate = 0.01
momentum = 0.9
weight_decay = 0.0005
)"},
    {"byzfl-mnist",
     R"(# The grid of ByzFL's benchmark (byzfl/benchmark/README.md) on MNIST: 10 workers, 1 to 4 Byzantine,
# four degrees of heterogeneity, 3 seeds. Another cnn (docs/training.md). Say where the files are:
# --data mnist:DIR, or preset = "byzfl-mnist" and data = "mnist:DIR" in a grid of your own.
name = "byzfl-mnist"
data = "mnist:."
model = "cnn"
peers = 10
byzantine = [1, 2, 3, 4]
partition = ["gamma:similarity=1", "gamma:similarity=0.66", "gamma:similarity=0.33", "gamma:similarity=0"]
rules = ["geometric_median:variant=weiszfeld,nu=0.1,T=3+clipping:c=2+nnm", "trimmed_mean+clipping:c=2+nnm"]
attacks = ["sign_flip:lambda=1", "opt_ipm", "opt_alie"]
seeds = "0..2"
steps = 800
batch_size = 25
evaluate_every = 50
learning_rate = 0.1
schedule = "constant"
worker_momentum = 0.9
weight_decay = 0.0001
)"},
    {"diloco",
     R"(# Rules on pseudo-gradients: what a worker sends is how far H local steps of AdamW took it, as in DiLoCo
# (Douillard et al. 2023), H = 1 being the gradient itself, applied by AdamW. 8 workers, 3 of them
# Byzantine from the first step on; a gpt of 118,528 parameters, 960 gradients of 4 x 32 bytes a worker; the
# protocol's own rates (docs/training.md). ipm:eps=1000 is the push: along the mean of the honest rows,
# backwards and as long as a rule lets it. mimic copies one honest worker. Say where a text is:
# --data text:FILE. All gradients are of the exact kernels: equal bytes on every machine.
name = "diloco"
data = "text:book.txt"
model = "gpt:layers=2,width=64,heads=4,context=32"
peers = 8
byzantine = 3
rules = ["mean", "median", "trimmed_mean", "krum:variant=byzfl", "centered_clip:tau=0.3|3", "btard"]
attacks = ["none", "sign_flip", "random_direction", "ipm", "alie", "label_flip", "ipm:eps=1000", "ascent", "skip_inner", "mimic"]
attack_from = 0
seeds = "0..1"
steps = 960
batch_size = 4
evaluate_every = 320
score = "loss"
optimizer = "adamw"
inner_steps = [1, 8, 16, 32]
learning_rate = 0.006
schedule = "cosine"
warmup_steps = 160
outer_rate = 0.8
outer_momentum = 0.8
)"},
}};

}  // namespace

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

base::StatusOr<std::string> PresetText(std::string_view name) {
  for (const Preset& preset : kPresets) {
    if (preset.name == name) return std::string(preset.text);
  }
  return base::InvalidArgument("unknown preset '" + std::string(name) + "'" +
                               base::SuggestionFor(name, PresetNames()));
}

}  // namespace ostraka::compare

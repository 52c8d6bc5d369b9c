#include "aggregation/shared/byzfl_names.h"

namespace ostraka::aggregation {
namespace {

constexpr std::string_view kRule = "rule";
constexpr std::string_view kPre = "pre-aggregation";
constexpr std::string_view kAttack = "attack";

constexpr ByzflName kNames[] = {
    {"Average", kRule, "mean", ""},
    {"Median", kRule, "median", ""},
    {"TrMean", kRule, "trimmed_mean", ""},
    {"GeometricMedian", kRule, "geometric_median", "variant=weiszfeld"},
    {"Krum", kRule, "krum", "variant=byzfl"},
    {"MultiKrum", kRule, "multi_krum", "variant=byzfl"},
    {"CenteredClipping", kRule, "centered_clip", "variant=steps tau=100"},
    {"MDA", kRule, "mda", ""},
    {"MoNNA", kRule, "monna", ""},
    {"Meamed", kRule, "meamed", ""},
    {"CAF", kRule, "caf", ""},
    {"SMEA", kRule, "smea", ""},
    {"NNM", kPre, "nnm", ""},
    {"Bucketing", kPre, "bucketing", "s=1"},
    {"Clipping", kPre, "clipping", ""},
    {"StaticClipping", kPre, "clipping", ""},
    {"ARC", kPre, "arc", ""},
    {"AdaptiveClipping", kPre, "arc", ""},
    {"SignFlipping", kAttack, "sign_flip", "lambda=1"},
    {"InnerProductManipulation", kAttack, "ipm", "eps=2"},
    {"Optimal_InnerProductManipulation", kAttack, "opt_ipm", ""},
    {"ALittleIsEnough", kAttack, "alie", "z=-1.5 ddof=1"},
    {"Optimal_ALittleIsEnough", kAttack, "opt_alie", ""},
    {"Mimic", kAttack, "mimic", ""},
    {"Inf", kAttack, "inf", ""},
    {"Gaussian", kAttack, "gaussian", ""},
    {"LabelFlipping", kAttack, "label_flip", ""},
    // Names in papers.
    {"CWTM", kRule, "trimmed_mean", ""},
    {"CWMed", kRule, "median", ""},
    {"GeoMed", kRule, "geometric_median", ""},
    {"RFA", kRule, "geometric_median", "variant=weiszfeld"},
    {"ALIE", kAttack, "alie", ""},
    {"IPM", kAttack, "ipm", ""},
    {"FOE", kAttack, "ipm", ""},
};

// An entry's own parameter comes before its kind's.
constexpr ByzflParameter kParameters[] = {
    {"rule centered_clip", "m", "state, a State that the calls share,"},
    {"attack ipm", "tau", "eps"},
    {"attack alie", "tau", "-z, with ddof=1,"},
    {"attack gaussian", "mu", "mean"},
    {"attack", "f", "byzantine, the number of attackers,"},
    {"attack", "nb_byz", "byzantine, the number of attackers,"},
    {"attack", "agg", "rule, a Pipeline,"},
    {"attack", "pre_agg_list", "pre of the Pipeline that rule gives"},
    {"attack", "evals", "the fixed grid of the search"},
    {"attack", "start", "the fixed grid of the search"},
    {"attack", "delta", "the fixed grid of the search"},
    {"attack", "ratio", "the fixed grid of the search"},
    {"rule", "nb_byz", "f"},
    {"pre-aggregation", "nb_byz", "f"},
};

}  // namespace

std::span<const ByzflName> ByzflNames() { return kNames; }

std::span<const ByzflParameter> ByzflParameters() { return kParameters; }

std::string ByzflModuleHint(std::string_view name) {
  if (std::string hint = ByzflHint(name); !hint.empty()) return hint;
  std::string what;
  if (name == "RobustAggregator") what = " is ostraka.Pipeline here";
  if (name == "ByzantineClient") what = " is ostraka.attack here";
  for (const std::string_view training : {"Client", "Server", "DataDistributor", "run_benchmark"}) {
    if (name == training) what = " has no counterpart here: `ostraka compare` trains";
  }
  if (what.empty()) return "";
  return "; ByzFL's " + std::string(name) + what + " (docs/from-byzfl.md)";
}

std::string ByzflParameterHint(std::string_view owner, std::string_view name) {
  for (const ByzflParameter& entry : kParameters) {
    const bool owns = owner.starts_with(entry.owner) &&
                      (owner.size() == entry.owner.size() || owner[entry.owner.size()] == ' ');
    if (!owns || entry.theirs != name) continue;
    return "; ByzFL's " + std::string(name) + " is " + std::string(entry.ours) +
           " here (docs/from-byzfl.md)";
  }
  return "";
}

std::string ByzflHint(std::string_view name) {
  for (const ByzflName& entry : kNames) {
    if (entry.theirs != name) continue;
    std::string hint = "; " + std::string(name) + " is the " + std::string(entry.kind) + " '" +
                       std::string(entry.ours) + "'";
    if (!entry.arguments.empty()) hint += " with " + std::string(entry.arguments);
    return hint + " here (docs/from-byzfl.md)";
  }
  return "";
}

}  // namespace ostraka::aggregation

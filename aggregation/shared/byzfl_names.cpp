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

}  // namespace

std::span<const ByzflName> ByzflNames() { return kNames; }

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

#include "sim/compare/report/looks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "aggregation/rules/registry.h"

namespace ostraka::compare {
namespace {

constexpr std::size_t kColors = 7;  // of page::StrokeOf; beyond them come dashes
// The rules that most comparisons have get the colours without dashes. Never change their order.
constexpr std::array<std::string_view, kColors> kCommon = {
    "mean", "median", "centered_clip", "krum", "btard", "trimmed_mean", "geometric_median"};

std::size_t IndexOf(std::string_view name) {
  const auto* const common = std::find(kCommon.begin(), kCommon.end(), name);
  if (common != kCommon.end()) return static_cast<std::size_t>(common - kCommon.begin());
  std::size_t index = kColors;
  for (const aggregation::RuleInfo* rule : aggregation::Rules()) {
    if (rule->about.name == name) return index;
    index += std::find(kCommon.begin(), kCommon.end(), rule->about.name) == kCommon.end() ? 1 : 0;
  }
  return index;
}

}  // namespace

std::vector<page::Stroke> LooksOf(const std::vector<const Line*>& lines) {
  std::map<std::size_t, std::size_t> met;
  std::vector<page::Stroke> looks;
  for (const Line* line : lines) {
    const std::string& family = line->cell->rule.family;
    const std::size_t index =
        IndexOf(std::string_view(family).substr(0, family.find_first_of(":+|")));
    looks.push_back(page::StrokeOf(index + kColors * met[index]++));
  }
  return looks;
}

}  // namespace ostraka::compare

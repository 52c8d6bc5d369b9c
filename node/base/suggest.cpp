#include "node/base/suggest.h"

#include <algorithm>
#include <cstddef>

namespace ostraka::base {
namespace {

// Optimal string alignment distance.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string ClosestName(std::string_view name, const std::vector<std::string>& known) {
  if (name.size() > 64) return "";
  std::string closest;
  std::size_t least = 0;
  for (const std::string& candidate : known) {
    const std::size_t distance = EditDistance(name, candidate);
    if (closest.empty() || distance < least) {
      closest = candidate;
      least = distance;
    }
  }
  const std::size_t shorter = std::min(name.size(), closest.size());
  const std::size_t most = std::max<std::size_t>(shorter <= 3 ? 1 : 2, shorter / 3);
  return least <= most ? closest : "";
}

std::string SuggestionFor(std::string_view name, const std::vector<std::string>& known) {
  const std::string closest = ClosestName(name, known);
  if (!closest.empty()) return "; did you mean '" + closest + "'?";
  std::string list;
  for (const std::string& candidate : known) list += (list.empty() ? "" : ", ") + candidate;
  return "; known: " + list;
}

}  // namespace ostraka::base

#include "aggregation/shared/subset_search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "aggregation/kernels/eigen.h"
#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

constexpr std::size_t kMaxCoverSteps = 20'000'000;
constexpr std::size_t kMaxVarianceSteps = 4'000'000;

base::Status TooManySteps(std::size_t n, std::size_t size) {
  return base::FailedPrecondition("the exact search for " + std::to_string(size) + " of " +
                                  std::to_string(n) +
                                  " rows takes too long on these rows: choose a smaller f, or a "
                                  "rule that does not search");
}

// Pairs of rows that must not both be kept.
class ConflictGraph {
 public:
  ConflictGraph(const SymmetricMatrix& squares, double threshold)
      : n_(squares.size()), edge_(n_ * n_, 0), alive_(n_, 1), degree_(n_, 0) {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        if (i == j || !(squares(i, j) > threshold)) continue;
        edge_[i * n_ + j] = 1;
        ++degree_[i];
      }
    }
  }

  bool alive(std::size_t i) const { return alive_[i] != 0; }
  std::size_t degree(std::size_t i) const { return degree_[i]; }
  bool conflict(std::size_t i, std::size_t j) const { return edge_[i * n_ + j] != 0; }

  std::vector<std::size_t> Neighbours(std::size_t i) const {
    std::vector<std::size_t> found;
    for (std::size_t j = 0; j < n_; ++j) {
      if (alive(j) && conflict(i, j)) found.push_back(j);
    }
    return found;
  }

  void Remove(std::size_t i) {
    alive_[i] = 0;
    for (std::size_t j = 0; j < n_; ++j) {
      if (alive(j) && conflict(i, j)) --degree_[j];
    }
  }
  // Undoes the latest Remove that is not undone yet.
  void Restore(std::size_t i) {
    for (std::size_t j = 0; j < n_; ++j) {
      if (alive(j) && conflict(i, j)) ++degree_[j];
    }
    alive_[i] = 1;
  }

  std::size_t size() const { return n_; }

 private:
  std::size_t n_;
  std::vector<char> edge_;
  std::vector<char> alive_;
  std::vector<std::size_t> degree_;  // counts only rows that are not removed
};

// Decides whether removing at most `budget` rows leaves no conflict.
class CoverSearch {
 public:
  explicit CoverSearch(ConflictGraph& graph) : graph_(graph) {}

  std::optional<bool> Exists(std::size_t budget) {
    const bool found = Search(budget);
    if (steps_ > kMaxCoverSteps) return std::nullopt;
    return found;
  }

 private:
  bool Search(std::size_t budget) {
    if (++steps_ > kMaxCoverSteps) return false;
    std::size_t busiest = 0;
    std::size_t degree = 0;
    std::size_t degrees = 0;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (!graph_.alive(i)) continue;
      degrees += graph_.degree(i);
      if (graph_.degree(i) > degree) {
        busiest = i;
        degree = graph_.degree(i);
      }
    }
    if (degree == 0) return true;
    if (degrees > 2 * budget * degree)
      return false;  // even the rows with most conflicts cover too
                     // few
    if (degree <= 2) return PathsAndCycles() <= budget;
    const std::vector<std::size_t> neighbours = graph_.Neighbours(busiest);
    return Without({busiest}, budget) ||
           (neighbours.size() <= budget && Without(neighbours, budget));
  }

  bool Without(const std::vector<std::size_t>& removed, std::size_t budget) {
    for (const std::size_t i : removed) graph_.Remove(i);
    const bool found = Search(budget - removed.size());
    for (auto it = removed.rbegin(); it != removed.rend(); ++it) graph_.Restore(*it);
    return found;
  }

  // The smallest cover if no row has more than two conflicts: half of each path's rows, rounded
  // down, and half of each cycle's rows, rounded up.
  std::size_t PathsAndCycles() const {
    std::vector<char> seen(graph_.size(), 0);
    std::size_t cover = 0;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (!graph_.alive(i) || seen[i]) continue;
      std::vector<std::size_t> waiting = {i};
      seen[i] = 1;
      std::size_t rows = 0;
      bool is_path = false;
      while (!waiting.empty()) {
        const std::size_t at = waiting.back();
        waiting.pop_back();
        ++rows;
        is_path = is_path || graph_.degree(at) < 2;
        for (const std::size_t next : graph_.Neighbours(at)) {
          if (seen[next]) continue;
          seen[next] = 1;
          waiting.push_back(next);
        }
      }
      cover += is_path ? rows / 2 : (rows + 1) / 2;
    }
    return cover;
  }

  ConflictGraph& graph_;
  std::size_t steps_ = 0;
};

// The lexicographically least conflict-free subset, given that one exists.
base::StatusOr<std::vector<std::size_t>> FirstCompatible(ConflictGraph graph, std::size_t size) {
  const std::size_t n = graph.size();
  std::size_t budget = n - size;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < n && chosen.size() < size; ++i) {
    if (!graph.alive(i)) continue;
    const std::vector<std::size_t> conflicts = graph.Neighbours(i);
    for (const std::size_t j : conflicts) graph.Remove(j);
    std::optional<bool> keeps = false;
    if (conflicts.size() <= budget) keeps = CoverSearch(graph).Exists(budget - conflicts.size());
    if (!keeps) return TooManySteps(n, size);
    if (*keeps) {
      chosen.push_back(i);
      budget -= conflicts.size();
      continue;
    }
    for (auto it = conflicts.rbegin(); it != conflicts.rend(); ++it) graph.Restore(*it);
    graph.Remove(i);
    --budget;
  }
  OSTRAKA_CHECK(chosen.size() == size);
  return chosen;
}

// Scatter matrices of subsets, from distances: <x_i - mu, x_j - mu> = -(J D J)_ij / 2.
std::vector<double> CenteredGram(const SymmetricMatrix& squares,
                                 const std::vector<std::size_t>& rows) {
  const std::size_t m = rows.size();
  std::vector<double> mean(m, 0.0);
  double total = 0;
  for (std::size_t a = 0; a < m; ++a) {
    for (std::size_t b = 0; b < m; ++b) mean[a] += squares(rows[a], rows[b]);
    total += mean[a];
    mean[a] /= static_cast<double>(m);
  }
  total /= static_cast<double>(m * m);
  std::vector<double> gram(m * m);
  for (std::size_t a = 0; a < m; ++a) {
    for (std::size_t b = 0; b < m; ++b) {
      gram[a * m + b] = -0.5 * ((squares(rows[a], rows[b]) - mean[a]) - (mean[b] - total));
    }
  }
  return gram;
}

class VarianceSearch {
 public:
  VarianceSearch(const SymmetricMatrix& squares, std::size_t size)
      : squares_(squares), size_(size) {
    for (std::size_t i = 0; i < squares.size(); ++i) {
      const double value = Eigenvalue(Smallest(squares.row(i), size));
      if (i == 0 || value < limit_) limit_ = value;
    }
    // The best is at most this limit; a small margin keeps the first of equal subsets reachable.
    limit_ = limit_ * (1 + 2 * kEqual) + 1e-300;
  }

  base::StatusOr<LeastVariance> Run() {
    Extend(0);
    if (steps_ > kMaxVarianceSteps) return TooManySteps(squares_.size(), size_);
    OSTRAKA_CHECK(best_.rows.size() == size_);
    return best_;
  }

 private:
  static constexpr double kEqual = 0x1p-40;

  double Eigenvalue(const std::vector<std::size_t>& rows) const {
    return std::max(0.0, LargestEigen(rows.size(), CenteredGram(squares_, rows)).value);
  }

  // Tries every subset that begins with chosen_ and continues with rows from `next` on.
  void Extend(std::size_t next) {
    if (steps_ > kMaxVarianceSteps) return;
    if (chosen_.size() > 1 || size_ == 1) {
      ++steps_;
      const std::vector<double> gram = CenteredGram(squares_, chosen_);
      if (!chosen_.empty() && !AllEigenvaluesBelow(chosen_.size(), gram, limit_)) return;
    }
    if (chosen_.size() == size_) {
      Accept();
      return;
    }
    const std::size_t n = squares_.size();
    for (std::size_t i = next; i + (size_ - chosen_.size()) <= n; ++i) {
      chosen_.push_back(i);
      Extend(i + 1);
      chosen_.pop_back();
    }
  }

  void Accept() {
    const double value = Eigenvalue(chosen_);
    best_.rows = chosen_;
    best_.largest_eigenvalue = value / static_cast<double>(size_);
    limit_ = value * (1 - kEqual);
  }

  const SymmetricMatrix& squares_;
  std::size_t size_;
  std::size_t steps_ = 0;
  double limit_ = 0;  // only scatters with all eigenvalues below this matter
  std::vector<std::size_t> chosen_;
  LeastVariance best_;
};

}  // namespace

base::StatusOr<std::vector<std::size_t>> LeastDiameterSubset(const SymmetricMatrix& squares,
                                                             std::size_t size) {
  const std::size_t n = squares.size();
  OSTRAKA_CHECK(size > 0 && size <= n);
  std::vector<double> thresholds = {0.0};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) thresholds.push_back(squares(i, j));
  }
  std::sort(thresholds.begin(), thresholds.end());
  thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
  // The largest threshold permits every subset.
  std::size_t low = 0;
  std::size_t high = thresholds.size() - 1;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    ConflictGraph graph(squares, thresholds[middle]);
    const std::optional<bool> exists = CoverSearch(graph).Exists(n - size);
    if (!exists) return TooManySteps(n, size);
    if (*exists) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return FirstCompatible(ConflictGraph(squares, thresholds[low]), size);
}

base::StatusOr<LeastVariance> LeastVarianceSubset(const SymmetricMatrix& squares,
                                                  std::size_t size) {
  OSTRAKA_CHECK(size > 0 && size <= squares.size());
  return VarianceSearch(squares, size).Run();
}

}  // namespace ostraka::aggregation

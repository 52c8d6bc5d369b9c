// Means and their uncertainty over seeds.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ostraka::compare {

struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

// P(T <= x) = p of Student's t with `degrees` of freedom, to 1e-10 relative.
// REQUIRES: 0 < p < 1, degrees >= 1.
double StudentQuantile(double p, double degrees);

// mean +- t_{k-1} s / sqrt(k), s with k - 1; [-inf, inf] for one value. `tail` is the probability
// beyond either end: 0.025 for 95 %. REQUIRES: values.size() > 0.
Interval MeanInterval(std::span<const double> values, double tail = 0.025);

// The mean of the worst of several attacks, min_a mean_a, from values[a][seed], with an interval
// that covers min_a mu_a with at least 95 %:
//   low  = min_a (mean_a - t_{0.975} s_a / sqrt(k)), because only the attack that is truly the
//   worst
//          can be overrated,
//   high = min_a (mean_a + t_{1 - 0.025/A} s_a / sqrt(k)), by the union bound over the A attacks.
// REQUIRES: at least one attack, each with a value.
Interval WorstInterval(const std::vector<std::vector<double>>& values);

// True if the paired differences a[i] - b[i] exclude 0 at 95 % (t interval); false for fewer than
// two pairs. Equal differences other than 0 exclude it. REQUIRES: equal sizes.
bool TellApart(std::span<const double> a, std::span<const double> b);

}  // namespace ostraka::compare

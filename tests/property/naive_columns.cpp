#include "tests/property/naive_columns.h"

#include "tests/property/naive_admissions.h"

#include <cmath>
#include <limits>

#include "crypto/set_root.h"
#include "node/wire/bitmap.h"

namespace ostraka::protocol::naive {
namespace {

// docs/protocol/numbers.md, "Impossible numbers".
bool ArePossible(const wire::ColumnNumbers& numbers, double part_length, double tau) {
  const double rounding = 1 + std::ldexp(1.0, -40);
  const double root = std::sqrt(part_length);
  const double largest = double{std::numeric_limits<float>::max()} * root * rounding;
  if (!std::isfinite(numbers.size) || numbers.size < 0 || numbers.size > largest) return false;
  if (!std::isfinite(numbers.norm) || numbers.norm < 0 || numbers.norm > 2 * largest) return false;
  const double share = 10.0 / root < 1.0 ? 10.0 / root : 1.0;
  const double length = numbers.norm < tau ? numbers.norm : tau;
  for (const double s : numbers.s) {
    if (!std::isfinite(s) || std::abs(s) > share * length * rounding) return false;
  }
  return true;
}

bool ArePossible(const Step& step, const wire::ColumnNumbers& numbers, std::size_t column) {
  return ArePossible(numbers, static_cast<double>(step.roles.parts[column].size()), step.last->tau);
}

// docs/protocol/checks.md, "When a column is applied": b.
std::uint32_t FaultsToBear(const Step& step, const std::vector<PeerId>& senders) {
  const Block& last = *step.last;
  const bool all = last.leaving.empty() && last.joined.empty();
  const std::int64_t t_s = all ? last.thresholds.t_s : last.t_s_in_role;
  std::int64_t b = t_s;
  b -= static_cast<std::int64_t>(QuarantinedPairs(last).size());
  for (const PeerId& member : InRole(*step.last)) {
    const bool at_fault =
        step.missing_in_a.contains(member) || step.other_parameters.contains(member);
    if (at_fault && !Has(senders, member)) --b;
  }
  const std::int64_t least = std::min<std::int64_t>(last.thresholds.t_a, t_s);
  return static_cast<std::uint32_t>(b > least ? b : least);
}

// |S_j| (eps + 2^-23 |ghat[j]| + quantum): the residual that CenteredClip and its encoding may
// leave.
double Residual(double senders, double eps, const ResultSize& result) {
  return senders * (eps + std::ldexp(1.0, -23) * result.norm + result.quantum);
}

// docs/protocol/numbers.md, "The size check" and "Blind". Sums in the order of keys, pulls less
// pushes.
ColumnFate CheckSizes(const std::vector<wire::ColumnNumbers>& rows, const ResultSize& result,
                      double tau, double eps) {
  const double g = result.norm;
  const auto count = static_cast<double>(rows.size());
  double inward = 0;
  for (const wire::ColumnNumbers& row : rows) {
    const double n = row.size;
    if (n < g) {
      const double most = tau * std::sqrt((1 - n / g) * (1 + n / g));
      inward += g - n < most ? g - n : most;
    } else {
      inward -= n - g < tau ? n - g : tau;
    }
  }
  const double residual = Residual(count, eps, result);
  if (inward > residual + std::ldexp(1.0, -30) * count * (g + tau)) return ColumnFate::kSizeCheck;
  if (residual <= tau / 4) return ColumnFate::kApplied;
  std::size_t small = 0;
  for (const wire::ColumnNumbers& row : rows) small += row.size < g / 16 ? 1 : 0;
  return small > rows.size() - small ? ColumnFate::kSizeCheck : ColumnFate::kBlind;
}

// docs/protocol/checks.md, V2: in every direction the sum is within T of numbers.md.
bool PassesSumCheck(const std::vector<wire::ColumnNumbers>& rows, const ResultSize& result,
                    double eps, double part_length) {
  const double tolerance = 8.0 * static_cast<double>(rows.size()) *
                           (eps + std::ldexp(1.0, -23) * result.norm + result.quantum) /
                           std::sqrt(part_length);
  for (std::size_t z = 0; z < wire::kDirections; ++z) {
    double sum = 0;
    for (const wire::ColumnNumbers& row : rows) sum += row.s[z];
    if (std::abs(sum) > tolerance) return false;
  }
  return true;
}

// docs/protocol/checks.md, V3.
bool PassesNormCheck(const std::vector<wire::ColumnNumbers>& rows, double delta_max) {
  if (delta_max == 0) return true;
  std::size_t far = 0;
  for (const wire::ColumnNumbers& row : rows) far += row.norm > delta_max ? 1 : 0;
  return far <= rows.size() - far;
}

// docs/protocol/checks.md, "When a column is applied", rule by rule.
ColumnFate FateOf(const Step& step, std::size_t column, const ResultSize& result) {
  if (!HasResult(step, column)) return ColumnFate::kNoAggregate;
  const auto senders = SendersOf(step, column);
  if (!senders) return ColumnFate::kBadSenders;
  // 1
  std::vector<Digest> digests;
  for (const PeerId& sender : *senders) {
    const bool sealed = step.commit_digests.contains(sender);
    if (!sealed || !Has(step.roles.workers, sender)) return ColumnFate::kBadSenders;
    if (step.other_parameters.contains(sender)) return ColumnFate::kBadSenders;
    digests.push_back(step.commit_digests.at(sender));
  }
  if (crypto::SetRoot(digests) != step.aggregates[column]->commits_root) {
    return ColumnFate::kBadSenders;
  }
  // 2
  const std::size_t least = 2 * std::size_t{FaultsToBear(step, *senders)} + 1;
  if (senders->size() < least) return ColumnFate::kTooFewSenders;
  // 3
  std::vector<wire::ColumnNumbers> rows;
  for (const PeerId& sender : *senders) {
    const auto proof = step.proofs.find(sender);
    if (proof == step.proofs.end()) return ColumnFate::kMissingNumbers;
    const wire::ColumnNumbers& numbers = proof->second.columns[column];
    if (numbers.missing || !ArePossible(step, numbers, column)) return ColumnFate::kMissingNumbers;
    rows.push_back(numbers);
  }
  // 4 and 5. A run that does not clip has neither the size check nor V2.
  const Manifest& manifest = *step.manifest;
  if (manifest.clip) {
    const ColumnFate fate = CheckSizes(rows, result, step.last->tau, manifest.eps);
    if (fate != ColumnFate::kApplied) return fate;
    const auto length = static_cast<double>(step.roles.parts[column].size());
    if (!PassesSumCheck(rows, result, manifest.eps, length)) return ColumnFate::kSumCheck;
  }
  return PassesNormCheck(rows, manifest.delta_max) ? ColumnFate::kApplied : ColumnFate::kNormCheck;
}

double LowerMedian(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

}  // namespace

std::optional<std::vector<PeerId>> SendersOf(const Step& step, std::size_t column) {
  if (!step.aggregates[column]) return std::nullopt;
  return wire::SendersOf(step.aggregates[column]->included, step.last->members);
}

bool HasResult(const Step& step, std::size_t column) {
  return step.aggregates[column] && !step.aggregates[column]->result_root.is_zero();
}

bool SaysMissing(const Step& step, const PeerId& worker, std::size_t column) {
  const auto proof = step.proofs.find(worker);
  return HasResult(step, column) && proof != step.proofs.end() &&
         proof->second.columns[column].missing;
}

void BanForImpossibleContent(Step& step) {
  for (std::size_t j = 0; j < step.columns(); ++j) {
    if (!step.aggregates[j]) continue;
    const auto senders = SendersOf(step, j);
    bool works = senders.has_value();
    for (std::size_t i = 0; senders && i < senders->size(); ++i) {
      works = works && Has(step.roles.workers, (*senders)[i]);
    }
    if (works) continue;
    Ban(step, kSeals, step.roles.owners[j], wire::RemovalKind::kEvidence,
        "its AGG includes who is no worker of the step");
  }
  for (const auto& [worker, proof] : step.proofs) {
    for (std::size_t j = 0; j < proof.columns.size(); ++j) {
      if (ArePossible(step, proof.columns[j], j)) continue;
      Ban(step, kSeals, worker, wire::RemovalKind::kEvidence,
          "its PROOF states impossible numbers for part " + std::to_string(j));
    }
  }
}

std::vector<ColumnFate> FatesOf(const Step& step, const std::vector<ResultSize>& results) {
  std::vector<ColumnFate> fates;
  for (std::size_t j = 0; j < step.columns(); ++j) fates.push_back(FateOf(step, j, results[j]));
  return fates;
}

// docs/protocol/numbers.md, "tau". A column's medians are over its senders.
double NextTau(const Step& step, const std::vector<ColumnFate>& fates) {
  const Manifest& manifest = *step.manifest;
  if (manifest.tau > 0) return manifest.tau;
  std::vector<double> norms;
  std::vector<double> sizes;
  for (std::size_t j = 0; j < fates.size(); ++j) {
    if (fates[j] != ColumnFate::kApplied && fates[j] != ColumnFate::kBlind) continue;
    std::vector<double> column_norms;
    std::vector<double> column_sizes;
    const auto senders = SendersOf(step, j);
    for (const PeerId& sender : *senders) {
      column_norms.push_back(step.proofs.at(sender).columns[j].norm);
      column_sizes.push_back(step.proofs.at(sender).columns[j].size);
    }
    norms.push_back(LowerMedian(column_norms));
    sizes.push_back(LowerMedian(column_sizes));
  }
  if (norms.empty()) return step.last->tau;
  const auto n = static_cast<double>(SeatsOf(manifest));
  const double by_norms = manifest.tau_multiple * LowerMedian(norms);
  const bool coded = manifest.codecs.results == Codec::kI16;
  const double beside_codes = static_cast<double>(step.last->members.size()) * std::ldexp(1.0, -9);
  const double share =
      coded && beside_codes > std::ldexp(1.0, -12) ? beside_codes : std::ldexp(1.0, -12);
  const double by_sizes = share * LowerMedian(sizes);
  const double least = (64.0 > 8.0 * n ? 64.0 : 8.0 * n) * manifest.eps;
  const double most = std::ldexp(1.0, 44) * manifest.eps / n;
  const double tau = by_norms > by_sizes ? by_norms : by_sizes;
  if (tau < least) return least;
  return tau > most ? most : tau;
}

}  // namespace ostraka::protocol::naive

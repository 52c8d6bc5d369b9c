#include "node/protocol/rules/tau.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::protocol {
namespace {

// With 256 rows their residual bound is then an eighth of tau at an aggregate as large as they are.
constexpr double kSizeShare = 0x1.0p-12;
// A member, where results are i16: their quantum is up to 8/32767 of a result, so below this share
// columns would be blind for ever where rows agree.
constexpr double kSizeShareBesideCodes = 0x1.0p-9;

double LeastShare(const Manifest& manifest, const Block& head) {
  if (manifest.codecs.results == Codec::kRaw) return kSizeShare;
  // The senders of the next step are members of this head.
  const auto members = static_cast<double>(head.members.size());
  return std::max(kSizeShare, kSizeShareBesideCodes * members);
}

double LowerMedian(std::vector<double> values) {
  OSTRAKA_CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

double NextTau(const SealedStep& sealed, const Block& head, const Manifest& manifest,
               const std::vector<ColumnFate>& fates) {
  if (manifest.tau > 0) return manifest.tau;
  std::vector<double> norms;  // one a column
  std::vector<double> sizes;
  for (std::size_t j = 0; j < fates.size(); ++j) {
    if (fates[j] != ColumnFate::kApplied && fates[j] != ColumnFate::kBlind) continue;
    std::vector<double> column_norms;
    std::vector<double> column_sizes;
    const auto senders = IncludedIn(sealed, head, j);
    for (const PeerId& sender : *senders) {
      const wire::ColumnNumbers& numbers = sealed.proofs.at(sender).columns[j];
      column_norms.push_back(numbers.norm);
      column_sizes.push_back(numbers.size);
    }
    norms.push_back(LowerMedian(std::move(column_norms)));
    sizes.push_back(LowerMedian(std::move(column_sizes)));
  }
  if (norms.empty()) return sealed.tau;
  const double followed = std::max(manifest.tau_multiple * LowerMedian(std::move(norms)),
                                   LeastShare(manifest, head) * LowerMedian(std::move(sizes)));
  // Equal rows have norm 0, where CenteredClip needs a positive radius; and huge ones stop where
  // doubles still resolve the sum check.
  return std::clamp(followed, SmallestTau(manifest), LargestTau(manifest));
}

}  // namespace ostraka::protocol

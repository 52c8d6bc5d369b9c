#include "node/protocol/rules/lateness.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "node/protocol/ground/deadlines.h"

namespace ostraka::protocol {
namespace {

using Figures = std::map<PeerId, std::uint64_t>;

std::uint64_t Milliseconds(base::Duration duration) {
  return static_cast<std::uint64_t>(duration.ns / 1'000'000);
}

// The k-th largest, k from 1; zero if there are fewer.
std::uint64_t Largest(std::vector<std::uint64_t> figures, std::size_t k) {
  if (figures.size() < k) return 0;
  const auto place = figures.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(figures.begin(), place, figures.end(), std::greater<>());
  return *place;
}

// Where a member's figure stands in PROOF::late_ms: of its own messages, or of its AGG.
enum class Kind : std::uint8_t { kOwn = 0, kAggregate = 1 };

// Of each member: the (bound + 1)-th largest figure of that kind that others state. Nobody can be
// late by more than the two seals last, which keeps the sums small.
Figures StatedFigures(Kind kind, const SealedStep& sealed, const Block& head,
                      const Manifest& manifest) {
  const std::vector<PeerId>& members = head.members;
  const std::size_t first = static_cast<std::size_t>(kind) * members.size();
  const std::uint64_t most = 2 * DeadlineMs(head, manifest);
  Figures figures;
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::vector<std::uint64_t> stated;
    for (const auto& [witness, proof] : sealed.proofs) {
      if (witness == members[i] || !IsMember(members, witness)) continue;
      if (proof.late_ms.size() != 2 * members.size()) continue;
      stated.push_back(std::min(proof.late_ms[first + i], most));
    }
    const std::uint64_t figure = Largest(std::move(stated), FaultBound(head.thresholds) + 1);
    if (figure > 0) figures[members[i]] = figure;
  }
  return figures;
}

std::uint64_t In(const Figures& figures, const PeerId& member) {
  const auto figure = figures.find(member);
  return figure == figures.end() ? 0 : figure->second;
}

// By worker: the owners whose AGG is late and that name it.
std::map<PeerId, std::vector<PeerId>> Namers(const SealedStep& sealed, const Figures& figures) {
  std::map<PeerId, std::vector<PeerId>> namers;
  for (std::size_t j = 0; j < sealed.aggregates.size(); ++j) {
    const PeerId& owner = sealed.roles.owners[j];
    if (!sealed.aggregates[j] || !sealed.aggregates[j]->slowest || In(figures, owner) == 0)
      continue;
    const PeerId& worker = *sealed.aggregates[j]->slowest;
    if (worker != owner && sealed.roles.IsWorker(worker)) namers[worker].push_back(owner);
  }
  return namers;
}

bool InDispute(const Block& head, const PeerId& worker, const PeerId& owner) {
  return std::any_of(head.disputes.begin(), head.disputes.end(), [&](const wire::Dispute& dispute) {
    return dispute.worker == worker && dispute.aggregator == owner;
  });
}

// Takes from the figures of the owners' AGGs what `worker` caused, whose own messages are late by
// `own_ms`.
void Excuse(const PeerId& worker, std::uint64_t own_ms, const std::vector<PeerId>& owners,
            const Block& head, const Manifest& manifest, Figures& aggregates,
            LatenessRuling& ruling) {
  // An owner waits for parts until its part timer.
  const std::uint64_t once =
      Milliseconds(PartWaitAfter(head, manifest)) + 2 * head.delta_us / 1'000;
  for (const PeerId& owner : owners) {
    std::uint64_t& figure = aggregates[owner];
    std::uint64_t excused = own_ms;
    if (figure > excused && !InDispute(head, worker, owner)) {
      ruling.new_pairs.emplace(worker, owner);
      excused = std::max(excused, once);
    }
    figure -= std::min(figure, excused);
  }
}

}  // namespace

std::uint64_t DeadlineMs(const Block& head, const Manifest& manifest) {
  return 2 * Milliseconds(manifest.part_timeout) + 2 * head.delta_us / 1'000;
}

std::uint64_t AllowanceMs(const Block& head, const Manifest& manifest) {
  return 2 * DeadlineMs(head, manifest);
}

LatenessRuling RuleOnLateness(const SealedStep& sealed, const Block& head,
                              const Manifest& manifest) {
  const Figures own = StatedFigures(Kind::kOwn, sealed, head, manifest);
  Figures aggregates = StatedFigures(Kind::kAggregate, sealed, head, manifest);
  LatenessRuling ruling;
  for (const auto& [worker, owners] : Namers(sealed, aggregates)) {
    Excuse(worker, In(own, worker), owners, head, manifest, aggregates, ruling);
  }
  const std::uint64_t most = 2 * DeadlineMs(head, manifest);
  for (const Figures& figures : {own, aggregates}) {
    for (const auto& [member, ms] : figures) {
      std::uint64_t& charged = ruling.charged_ms[member];
      charged = std::min(charged + ms, most);
    }
  }
  std::vector<std::uint64_t> left;
  for (const auto& [member, ms] : ruling.charged_ms) left.push_back(ms);
  const std::uint64_t common = Largest(std::move(left), FaultBound(head.thresholds) + 1);
  for (auto& [member, ms] : ruling.charged_ms) ms -= std::min(ms, common);
  std::erase_if(ruling.charged_ms, [](const auto& entry) { return entry.second == 0; });
  return ruling;
}

std::map<PeerId, std::uint64_t> LatenessAfter(const LatenessRuling& ruling, const Block& head,
                                              const Manifest& manifest) {
  const std::uint64_t forgiven =
      std::max<std::uint64_t>(Milliseconds(manifest.patience) / kForgivingSteps, 1);
  Figures after;
  for (const PeerId& member : head.members) {
    const std::uint64_t before = LatenessOf(head, member);
    const std::uint64_t ms = before - std::min(before, forgiven) + In(ruling.charged_ms, member);
    if (ms > 0) after[member] = ms;
  }
  return after;
}

void DropLate(const std::map<PeerId, std::uint64_t>& lateness, const Block& head,
              const Manifest& manifest, Docket& docket) {
  const std::uint64_t allowance = AllowanceMs(head, manifest);
  for (const auto& [member, ms] : lateness) {
    if (ms <= allowance) continue;
    docket.Drop(member, {.cause = wire::Cause::kSlow, .count = ms - allowance});
  }
}

std::vector<Lateness> KeptLateness(const std::map<PeerId, std::uint64_t>& lateness,
                                   const Block& head, const Manifest& manifest,
                                   const std::vector<PeerId>& members,
                                   const std::vector<PeerId>& joined) {
  const std::uint64_t allowance = AllowanceMs(head, manifest);
  std::vector<Lateness> kept;
  for (const PeerId& member : members) {
    const bool returns = std::binary_search(joined.begin(), joined.end(), member);
    const std::uint64_t ms = returns ? allowance / 2 : std::min(In(lateness, member), allowance);
    if (ms > 0) kept.push_back({member, ms});
  }
  return kept;
}

std::uint64_t LatenessOf(const Block& block, const PeerId& member) {
  const auto found = std::find_if(block.lateness.begin(), block.lateness.end(),
                                  [&](const Lateness& entry) { return entry.peer == member; });
  return found == block.lateness.end() ? 0 : found->ms;
}

}  // namespace ostraka::protocol

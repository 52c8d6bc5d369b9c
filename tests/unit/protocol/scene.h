// One honest step as sealed data, with real numbers, for tests that then change one thing in it.
#pragma once

#include <cstdint>
#include <vector>

#include "node/protocol/ground/jobs.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/judgement.h"

namespace ostraka::protocol::scene {

// Distinct and in ascending order of `number`.
Digest DigestOf(std::uint64_t number);
PeerId PeerNumber(std::uint32_t number);
std::vector<PeerId> PeersUpTo(std::uint32_t count);

// Valid, with members 0..n-1.
Manifest ManifestOf(std::uint32_t n, Mode mode = Mode::kMajority);
// The block before step `step` with all members and no case. REQUIRES: step > 0.
Block ViewBefore(const Manifest& manifest, std::uint64_t step);

// Makes `head` the block of a step in which all members worked, member j owned column j and
// included all, and every column was applied.
void RecordHonestStep(Block& head);

// Of a case that opened when the members bore as many faults as now, or more.
inline constexpr std::uint32_t kNoBound = UINT32_MAX;
wire::Case GradientCase(std::uint32_t accuser, std::uint32_t target, std::uint64_t step,
                        std::uint64_t opened_step);
// Numbers of peers, in their order.
std::vector<int> NumbersOfPeers(const std::vector<PeerId>& peers);
std::vector<int> Removed(const Block& block);
// Proven faults of these.
SealedFaults Banned(const std::vector<std::uint32_t>& peers);

// A step of n members that all did their work, as seals A and C fixed it.
struct HonestStep {
  Manifest manifest;
  Block head;
  SealedStep sealed;
  Digest randomness;  // r^t
  std::vector<Column> columns;
  std::vector<ResultSize> results;

  wire::Proof& ProofOf(const PeerId& worker) { return sealed.proofs.at(worker); }
  wire::Aggregate& AggregateOf(std::size_t column) { return *sealed.aggregates[column]; }
  std::vector<PeerId> Senders(std::size_t column) const;
  // Names `senders` in the bitmap and in the root of their COMMITs.
  void SetSenders(std::size_t column, const std::vector<PeerId>& senders);
  std::vector<ColumnFate> Fates() const;
  Judged JudgedWith(SealedFaults faults = {}) const;
  Block Judge(SealedFaults faults = {}) const;
};

struct HonestStepOptions {
  std::uint32_t n = 8;
  Mode mode = Mode::kMajority;
  std::uint64_t step = 5;
  std::uint64_t dimension = 160;
  double tau = 4.0;
  std::vector<Assignment> drawn = {};
  std::vector<wire::Case> cases = {};
  std::uint64_t seed = 1;
  bool exact = false;  // of profile exact/1; all members have one model
};
HonestStep MakeHonestStep(HonestStepOptions options = {});

}  // namespace ostraka::protocol::scene

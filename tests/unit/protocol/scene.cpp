#include "tests/unit/protocol/scene.h"

#include <cstring>
#include <memory>
#include <utility>

#include "aggregation/kernels/projection.h"
#include "crypto/set_root.h"
#include "node/base/check.h"
#include "node/base/rng.h"
#include "node/protocol/ground/numbers.h"
#include "node/wire/bitmap.h"

namespace ostraka::protocol::scene {
namespace {

template <typename Id>
Id Numbered(std::uint8_t tag, std::uint64_t number) {
  Id id;
  for (int i = 0; i < 8; ++i) id.bytes[i] = static_cast<std::uint8_t>(number >> (8 * (7 - i)));
  id.bytes[31] = tag;
  return id;
}

JobResult Run(const JobSpec& spec) {
  return RunJob(
      spec, [](const GradientSpec&) { return base::Internal("no gradients here"); },
      aggregation::SerialExecutor());
}

SharedVector RandomGradient(base::Rng rng, std::uint64_t dimension) {
  auto gradient = std::make_shared<std::vector<float>>(dimension);
  for (float& value : *gradient) value = static_cast<float>(0.5 + rng.Normal());
  return gradient;
}

}  // namespace

Digest DigestOf(std::uint64_t number) { return Numbered<Digest>(0xd1, number); }
PeerId PeerNumber(std::uint32_t number) { return Numbered<PeerId>(0x9e, number); }

std::vector<PeerId> PeersUpTo(std::uint32_t count) {
  std::vector<PeerId> peers;
  for (std::uint32_t i = 0; i < count; ++i) peers.push_back(PeerNumber(i));
  return peers;
}

Manifest ManifestOf(std::uint32_t n, Mode mode) {
  Manifest manifest;
  manifest.run_id = DigestOf(7);
  manifest.mode = mode;
  manifest.training.model = "toy";
  manifest.training.data = "toy";
  for (const PeerId& peer : PeersUpTo(n)) manifest.members.push_back({peer, ""});
  return manifest;
}

Block ViewBefore(const Manifest& manifest, std::uint64_t step) {
  OSTRAKA_CHECK(step > 0);
  Block head;
  head.step = step - 1;
  head.decision = DigestOf(1000 + step);
  head.randomness = DigestOf(2000 + step);
  for (const Member& member : manifest.members) head.members.push_back(member.id);
  const auto n = static_cast<std::uint32_t>(head.members.size());
  head.thresholds = ThresholdsFor(manifest.mode, n, GenesisAsynchronousFaults(manifest.mode, n));
  head.peak_t_s = head.thresholds.t_s;
  head.tau = manifest.tau;
  return head;
}

void RecordHonestStep(Block& head) {
  for (const PeerId& member : head.members) {
    head.columns.push_back(ColumnFate::kApplied);
    head.aggregated.push_back({member, head.members});
  }
  head.proven = head.members;
}

wire::Case GradientCase(std::uint32_t accuser, std::uint32_t target, std::uint64_t step,
                        std::uint64_t opened_step) {
  wire::Case open;
  open.id = {wire::CaseKind::kGradient, PeerNumber(accuser), PeerNumber(target), step, 0};
  open.opened_step = opened_step;
  open.fault_bound = kNoBound;
  return open;
}

std::vector<int> NumbersOfPeers(const std::vector<PeerId>& peers) {
  std::vector<int> numbers;
  for (const PeerId& peer : peers) numbers.push_back(peer.bytes[7]);
  return numbers;
}

std::vector<int> Removed(const Block& block) {
  std::vector<int> numbers;
  for (const wire::Removal& removal : block.removals) numbers.push_back(removal.peer.bytes[7]);
  return numbers;
}

SealedFaults Banned(const std::vector<std::uint32_t>& peers) {
  SealedFaults faults;
  for (const std::uint32_t peer : peers) {
    NoteFault(faults, PeerNumber(peer), FaultKind::kBan, {.cause = wire::Cause::kTwoMessages});
  }
  return faults;
}

HonestStep MakeHonestStep(HonestStepOptions options) {
  HonestStep made;
  made.manifest = ManifestOf(options.n, options.mode);
  if (options.exact) {
    made.manifest.compute_profile = kExact;
    made.manifest.eps_g = 0;
    made.sealed.parameters_root = DigestOf(6000);
  }
  made.head = ViewBefore(made.manifest, options.step);
  made.head.tau = options.tau;
  made.head.cases = std::move(options.cases);
  made.head.drawn = std::move(options.drawn);
  made.randomness = DigestOf(3000 + options.seed);

  SealedStep& sealed = made.sealed;
  sealed.step = options.step;
  sealed.tau = options.tau;
  sealed.roles = AssignRoles(made.head, options.dimension);
  const std::vector<PeerId>& workers = sealed.roles.workers;
  const base::Rng rng(options.seed);
  std::map<PeerId, std::vector<SharedBlob>> parts;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const SharedVector gradient = RandomGradient(rng.Fork("gradient", i), options.dimension);
    parts[workers[i]] =
        std::get<PackResult>(Run(PackSpec{gradient, sealed.roles.parts, true})).parts;
  }
  for (const PeerId& member : made.head.members) {
    sealed.commit_digests[member] = DigestOf(4000 + member.bytes[7]);
    wire::Commit commit;
    commit.coin_count = static_cast<std::uint32_t>(made.head.members.size());
    if (sealed.roles.IsWorker(member)) commit.gradient_root = DigestOf(5000 + member.bytes[7]);
    commit.parameters_root = sealed.parameters_root;
    sealed.commits.emplace(member, commit);
    sealed.proofs[member];
  }
  sealed.aggregates.resize(sealed.roles.parts.size());
  for (std::size_t j = 0; j < sealed.roles.parts.size(); ++j) {
    AggregateSpec spec;
    spec.size = sealed.roles.parts[j].size();
    for (const PeerId& worker : workers) spec.parts.push_back(parts[worker][j]);
    spec.tau = options.tau;
    spec.eps = made.manifest.eps;
    const SharedBlob result = std::get<AggregateResult>(Run(spec)).result;
    const auto index = static_cast<std::uint32_t>(j);
    made.columns.push_back({index, sealed.roles.parts[j], result,
                            DirectionSeed(made.randomness, options.step, index)});
    made.results.push_back(SizeOf(Codec::kRaw, *result, sealed.roles.parts[j].size()));
    wire::Aggregate& aggregate = sealed.aggregates[j].emplace();
    aggregate.part_index = index;
    aggregate.result_root = result->root;
    made.SetSenders(j, workers);
  }
  for (const PeerId& worker : workers) {
    sealed.proofs[worker].columns =
        std::get<ProveResult>(Run(ProveSpec{parts[worker], made.columns, options.tau})).columns;
  }
  return made;
}

std::vector<PeerId> HonestStep::Senders(std::size_t column) const {
  return *wire::SendersOf(sealed.aggregates[column]->included, head.members);
}

void HonestStep::SetSenders(std::size_t column, const std::vector<PeerId>& senders) {
  std::vector<Digest> commits;
  for (const PeerId& sender : senders) commits.push_back(sealed.commit_digests.at(sender));
  AggregateOf(column).included = wire::BitmapOf(senders, head.members);
  AggregateOf(column).commits_root = crypto::SetRoot(commits);
}

std::vector<ColumnFate> HonestStep::Fates() const {
  std::vector<ColumnFate> fates = JudgeWithoutAggregates(sealed, head);
  JudgeAggregates(sealed, head, manifest, results, fates);
  return fates;
}

Judged HonestStep::JudgedWith(SealedFaults faults) const {
  return {DigestOf(6000), randomness, Fates(), std::move(faults)};
}

Block HonestStep::Judge(SealedFaults faults) const {
  return JudgeStep(sealed, head, manifest, JudgedWith(std::move(faults)));
}

}  // namespace ostraka::protocol::scene

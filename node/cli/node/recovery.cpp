#include "node/cli/node/recovery.h"

#include <algorithm>
#include <utility>

#include "node/protocol/ground/reach.h"
#include "node/protocol/sync/catch_up.h"
#include "node/store/checkpoint.h"
#include "node/store/ledger_reader.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::cli {
namespace {

using base::Digest;
using base::PeerId;
using store::LedgerReader;
using LeftOut = std::map<PeerId, std::string>;

constexpr char kProvenGuilty[] = "proven guilty: ";

// A ledger prunes quiet blocks, so heights may be missing.
using Chain = std::map<std::uint64_t, wire::Block>;  // by height

base::StatusOr<Chain> ReadChain(LedgerReader& ledger) {
  Chain chain;
  RETURN_IF_ERROR(ledger.ForEachBlock(0, [&](const wire::Block& block) {
    chain.emplace(HeightOf(block), block);
    return true;
  }));
  return chain;
}

// Bars count steps of the old run and end with it; only bans are permanent.
void LeaveOutBanned(const wire::Block& head, LeftOut& left_out) {
  for (const wire::Standing& standing : head.standings) {
    if (standing.banned) left_out.emplace(standing.peer, "banned before");
  }
}

base::Status LeaveOutGuilty(LedgerReader& ledger, const Digest& run_id, LeftOut& left_out) {
  ASSIGN_OR_RETURN(const std::vector<store::EvidenceRow> rows, ledger.Evidence(std::nullopt));
  for (const store::EvidenceRow& row : rows) {
    // A block's ban and a verdict express a majority, which a split run need not have had. Only
    // evidence from the accused's own messages counts here. Bans that both sides know are in the
    // last block that they share.
    ASSIGN_OR_RETURN(const base::Bytes file, ledger.EvidenceFile(row.digest));
    const evidence::Finding finding = evidence::Verify(file);
    if (!evidence::IsOwnWord(finding.kind)) continue;
    if (finding.outcome != evidence::Outcome::kProven || finding.slot.run_id != run_id) continue;
    left_out.emplace(finding.accused, kProvenGuilty + finding.reason);
  }
  return base::OkStatus();
}

// The newest state after the block at `newest_height` or an earlier one.
base::StatusOr<std::pair<std::string, store::Checkpoint>> NewestState(
    const std::vector<std::string>& data_dirs, std::uint64_t newest_height, const Digest& run_id) {
  std::vector<store::CheckpointFile> files;
  for (const std::string& data_dir : data_dirs) {
    for (store::CheckpointFile& file : store::ListCheckpoints(data_dir)) {
      if (file.step + 1 <= newest_height) files.push_back(std::move(file));
    }
  }
  if (files.empty()) {
    return base::NotFound("no folder holds a state of step " +
                          std::to_string(newest_height == 0 ? 0 : newest_height - 1) +
                          " or before, which all ledgers have in common: give folders of nodes "
                          "that kept more of them (--checkpoint-every, --keep-checkpoints)");
  }
  std::stable_sort(files.begin(), files.end(),
                   [](const auto& a, const auto& b) { return a.step > b.step; });
  const store::CheckpointFile& best = files.front();
  auto read = store::ReadCheckpoint(best.path);
  if (!read.ok()) {
    const std::string remedy =
        files.size() == 1
            ? "; there is no other state: give folders of nodes that kept more of them"
            : "; move it away, and `ostraka run recover` takes " + files[1].path;
    return base::MakeStatus(read.status().code(), base::MessageOf(read.status()) + remedy);
  }
  store::Checkpoint checkpoint = *std::move(read);
  const auto run = checkpoint.metadata.find("run_id");
  if (run == checkpoint.metadata.end() || run->second != run_id.Hex()) {
    return base::InvalidArgument(best.path +
                                 " is a state of another run: remove it, or give another folder");
  }
  return std::make_pair(best.path, std::move(checkpoint));
}

// The plan for the steps that the old run had left. The learning rate falls over them as in any
// run.
protocol::TrainingPlan RestOf(protocol::TrainingPlan plan, std::uint64_t done) {
  plan.earlier_updates += done;
  const std::uint64_t left = plan.steps > done ? plan.steps - done : 0;
  plan.steps = std::max(left, plan.settle_steps + 1);
  plan.warmup_steps = std::min(plan.warmup_steps, plan.steps - plan.settle_steps);
  plan.decay_steps = std::min(plan.decay_steps, plan.steps - plan.settle_steps);
  return plan;
}

}  // namespace

base::StatusOr<RecoveryPlan> PlanRecovery(const protocol::Manifest& old,
                                          const std::vector<std::string>& data_dirs,
                                          const std::vector<PeerId>& without) {
  RecoveryPlan plan;
  Chain common;
  std::optional<std::uint64_t> parted_height;
  for (const std::string& data_dir : data_dirs) {
    ASSIGN_OR_RETURN(LedgerReader ledger, LedgerReader::OpenOf(data_dir, old.run_id));
    RETURN_IF_ERROR(LeaveOutGuilty(ledger, old.run_id, plan.left_out));
    ASSIGN_OR_RETURN(Chain chain, ReadChain(ledger));
    for (auto& [height, block] : chain) {
      const auto [held, fresh] = common.emplace(height, block);
      if (fresh || wire::BlockDigest(held->second) == wire::BlockDigest(block)) continue;
      parted_height = std::min(parted_height.value_or(height), height);
    }
  }
  // The genesis block has no predecessor.
  if (parted_height) common.erase(common.lower_bound(*parted_height), common.end());
  if (common.empty())
    return base::NotFound(
        "these ledgers have no block in common: give folders of members of one run");
  const wire::Block& head = common.rbegin()->second;
  if (parted_height) plan.parted_at = *parted_height - 1;
  LeaveOutBanned(head, plan.left_out);
  for (const PeerId& peer : without) plan.left_out.emplace(peer, "left out by --without");

  const std::uint64_t newest = parted_height ? *parted_height - 1 : common.rbegin()->first;
  ASSIGN_OR_RETURN(auto state, NewestState(data_dirs, newest, old.run_id));
  plan.checkpoint = std::move(state.first);
  plan.manifest = old;
  plan.manifest.protocol_version = wire::kProtocolVersion;
  plan.manifest.protocol_draft = wire::kProtocolDraft;
  plan.manifest.origin = protocol::Origin{
      old.run_id, state.second.step, protocol::StateRoot(state.second.state, state.second.layout)};
  plan.manifest.training = RestOf(old.training, state.second.step + 1);
  std::erase_if(plan.manifest.members,
                [&](const protocol::Member& member) { return plan.left_out.contains(member.id); });
  // The manifest says who could be dialed when the old run began.
  for (protocol::Member& member : plan.manifest.members) {
    member.only_dials = protocol::OnlyDials(head, member.id);
  }
  std::erase_if(plan.left_out, [&](const auto& entry) {
    return std::none_of(old.members.begin(), old.members.end(),
                        [&](const auto& member) { return member.id == entry.first; });
  });
  plan.guilty = static_cast<std::size_t>(
      std::count_if(plan.left_out.begin(), plan.left_out.end(),
                    [](const auto& entry) { return entry.second.starts_with(kProvenGuilty); }));
  // Of three members none can be spared to validate, so no fault can be tolerated. Majority is the
  // only mode whose thresholds then claim none.
  const auto left = static_cast<std::uint32_t>(plan.manifest.members.size());
  if (protocol::FaultsBorne(plan.manifest.mode, left) == 0) {
    plan.manifest.mode = protocol::Mode::kMajority;
  }
  const base::Status valid = protocol::Validate(plan.manifest);
  if (!valid.ok()) {
    return base::FailedPrecondition("the remaining members cannot form a run: " +
                                    base::MessageOf(valid));
  }
  return plan;
}

}  // namespace ostraka::cli

#include "node/host/report/recall.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "node/store/ledger_reader.h"

namespace ostraka::host {
namespace {

using store::LedgerReader;

base::Status RecallBlocks(LedgerReader& ledger, std::uint64_t block_bytes, RunHistory& history) {
  ASSIGN_OR_RETURN(const std::uint64_t first, ledger.FirstHeightWithin(block_bytes));
  ASSIGN_OR_RETURN(const auto removals, ledger.Removals(std::nullopt));
  for (const wire::Removal& removal : removals) {
    if (removal.step + 1 < first) history.RecallRemoval(removal);
  }
  std::optional<std::uint64_t> height;       // of the block before
  std::vector<wire::Assignment> validators;  // that it drew
  bool ascend = true;
  RETURN_IF_ERROR(ledger.ForEachBlock(first, [&](const wire::Block& block) {
    ascend = !height || *height < HeightOf(block);
    if (!ascend) return false;
    if (height && *height + 1 != HeightOf(block)) validators.clear();
    history.RecallBlock(validators, block);
    height = HeightOf(block);
    validators = block.drawn;
    return true;
  }));
  if (ascend) return base::OkStatus();
  return base::InvalidArgument("the ledger is damaged: its blocks are not in the order of steps");
}

base::Status RecallProofs(LedgerReader& ledger, RunHistory& history) {
  ASSIGN_OR_RETURN(const auto rows, ledger.Evidence(std::nullopt));
  const std::size_t skipped = rows.size() - std::min(rows.size(), RunHistory::kMostProofs);
  for (std::size_t i = skipped; i < rows.size(); ++i) {
    const store::EvidenceRow& row = rows[i];
    ASSIGN_OR_RETURN(const base::Bytes bytes, ledger.EvidenceFile(row.digest));
    const auto file = wire::DecodeEvidence(bytes);
    // The ledger keeps files that it could not read when it stored them.
    if (!file.ok()) continue;
    history.RecallProof({row.digest, file->accused, file->kind, file->frames.size()});
  }
  return base::OkStatus();
}

base::Status RecallEvaluations(LedgerReader& ledger, RunHistory& history) {
  ASSIGN_OR_RETURN(const auto losses, ledger.Metrics("loss"));
  ASSIGN_OR_RETURN(const auto accuracies, ledger.Metrics("accuracy"));
  std::map<std::uint64_t, double> accuracy;
  for (const store::MetricRow& row : accuracies) accuracy[row.step] = row.value;
  for (const store::MetricRow& row : losses) {
    const auto found = accuracy.find(row.step);
    train::Evaluation evaluation{.metric = "loss", .value = row.value, .loss = row.value};
    if (found != accuracy.end()) {
      evaluation.metric = "accuracy";
      evaluation.value = found->second;
    }
    history.SeeEvaluation(row.step, evaluation);
  }
  return base::OkStatus();
}

base::Status Recall(const std::string& data_dir, std::uint64_t block_bytes, RunHistory& history) {
  ASSIGN_OR_RETURN(LedgerReader ledger, LedgerReader::Open(data_dir));
  RETURN_IF_ERROR(RecallBlocks(ledger, block_bytes, history));
  RETURN_IF_ERROR(RecallProofs(ledger, history));
  return RecallEvaluations(ledger, history);
}

}  // namespace

RunHistory RecallHistory(const std::string& data_dir, std::uint64_t block_bytes) {
  RunHistory history;
  const base::Status recalled = Recall(data_dir, block_bytes, history);
  if (recalled.ok()) return history;
  RunHistory empty;
  empty.RecallFailed(base::MessageOf(recalled));
  return empty;
}

}  // namespace ostraka::host

// Runs cells. Trainers and data are loaded once and serve all cells that ask for the same.
//
// Promise: a result is a function of the cell, the code and the compute profile: not of other cells
// run before it, of the time or of the process.
//
// Thread safety: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "node/base/status.h"
#include "node/train/data_source.h"
#include "node/train/dataset.h"
#include "node/train/trainer.h"
#include "sim/compare/cells/cell.h"
#include "sim/compare/cells/partition.h"
#include "sim/compare/cells/result.h"
#include "sim/compare/cells/study.h"

namespace ostraka::compare {

struct RunContext {
  train::Trainer& trainer;
  const train::Dataset& data;
  train::Trainer* flipped = nullptr;  // over flipped labels; null unless the attack needs it
};

// A trusted server aggregates with the cell's pipeline; the protocol's machines in virtual time.
// `study`, if not null, gets a row a step (a server's only: members of the protocol tell nobody
// their gradients). Messages of a Status are one line.
base::StatusOr<CellResult> RunServerCell(const Cell& cell, const RunContext& context, Study* study);
base::StatusOr<CellResult> RunProtocolCell(const Cell& cell, const RunContext& context);

// Parameters of the rule "btard": tau, validators, mode. Errors as ParseParameters.
base::StatusOr<aggregation::Parameters> ParseProtocol(const aggregation::Arguments& given);

// The model's state after `step` steps.
base::StatusOr<Point> Evaluate(std::uint64_t step, std::span<const float> parameters,
                               train::Trainer& trainer);

// Of one draw of a cell's seed: equal in all cells of that seed, so that rules and attacks meet the
// same batches, partitions and initial parameters (paired comparisons).
base::Digest DrawSeed(const Cell& cell, std::string_view label, std::uint64_t a = 0,
                      std::uint64_t b = 0);

// Who holds which rows in a cell. Errors as Partition.
base::StatusOr<RowsOfWorkers> PartitionOf(const Cell& cell, const train::Dataset& data);

class Runner {
 public:
  // `sources`: where each data set is.
  explicit Runner(std::map<std::string, train::DataSource> sources)
      : sources_(std::move(sources)) {}

  // Errors of data and trainers, and of rules that refuse the rows they are given.
  base::StatusOr<CellResult> Run(const Cell& cell, Study* study);

 private:
  base::StatusOr<const train::Dataset*> DataOf(const Cell& cell);
  // Over the cell's data, or over the attackers' view of it.
  enum class Labels : std::uint8_t { kTrue, kFlipped };
  base::StatusOr<train::Trainer*> TrainerOf(const Cell& cell, Labels labels);

  std::map<std::string, train::DataSource> sources_;
  std::map<std::string, std::unique_ptr<train::Dataset>> data_;
  std::map<std::string, std::unique_ptr<train::Trainer>> trainers_;
};

}  // namespace ostraka::compare

// Runs cells. Loads trainers and data once for all cells that use them.
//
// Promises:
//   C1  A result is a function of the cell, the code and the compute profile, and not of other
//       cells run before it, the time or the process.
//
// Memory: each data set and trainer that a cell has used.
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
  train::Trainer* attackers = nullptr;  // their own; null unless the attack is on work
};

// A trusted server aggregates with the cell's pipeline; or the protocol's machines train in virtual
// time. `study`, if not null, gets one row a step (at a server only: members of the protocol do not
// publish their gradients). Messages of a Status are one line.
base::StatusOr<CellResult> RunServerCell(const Cell& cell, const RunContext& context, Study* study);
base::StatusOr<CellResult> RunProtocolCell(const Cell& cell, const RunContext& context);

// Parameters of the rule "btard": tau, validators, alarm, mode. Errors as ParseParameters.
base::StatusOr<aggregation::Parameters> ParseProtocol(const aggregation::Arguments& given);

// The model's state after `step` steps.
base::StatusOr<Point> Evaluate(std::uint64_t step, std::span<const float> parameters,
                               train::Trainer& trainer);

// A seed for one use within a cell. Equal in all cells with one `seed`, so that rules and attacks
// meet equal batches, partitions and initial parameters (paired comparisons).
base::Digest DrawSeed(const Cell& cell, std::string_view label, std::uint64_t a = 0,
                      std::uint64_t b = 0);

// The rows of each worker in a cell. Errors as Partition.
base::StatusOr<RowsOfWorkers> PartitionOf(const Cell& cell, const train::Dataset& data);

class CellRunner {
 public:
  // `sources`: the location of each data set.
  explicit CellRunner(std::map<std::string, train::DataSource> sources)
      : sources_(std::move(sources)) {}

  // Errors of data, of trainers, and of rules that refuse their rows.
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

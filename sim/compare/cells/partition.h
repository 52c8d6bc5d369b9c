// Distribution of training rows over workers: how far the workers' data differ.
//
// They differ in classes: the labels of images; for a text, the tenth of it that a row is from,
// because people differ in what they write about and not in the next letter.
//
//   shared                   every worker draws from all rows, as in BTARD
//   iid                      shuffled and split evenly
//   dirichlet:alpha=A        of each class, shares p ~ Dir(A, ..., A) for the workers
//                            (Hsu et al. 2019); a worker left with nothing gets a row of the
//                            worker with the most
//   gamma:similarity=S       a share S of the rows iid, the rest extreme (Karimireddy et al. 2022)
//   extreme                  sorted by class, then split evenly
//   shards:each=K            sorted by class, cut into K shards a worker, dealt at random
//                            (McMahan et al. 2017)
//   pathological:classes=K   each worker holds rows of K classes only
//
// A partition is a function of the classes, the number of workers and a seed. Each row belongs to
// one worker (except in `shared`), no worker is empty, and each worker's rows ascend.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregation/shared/parameters.h"
#include "node/base/rng.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::compare {

struct PartitionInfo {
  std::string_view name;
  std::string_view summary;
  std::span<const aggregation::ParameterInfo> parameters;
};
std::span<const PartitionInfo> KnownPartitions();

struct Classes {
  std::vector<std::uint8_t> of_rows;  // the class of each training row; below `count`
  std::uint32_t count = 0;
  std::string_view noun = "class";  // the word for a class in messages
};
Classes ClassesOf(const train::Dataset& data);

using RowsOfWorkers = std::vector<std::vector<std::uint32_t>>;

// InvalidArgument for an unknown name (it suggests one) or a parameter outside its range.
base::Status CheckPartition(std::string_view text);

// InvalidArgument as CheckPartition; FailedPrecondition: fewer rows than workers, or too few
// classes. REQUIRES: workers > 0.
base::StatusOr<RowsOfWorkers> Partition(std::string_view text, const Classes& classes,
                                        std::size_t workers, const base::Rng& rng);

// The number of rows of each class that each worker holds.
std::vector<std::vector<std::size_t>> CountClasses(const RowsOfWorkers& rows,
                                                   const Classes& classes);

}  // namespace ostraka::compare

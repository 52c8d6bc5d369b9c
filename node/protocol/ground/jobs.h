// Work that is too heavy for the protocol thread, as plain data. A result depends on its spec alone
// and has equal bits on every peer.
//
// RunJob is the only implementation. The real node runs it on its compute thread and job pool, the
// simulator at once and with a drawn duration.
//
// Thread safety: specs and results are immutable once shared; RunJob is pure but for `gradients`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "aggregation/optim/local_steps.h"
#include "aggregation/optim/optimizer.h"
#include "node/base/status.h"
#include "node/base/tensor_layout.h"
#include "node/machine/parts.h"
#include "node/protocol/ground/batches.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/ground/state.h"

namespace ostraka::protocol {

using machine::JobId;

// What a worker sends of a step: its gradient at `parameters` on the batch of `batch_seed`; with
// local steps, how far these go from there. "The gradient" means either.
struct GradientSpec {
  std::uint64_t step = 0;
  PeerId owner;  // of the batch
  SharedVector parameters;
  Digest batch_seed;
  std::uint32_t batches = 1;  // that each gradient is the mean of
  aggregation::LocalSteps local = {};
  // A second computation: the same bits by other instructions, where the machine has some. What
  // damaged hardware gets wrong it rarely gets wrong alike in both.
  bool again = false;
};

// What `worker` owes of `step`, from x^step and the block before.
GradientSpec GradientDue(const Manifest& manifest, const BatchPlan& plan, std::uint64_t step,
                         const PeerId& worker, SharedVector parameters);

// Cuts a gradient into one blob for each part, with its Merkle root. Non-finite values become zero.
struct PackSpec {
  SharedVector gradient;
  std::vector<PartRange> parts;
  bool hash = true;  // false in unprotected runs: roots stay zero
  Codec codec = Codec::kRaw;
};

// CenteredClip of the parts that one aggregator holds; in unprotected runs their mean.
struct AggregateSpec {
  std::vector<SharedBlob> parts;  // each holds `size` values
  bool clip = true;               // false: the mean
  double tau = 0;
  double eps = 0;
  bool hash = true;  // false in unprotected runs: the root stays zero
  std::uint64_t size = 0;
  Codecs codecs = {};
};

// The numbers that a worker's PROOF states of its own parts.
struct ProveSpec {
  std::vector<SharedBlob> parts;  // own parts, by column
  std::vector<Column> columns;
  double tau = 0;
  Codec codec = Codec::kRaw;  // of the parts
};

// V1: the numbers that others stated for the own column, against the parts that are held.
struct CrossCheckSpec {
  Column column;
  double tau = 0;
  struct Claim {
    PeerId peer;
    SharedBlob part;
    wire::ColumnNumbers numbers;
  };
  std::vector<Claim> claims;
  Codec codec = Codec::kRaw;  // of the parts
};

// A validator's (or voter's) recomputation of a whole worker step.
struct RecomputeSpec {
  // In the order of urgency. An accusation counts only in the step that it was drawn for, a vote in
  // the blocks of its case; a look only makes a verdict graver.
  enum class Purpose : std::uint8_t { kAccusation, kVote, kLook };
  Purpose purpose = Purpose::kAccusation;  // never changes the result
  GradientSpec gradient;                   // x^s and the target's batch
  double tau = 0;
  double eps_g = 0;
  // In profile exact/1 alone: what the target's COMMIT names, and the cut into parts that its root
  // is over. Then nothing may differ by a bit.
  struct Committed {
    Digest gradient_root;
    Digest parameters_root;
    std::vector<PartRange> parts = {};
    Codec codec = Codec::kRaw;  // of the parts
  };
  std::optional<Committed> committed = {};
  struct Claim {
    Column column;  // without a result if it was not applied: then only the size is checked
    wire::ColumnNumbers numbers;
  };
  std::vector<Claim> claims = {};  // with `committed` maybe none: then the gradient alone counts
};

// x and the optimizer's slots after a step. The coordinates of void columns do not change. A
// gradient is clipped by its norm over the applied columns.
struct UpdateSpec {
  ModelState state;  // with the slots of `step`
  struct Applied {
    PartRange range;
    SharedBlob result;
  };
  std::vector<Applied> columns;  // ascending, disjoint
  base::TensorLayout layout;
  aggregation::OptimizerStep step;
  Codec codec = Codec::kRaw;  // of the results
};

// What this member's COMMIT says of its parameters, in profile exact/1 (crypto/parameters_root.h).
struct ParametersRootSpec {
  SharedVector parameters;
};

// The Merkle root of a state over named tensors.
struct RootSpec {
  ModelState state;
  base::TensorLayout layout;
};

using JobSpec = std::variant<GradientSpec, PackSpec, AggregateSpec, ProveSpec, CrossCheckSpec,
                             RecomputeSpec, UpdateSpec, RootSpec, ParametersRootSpec>;

struct GradientResult {
  SharedVector gradient;
};
struct PackResult {
  std::vector<SharedBlob> parts;
};
struct AggregateResult {
  SharedBlob result;
};
struct ProveResult {
  std::vector<wire::ColumnNumbers> columns;
};
struct CrossCheckResult {
  std::vector<PeerId> liars;  // in claim order
};
struct RecomputeResult {
  bool accuse = false;     // beyond the accusing threshold: for a validator
  bool convict = false;    // beyond half of it: for a voter
  double worst_ratio = 0;  // largest deviation over its accusing threshold
  // Profile exact/1: the gradient is false, and not only a number that was stated of it.
  bool false_gradient = false;
  // Profile exact/1: this machine cannot tell. Its parameters are not those that the target names,
  // or two computations of its own differ.
  bool unsure = false;
};
struct UpdateResult {
  ModelState state;
};
struct RootResult {
  Digest root;
  std::vector<Digest> leaves;  // of the root; a returning member asks for them first
};
struct ParametersRootResult {
  Digest root;
};
struct JobFailed {
  std::string reason;  // one line: a library failed, or memory ran out
};

using JobResult =
    std::variant<GradientResult, PackResult, AggregateResult, ProveResult, CrossCheckResult,
                 RecomputeResult, UpdateResult, RootResult, ParametersRootResult, JobFailed>;

using GradientFunction = std::function<base::StatusOr<std::vector<float>>(const GradientSpec&)>;

// Never throws. `gradients` is called for GradientSpec and RecomputeSpec only.
JobResult RunJob(const JobSpec& spec, const GradientFunction& gradients,
                 const aggregation::Executor& executor);

// True if RunJob calls `gradients` for `spec`: such jobs belong on the compute thread.
bool NeedsGradient(const JobSpec& spec);

// The order of jobs on the compute thread: the smaller goes first, equal ones in the order of their
// start, and a running one gives way to a smaller one where it can. The own gradient is first.
// Attack: a gradient that waited behind looks into a lie was late at all owners, and honest members
// lost their places.
int UrgencyOf(const JobSpec& spec);

}  // namespace ostraka::protocol

// A model and a data set behind one small interface that shows no library.
//
// A gradient is a function of (parameters, batch seed) alone, so that peers can check each other.
// Initial parameters are bit-identical on every machine (own generator, no libm except sqrt).
// Gradients by libtorch may differ by ~1e-7 relative between machines (docs/protocol/numbers.md,
// tolerant profile); those of other trainers have equal bits.
//
// Thread safety: all but the const functions are called from one thread at a time (the compute
// thread); Abandon, ComputesOn and TakeNotices from
// any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "aggregation/optim/local_steps.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/base/tensor_layout.h"

namespace ostraka::exact {
class DeviceSource;  // exact/device/device_source.h
}

namespace ostraka::train {

struct StreamAccess;  // node/train/stream/open_stream.h

using base::Digest;

// Data that no gradient sees. Choose hyperparameters by `validation`. `test` is for the final
// result: a number that was tuned on it is biased upwards.
enum class HeldOut : std::uint8_t { kTest, kValidation };
inline const char* HeldOutName(HeldOut part) {
  return part == HeldOut::kTest ? "test" : "validation";
}

// What a model writes, in bytes of any kind: for people.
struct TextSample {
  std::string prompt;  // of the held-out data
  std::string text;    // how the model continues it
};

struct Evaluation {
  std::string metric;  // "accuracy" or "loss"
  double value = 0;    // of `metric`, on held-out data
  double loss = 0;     // mean loss on held-out data
  HeldOut on = HeldOut::kTest;
  std::optional<TextSample> sample = std::nullopt;  // of GoOnEvaluating alone
};

// A line for people.
struct TrainerNotice {
  std::string line;
  bool is_trouble = false;
};

// How far an evaluation has come (Trainer::GoOnEvaluating).
struct EvaluationProgress {
  std::size_t done = 0;  // micro-batches
  std::size_t targets = 0;
  std::size_t right = 0;
  double loss = 0;  // summed over `targets`
  bool has_logits = true;
};

// What local steps gave.
struct Descended {
  std::vector<float> distance;  // x - y (aggregation/optim/local_steps.h)
  double first_loss = 0;        // mean loss on the first batch, at x
};

class Trainer {
 public:
  virtual ~Trainer() = default;

  // Named tensors whose concatenation is the parameter vector.
  virtual const base::TensorLayout& layout() const = 0;

  // Bytes that this trainer needs beside parameters and a gradient: its data, and what lies between
  // the steps of a gradient. nullopt: not known.
  virtual std::optional<std::uint64_t> WorkingBytes() const { return std::nullopt; }

  // d floats, a function of `seed` alone.
  virtual std::vector<float> InitialParameters(const Digest& seed) const = 0;

  // Mean gradient of the loss at `parameters` on the batch that `batch_seed` draws, d floats. The
  // result may be non-finite; the caller must check. Internal if the library fails.
  // REQUIRES: parameters.size() == ElementCount(layout()).
  virtual base::StatusOr<std::vector<float>> Gradient(std::span<const float> parameters,
                                                      const Digest& batch_seed) = 0;

  // From now on a gradient ends early, Cancelled, where `unwanted` says so: a trainer that cuts its
  // batches asks between two micro-batches. Null: never. `unwanted` is called on the thread of
  // Gradient.
  void EndWhere(std::function<bool()> unwanted) { unwanted_ = std::move(unwanted); }

  // Cancelled if nobody wants the gradient in progress.
  base::Status CheckWanted() const {
    return unwanted_ && unwanted_() ? base::Cancelled("nobody wants this gradient any more")
                                    : base::OkStatus();
  }

  // Mean loss on the batch of the last call of Gradient that succeeded, at its parameters; for
  // people alone. nullopt: none yet, or this trainer does not know it.
  virtual std::optional<double> BatchLoss() const { return std::nullopt; }

  // The same gradient by other instructions, where this machine has some: bits that damaged
  // hardware gets wrong once it rarely gets wrong alike both times. Slower.
  virtual base::StatusOr<std::vector<float>> GradientAgain(std::span<const float> parameters,
                                                           const Digest& batch_seed) {
    return Gradient(parameters, batch_seed);
  }

  // All local steps of `plan` from `from`, each by the mean over `batches` gradients, of which
  // `seed_of` gives the batch seeds: for a trainer that keeps what lies between two steps where it
  // computes. nullopt: it cannot, or not now; then they are taken by Gradient, with equal bits
  // (local_steps.h, WorkOf). Errors as Gradient. REQUIRES: plan.count > 1.
  using InnerSeedOf = std::function<Digest(std::uint64_t step, std::uint32_t batch)>;
  virtual base::StatusOr<std::optional<Descended>> Descend(std::span<const float> from,
                                                           const aggregation::LocalSteps& plan,
                                                           std::uint32_t batches,
                                                           const InnerSeedOf& seed_of) {
    static_cast<void>(from), static_cast<void>(plan), static_cast<void>(batches);
    static_cast<void>(seed_of);
    return std::nullopt;
  }

  // The gradient on this batch comes soon: a trainer that fetches rows may begin to.
  virtual void Expect(const Digest& batch_seed) { static_cast<void>(batch_seed); }

  // Nobody needs a result any more: a call that is in progress ends soon, as does each later one,
  // with Unavailable. A trainer that cannot do that ends what it has begun.
  virtual void Abandon() {}

  // The call in progress waits for rows that lie elsewhere. Any thread.
  virtual bool WaitsForRows() const { return false; }

  // For people: what computes its gradients. Any thread.
  virtual std::string ComputesOn() const { return "processor"; }
  // For people: news of that since the last call. Any thread.
  virtual std::vector<TrainerNotice> TakeNotices() { return {}; }

  // Gradient on the given rows of the training part, for comparisons in which every worker has its
  // own data; what the model draws comes from `batch_seed`. InvalidArgument: no rows, or a row out
  // of range. FailedPrecondition: this trainer has no rows.
  virtual base::StatusOr<std::vector<float>> GradientOfRows(std::span<const float> parameters,
                                                            std::span<const std::uint32_t> rows,
                                                            const Digest& batch_seed) {
    static_cast<void>(parameters), static_cast<void>(rows), static_cast<void>(batch_seed);
    return base::FailedPrecondition("this trainer's data are drawn, not stored: it has no rows");
  }

  virtual base::StatusOr<Evaluation> Evaluate(std::span<const float> parameters) = 0;

  // As Evaluate, with a sample, from `progress` on, which is its own at first. Cancelled where it
  // is unwanted (EndWhere), asked between two micro-batches: then it may be gone on with at the
  // same parameters. A trainer that cannot do that evaluates to the end.
  virtual base::StatusOr<Evaluation> GoOnEvaluating(std::span<const float> parameters,
                                                    EvaluationProgress& progress) {
    static_cast<void>(progress);
    return Evaluate(parameters);
  }

  // Evaluates on `part` instead of the options' part. FailedPrecondition: this trainer has one
  // part.
  virtual base::StatusOr<Evaluation> EvaluateOn(std::span<const float> parameters, HeldOut part) {
    static_cast<void>(parameters), static_cast<void>(part);
    return base::FailedPrecondition("this trainer's data are drawn, not stored: it has one part");
  }

 private:
  std::function<bool()> unwanted_;
};

// The manifest's settings of training, from which every peer builds an equal trainer, followed by
// settings of this machine.
struct TrainerOptions {
  std::string model = "mlp";    // toy, softmax, mlp, cnn, graph
  std::string data = "digits";  // toy, digits, mnist, cifar10, text, tokens
  Digest data_hash = {};        // the data's content (node/train/data_source.h); zero: any
  std::uint64_t batch_size = 32;
  std::uint64_t hidden = 64;    // mlp, cnn: hidden units; toy: dimension
  std::uint64_t data_seed = 0;  // toy: the problem
  std::string graph = {};       // graph: the text of its file (node/train/exact/graph_file.h)
  std::string constants = {};   // graph: the bytes beside it (node/train/exact/constants_file.h)
  bool exact = false;           // by the kernels of exact/; else by libtorch

  std::string data_dir = {};  // mnist, cifar10: the folder of their files; text, tokens: the file
  std::shared_ptr<const StreamAccess> stream = nullptr;  // stream: DataSource::access
  HeldOut evaluate_on = HeldOut::kTest;
  std::string kernels = {};  // exact: LevelName of the kernels; empty: the widest of this machine
  // graph: tokens that a model of texts writes after an evaluation (Evaluation::sample); 0: none.
  std::size_t sample_tokens = 0;
  // exact: the threads of a gradient, which change no bit; `executor` has as many. Null: one.
  std::size_t threads = 1;
  std::shared_ptr<const aggregation::Executor> executor = nullptr;
  // exact: parts of the forward pass are computed twice where that takes less memory; no bit
  // changes.
  bool recompute = false;
  // exact, graph: devices that may compute gradients, which change no bit. Null: none.
  std::shared_ptr<exact::DeviceSource> devices = nullptr;
};

}  // namespace ostraka::train

// Runs a program on a device: losses and gradients, to the bit those of exact/run.
//
// Promises:
//   D1  a result is a function of the parameters, inputs and constants alone: equal on each device
//       that conforms (conformance_program.h), whatever its memory cuts.
//   D2  parameters go up once, however many micro-batches follow; gradients are added on the device
//       and come down once.
//   D3  nothing is allocated on the device after Make, but once what local steps need; all of it is
//       given back in the end.
//   D4  no integer of an input reads outside of a table: inputs are checked before anything runs.
//
// Memory: DevicePlan::bytes on the device; here what one cross_entropy or one embedding needs of
// its rows, for the time of a call. What an attacker can do here: send data with values out of
// range, which are refused. A graph has been checked and planned before it comes here. Thread
// safety: one call at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "aggregation/optim/local_steps.h"
#include "exact/device/launches.h"

namespace ostraka::exact {

class DeviceRunner {
 public:
  // Allocates what the plan says and takes the constants up. Any error of the device.
  // REQUIRES: `device` outlives this; `constants` has the floats of each constant, of the graph's
  // sizes.
  static base::StatusOr<std::unique_ptr<DeviceRunner>> Make(
      DevicePlan plan, const std::vector<std::vector<float>>& constants, Device& device);

  ~DeviceRunner();
  DeviceRunner(const DeviceRunner&) = delete;
  DeviceRunner& operator=(const DeviceRunner&) = delete;

  const DevicePlan& plan() const { return plan_; }

  // While `abandoned` is true, a call ends before its next step with Unavailable. It may be shared,
  // and set by any thread.
  void EndWhen(std::shared_ptr<const std::atomic<bool>> abandoned) {
    abandoned_ = std::move(abandoned);
  }
  // Which kernel computes products: no bit depends on it. For tests and measurements.
  void UseTile(Tile tile) { tile_ = tile; }

  // What the next calls compute with. The sum becomes empty.
  // REQUIRES: the graph's parameter count.
  base::Status SetParameters(std::span<const float> parameters);

  // The loss of a micro-batch; its gradient is added to the sum. The loss may be infinite or NaN.
  // InvalidArgument: an input of another size, or an integer out of range: the sum is as before.
  // FailedPrecondition: this thread does not compute as IEEE-754 has it, or there are no
  // parameters, or the plan does not add and there is a gradient already. Any error of the device
  // empties the sum and leaves no parameters.
  base::StatusOr<float> AddGradient(std::span<const InputValues> inputs);
  // `mean` gets ((g1 + g2) + ... + gc) * (1 / c) of the c gradients added (docs/numerics.md 8; a
  // NaN is canonical), and the sum becomes empty. FailedPrecondition: it is. REQUIRES: `mean` has
  // the graph's parameter count.
  base::Status TakeMean(std::span<float> mean);

  // --- local steps (docs/numerics.md 10) ---
  // Each begins where the one before ended: gradients are added at y and end in batches, whose mean
  // moves y. Errors as those of a gradient; FailedPrecondition where they come in another order.

  // The next gradients are of local steps from the parameters, as the mean over `batches`.
  // InvalidArgument: the device has no room for that; the parameters stay.
  base::Status BeginDescent(std::uint32_t batches);
  // The first gradient of a batch, before there is a second.
  base::StatusOr<std::vector<float>> ReadGradient();
  // The mean of the gradients added is that of one batch. The sum becomes empty.
  base::Status EndBatch();
  // The step that `done` others came before.
  base::Status StepDescent(const aggregation::LocalSteps& plan, std::uint64_t done);
  // What the next step begins with; the gradient is there once all its batches have ended.
  struct DescentState {
    std::vector<float> gradient;
    std::vector<float> y;
    std::vector<float> first;
    std::vector<float> second;
  };
  base::StatusOr<DescentState> ReadDescent();
  base::StatusOr<std::vector<float>> ReadParameters();

  // The loss alone, by the forward steps; the sum stays. Errors as AddGradient.
  base::StatusOr<float> Loss(std::span<const InputValues> inputs);
  // What the loss's cross_entropy was taken of in the last run, row-major; empty if the loss is
  // none, or if it was taken of a parameter or an input.
  base::StatusOr<std::vector<float>> Logits();

 private:
  // Buffers of one flat vector: one for each slab.
  using Vector = std::vector<DeviceBuffer>;

  DeviceRunner(DevicePlan plan, Device& device);

  base::Status AllocateAll();
  base::StatusOr<DeviceBuffer> Allocate(std::uint64_t elements);
  base::StatusOr<Vector> AllocateSlabs(const std::vector<Slab>& slabs);
  base::Status UploadAll(const std::vector<std::vector<float>>& constants);

  base::Status CheckReady(std::span<const InputValues> inputs) const;
  base::Status UploadInputs(std::span<const InputValues> inputs);
  base::Status UploadSorted(std::span<const InputValues> inputs);
  base::StatusOr<float> Run(std::span<const InputValues> inputs, std::size_t step_count);
  base::StatusOr<float> AddGradientUnchecked(std::span<const InputValues> inputs);
  // Where the mean of the gradients added is now. REQUIRES: there are some.
  base::StatusOr<const Vector*> MeanOfAdded();
  // left = map(left, right) or map(left, scalar).
  base::Status MapVector(Map map, const Vector& left, const Vector& right, std::uint32_t operands,
                         float scalar);
  // Elements [begin, begin + values.size()).
  base::Status Read(const Vector& from, std::uint64_t begin, std::span<float> values);
  base::StatusOr<std::vector<float>> ReadAll(const Vector& from);
  // After an error nothing on the device counts.
  template <typename T>
  T Checked(T result) {
    if (!result.ok()) {
      added_ = 0;
      batches_ = ended_ = 0;
      has_parameters_ = false;
    }
    return result;
  }

  base::Status AllocateDescent(std::uint32_t batches);
  base::Status StepDescentUnchecked(const aggregation::LocalSteps& plan, std::uint64_t done);
  base::StatusOr<double> GradientNorm(const Vector& gradient);
  const Vector& DescentGradient() const { return batches_ > 1 ? batch_sum_ : *batch_mean_; }
  DeviceSite SiteFor(std::span<const InputValues> inputs) const;
  Tensor InSlabs(const Vector& vector, const std::vector<Slab>& slabs, std::uint64_t offset) const;

  DevicePlan plan_;
  Device& device_;
  Tile tile_ = Tile::kByShape;
  std::shared_ptr<const std::atomic<bool>> abandoned_;  // null: never

  std::vector<DeviceBuffer> all_;  // what was allocated
  Vector parameters_;
  Vector gradient_;  // of the last micro-batch
  Vector sum_;       // of all, if there are two; else without meaning. Empty if the plan adds none
  Vector arena_;
  std::vector<DeviceBuffer> constants_;
  std::vector<DeviceBuffer> inputs_;
  DeviceBuffer scores_;
  DeviceBuffer score_gradients_;
  DeviceBuffer pairs_;
  DeviceBuffer table_;
  DeviceBuffer sorted_;
  // Of local steps; empty before the first.
  Vector first_;
  Vector second_;
  Vector batch_sum_;      // empty where no step had several batches
  DeviceBuffer squares_;  // of each block of a gradient

  bool has_parameters_ = false;
  std::size_t added_ = 0;               // gradients
  std::uint32_t batches_ = 0;           // of a local step; 0: no local steps
  std::uint32_t ended_ = 0;             // batches of the present step; <= batches_
  const Vector* batch_mean_ = nullptr;  // of the last batch that ended
};

}  // namespace ostraka::exact

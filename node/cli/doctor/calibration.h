// Measures how far apart the gradients of honest machines are, in the quantity by which a validator
// judges: `ostraka doctor --calibrate` (docs/operating.md).
//
// Gradients of honest machines differ only by the order of their sums, which the CPU's vector
// instructions determine. Each code path that an honest machine may take runs in a process of its
// own (calibrate_paths.cpp), at equal parameters and on equal batches. The noise between two paths
// is the least eps_g at which protocol::DeviationRatio of their numbers is 1, for the worst part.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/cli/doctor/doctor.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/trainer.h"

namespace ostraka::cli {

// Gradients of several workers at one point of a training run.
using Gradients = std::vector<std::vector<float>>;

// The noise between `stated` and `recomputed`, cut into `parts` parts. The aggregate of a part is
// the mean of `recomputed`, and its tau the lower median of the norms, as in a run. Infinite if a
// value is NaN or infinite. REQUIRES: both have equally many gradients, all of one size >= 2 parts.
double NoiseBetween(const Gradients& stated, const Gradients& recomputed, std::uint32_t parts);

// eps_g must be at least this multiple of the noise.
inline constexpr double kNoiseMargin = 10;
// The largest NoiseBetween over groups of kProbeWorkers gradients, one group per place. REQUIRES:
// both have equally many gradients.
double WorstNoise(const Gradients& stated, const Gradients& recomputed, std::uint32_t parts);

// The manifest's eps_g is generous above this multiple of the noise.
inline constexpr double kGenerous = 1000;

struct PathNoise {
  std::string path;  // "AVX2", ...
  double noise = 0;  // worst against any other path
};
struct CalibrationFacts {
  std::string model;  // "mlp on digits"
  std::vector<PathNoise> paths;
  double eps_g = 0;  // from the manifest, or the default
  bool from_manifest = false;
  bool exact = false;   // paths are kernels, and must not differ by a bit
  std::string problem;  // reason why nothing was measured; empty if measured
  double noise() const;
};
Finding JudgeCalibration(const CalibrationFacts& facts);

// --- calibrate_paths.cpp: runs the paths ---------------------------------------------------------

// Measures one model on this machine, which takes seconds for small models: the model of
// `manifest`, which was read from `manifest_file`, or a built-in one on digits if that is empty. In
// profile exact/1 the paths are the kernels of this machine. `graph`: the run's graph file, or
// empty. REQUIRES: the program has AddDoctorCommand, and no other thread runs.
CalibrationFacts Calibrate(const protocol::Manifest& manifest, const std::string& manifest_file,
                           const train::TrainerOptions& options, const std::string& graph);

// --- gradient_probe.cpp: runs in a path's process -----------------------------------------------

// Trains along `plan` and writes the parameters of some steps to `places`, unless that file exists.
// Then writes the gradients of kProbeWorkers workers at each of them to `out`.
inline constexpr std::uint64_t kProbeWorkers = 8;
base::Status ProbeGradients(const protocol::TrainingPlan& plan,
                            const train::TrainerOptions& options, const std::string& places,
                            const std::string& out);

}  // namespace ostraka::cli

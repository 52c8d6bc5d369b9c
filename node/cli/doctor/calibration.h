// How far apart the gradients of honest machines are, in the quantity that a validator judges by:
// what `ostraka doctor --calibrate` measures (docs/operating.md).
//
// A gradient is the same on every machine but for the order of its sums, which the CPU's vector
// instructions decide. Each code path that honest machines may take is run in a process of its own
// (calibrate_paths.cpp) at the same parameters, on the same batches; the noise of two paths is the
// least eps_g at which protocol::DeviationRatio of their numbers is 1, worst over parts.
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

// Gradients of several workers at one place of a training run.
using Gradients = std::vector<std::vector<float>>;

// The noise between `stated` and `recomputed`, cut into `parts` parts whose aggregate is the mean
// of `recomputed` and whose tau is the lower median of the norms, as in a run. Infinite if one of
// them has a number that is none. REQUIRES: both have as many gradients of one size >= 2 parts.
double NoiseBetween(const Gradients& stated, const Gradients& recomputed, std::uint32_t parts);

// Ten times the noise, which is what eps_g must be at least.
inline constexpr double kNoiseMargin = 10;
// NoiseBetween of kProbeWorkers gradients at a time: those of one place. REQUIRES: as many of both.
double WorstNoise(const Gradients& stated, const Gradients& recomputed, std::uint32_t parts);

// The manifest's eps_g is generous above so many times the noise.
inline constexpr double kGenerous = 1000;

struct PathNoise {
  std::string path;  // "AVX2", ...
  double noise = 0;  // the worst against any other path
};
struct CalibrationFacts {
  std::string model;  // "mlp on digits"
  std::vector<PathNoise> paths;
  double eps_g = 0;  // the manifest's, or the default
  bool from_manifest = false;
  std::string problem;  // why nothing was measured; empty: it was
  double noise() const;
};
Finding JudgeCalibration(const CalibrationFacts& facts);

// --- calibrate_paths.cpp: runs the paths ---------------------------------------------------------

// Measures one model on this machine: seconds for small models. It is the manifest's, which was
// read from `manifest_file`; or a built-in one on digits, if that is empty. REQUIRES: the program
// has AddDoctorCommand, and no other thread runs.
CalibrationFacts Calibrate(const protocol::Manifest& manifest, const std::string& manifest_file,
                           const train::TrainerOptions& options);

// --- gradient_probe.cpp: what a path's process does ----------------------------------------------

// Trains along `plan` and writes the parameters of some steps to `places` if that file is not
// there, then the gradients of kProbeWorkers at each of them to `out`.
inline constexpr std::uint64_t kProbeWorkers = 8;
base::Status ProbeGradients(const protocol::TrainingPlan& plan,
                            const train::TrainerOptions& options, const std::string& places,
                            const std::string& out);

}  // namespace ostraka::cli

// Trains in one process what the members of a swarm trained together, on the same samples: in each
// step the mean of the gradients of all workers, each on the batch that the run drew for it, and
// the run's optimizer. No rule clips, nobody lies, no column is void.
//
// usage: one_process RUN_DIR [--data SOURCE] [--evaluate-on test|validation] [--every STEPS]
//                    [--threads N] [--leave-out ID,ID...]
// RUN_DIR is the folder of `ostraka swarm --out`. The workers of each step are read from the ledger
// of node0. --leave-out: members whose batches do not count, as attackers'.
// Prints {"parameters", "steps", "gradients", "seconds", "loss": [[step, loss], ...]}: the loss on
// held-out data after the first step, after every STEPS-th and after the last.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aggregation/optim/optimizer.h"
#include "crypto/sign.h"
#include "node/base/status.h"
#include "node/base/tensor_layout.h"
#include "node/config/manifest_toml.h"
#include "node/config/training.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/ground/schedule.h"
#include "node/store/ledger_reader.h"
#include "node/train/trainer_loader.h"
#include "node/wire/block.h"

namespace ostraka {
namespace {

struct Options {
  std::string run_dir;
  config::LocalTraining local;
  std::uint64_t every = 20;
  std::size_t threads = 1;
  std::set<std::string> left_out;  // ids in hex
};

// What the run trained in one step: the seeds of its workers' batches.
struct Step {
  std::uint64_t number = 0;
  std::vector<base::Digest> seeds;  // by worker
};

base::StatusOr<std::vector<Step>> StepsOf(const Options& options,
                                          const protocol::Manifest& manifest,
                                          std::uint64_t dimension) {
  ASSIGN_OR_RETURN(store::LedgerReader ledger,
                   store::LedgerReader::Open(options.run_dir + "/node0"));
  std::vector<Step> steps;
  wire::Block head;
  bool whole = true;
  RETURN_IF_ERROR(ledger.ForEachBlock(0, [&](const wire::Block& block) {
    if (wire::Trained(block)) {
      whole = whole && block.step == (head.genesis ? 0 : head.step + 1);
      Step& step = steps.emplace_back();
      step.number = block.step;
      for (const base::PeerId& worker : protocol::AssignRoles(head, dimension).workers) {
        if (options.left_out.contains(worker.Hex())) continue;
        step.seeds.push_back(protocol::BatchSeed(manifest.run_id, manifest.training.data,
                                                 head.randomness, block.step, worker));
      }
    }
    head = block;
    return whole;
  }));
  if (!whole) {
    return base::FailedPrecondition("the ledger of node0 lacks blocks: it was away in the run");
  }
  return steps;
}

// Computes the gradients of one step on several threads, each with a trainer of its own.
class Gradients {
 public:
  explicit Gradients(std::vector<std::unique_ptr<train::Trainer>> trainers)
      : trainers_(std::move(trainers)) {}

  train::Trainer& trainer() { return *trainers_.front(); }

  // The mean over `seeds`, summed in double in their order.
  base::StatusOr<std::vector<float>> Mean(std::span<const float> parameters,
                                          std::span<const base::Digest> seeds) {
    std::vector<base::StatusOr<std::vector<float>>> results(seeds.size(), std::vector<float>());
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (const auto& trainer : trainers_) {
      threads.emplace_back([&, own = trainer.get()] {
        for (std::size_t i = next++; i < seeds.size(); i = next++) {
          results[i] = own->Gradient(parameters, seeds[i]);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<double> sum(parameters.size());
    for (const auto& gradient : results) {
      RETURN_IF_ERROR(gradient.status());
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>((*gradient)[i]);
    }
    std::vector<float> mean(sum.size());
    const auto count = static_cast<double>(seeds.size());
    std::transform(sum.begin(), sum.end(), mean.begin(),
                   [count](double value) { return static_cast<float>(value / count); });
    return mean;
  }

 private:
  const std::vector<std::unique_ptr<train::Trainer>> trainers_;
};

base::Status Run(const Options& options) {
  const std::string file = options.run_dir + "/run.toml";
  ASSIGN_OR_RETURN(const protocol::Manifest manifest, config::ReadManifestFile(file));
  config::LocalTraining local = options.local;
  if (manifest.training.model.starts_with("graph@")) local.graph = file + ".graph";
  ASSIGN_OR_RETURN(const train::TrainerOptions wanted, config::TrainerOptionsOf(manifest, local));
  std::vector<std::unique_ptr<train::Trainer>> trainers(options.threads);
  for (auto& trainer : trainers) {
    ASSIGN_OR_RETURN(trainer, train::MakeTrainer(wanted));
  }
  Gradients gradients(std::move(trainers));
  train::Trainer& trainer = gradients.trainer();
  std::vector<float> parameters = trainer.InitialParameters(manifest.run_id);
  ASSIGN_OR_RETURN(const std::vector<Step> steps, StepsOf(options, manifest, parameters.size()));

  const auto begin = std::chrono::steady_clock::now();
  aggregation::Descent descent(manifest.training.optimizer, trainer.layout());
  std::string losses;
  std::size_t count = 0;
  for (const Step& step : steps) {
    if (!step.seeds.empty()) {
      ASSIGN_OR_RETURN(const std::vector<float> mean, gradients.Mean(parameters, step.seeds));
      descent.Step(protocol::OptimizerStepOf(manifest.training, step.number), mean, parameters);
      count += step.seeds.size();
    }
    const std::uint64_t done = step.number + 1;
    if (done != 1 && done % options.every != 0 && &step != &steps.back()) continue;
    ASSIGN_OR_RETURN(const train::Evaluation evaluation, trainer.Evaluate(parameters));
    std::fprintf(stderr, "step %llu: loss %.4f\n", static_cast<unsigned long long>(step.number),
                 evaluation.loss);
    losses += (losses.empty() ? "[" : ", [") + std::to_string(step.number) + ", " +
              std::to_string(evaluation.loss) + "]";
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf(
      "{\"parameters\": %zu, \"steps\": %zu, \"gradients\": %zu, \"seconds\": %.1f, "
      "\"loss\": [%s]}\n",
      parameters.size(), steps.size(), count, seconds.count(), losses.c_str());
  return base::OkStatus();
}

constexpr char kUsage[] =
    "usage: one_process RUN_DIR [--data SOURCE] [--evaluate-on test|validation] [--every STEPS]\n"
    "                   [--threads N] [--leave-out ID,ID...]\n";

// False: the usage.
bool Read(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      options.run_dir = word;
      continue;
    }
    if (++i == argc) return false;
    const std::string value = argv[i];
    if (word == "--data") {
      options.local.data = value;
    } else if (word == "--evaluate-on" && (value == "test" || value == "validation")) {
      options.local.evaluate_on =
          value == "test" ? train::HeldOut::kTest : train::HeldOut::kValidation;
    } else if (word == "--every") {
      options.every = std::strtoull(value.c_str(), nullptr, 10);
    } else if (word == "--threads") {
      options.threads = std::strtoull(value.c_str(), nullptr, 10);
    } else if (word == "--leave-out") {
      for (std::size_t at = 0; at <= value.size();) {
        const std::size_t end = std::min(value.find(',', at), value.size());
        options.left_out.insert(value.substr(at, end - at));
        at = end + 1;
      }
    } else {
      return false;
    }
  }
  return !options.run_dir.empty() && options.every > 0 && options.threads > 0;
}

}  // namespace

int Main(int argc, char** argv) {
  Options options;
  if (!Read(argc, argv, options)) {
    std::fprintf(stderr, "%s", kUsage);
    return 2;
  }
  base::Status status = crypto::Initialize();
  if (status.ok()) status = Run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "one_process: %s\n", base::MessageOf(status).c_str());
  return 3;
}

}  // namespace ostraka

int main(int argc, char** argv) { return ostraka::Main(argc, argv); }

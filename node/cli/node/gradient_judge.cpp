#include "node/cli/node/gradient_judge.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "node/config/honest_root.h"
#include "node/config/manifest_toml.h"
#include "node/protocol/ground/known_run.h"
#include "node/store/checkpoint.h"
#include "node/train/trainer_loader.h"
#include "proofs/evidence/handover.h"

namespace ostraka::cli {
namespace {

base::Status CheckSources(const GradientJudge::Sources& sources) {
  if (sources.state.empty() && (!sources.data.empty() || !sources.graph.empty())) {
    return base::InvalidArgument(
        "--data and --graph serve to compute a gradient, which needs the parameters too: --state");
  }
  if (!sources.state.empty() && sources.manifest.empty()) {
    return base::InvalidArgument("--state needs the run's manifest too: --manifest run.toml");
  }
  return base::OkStatus();
}

std::string FileOf(const std::string& state, std::uint64_t step) {
  std::error_code error;  // what cannot be looked at is no folder
  if (!std::filesystem::is_directory(state, error)) return state;
  return state + "/parameters-" + std::to_string(step) + ".safetensors";
}

}  // namespace

base::StatusOr<GradientJudge> GradientJudge::Make(Sources sources) {
  RETURN_IF_ERROR(CheckSources(sources));
  GradientJudge judge;
  judge.sources_ = std::move(sources);
  if (judge.sources_.manifest.empty()) return judge;
  ASSIGN_OR_RETURN(judge.manifest_, config::ReadManifestFile(judge.sources_.manifest,
                                                             config::Versions::kEarlierToo));
  ASSIGN_OR_RETURN(judge.views_, evidence::FollowAll(protocol::KnownRunOf(*judge.manifest_),
                                                     judge.sources_.handovers));
  if (judge.sources_.state.empty()) return judge;
  auto trainer = judge.MakeTrainer();
  if (trainer.ok()) {
    judge.trainer_ = std::move(trainer).value();
  } else {
    judge.trouble_ = trainer.status();
  }
  return judge;
}

base::StatusOr<std::unique_ptr<train::Trainer>> GradientJudge::MakeTrainer() const {
  std::string graph = sources_.graph;
  const std::string beside = sources_.manifest + ".graph";
  std::error_code error;
  if (graph.empty() && std::filesystem::exists(beside, error)) graph = beside;
  ASSIGN_OR_RETURN(const train::TrainerOptions options,
                   config::TrainerOptionsOf(*manifest_, {.data = sources_.data, .graph = graph}));
  return train::MakeTrainer(options);
}

evidence::Finding GradientJudge::Judge(const base::Bytes& file) const {
  if (!manifest_) return evidence::Verify(file);
  if (sources_.state.empty()) return evidence::VerifyInViews(file, views_);
  return evidence::VerifyByComputing(
      file, views_, [this](const evidence::GradientClaim& claim) { return HonestRoot(claim); });
}

base::StatusOr<std::optional<base::Digest>> GradientJudge::HonestRoot(
    const evidence::GradientClaim& claim) const {
  RETURN_IF_ERROR(trouble_);
  ASSIGN_OR_RETURN(const protocol::SharedVector parameters,
                   store::ReadParameters(FileOf(sources_.state, claim.step), trainer_->layout()));
  return config::HonestRootOf(*manifest_, *trainer_, parameters, claim);
}

}  // namespace ostraka::cli

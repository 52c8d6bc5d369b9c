#include "node/cli/node/gradient_judge.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "node/cli/options/invite_link.h"
#include "node/config/honest_root.h"
#include "node/config/manifest_toml.h"
#include "node/config/stream_access.h"
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
  RETURN_IF_ERROR(judge.ReadRun());
  if (judge.sources_.state.empty()) return judge;
  auto trainer = judge.MakeTrainer();
  if (trainer.ok()) {
    judge.trainer_ = std::move(trainer).value();
  } else {
    judge.trouble_ = trainer.status();
  }
  return judge;
}

base::Status GradientJudge::ReadRun() {
  if (!sources_.manifest.empty()) {
    ASSIGN_OR_RETURN(manifest_,
                     config::ReadManifestFile(sources_.manifest, config::Versions::kEarlierToo));
  }
  std::optional<evidence::KnownRun> trusted;
  if (!sources_.anchor.empty()) {
    ASSIGN_OR_RETURN(InviteText link, ReadInvite(sources_.anchor, config::Versions::kEarlierToo));
    if (manifest_ && manifest_->run_id != link.manifest.run_id) {
      return base::InvalidArgument("the link is of another run than the manifest");
    }
    manifest_ = std::move(link.manifest);
    if (link.anchor != nullptr) {
      trusted = evidence::ViewAfter(protocol::KnownRunOf(*manifest_), *link.anchor);
    }
  }
  if (!manifest_) return base::OkStatus();
  if (!trusted) trusted = protocol::KnownRunOf(*manifest_);
  ASSIGN_OR_RETURN(views_, evidence::FollowAll(*trusted, sources_.handovers));
  return base::OkStatus();
}

base::StatusOr<std::unique_ptr<train::Trainer>> GradientJudge::MakeTrainer() const {
  std::string graph = sources_.graph;
  const std::string beside = sources_.manifest + ".graph";
  std::error_code error;
  if (graph.empty() && std::filesystem::exists(beside, error)) graph = beside;
  ASSIGN_OR_RETURN(
      const train::TrainerOptions options,
      config::TrainerOptionsOf(*manifest_, {.data = sources_.data,
                                            .stream = config::StreamAccessOf(
                                                {.allow_private = sources_.allow_private_sources}),
                                            .graph = graph}));
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

#include "node/config/honest_root.h"

#include <string>
#include <variant>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "crypto/merkle.h"
#include "crypto/parameters_root.h"
#include "node/protocol/ground/jobs.h"
#include "node/protocol/ground/roles.h"
#include "node/train/local_steps.h"

namespace ostraka::config {

base::StatusOr<std::optional<base::Digest>> HonestRootOf(const protocol::Manifest& manifest,
                                                         train::Trainer& trainer,
                                                         const protocol::SharedVector& parameters,
                                                         const evidence::GradientClaim& claim) {
  if (manifest.compute_profile != protocol::kExact) {
    return base::FailedPrecondition(
        "the run's gradients are compared within a tolerance, and only "
        "those of profile exact/1 can be proven false");
  }
  if (crypto::ParametersRoot(*parameters) != claim.parameters_root) {
    return base::FailedPrecondition(
        "the parameters are not those of step " + std::to_string(claim.step) +
        " that the accused names: give the file that a node keeps beside this evidence, "
        "parameters-" +
        std::to_string(claim.step) + ".safetensors");
  }
  const protocol::Roles roles =
      protocol::AssignRolesIn(manifest.protocol_version, claim.before, parameters->size());
  if (!roles.IsWorker(claim.worker)) return std::nullopt;
  if (!protocol::MayBeCounts(claim.before.batch_counts, manifest.training)) return std::nullopt;
  const aggregation::SerialExecutor executor;
  const protocol::GradientFunction gradients =
      [&](const protocol::GradientSpec& spec) -> base::StatusOr<std::vector<float>> {
    ASSIGN_OR_RETURN(
        train::Worked worked,
        train::WorkOf(trainer, {*spec.parameters, spec.batch_seed, spec.batches, spec.local}));
    return std::move(worked.values);
  };
  const auto computed =
      protocol::RunJob(protocol::GradientDue(manifest, protocol::BatchPlanOf(claim.before),
                                             claim.step, claim.worker, parameters),
                       gradients, executor);
  if (const auto* failed = std::get_if<protocol::JobFailed>(&computed)) {
    return base::Internal(failed->reason);
  }
  const auto packed = protocol::RunJob(
      protocol::PackSpec{.gradient = std::get<protocol::GradientResult>(computed).gradient,
                         .parts = roles.parts,
                         .hash = true,
                         .codec = manifest.codecs.parts},
      gradients, executor);
  std::vector<base::Digest> roots;
  for (const auto& part : std::get<protocol::PackResult>(packed).parts) roots.push_back(part->root);
  return std::optional(crypto::MerkleRoot(roots));
}

}  // namespace ostraka::config

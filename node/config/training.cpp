#include "node/config/training.h"

#include <algorithm>
#include <memory>

#include "node/config/stream_access.h"
#include "node/device/device_list.h"
#include "node/device/hosted_device.h"
#include "node/os/thread_executor.h"
#include "node/protocol/ground/state.h"
#include "node/train/data_source.h"
#include "node/train/exact/constants_file.h"
#include "node/train/exact/graph_file.h"
#include "node/train/stream/stream_index.h"
#include "node/train/trainer_loader.h"

namespace ostraka::config {

namespace {

// Whether a copy of `source` can be the run's data: records are cut from any text.
bool MayBe(const train::DataSource& source, const train::DataId& id) {
  return source.name == id.name || (id.name == train::kTokens && source.name == "text");
}

base::Status AddDevices(const LocalTraining& local, train::TrainerOptions& options) {
  RETURN_IF_ERROR(device::CheckDeviceName(local.device));
  if (local.device == device::kProcessor) return base::OkStatus();
  const bool can = options.exact && options.model != "toy";
  if (!can && local.device == device::kAnyDevice) return base::OkStatus();
  if (!can) {
    return base::InvalidArgument("--device " + local.device +
                                 ": only gradients of runs with compute_profile exact/1 are "
                                 "computed on a device; leave it out");
  }
  options.devices = device::HostedSource(local.device, local.device_memory);
  return base::OkStatus();
}

}  // namespace

base::StatusOr<train::TrainerOptions> TrainerOptionsOf(const protocol::Manifest& manifest,
                                                       const LocalTraining& local) {
  const protocol::TrainingPlan& plan = manifest.training;
  ASSIGN_OR_RETURN(const train::ModelId model, train::ParseModelId(plan.model));
  ASSIGN_OR_RETURN(const train::DataId id, train::ParseDataId(plan.data));
  train::TrainerOptions options{.model = model.name,
                                .data = id.name,
                                .data_hash = id.hash,
                                .batch_size = plan.batch_size,
                                .hidden = plan.hidden,
                                .data_seed = plan.data_seed,
                                .exact = manifest.compute_profile == protocol::kExact,
                                .evaluate_on = local.evaluate_on,
                                .kernels = local.kernels,
                                .sample_tokens = local.sample_tokens,
                                .recompute = local.recompute};
  if (options.exact && local.threads > 1) {
    options.threads = local.threads;
    options.executor = std::make_shared<os::ThreadExecutor>(local.threads);
  }
  RETURN_IF_ERROR(AddDevices(local, options));
  if (!local.data.empty()) {
    ASSIGN_OR_RETURN(const train::DataSource source, train::ParseDataSource(local.data));
    if (!MayBe(source, id)) {
      return base::InvalidArgument("--data " + local.data + ": the run trains on " + id.name);
    }
    options.data_dir = source.dir;
    if (source.name == train::kStream) {
      options.stream = local.stream ? local.stream : StreamAccessOf({});
    }
  }
  if (local.graph.empty()) return options;
  if (model.name != train::kGraphModel) {
    return base::InvalidArgument("--graph " + local.graph + ": the run trains " + model.name);
  }
  ASSIGN_OR_RETURN(options.graph, train::ReadGraphOf(local.graph, model.graph));
  ASSIGN_OR_RETURN(const exact::Graph graph, train::GraphOf(options.graph));
  ASSIGN_OR_RETURN(options.constants, train::ReadConstants(local.graph, graph));
  return options;
}

std::string_view DefaultProfile(std::string_view model) {
  const bool is_exact = model == "softmax" || model == "mlp" || model == train::kGraphModel;
  return is_exact ? protocol::kExact : protocol::kTolerant;
}

base::Status CheckTraining(const protocol::Manifest& manifest) {
  const auto options = TrainerOptionsOf(manifest, {});
  return options.ok() ? train::CheckTrainerNames(*options) : options.status();
}

base::Status CheckDimension(std::uint64_t dimension, std::size_t members,
                            const protocol::Manifest& manifest) {
  constexpr std::uint64_t kLongestCoded = 1 << 23;
  const std::uint64_t reachable = protocol::ReachableIn(manifest);
  const std::uint64_t work = reachable - std::min<std::uint64_t>(reachable, manifest.validators);
  const std::uint64_t owners = std::max<std::uint64_t>(work, protocol::kFewestOwners);
  const protocol::Codec results = manifest.codecs.results;
  if (results != protocol::Codec::kRaw && dimension / owners > kLongestCoded) {
    return base::FailedPrecondition(
        "the model has " + std::to_string(dimension) + " parameters, and aggregates in " +
        std::string(protocol::CodecName(results)) + " are for at most " +
        std::to_string(kLongestCoded) + " of them a column, of which there are " +
        std::to_string(owners) + ": use --result-codec raw, or more members");
  }
  if (dimension >= 2 * members) return base::OkStatus();
  return base::FailedPrecondition("the model has " + std::to_string(dimension) +
                                  " parameters, and a run of " + std::to_string(members) +
                                  " members needs at least two for each member: use --hidden " +
                                  std::to_string(2 * members) + " or more, or fewer members");
}

}  // namespace ostraka::config

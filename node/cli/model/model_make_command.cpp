// ostraka model make: the graph of a well-known model.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "exact/graph/graph_text.h"
#include "exact/models/models.h"
#include "node/cli/model/commands.h"
#include "node/cli/options/choices.h"
#include "node/cli/terminal/new_file.h"
#include "node/store/weights_file.h"
#include "node/train/exact/constants_file.h"

namespace ostraka::cli {
namespace {

struct MakeOptions {
  exact::ModelOptions model;
  std::string out;
  std::string base;
  struct Size {
    const CLI::Option* option;
    std::set<std::string> models;  // that have it; empty: all
  };
  std::vector<Size> sizes;
};

// A size that the model does not have is a mistake, and would be ignored.
base::Status CheckSizes(const MakeOptions& options) {
  for (const MakeOptions::Size& size : options.sizes) {
    const bool has = size.models.empty() || size.models.contains(options.model.model);
    if (has || size.option->count() == 0) continue;
    return base::InvalidArgument("model " + options.model.model + " has no " +
                                 size.option->get_name() + ": leave it out");
  }
  return base::OkStatus();
}

// The frozen weights under LoRA; none without it. Notes their hashes in `model`.
base::StatusOr<std::vector<exact::ConstantTensor>> ReadBase(const std::string& path,
                                                            exact::ModelOptions& model) {
  std::vector<exact::ConstantTensor> tensors;
  if (path.empty() && model.lora_rank == 0) return tensors;
  if (path.empty() || model.lora_rank == 0) {
    return base::InvalidArgument(
        "--lora and --base belong together: a rank, and the frozen weights");
  }
  ASSIGN_OR_RETURN(std::vector<store::NamedTensor> read, store::ReadTensors(path));
  for (auto& [spec, values] : read) {
    model.base[spec.name] = exact::HashOfConstant(values);
    tensors.push_back({spec.name, {spec.shape.begin(), spec.shape.end()}, std::move(values)});
  }
  return tensors;
}

// The graph's constants in its order, out of `tensors`.
base::StatusOr<std::vector<exact::ConstantTensor>> InOrder(
    const exact::Graph& graph, std::vector<exact::ConstantTensor> tensors) {
  std::vector<exact::ConstantTensor> ordered;
  for (const exact::Constant& constant : graph.constants) {
    const auto found =
        std::find_if(tensors.begin(), tensors.end(),
                     [&constant](const auto& tensor) { return tensor.name == constant.name; });
    if (found == tensors.end() || found->shape != constant.type.shape) {
      return base::InvalidArgument("the base's tensor " + constant.name + " is not " +
                                   exact::TextOf(constant.type));
    }
    ordered.push_back(std::move(*found));
  }
  return ordered;
}

base::Status Make(MakeOptions options) {
  RETURN_IF_ERROR(CheckSizes(options));
  ASSIGN_OR_RETURN(std::vector<exact::ConstantTensor> tensors,
                   ReadBase(options.base, options.model));
  ASSIGN_OR_RETURN(exact::Model model, exact::MakeModel(options.model));
  std::move(model.constants.begin(), model.constants.end(), std::back_inserter(tensors));
  ASSIGN_OR_RETURN(const std::vector<exact::ConstantTensor> constants,
                   InOrder(model.graph, std::move(tensors)));
  const std::string text = exact::PrintGraph(model.graph);
  const std::string beside = train::ConstantsBeside(options.out);
  if (!constants.empty()) {
    RETURN_IF_ERROR(WriteNewFile(beside, train::ConstantsBytes(constants)));
  }
  RETURN_IF_ERROR(WriteNewFile(options.out, text));
  std::int64_t parameters = 0;
  for (const exact::Parameter& parameter : model.graph.parameters) {
    parameters += parameter.type.count();
  }
  std::printf("%s: %s with %lld parameters, %zu instructions, graph %s\n",
              PrintableLine(options.out).c_str(), options.model.model.c_str(),
              static_cast<long long>(parameters), model.graph.instructions.size(),
              exact::GraphId(text).Hex().c_str());
  if (!constants.empty()) {
    std::printf("%s: %zu constants that the graph names\n", PrintableLine(beside).c_str(),
                constants.size());
  }
  return base::OkStatus();
}

}  // namespace

void AddModelMakeCommand(CLI::App& model, Invocation& invocation) {
  auto* command = model.add_subcommand("make", "write the graph of a well-known model");
  auto options = std::make_shared<MakeOptions>();
  exact::ModelOptions& sizes = options->model;
  OfferChoices(command->add_option("model", sizes.model, "gpt, llama, albert, vit, mlp or softmax"),
               exact::ModelNames())
      ->required();
  WritesTo(command->add_option("--out", options->out, "the graph file to write"))->required();
  const auto size = [command, options](const char* name, std::int64_t& value,
                                       std::set<std::string> models, const char* help) {
    options->sizes.push_back(
        {command->add_option(name, value, help)->capture_default_str(), std::move(models)});
  };
  const std::set<std::string> texts = {"gpt", "llama", "albert"};
  const std::set<std::string> transformers = {"gpt", "llama", "albert", "vit"};
  const std::set<std::string> perceptrons = {"mlp", "softmax"};
  size("--batch", sizes.batch, {}, "examples of a micro-batch");
  size("--layers", sizes.layers, transformers,
       "transformers: layers (albert uses one layer's weights)");
  size("--width", sizes.width, transformers, "transformers: width of the residual stream");
  size("--heads", sizes.heads, transformers, "transformers: heads of attention");
  size("--groups", sizes.groups, {"llama"}, "llama: heads of key and value (0: as many as heads)");
  size("--context", sizes.context, texts, "gpt, llama, albert: tokens of an example");
  size("--vocabulary", sizes.vocabulary, texts, "gpt, llama, albert: tokens there are");
  size("--channels", sizes.channels, {"vit"}, "vit: channels of an image");
  size("--side", sizes.side, {"vit"}, "vit: height and width of an image");
  size("--patch", sizes.patch, {"vit"}, "vit: height and width of a patch");
  size("--features", sizes.features, perceptrons, "mlp, softmax: inputs");
  size("--hidden", sizes.hidden, {"mlp"}, "mlp: hidden units");
  size("--classes", sizes.classes, {"vit", "mlp", "softmax"}, "vit, mlp, softmax: classes");
  size("--lora", sizes.lora_rank, {},
       "train two factors of this rank beside each frozen linear layer");
  command->add_option("--base", options->base,
                      "with --lora: the frozen weights, a safetensors file");
  command->footer(
      "Example: ostraka model make gpt --layers 4 --width 256 --context 128 --out gpt.graph");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = Make(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });
}

}  // namespace ostraka::cli

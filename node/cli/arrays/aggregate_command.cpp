// ostraka aggregate: one rule on a matrix in a .npy file.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "aggregation/rules/mixing.h"
#include "aggregation/rules/pipeline.h"
#include "node/cli/arrays/array_command.h"
#include "node/cli/arrays/commands.h"
#include "node/cli/arrays/npy_file.h"
#include "node/cli/arrays/rule_options.h"
#include "node/cli/views/node_json.h"
#include "node/os/thread_executor.h"

namespace ostraka::cli {
namespace {

using aggregation::Report;
using nlohmann::json;

// Coordinates per block that is read, checked and aggregated, where the rule allows blocks: a file
// larger than the memory is then read from the disk only once.
constexpr std::size_t kBlockCoordinates = std::size_t{1} << 20;

struct AggregateOptions {
  RuleOptions rule;
  ArrayOptions array;
  std::string in;
  std::string reference;
  bool drop_invalid = false;
};

// A rule with its pre-aggregations, or pre-aggregations alone; exactly one is set.
struct Work {
  std::optional<aggregation::Pipeline> pipeline;
  std::optional<aggregation::Mixing> mixing;
};

class Aggregation {
 public:
  Aggregation(const AggregateOptions& options, Work work, NpyFile in,
              std::optional<NpyFile> reference, const Steps& steps)
      : options_(options),
        work_(std::move(work)),
        in_(std::move(in)),
        reference_(std::move(reference)),
        steps_(steps),
        executor_(options.array.threads) {}

  // One JSON object (docs/json.md), with the result in it if no file receives it.
  base::StatusOr<json> Run() {
    return in_.header().type == base::NpyType::kFloat32 ? RunAs<float>() : RunAs<double>();
  }

 private:
  template <typename T>
  base::StatusOr<json> RunAs() {
    const std::size_t rows_out = work_.mixing ? work_.mixing->OutputRows(steps_.rows) : 1;
    const std::size_t each = rows_out * steps_.dimension;
    std::vector<T> result(steps_.count * each);
    json reports = json::array();
    const auto begin = std::chrono::steady_clock::now();
    std::vector<aggregation::State> states;
    for (std::size_t t = 0; t < steps_.count; ++t) {
      aggregation::BasicRows<T> rows = RowsOfStep<T>(in_, steps_, t);
      if (reference_) {
        const bool one_each = reference_->header().shape.size() == 2;
        rows.reference =
            reference_->values<T>().data() + (one_each ? t * steps_.dimension : std::size_t{0});
      }
      Report report;
      const std::span<T> out = std::span(result).subspan(t * each, each);
      const base::Status status = work_.mixing ? work_.mixing->Apply(rows, executor_, states, out)
                                               : AggregateStep(rows, states, out, report);
      if (!status.ok()) return Explained(rows, t, status);
      reports.push_back(JsonOf(report));
      ShowProgress(begin, t + 1, steps_.count, "steps");
    }
    RETURN_IF_ERROR(in_.CheckWhole());
    if (reference_) RETURN_IF_ERROR(reference_->CheckWhole());
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    json answer = Summary(std::move(reports), wall.count());
    std::vector<std::uint64_t> shape = {steps_.dimension};
    if (work_.mixing) shape.insert(shape.begin(), rows_out);
    if (steps_.many) shape.insert(shape.begin(), steps_.count);
    RETURN_IF_ERROR(PutResult<T>(options_.array, shape, result, answer));
    return answer;
  }

  template <typename T>
  base::Status AggregateStep(const aggregation::BasicRows<T>& rows,
                             std::vector<aggregation::State>& states, std::span<T> out,
                             Report& report) const {
    const aggregation::Pipeline& pipeline = *work_.pipeline;
    const bool in_blocks = pipeline.blockwise() && !pipeline.stateful() && !options_.drop_invalid &&
                           rows.dimension > kBlockCoordinates;
    if (!in_blocks) return pipeline.Aggregate(rows, executor_, out, &states, &report);
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t at = 0; at < rows.dimension; at += kBlockCoordinates) {
      aggregation::BasicRows<T> block = rows;
      block.dimension = std::min(kBlockCoordinates, rows.dimension - at);
      for (const T*& row : block.row) row += at;
      if (block.reference != nullptr) block.reference += at;
      RETURN_IF_ERROR(
          pipeline.Aggregate(block, executor_, out.subspan(at, block.dimension), nullptr, &report));
      ShowProgress(begin, at + block.dimension, rows.dimension, "coordinates");
    }
    return base::OkStatus();
  }

  // `status` of a step, with the file's name and with advice if rows are not finite.
  template <typename T>
  base::Status Explained(const aggregation::BasicRows<T>& rows, std::size_t step,
                         const base::Status& status) const {
    const std::string where =
        options_.in + (steps_.many ? ", step " + std::to_string(step) : std::string()) + ": ";
    const base::Status check = aggregation::CheckRows(rows, executor_);
    if (check.ok() || options_.drop_invalid) {
      return base::MakeStatus(status.code(), where + base::MessageOf(status));
    }
    return base::InvalidArgument(where + base::MessageOf(check) +
                                 "; --drop-invalid leaves such rows out and counts them against f");
  }

  void ShowProgress(std::chrono::steady_clock::time_point begin, std::size_t done, std::size_t all,
                    const char* what) const {
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (isatty(STDERR_FILENO) == 0 || waited < std::chrono::seconds(1)) return;
    std::fprintf(stderr, done == all ? "\r\x1b[K" : "\r\x1b[K%zu of %zu %s", done, all, what);
  }

  json Summary(json reports, double seconds) const {
    json summary = {{"rule", nullptr},
                    {"pre", options_.rule.pre},
                    {"f", nullptr},
                    {"steps", steps_.count},
                    {"rows", steps_.rows},
                    {"dimension", steps_.dimension},
                    {"dtype", base::NpyTypeName(in_.header().type)},
                    {"threads", options_.array.threads},
                    {"seconds", seconds},
                    {"reports", std::move(reports)}};
    if (options_.rule.f) summary["f"] = *options_.rule.f;
    if (work_.pipeline) summary["rule"] = work_.pipeline->rule().about.name;
    if (work_.pipeline && work_.pipeline->spec().f) summary["f"] = *work_.pipeline->spec().f;
    return summary;
  }

  static json JsonOf(const Report& report) {
    return {{"selected", report.selected},     {"dropped", report.dropped},
            {"scores", report.scores},         {"weights", report.weights},
            {"iterations", report.iterations}, {"residual", report.residual}};
  }

  const AggregateOptions& options_;
  const Work work_;
  const NpyFile in_;
  const std::optional<NpyFile> reference_;
  const Steps steps_;
  const os::ThreadExecutor executor_;
};

base::StatusOr<std::optional<NpyFile>> MapReference(const AggregateOptions& options,
                                                    const NpyFile& in, const Steps& steps) {
  if (options.reference.empty()) return std::optional<NpyFile>();
  ASSIGN_OR_RETURN(NpyFile reference, NpyFile::Map(options.reference));
  const std::vector<std::uint64_t>& shape = reference.header().shape;
  const bool one = shape == std::vector<std::uint64_t>{steps.dimension};
  const bool one_each = shape == std::vector<std::uint64_t>{steps.count, steps.dimension};
  if (!one && !one_each) {
    return base::InvalidArgument(options.reference + " has shape " +
                                 reference.header().ShapeText() + ": give one vector of " +
                                 std::to_string(steps.dimension) + " values");
  }
  if (reference.header().type != in.header().type) {
    return base::InvalidArgument(options.reference + " is " +
                                 base::NpyTypeName(reference.header().type) + " and " + in.path() +
                                 " " + base::NpyTypeName(in.header().type) +
                                 ": give both as float32 or both as float64");
  }
  return std::optional<NpyFile>(std::move(reference));
}

base::StatusOr<Work> MakeWork(const AggregateOptions& options) {
  Work work;
  if (!options.rule.rule.empty()) {
    ASSIGN_OR_RETURN(work.pipeline, MakePipeline(options.rule, options.drop_invalid));
    return work;
  }
  if (options.rule.pre.empty()) {
    return base::InvalidArgument("give --rule; `ostraka aggregate --list` prints all rules");
  }
  if (options.drop_invalid || !options.rule.params.empty() || !options.reference.empty()) {
    return base::InvalidArgument(
        "--drop-invalid, --param and --reference apply to a rule: give --rule");
  }
  std::vector<aggregation::ElementSpec> elements;
  for (const std::string& text : options.rule.pre) {
    ASSIGN_OR_RETURN(auto element, aggregation::ParseElement(text));
    elements.push_back(std::move(element));
  }
  ASSIGN_OR_RETURN(work.mixing, aggregation::Mixing::Make(std::move(elements), options.rule.f));
  return work;
}

void PrintText(const json& answer, const AggregateOptions& options) {
  const json& report = answer["reports"].back();
  std::string selected;
  if (report["selected"].size() < answer["rows"].get<std::size_t>()) {
    for (const json& row : report["selected"]) selected += " " + row.dump();
    selected = "; rows" + selected;
  }
  for (const json& row : report["dropped"]) selected += "; dropped " + row.dump();
  const std::string what =
      answer["rule"].is_null() ? options.rule.pre.back() : answer["rule"].get<std::string>();
  std::printf("%s of %s x %s %s%s, %.1f ms: %s\n", what.c_str(), answer["rows"].dump().c_str(),
              answer["dimension"].dump().c_str(), answer["dtype"].get<std::string>().c_str(),
              selected.c_str(), 1000 * answer["seconds"].get<double>(), options.array.out.c_str());
}

base::Status Aggregate(const AggregateOptions& options) {
  if (options.in.empty() || options.array.out.empty()) {
    return base::InvalidArgument(
        "give --rule RULE IN.npy OUT.npy, or --list (see `ostraka aggregate --help`)");
  }
  RETURN_IF_ERROR(CheckKeepsFiles(options.array, options.in));
  ASSIGN_OR_RETURN(Work work, MakeWork(options));
  ASSIGN_OR_RETURN(NpyFile in, NpyFile::Map(options.in));
  ASSIGN_OR_RETURN(const Steps steps, StepsOf(in));
  ASSIGN_OR_RETURN(auto reference, MapReference(options, in, steps));
  Aggregation run(options, std::move(work), std::move(in), std::move(reference), steps);
  ASSIGN_OR_RETURN(const json answer, run.Run());
  if (options.array.prints_json()) {
    PrintJson(answer);
  } else {
    PrintText(answer, options);
  }
  return base::OkStatus();
}

}  // namespace

void AddAggregateCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand(
      "aggregate", "apply a robust rule to a matrix with one row for each worker");
  auto options = std::make_shared<AggregateOptions>();
  command->add_option("in", options->in,
                      "IN.npy: float32 or float64, of shape (n, d), or (steps, n, d)");
  command->add_option("out", options->array.out, "OUT.npy, or - for JSON on stdout");
  AddRuleOptions(*command, "--param", options->rule);
  command->add_option("--reference", options->reference,
                      "REF.npy: the reference vector that some rules need");
  command->add_flag("--drop-invalid", options->drop_invalid,
                    "leave out rows with a NaN or an infinity and count them against f");
  AddArrayOptions(*command, "rules and pre-aggregations", "docs/aggregation.md", options->array);
  command->footer(
      "Example: ostraka aggregate --rule krum --f 2 gradients.npy out.npy\n"
      "  --rule trimmed_mean --pre nnm --f 2 for a mix; --param variant=byzfl for a variant;\n"
      "  --pre nnm --f 2 without --rule writes the mixed rows");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      return ListOrRun(options->array, options->in, ListOfRules,
                       [&] { return Aggregate(*options); });
    };
  });
}

}  // namespace ostraka::cli

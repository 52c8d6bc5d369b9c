// ostraka attack: the vectors of Byzantine workers, for the honest rows in a .npy file.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "aggregation/attacks/attacks.h"
#include "aggregation/rules/mean.h"
#include "node/cli/arrays/array_command.h"
#include "node/cli/arrays/commands.h"
#include "node/cli/arrays/npy_file.h"
#include "node/cli/arrays/rule_options.h"
#include "node/cli/options/choices.h"
#include "node/cli/views/node_json.h"
#include "node/os/thread_executor.h"

namespace ostraka::cli {
namespace {

using aggregation::AttackState;
using nlohmann::json;

struct AttackCommandOptions {
  std::string name;
  std::vector<std::string> params;
  std::string honest;
  std::string own;
  std::size_t byzantine = 1;
  std::uint64_t seed = 0;
  RuleOptions rule;
  ArrayOptions array;
};

// The values of one step as float32, the type that nodes send: from the file, or converted.
class Float32Step {
 public:
  Float32Step(const NpyFile& file, const Steps& steps) : file_(file), steps_(steps) {}

  // Valid until the next call. InvalidArgument if a finite value exceeds float32.
  base::StatusOr<aggregation::Rows> At(std::size_t t) {
    if (file_.header().type == base::NpyType::kFloat32) return RowsOfStep<float>(file_, steps_, t);
    const auto wide = RowsOfStep<double>(file_, steps_, t);
    converted_.resize(steps_.rows * steps_.dimension);
    aggregation::Rows rows;
    rows.dimension = steps_.dimension;
    for (std::size_t i = 0; i < steps_.rows; ++i) {
      float* row = converted_.data() + i * steps_.dimension;
      for (std::size_t c = 0; c < steps_.dimension; ++c) {
        row[c] = static_cast<float>(wide.row[i][c]);
        if (std::isinf(row[c]) && std::isfinite(wide.row[i][c])) {
          return base::InvalidArgument(file_.path() + ": row " + std::to_string(i) +
                                       ", coordinate " + std::to_string(c) +
                                       " is beyond float32, in which nodes send gradients");
        }
      }
      rows.row.push_back(row);
    }
    return rows;
  }

 private:
  const NpyFile& file_;
  const Steps& steps_;
  std::vector<float> converted_;
};

class AttackRun {
 public:
  AttackRun(const AttackCommandOptions& options, aggregation::Attack attack,
            std::optional<aggregation::Pipeline> rule, NpyFile honest, const Steps& steps,
            std::optional<NpyFile> own)
      : options_(options),
        attack_(std::move(attack)),
        rule_(std::move(rule)),
        honest_(std::move(honest)),
        steps_(steps),
        own_(std::move(own)),
        executor_(options.array.threads),
        states_(options.byzantine) {
    if (rule_) {
      victim_ = [this](const aggregation::Rows& rows, std::span<float> out) {
        return rule_->Aggregate(rows, executor_, out);
      };
    }
  }

  base::StatusOr<json> Run() {
    Float32Step honest(honest_, steps_);
    std::optional<Float32Step> own;
    Steps own_steps = steps_;
    own_steps.rows = options_.byzantine;
    if (own_) own.emplace(*own_, own_steps);
    std::vector<float> sent;
    json damage = json::array();
    for (std::size_t t = 0; t < steps_.count; ++t) {
      ASSIGN_OR_RETURN(const aggregation::Rows rows, honest.At(t));
      aggregation::Rows theirs;
      if (own) {
        ASSIGN_OR_RETURN(theirs, own->At(t));
      } else {
        ASSIGN_OR_RETURN(theirs, Estimated(rows));
      }
      const std::size_t before = sent.size();
      RETURN_IF_ERROR(Step(rows, theirs, t, sent));
      if (rule_ && !attack_.info->malformed) {
        ASSIGN_OR_RETURN(const double done,
                         DamageOf(rows, {sent.data() + before, sent.size() - before}));
        damage.push_back(done);
      }
    }
    return Finish(sent, std::move(damage));
  }

 private:
  // Without the attackers' own gradients, use the honest mean as an estimate.
  base::StatusOr<aggregation::Rows> Estimated(const aggregation::Rows& honest) {
    estimate_.resize(honest.dimension);
    RETURN_IF_ERROR(aggregation::Mean().Aggregate(honest, executor_, estimate_));
    aggregation::Rows rows;
    rows.dimension = honest.dimension;
    rows.row.assign(options_.byzantine, estimate_.data());
    return rows;
  }

  base::Status Step(const aggregation::Rows& honest, const aggregation::Rows& own, std::size_t t,
                    std::vector<float>& sent) {
    const bool once = attack_.info->identical;
    std::vector<float> vector;
    for (std::size_t b = 0; b < options_.byzantine; ++b) {
      if (b == 0 || !once) {
        aggregation::AttackView view;
        view.own = {own.row[b], own.dimension};
        view.honest = honest;
        view.byzantine_count = options_.byzantine;
        view.seed = options_.seed;
        view.step = t;
        view.attacker = b;
        view.victim = victim_ ? &victim_ : nullptr;
        view.state = &states_[b];
        ASSIGN_OR_RETURN(vector, aggregation::ApplyAttack(attack_, view));
      }
      length_ = vector.size();
      sent.insert(sent.end(), vector.begin(), vector.end());
    }
    return base::OkStatus();
  }

  // |rule(honest rows and `sent`) - mean of the honest rows|.
  base::StatusOr<double> DamageOf(aggregation::Rows rows, std::span<const float> sent) {
    std::vector<float> mean(rows.dimension);
    RETURN_IF_ERROR(aggregation::Mean().Aggregate(rows, executor_, mean));
    for (std::size_t at = 0; at < sent.size(); at += rows.dimension) {
      rows.row.push_back(sent.data() + at);
    }
    std::vector<float> out(rows.dimension);
    RETURN_IF_ERROR(victim_(rows, out));
    double squares = 0;
    for (std::size_t c = 0; c < out.size(); ++c) {
      const double difference = static_cast<double>(out[c]) - static_cast<double>(mean[c]);
      squares += difference * difference;
    }
    return std::sqrt(squares);
  }

  base::StatusOr<json> Finish(std::span<const float> sent, json damage) const {
    json answer = {{"attack", attack_.info->name}, {"byzantine", options_.byzantine},
                   {"honest", steps_.rows},        {"dimension", steps_.dimension},
                   {"steps", steps_.count},        {"seed", options_.seed}};
    if (rule_) answer["rule"] = rule_->rule().about.name;
    if (!damage.empty()) answer["damage"] = std::move(damage);
    std::vector<std::uint64_t> shape = {options_.byzantine, length_};
    if (steps_.many) shape.insert(shape.begin(), steps_.count);
    RETURN_IF_ERROR(honest_.CheckWhole());
    if (own_) RETURN_IF_ERROR(own_->CheckWhole());
    RETURN_IF_ERROR(PutResult<float>(options_.array, shape, sent, answer));
    return answer;
  }

  const AttackCommandOptions& options_;
  const aggregation::Attack attack_;
  const std::optional<aggregation::Pipeline> rule_;
  const NpyFile honest_;
  const Steps steps_;
  const std::optional<NpyFile> own_;
  const os::ThreadExecutor executor_;
  aggregation::Victim victim_;
  std::vector<AttackState> states_;  // of each attacker
  std::vector<float> estimate_;
  std::size_t length_ = 0;
};

base::StatusOr<std::optional<NpyFile>> MapOwn(const AttackCommandOptions& options,
                                              const Steps& steps) {
  if (options.own.empty()) return std::optional<NpyFile>();
  ASSIGN_OR_RETURN(NpyFile own, NpyFile::Map(options.own));
  ASSIGN_OR_RETURN(const Steps theirs, StepsOf(own));
  if (theirs.count != steps.count || theirs.rows != options.byzantine ||
      theirs.dimension != steps.dimension) {
    return base::InvalidArgument(options.own + " has shape " + own.header().ShapeText() +
                                 ": give a row of " + std::to_string(steps.dimension) +
                                 " for each of the " + std::to_string(options.byzantine) +
                                 " attackers, in as many steps as the honest rows have");
  }
  return std::optional<NpyFile>(std::move(own));
}

base::StatusOr<std::optional<aggregation::Pipeline>> MakeVictim(const AttackCommandOptions& options,
                                                                const aggregation::Attack& attack) {
  if (options.rule.rule.empty()) {
    if (attack.info->knowledge == aggregation::Knowledge::kRule) {
      return base::InvalidArgument("attack " + options.name +
                                   " searches against a rule: give --rule");
    }
    return std::optional<aggregation::Pipeline>();
  }
  RuleOptions rule = options.rule;
  const bool in_params = std::any_of(rule.params.begin(), rule.params.end(),
                                     [](const std::string& p) { return p.starts_with("f="); });
  if (!rule.f && !in_params) rule.f = options.byzantine;
  ASSIGN_OR_RETURN(aggregation::Pipeline pipeline, MakePipeline(rule, false));
  return std::optional<aggregation::Pipeline>(std::move(pipeline));
}

base::Status RunAttack(const AttackCommandOptions& options) {
  if (options.name.empty() || options.honest.empty() || options.array.out.empty()) {
    return base::InvalidArgument(
        "give --name ATTACK HONEST.npy OUT.npy, or --list (see `ostraka attack --help`)");
  }
  RETURN_IF_ERROR(CheckKeepsFiles(options.array, options.honest));
  ASSIGN_OR_RETURN(const aggregation::Arguments given, ParseArguments(options.params));
  ASSIGN_OR_RETURN(aggregation::Attack attack, aggregation::MakeAttack(options.name, given));
  ASSIGN_OR_RETURN(auto rule, MakeVictim(options, attack));
  ASSIGN_OR_RETURN(NpyFile honest, NpyFile::Map(options.honest));
  ASSIGN_OR_RETURN(const Steps steps, StepsOf(honest));
  ASSIGN_OR_RETURN(auto own, MapOwn(options, steps));
  if (honest.header().type == base::NpyType::kFloat64) {
    std::fprintf(stderr, "%s is float64: its values are rounded to float32, as nodes send them\n",
                 PrintableLine(options.honest).c_str());
  }
  AttackRun run(options, std::move(attack), std::move(rule), std::move(honest), steps,
                std::move(own));
  auto answer = run.Run();
  if (!answer.ok()) {
    return base::MakeStatus(answer.status().code(),
                            options.honest + ": " + base::MessageOf(answer.status()));
  }
  if (options.array.prints_json()) {
    PrintJson(*answer);
    return base::OkStatus();
  }
  std::printf("%s: %zu x %zu", options.name.c_str(), options.byzantine, steps.dimension);
  if (answer->contains("damage")) {
    std::printf("; %s moved by %.6g from the honest mean", options.rule.rule.c_str(),
                (*answer)["damage"].back().get<double>());
  }
  std::printf(": %s\n", options.array.out.c_str());
  return base::OkStatus();
}

void AddOptions(CLI::App& command, AttackCommandOptions& options) {
  command.add_option("honest", options.honest,
                     "HONEST.npy: the honest rows, of shape (n - m, d), or (steps, n - m, d)");
  command.add_option("out", options.array.out, "OUT.npy, m rows; or - for JSON on stdout");
  std::vector<std::string> names;
  for (const aggregation::AttackInfo* attack : aggregation::Attacks()) {
    names.emplace_back(attack->name);
  }
  OfferChoices(command.add_option("--name", options.name, "name of the attack; --list prints all"),
               names);
  command.add_option("--param", options.params, "name=value, a parameter of the attack");
  command.add_option("--byzantine", options.byzantine, "m, the number of attackers")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "seed that the attackers share")
      ->capture_default_str();
  command.add_option("--own", options.own,
                     "OWN.npy: the attackers' true gradients, m rows; default: the honest mean");
  AddRuleOptions(command, "--rule-param", options.rule);
  AddArrayOptions(command, "attacks on gradients", "docs/attacks.md", options.array);
}

}  // namespace

void AddAttackCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand(
      "attack", "compute what Byzantine workers send beside the honest rows");
  auto options = std::make_shared<AttackCommandOptions>();
  AddOptions(*command, *options);
  command->footer(
      "Example: ostraka attack --name alie --byzantine 3 honest.npy byzantine.npy\n"
      "  --name opt_ipm --rule krum --pre nnm searches for the vectors that damage krum most;\n"
      "  --f defaults to --byzantine");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      return ListOrRun(options->array, options->honest, ListOfAttacks,
                       [&] { return RunAttack(*options); });
    };
  });
}

}  // namespace ostraka::cli

#include "sim/compare/plan/grid.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "node/base/suggest.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/setting.h"
#include "node/train/trainer_loader.h"
#include "sim/compare/cells/model.h"
#include "sim/compare/cells/partition.h"
#include "sim/compare/cells/runner.h"
#include "sim/compare/cells/schedule.h"

namespace ostraka::compare {
namespace {

using base::FailedPrecondition;
using base::InvalidArgument;
using base::Status;

constexpr std::size_t kMaxCells = 1'000'000;
constexpr std::uint64_t kMaxPeers = 1000;
constexpr std::uint64_t kMaxSteps = 10'000'000;

Status Require(bool holds, const std::string& message) {
  return holds ? base::OkStatus() : InvalidArgument("grid: " + message);
}

// --- rules --------------------------------------------------------------------------------------

Status CheckServerRule(const Cell& cell) {
  ASSIGN_OR_RETURN(auto spec, ParsePipeline(cell.rule.pipeline));
  std::vector<std::string> names;
  for (const auto* rule : aggregation::Rules()) names.emplace_back(rule->about.name);
  names.emplace_back(kProtocolRule);
  if (std::find(names.begin(), names.end(), spec.rule.name) == names.end()) {
    return InvalidArgument("unknown rule '" + spec.rule.name + "'" +
                           base::SuggestionFor(spec.rule.name, names));
  }
  spec.f = cell.tolerate;
  ASSIGN_OR_RETURN(const auto pipeline, aggregation::Pipeline::Make(spec));
  std::size_t n = cell.peers;
  for (std::size_t k = 0; k < spec.pre.size(); ++k) {
    const auto& about = pipeline.pre()[k]->about;
    const auto& given = pipeline.spec().pre[k].arguments;
    ASSIGN_OR_RETURN(const auto parameters,
                     aggregation::ParametersOf(about, "pre-aggregation", given));
    RETURN_IF_ERROR(aggregation::CheckFaults(about, "pre-aggregation", n, parameters));
    ASSIGN_OR_RETURN(const auto made, aggregation::MakePreAggregation(about.name, given));
    n = made->OutputRows(n);
  }
  ASSIGN_OR_RETURN(
      const auto parameters,
      aggregation::ParametersOf(pipeline.rule().about, "rule", pipeline.spec().rule.arguments));
  return aggregation::CheckFaults(pipeline.rule().about, "rule", n, parameters);
}

Status CheckProtocolRule(const Cell& cell) {
  if (cell.rule.pipeline.find('+') != std::string::npos) {
    return InvalidArgument("rule btard takes no pre-aggregation: write btard alone");
  }
  ASSIGN_OR_RETURN(const auto element, aggregation::ParseElement(cell.rule.pipeline));
  ASSIGN_OR_RETURN(const auto parameters, ParseProtocol(element.arguments));
  ASSIGN_OR_RETURN(const auto mode, protocol::ParseMode(parameters.Choice("mode")));
  if (cell.peers < 3) return FailedPrecondition("rule btard needs at least 3 peers");
  if (cell.steps <= kSettleSteps) {
    return FailedPrecondition("rule btard needs more than " + std::to_string(kSettleSteps) +
                              " steps: the last ones only settle open cases");
  }
  return protocol::CheckTolerates(mode, static_cast<std::uint32_t>(cell.peers),
                                  static_cast<std::uint32_t>(cell.byzantine));
}

Status CheckAttack(const Cell& cell) {
  std::vector<std::string> names;
  for (const auto* info : aggregation::Attacks()) names.emplace_back(info->name);
  const std::string name = cell.attack.substr(0, cell.attack.find(':'));
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return InvalidArgument("unknown attack '" + name + "'" + base::SuggestionFor(name, names));
  }
  RETURN_IF_ERROR(ParseAttack(cell.attack).status());
  if (name != "wrong_length") return base::OkStatus();
  return InvalidArgument(
      "attack wrong_length: every server refuses it at once, so there is nothing to compare; leave "
      "it out");
}

// --- expansion ----------------------------------------------------------------------------------

// Calls `visit` for each value, with `target` set to it.
template <typename T, typename Visit>
Status ForEach(const std::vector<T>& values, T& target, const Visit& visit) {
  for (const T& value : values) {
    target = value;
    RETURN_IF_ERROR(visit());
  }
  return base::OkStatus();
}

class Expander {
 public:
  explicit Expander(Plan& plan) : plan_(plan), grid_(plan.grid) {}

  Status Run() {
    RETURN_IF_ERROR(LoadData());
    for (const std::string& text : grid_.rules) {
      ASSIGN_OR_RETURN(auto choices, ExpandRule(text));
      rules_.insert(rules_.end(), choices.begin(), choices.end());
    }
    Cell cell;
    cell.attack_from = grid_.attack_from;
    cell.steps = grid_.steps;
    cell.batch_size = grid_.batch_size;
    cell.evaluate_every = grid_.evaluate_every;
    cell.optimizer = grid_.optimizer;
    cell.warmup_steps = grid_.warmup_steps;
    RETURN_IF_ERROR(Settings(cell));
    for (const auto& [why, count] : left_out_) {
      plan_.left_out.push_back(std::to_string(count) + " cells: " + why);
    }
    return Require(!plan_.cells.empty(),
                   "every combination was left out; " +
                       (left_out_.empty() ? std::string("no values") : left_out_.begin()->first));
  }

 private:
  struct Data {
    base::Digest hash;
    Classes classes;  // of the training rows
  };

  Status LoadData() {
    for (const std::string& text : grid_.data) {
      ASSIGN_OR_RETURN(auto source, train::ParseDataSource(text));
      RETURN_IF_ERROR(Require(source.name != "toy", "data toy has no images; use digits"));
      RETURN_IF_ERROR(ReadByModels(source));
      RETURN_IF_ERROR(Require(plan_.sources.emplace(source.name, source).second,
                              "data " + source.name + " is named twice"));
      ASSIGN_OR_RETURN(const auto data, train::LoadDataset(source));
      data_[source.name] = {train::HashOf(data), ClassesOf(data)};
      names_.push_back(source.name);
    }
    return base::OkStatus();
  }

  // A graph reads a text as tokens, so a grid with graphs has one context.
  Status ReadByModels(train::DataSource& source) const {
    for (const std::string& model : grid_.model) RETURN_IF_ERROR(CheckModel(model));
    const std::string& first = grid_.model.front();
    for (const std::string& model : grid_.model) {
      RETURN_IF_ERROR(
          Require(IsGraph(model) == IsGraph(first) &&
                      (!IsGraph(first) || ContextOf(model) == ContextOf(first)),
                  "models " + first + " and " + model +
                      " read other data: graphs of one context, or models that are no graphs"));
    }
    if (!IsGraph(first)) return base::OkStatus();
    RETURN_IF_ERROR(Require(source.name == "text" || source.name == train::kTokens,
                            "model " + first + " reads text: data = \"text:FILE\""));
    source.name = train::kTokens;
    source.context = ContextOf(first);
    return base::OkStatus();
  }

  Status Settings(Cell& cell) {
    return ForEach(names_, cell.data, [&] {
      cell.data_hash = data_[cell.data].hash;
      return ForEach(grid_.model, cell.model, [&] {
        return ForEach(grid_.hidden, cell.hidden, [&] {
          return ForEach(grid_.partition, cell.partition, [&] {
            return ForEach(grid_.inner_steps, cell.inner_steps, [&] {
              return ForEach(grid_.peers, cell.peers, [&] {
                return ForEach(grid_.byzantine, cell.byzantine, [&] { return Faults(cell); });
              });
            });
          });
        });
      });
    });
  }

  Status Faults(Cell& cell) {
    RETURN_IF_ERROR(CheckSetting(cell));
    const std::vector<std::uint64_t> tolerate =
        grid_.tolerate.empty() ? std::vector{cell.byzantine} : grid_.tolerate;
    return ForEach(tolerate, cell.tolerate, [&] {
      return ForEach(rules_, cell.rule, [&] {
        RETURN_IF_ERROR(cell.is_protocol() ? CheckProtocolRule(cell) : CheckServerRule(cell));
        return ForEach(grid_.attacks, cell.attack, [&] {
          RETURN_IF_ERROR(CheckAttack(cell));
          return Choices(cell);
        });
      });
    });
  }

  Status Choices(Cell& cell) {
    return ForEach(grid_.learning_rate, cell.learning_rate, [&] {
      return ForEach(grid_.schedule, cell.schedule, [&] {
        RETURN_IF_ERROR(CheckSchedule(cell.schedule));
        return ForEach(grid_.momentum, cell.momentum, [&] {
          return ForEach(grid_.worker_momentum, cell.worker_momentum, [&] {
            return ForEach(grid_.weight_decay, cell.weight_decay, [&] { return Outer(cell); });
          });
        });
      });
    });
  }

  Status Outer(Cell& cell) {
    const auto seeds = [&] { return ForEach(grid_.seeds, cell.seed, [&] { return Add(cell); }); };
    if (cell.inner_steps == 1) {
      cell.outer_rate = cell.outer_momentum = 0;
      return seeds();
    }
    return ForEach(grid_.outer_rate, cell.outer_rate,
                   [&] { return ForEach(grid_.outer_momentum, cell.outer_momentum, seeds); });
  }

  Status CheckSetting(const Cell& cell) {
    ASSIGN_OR_RETURN(const train::TrainerOptions options, TrainerOptionsOf(cell));
    RETURN_IF_ERROR(train::CheckTrainerNames(options));
    RETURN_IF_ERROR(Require(cell.peers >= 1 && cell.peers <= kMaxPeers,
                            "peers must be 1 to " + std::to_string(kMaxPeers)));
    if (cell.byzantine >= cell.peers) {
      return FailedPrecondition("grid: " + std::to_string(cell.byzantine) + " Byzantine of " +
                                std::to_string(cell.peers) + " peers leave no honest worker");
    }
    const Data& data = data_[cell.data];
    const std::size_t rows = data.classes.of_rows.size();
    if (cell.batch_size > rows) {
      return FailedPrecondition("grid: batch_size " + std::to_string(cell.batch_size) +
                                " is more than the " + std::to_string(rows) + " training rows of " +
                                cell.data);
    }
    // Every seed draws another partition, but sizes alone decide whether one exists.
    return Partition(cell.partition, data.classes, cell.peers, base::Rng(0)).status();
  }

  // Null if the protocol can run this cell; else the reason why not.
  const char* NotOfTheProtocol(const Cell& cell) const {
    if (cell.partition != "shared") {
      return "rule btard trains on data that all members hold: partition shared only";
    }
    if (!IsOfProtocol(cell)) {
      return "rule btard has schedules of its own: linear, or with the optimizer adamw also cosine";
    }
    if (cell.worker_momentum != 0)
      return "rule btard has no worker momentum: worker_momentum 0 only";
    if (cell.tolerate != cell.byzantine) return "rule btard takes no f";
    return nullptr;
  }

  // Null if the cell shows something; else the reason why not.
  const char* ShowsNothing(const Cell& cell) const {
    if (cell.attack == "skip_inner" && cell.inner_steps < 3) {
      return "attack skip_inner has nothing to leave out below inner_steps 3";
    }
    return cell.is_protocol() ? NotOfTheProtocol(cell) : nullptr;
  }

  Status Add(const Cell& cell) {
    if (const char* why = ShowsNothing(cell); why != nullptr) {
      ++left_out_[why];
      return base::OkStatus();
    }
    if (!ids_.insert(IdOf(cell)).second) {
      return InvalidArgument("grid: a value is listed twice: the cell " +
                             KeyOf(cell, {Role::kRule, Role::kAttack, Role::kChoice, Role::kSeed}) +
                             " would be run again");
    }
    RETURN_IF_ERROR(Require(plan_.cells.size() < kMaxCells,
                            "more than a million cells: make some of its lists shorter"));
    plan_.cells.push_back(cell);
    return base::OkStatus();
  }

  Plan& plan_;
  const Grid& grid_;
  std::vector<std::string> names_;
  std::map<std::string, Data> data_;
  std::vector<RuleText> rules_;
  std::set<base::Digest> ids_;
  std::map<std::string, std::size_t> left_out_;
};

// Of the server's or the workers' optimizer, and of local steps.
Status CheckOptimizer(const Grid& grid) {
  RETURN_IF_ERROR(Require(grid.optimizer == "sgd" || grid.optimizer == "adamw",
                          "optimizer must be sgd or adamw, not '" + grid.optimizer + "'"));
  RETURN_IF_ERROR(Require(grid.score == "accuracy" || grid.score == "loss",
                          "score must be accuracy or loss, not '" + grid.score + "'"));
  const bool is_exact = grid.optimizer == "adamw";
  for (const std::uint64_t inner : grid.inner_steps) {
    RETURN_IF_ERROR(
        Require(inner >= 1 && inner <= protocol::setting::kInnerSteps.most,
                "inner_steps must be 1 to " + std::to_string(protocol::setting::kInnerSteps.most)));
    RETURN_IF_ERROR(Require(inner == 1 || is_exact,
                            "inner_steps above 1 are steps of AdamW: write optimizer = \"adamw\""));
    for (const auto& [name, value] : {std::pair{"steps", grid.steps},
                                      {"evaluate_every", grid.evaluate_every},
                                      {"attack_from", grid.attack_from}}) {
      RETURN_IF_ERROR(Require(value % inner == 0,
                              std::string(name) + " counts gradients, so " + std::to_string(value) +
                                  " must be a multiple of inner_steps " + std::to_string(inner)));
    }
    RETURN_IF_ERROR(Require(
        (grid.warmup_steps + inner - 1) / inner < grid.steps / inner,
        "warmup_steps leave no exchange after them at inner_steps " + std::to_string(inner)));
  }
  if (!is_exact) {
    for (const std::string& model : grid.model) {
      RETURN_IF_ERROR(CheckModel(model));
      RETURN_IF_ERROR(Require(!IsGraph(model), "model " + model +
                                                   " trains by the exact kernels: write "
                                                   "optimizer = \"adamw\""));
    }
    return base::OkStatus();
  }
  for (const std::string& schedule : grid.schedule) {
    RETURN_IF_ERROR(
        Require(schedule == "linear" || schedule == "cosine",
                "schedule must be linear or cosine with optimizer adamw, not '" + schedule + "'"));
  }
  const auto only_zero = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
  };
  return Require(only_zero(grid.momentum) && only_zero(grid.worker_momentum),
                 "momentum and worker_momentum are of optimizer sgd: leave them out with adamw");
}

bool InRange(const std::vector<double>& values, double low, double high) {
  return std::all_of(values.begin(), values.end(),
                     [=](double value) { return value >= low && value < high; });
}

Status CheckNumbers(const Grid& grid) {
  constexpr double kAny = 1e30;
  RETURN_IF_ERROR(Require(!grid.rules.empty(), "no rules: write rules = [\"mean\", \"median\"]"));
  RETURN_IF_ERROR(Require(grid.steps >= 2 && grid.steps <= kMaxSteps,
                          "steps must be 2 to " + std::to_string(kMaxSteps)));
  RETURN_IF_ERROR(Require(grid.batch_size >= 1, "batch_size must be at least 1"));
  RETURN_IF_ERROR(Require(grid.evaluate_every >= 1, "evaluate_every must be at least 1"));
  RETURN_IF_ERROR(Require(grid.attack_from < grid.steps, "attack_from must be below steps"));
  RETURN_IF_ERROR(Require(grid.warmup_steps < grid.steps, "warmup_steps must be below steps"));
  RETURN_IF_ERROR(Require(InRange(grid.learning_rate, 0, kAny),
                          "learning_rate must be a number of at least 0"));
  RETURN_IF_ERROR(Require(InRange(grid.momentum, 0, 1), "momentum must be in [0, 1)"));
  RETURN_IF_ERROR(
      Require(InRange(grid.outer_rate, 0, kAny), "outer_rate must be a number of at least 0"));
  RETURN_IF_ERROR(Require(InRange(grid.outer_momentum, 0, 1), "outer_momentum must be in [0, 1)"));
  RETURN_IF_ERROR(
      Require(InRange(grid.worker_momentum, 0, 1), "worker_momentum must be in [0, 1)"));
  return Require(InRange(grid.weight_decay, 0, kAny),
                 "weight_decay must be a number of at least 0");
}

}  // namespace

base::StatusOr<std::vector<RuleText>> ExpandRule(const std::string& text) {
  std::vector<std::string> done = {""};
  std::string rest = text;
  // A list of alternatives begins after '=' and ends where the value ends.
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(",+"), rest.size());
    const std::string piece = rest.substr(0, end);
    const std::string separator = rest.substr(end, 1);
    rest = end < rest.size() ? rest.substr(end + 1) : "";
    const std::size_t equals = piece.find('=');
    const std::size_t begin = equals == std::string::npos ? 0 : equals + 1;
    std::vector<std::string> longer;
    for (const std::string& prefix : done) {
      std::size_t from = begin;
      while (from <= piece.size()) {
        const std::size_t bar = std::min(piece.find('|', from), piece.size());
        if (bar == from) return InvalidArgument("rule '" + text + "': an alternative is empty");
        longer.push_back(prefix + piece.substr(0, begin) + piece.substr(from, bar - from) +
                         separator);
        from = bar + 1;
      }
    }
    done = std::move(longer);
  }
  std::vector<RuleText> rules;
  for (const std::string& pipeline : done) rules.push_back({text, pipeline});
  return rules;
}

base::StatusOr<Plan> MakePlan(const Grid& grid) {
  RETURN_IF_ERROR(CheckNumbers(grid));
  RETURN_IF_ERROR(CheckOptimizer(grid));
  Plan plan;
  plan.grid = grid;
  RETURN_IF_ERROR(Expander(plan).Run());
  return plan;
}

}  // namespace ostraka::compare

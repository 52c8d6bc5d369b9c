// A trusted server: workers send vectors, a rule aggregates them, an optimizer applies the
// aggregate.
//
// Order of an exchange, as in the literature on worker momentum (Karimireddy et al. 2021): the
// work, each worker's momentum, the attack on the vectors that honest workers send, the rule, the
// optimizer. Work is a gradient, or several local steps (docs/numerics.md, 10), as in the protocol.
// Before the attack begins, and under attack "none", Byzantine workers are honest.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "aggregation/optim/local_steps.h"
#include "aggregation/optim/optimizer.h"
#include "aggregation/optim/sgd.h"
#include "node/base/check.h"
#include "node/protocol/ground/schedule.h"
#include "node/train/batch.h"
#include "node/train/local_steps.h"
#include "sim/attacks/results/other_work.h"
#include "sim/compare/cells/partition.h"
#include "sim/compare/cells/runner.h"
#include "sim/compare/cells/schedule.h"

namespace ostraka::compare {
namespace {

using aggregation::Knowledge;
using Vector = std::vector<float>;

std::uint64_t NumberOf(const base::Digest& digest) {
  std::uint64_t number = 0;
  std::memcpy(&number, digest.bytes.data(), sizeof(number));
  return number;
}

// A trainer whose batches are drawn from one worker's rows.
class OwnRows final : public train::Trainer {
 public:
  OwnRows(train::Trainer& trainer, const std::vector<std::uint32_t>& rows, std::uint64_t batch_size)
      : trainer_(trainer),
        rows_(rows),
        batch_size_(static_cast<std::uint32_t>(std::min<std::uint64_t>(batch_size, rows.size()))) {}

  const base::TensorLayout& layout() const override { return trainer_.layout(); }
  Vector InitialParameters(const base::Digest& seed) const override {
    return trainer_.InitialParameters(seed);
  }
  base::StatusOr<Vector> Gradient(std::span<const float> parameters,
                                  const base::Digest& batch_seed) override {
    std::vector<std::uint32_t> batch =
        train::DrawBatch(batch_seed, static_cast<std::uint32_t>(rows_.size()), batch_size_);
    for (std::uint32_t& row : batch) row = rows_[row];
    return trainer_.GradientOfRows(parameters, batch, batch_seed);
  }
  base::StatusOr<train::Evaluation> Evaluate(std::span<const float> parameters) override {
    return trainer_.Evaluate(parameters);
  }

 private:
  train::Trainer& trainer_;
  const std::vector<std::uint32_t>& rows_;
  std::uint32_t batch_size_;
};

// Applies aggregates to the parameters, as the cell's optimizer does.
class Server {
 public:
  Server(const Cell& cell, const base::TensorLayout& layout)
      : cell_(cell),
        plan_(PlanOf(cell)),
        velocity_(cell.is_exact() ? 0 : base::ElementCount(layout)),
        descent_(plan_.optimizer, cell.is_exact() ? layout : base::TensorLayout{}) {}

  // What a worker owes in an exchange.
  aggregation::LocalSteps WorkIn(std::uint64_t exchange) const {
    if (!cell_.is_exact()) return {};
    return protocol::LocalStepsOf(plan_, exchange);
  }
  double RateIn(std::uint64_t exchange) const {
    return cell_.is_exact() ? protocol::RateOf(plan_, exchange) : SgdOf(cell_, exchange).rate;
  }
  void Apply(std::uint64_t exchange, const Vector& aggregate, Vector& parameters) {
    if (cell_.is_exact()) {
      descent_.Step(protocol::OptimizerStepOf(plan_, exchange), aggregate, parameters);
    } else {
      aggregation::SgdStep(SgdOf(cell_, exchange), aggregate, parameters, velocity_);
    }
  }

 private:
  const Cell& cell_;
  protocol::TrainingPlan plan_;
  Vector velocity_;               // of SGD
  aggregation::Descent descent_;  // of the exact optimizers
};

class ServerRun {
 public:
  static base::StatusOr<std::unique_ptr<ServerRun>> Make(const Cell& cell,
                                                         const RunContext& context);
  base::StatusOr<CellResult> Run(Study* study);

 private:
  ServerRun(const Cell& cell, const RunContext& context, aggregation::Pipeline pipeline,
            aggregation::Attack attack, RowsOfWorkers rows)
      : cell_(cell),
        context_(context),
        pipeline_(std::move(pipeline)),
        attack_(std::move(attack)),
        rows_(std::move(rows)),
        parameters_(context.trainer.InitialParameters(DrawSeed(cell, "initial"))),
        server_(cell, context.trainer.layout()),
        aggregate_(parameters_.size()),
        sent_(cell.peers),
        momentum_(cell.peers),
        memories_(cell.byzantine),
        colluder_seed_(NumberOf(DrawSeed(cell, "colluders"))) {}

  // The Byzantine workers are the last.
  std::size_t honest_count() const { return cell_.peers - cell_.byzantine; }
  bool UnderAttack(std::uint64_t exchange) const {
    return exchange * cell_.inner_steps >= cell_.attack_from && cell_.byzantine > 0 &&
           attack_.info->name != "none";
  }

  enum class Owed : std::uint8_t { kDone, kAttacked };
  base::StatusOr<Vector> WorkOf(const std::vector<std::uint32_t>& rows, const base::Digest& seed,
                                std::uint64_t step, Owed owed);
  base::Status Work(std::size_t worker, std::uint64_t step, Owed owed);
  base::Status Attack(std::uint64_t step);
  base::Status AttackAlone(std::uint64_t step);
  base::Status AttackTogether(std::uint64_t step);
  base::Status Aggregate(std::uint64_t step);
  base::Status Trust(std::uint64_t step);
  base::Status Step(std::uint64_t step, Study* study);
  aggregation::Rows RowsFrom(std::size_t begin, std::size_t end) const;
  std::optional<double> ByzantineSelected() const;

  const Cell& cell_;
  RunContext context_;
  aggregation::Pipeline pipeline_;
  aggregation::Attack attack_;
  aggregation::SerialExecutor executor_;
  RowsOfWorkers rows_;
  Vector parameters_;
  Server server_;
  Vector aggregate_;
  std::vector<Vector> sent_;  // the vectors that the server gets, by worker
  std::vector<Vector> momentum_;
  std::vector<aggregation::AttackState> memories_;  // the first is the common one of the colluders
  std::vector<aggregation::State> states_;
  // Before the step: the state that the rule starts from.
  std::vector<aggregation::State> victim_states_;
  aggregation::Report report_;
  Vector reference_;
  std::uint64_t colluder_seed_;
  double selected_sum_ = 0;
  std::uint64_t selected_steps_ = 0;
};

base::StatusOr<std::unique_ptr<ServerRun>> ServerRun::Make(const Cell& cell,
                                                           const RunContext& context) {
  ASSIGN_OR_RETURN(auto spec, ParsePipeline(cell.rule.pipeline));
  spec.f = cell.tolerate;
  spec.drop_invalid = true;
  ASSIGN_OR_RETURN(auto pipeline, aggregation::Pipeline::Make(std::move(spec)));
  ASSIGN_OR_RETURN(auto attack, ParseAttack(cell.attack));
  ASSIGN_OR_RETURN(auto rows, PartitionOf(cell, context.data));
  return std::unique_ptr<ServerRun>(
      new ServerRun(cell, context, std::move(pipeline), std::move(attack), std::move(rows)));
}

base::StatusOr<Vector> ServerRun::WorkOf(const std::vector<std::uint32_t>& rows,
                                         const base::Digest& seed, std::uint64_t step, Owed owed) {
  const bool attacked = owed == Owed::kAttacked;
  OSTRAKA_CHECK(!attacked || context_.attackers != nullptr);  // CellRunner::Run
  OwnRows trainer(attacked ? *context_.attackers : context_.trainer, rows, cell_.batch_size);
  const train::Work work{parameters_, seed, 1, server_.WorkIn(step)};
  ASSIGN_OR_RETURN(train::Worked worked, attacked
                                             ? sim::OtherWork(attack_.info->name, trainer, work)
                                             : train::WorkOf(trainer, work));
  // As in the protocol: a bad batch must not look like an attack.
  aggregation::ZeroNonFinite(worked.values);
  return std::move(worked.values);
}

// The vector that a worker sends if it attacks with nothing but its work.
base::Status ServerRun::Work(std::size_t worker, std::uint64_t step, Owed owed) {
  const std::vector<std::uint32_t>& own = rows_[std::min(worker, rows_.size() - 1)];
  ASSIGN_OR_RETURN(Vector gradient,
                   WorkOf(own, DrawSeed(cell_, "batch", step, worker), step, owed));
  if (cell_.worker_momentum > 0) {
    const auto beta = static_cast<float>(cell_.worker_momentum);
    Vector& momentum = momentum_[worker];
    momentum.resize(gradient.size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      momentum[i] = beta * momentum[i] + (1 - beta) * gradient[i];
    }
    gradient = momentum;
  }
  sent_[worker] = std::move(gradient);
  return base::OkStatus();
}

aggregation::Rows ServerRun::RowsFrom(std::size_t begin, std::size_t end) const {
  aggregation::Rows rows;
  rows.dimension = parameters_.size();
  for (std::size_t worker = begin; worker < end; ++worker) {
    rows.row.push_back(sent_[worker].data());
  }
  rows.reference = reference_.empty() ? nullptr : reference_.data();
  return rows;
}

// Each colluder attacks from its own vector.
base::Status ServerRun::AttackAlone(std::uint64_t step) {
  for (std::size_t worker = honest_count(); worker < cell_.peers; ++worker) {
    aggregation::AttackView view;
    view.own = sent_[worker];
    view.byzantine_count = cell_.byzantine;
    view.layout = &context_.trainer.layout();
    view.seed = colluder_seed_;
    view.step = step;
    view.attacker = worker - honest_count();
    view.worker_count = cell_.peers;
    view.state = &memories_[view.attacker];
    ASSIGN_OR_RETURN(Vector vector, aggregation::ApplyAttack(attack_, view));
    sent_[worker] = std::move(vector);
  }
  return base::OkStatus();
}

// All colluders send one vector, made from the vectors of all honest workers.
base::Status ServerRun::AttackTogether(std::uint64_t step) {
  aggregation::AttackView view;
  view.own = sent_[honest_count()];
  view.honest = RowsFrom(0, honest_count());
  view.byzantine_count = cell_.byzantine;
  view.layout = &context_.trainer.layout();
  view.seed = colluder_seed_;
  view.step = step;
  view.worker_count = cell_.peers;
  view.state = &memories_.front();
  const aggregation::Victim victim = [this](const aggregation::Rows& rows, std::span<float> out) {
    aggregation::Rows complete = rows;
    complete.reference = reference_.empty() ? nullptr : reference_.data();
    victim_states_ = states_;
    return pipeline_.Aggregate(complete, executor_, out,
                               pipeline_.stateful() ? &victim_states_ : nullptr);
  };
  view.victim = &victim;
  ASSIGN_OR_RETURN(const Vector vector, aggregation::ApplyAttack(attack_, view));
  for (std::size_t worker = honest_count(); worker < cell_.peers; ++worker) sent_[worker] = vector;
  return base::OkStatus();
}

base::Status ServerRun::Attack(std::uint64_t step) {
  switch (attack_.info->knowledge) {
    case Knowledge::kWork:
      return base::OkStatus();  // the work was another
    case Knowledge::kOwn:
      return AttackAlone(step);
    case Knowledge::kHonest:
    case Knowledge::kRule:
      return AttackTogether(step);
  }
  OSTRAKA_CHECK(false);
}

// Computes the trusted vector of rules that need one: work on batches of the server's own, from the
// first worker's rows. A rule that can start from a given vector gets the last aggregate.
base::Status ServerRun::Trust(std::uint64_t step) {
  using aggregation::ReferenceUse;
  ReferenceUse use = pipeline_.rule().about.reference;
  for (const auto* pre : pipeline_.pre()) use = std::max(use, pre->about.reference);
  if (use == ReferenceUse::kOptional) reference_ = aggregate_;
  if (use != ReferenceUse::kRequired) return base::OkStatus();
  ASSIGN_OR_RETURN(
      reference_, WorkOf(rows_.front(), DrawSeed(cell_, "trusted batch", step), step, Owed::kDone));
  return base::OkStatus();
}

// Rows made by a pre-aggregation belong to no worker.
std::optional<double> ServerRun::ByzantineSelected() const {
  if (report_.selected.empty() || !pipeline_.pre().empty()) return std::nullopt;
  const auto first =
      std::lower_bound(report_.selected.begin(), report_.selected.end(), honest_count());
  return static_cast<double>(report_.selected.end() - first) / static_cast<double>(cell_.byzantine);
}

base::Status ServerRun::Aggregate(std::uint64_t step) {
  report_ = {};
  const base::Status status =
      pipeline_.Aggregate(RowsFrom(0, cell_.peers), executor_, aggregate_,
                          pipeline_.stateful() ? &states_ : nullptr, &report_);
  if (status.ok()) return status;
  return base::MakeStatus(status.code(),
                          "step " + std::to_string(step) + ": " + base::MessageOf(status));
}

base::Status ServerRun::Step(std::uint64_t step, Study* study) {
  const bool attacked = UnderAttack(step);
  const bool on_work = attacked && attack_.info->knowledge == Knowledge::kWork;
  // Colluders with one common vector need one own gradient among them.
  const bool together = attacked && attack_.info->knowledge >= Knowledge::kHonest;
  const std::size_t working = together ? honest_count() + 1 : cell_.peers;
  for (std::size_t worker = 0; worker < working; ++worker) {
    const bool other = on_work && worker >= honest_count();
    RETURN_IF_ERROR(Work(worker, step, other ? Owed::kAttacked : Owed::kDone));
  }
  RETURN_IF_ERROR(Trust(step));
  if (attacked) RETURN_IF_ERROR(Attack(step));
  RETURN_IF_ERROR(Aggregate(step));
  const auto selected = attacked ? ByzantineSelected() : std::nullopt;
  if (selected) {
    selected_sum_ += *selected;
    ++selected_steps_;
  }
  if (study != nullptr) {
    const auto honest = RowsFrom(0, honest_count()).row;
    const auto attack =
        attacked ? RowsFrom(honest_count(), cell_.peers).row : std::vector<const float*>();
    AddStep(server_.RateIn(step), honest, attack, aggregate_, selected, *study);
  }
  server_.Apply(step, aggregate_, parameters_);
  return base::OkStatus();
}

base::StatusOr<CellResult> ServerRun::Run(Study* study) {
  CellResult result;
  ASSIGN_OR_RETURN(Point start, Evaluate(0, parameters_, context_.trainer));
  result.curve.push_back(start);
  for (std::uint64_t exchange = 0; exchange < cell_.exchanges(); ++exchange) {
    RETURN_IF_ERROR(Step(exchange, study));
    const std::uint64_t done = (exchange + 1) * cell_.inner_steps;
    if (done % cell_.evaluate_every != 0 && done != cell_.steps) continue;
    ASSIGN_OR_RETURN(Point point, Evaluate(done, parameters_, context_.trainer));
    result.curve.push_back(point);
  }
  if (selected_steps_ > 0) {
    result.byzantine_selected = selected_sum_ / static_cast<double>(selected_steps_);
  }
  // In each exchange, each worker sends a vector and receives the model.
  result.bytes = cell_.exchanges() * cell_.peers * 2 * parameters_.size() * sizeof(float);
  return result;
}

}  // namespace

base::StatusOr<RowsOfWorkers> PartitionOf(const Cell& cell, const train::Dataset& data) {
  return Partition(cell.partition, ClassesOf(data), cell.peers,
                   base::Rng(NumberOf(DrawSeed(cell, "partition"))));
}

base::StatusOr<CellResult> RunServerCell(const Cell& cell, const RunContext& context,
                                         Study* study) {
  ASSIGN_OR_RETURN(const auto run, ServerRun::Make(cell, context));
  return run->Run(study);
}

}  // namespace ostraka::compare

// Attacks: ostraka.Memory, ostraka.attack, ostraka.attacks.
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "aggregation/attacks/attacks.h"
#include "aggregation/rules/mean.h"
#include "python/arguments.h"
#include "python/arrays.h"
#include "python/module.h"
#include "python/pickling.h"
#include "python/texts.h"

OSTRAKA_READY_CLASS(ostraka::python::Shared<std::vector<ostraka::aggregation::AttackState>>);

namespace ostraka::python {
namespace {

using aggregation::Pipeline;
using aggregation::Rows;

// The state of each attacker between steps.
using Memory = Shared<std::vector<aggregation::AttackState>>;

// The keywords that all attacks share.
struct Options {
  explicit Options(py::kwargs& keywords)
      : own(Take(keywords, "own")),
        rule(Take(keywords, "rule")),
        memory(Take(keywords, "memory")),
        threads(Take(keywords, "threads")) {
    byzantine = TakeCount(keywords, "byzantine", 1);
    seed = TakeCount(keywords, "seed", 0);
    step = TakeCount(keywords, "step", 0);
    constexpr std::uint64_t kMost = 100'000;
    if (byzantine < 1 || byzantine > kMost) {
      throw py::value_error("byzantine must be 1 to 100000, the number of attackers");
    }
  }

  std::uint64_t byzantine = 1;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  py::object own;
  py::object rule;
  py::object memory;
  py::object threads;
};

const Rows& Float32Of(const Matrix& matrix, const char* what) {
  const Rows* rows = std::get_if<Rows>(&matrix.rows);
  if (rows == nullptr) {
    throw py::value_error(std::string(what) +
                          ": float64; attacks are made of float32, as nodes send gradients: give "
                          ".astype('float32')");
  }
  return *rows;
}

// Runs without the GIL.
base::StatusOr<std::vector<std::vector<float>>> Vectors(const aggregation::Attack& attack,
                                                        const Rows& honest, const Rows& own,
                                                        const Options& options,
                                                        const aggregation::Victim* victim,
                                                        Memory& memory) {
  const std::lock_guard turn(memory.turn);
  memory.value.resize(std::max<std::size_t>(memory.value.size(), options.byzantine));
  std::vector<std::vector<float>> sent;
  for (std::size_t b = 0; b < options.byzantine; ++b) {
    if (b > 0 && attack.info->identical) {
      sent.push_back(sent.front());
      continue;
    }
    aggregation::AttackView view;
    view.own = {own.row[b % own.count()], own.dimension};
    view.honest = honest;
    view.byzantine_count = options.byzantine;
    view.seed = options.seed;
    view.step = options.step;
    view.attacker = b;
    view.victim = victim;
    view.state = &memory.value[b];
    ASSIGN_OR_RETURN(std::vector<float> vector, aggregation::ApplyAttack(attack, view));
    sent.push_back(std::move(vector));
  }
  return sent;
}

py::object Apply(const py::object& name, const py::object& object, py::kwargs keywords) {
  const Options options(keywords);
  const aggregation::Attack attack =
      ValueOrThrow(aggregation::MakeAttack(TextOf(name, "name"), ArgumentsOf(keywords)));
  const Matrix honest = AsMatrix(object, "honest");
  const Rows& rows = Float32Of(honest, "honest");
  const Threads threads(options.threads);
  std::optional<aggregation::Victim> victim;
  if (const Pipeline* const pipeline = PointerOrThrow<Pipeline>(
          options.rule, "rule", "an ostraka.Pipeline, such as Pipeline('krum', f=1)")) {
    victim = [&threads, pipeline](const Rows& all, std::span<float> out) {
      return pipeline->Aggregate(all, threads.executor(), out);
    };
  }
  Memory forgotten;
  Memory* const kept = PointerOrThrow<Memory>(options.memory, "memory", "an ostraka.Memory");
  Memory& memory = kept == nullptr ? forgotten : *kept;

  Matrix given;
  std::vector<float> mean(rows.dimension);
  Rows own;
  own.dimension = rows.dimension;
  if (options.own.is_none()) {
    // The honest mean estimates a gradient that was not given.
    ThrowIfError(aggregation::Mean().Aggregate(rows, threads.executor(), mean));
    own.row = {mean.data()};
  } else {
    given = AsMatrix(options.own, "own");
    own = Float32Of(given, "own");
    if (own.count() != options.byzantine || own.dimension != rows.dimension) {
      throw py::value_error("own: give a row as long as the honest ones for each attacker");
    }
  }
  base::StatusOr<std::vector<std::vector<float>>> sent = std::vector<std::vector<float>>();
  {
    const py::gil_scoped_release released;
    sent = Vectors(attack, rows, own, options, victim ? &*victim : nullptr, memory);
  }
  ThrowIfError(sent.status());
  const std::size_t length = sent->front().size();
  py::array_t<float> out(
      {static_cast<py::ssize_t>(sent->size()), static_cast<py::ssize_t>(length)});
  float* at = out.mutable_data();
  for (const std::vector<float>& vector : *sent) at = std::copy(vector.begin(), vector.end(), at);
  return AsResult(std::move(out), honest.is_torch);
}

py::tuple Packed(const Memory& memory) {
  py::list packed;
  for (const aggregation::AttackState& one : memory.Copy()) {
    py::list own;
    for (const std::vector<float>& gradient : one.own) own.append(BytesOf(gradient));
    packed.append(py::make_tuple(own, one.steps, BytesOf(one.mean), BytesOf(one.direction),
                                 one.projections, BytesOf(one.aggregate)));
  }
  return py::tuple(packed);
}

std::unique_ptr<Memory> Unpacked(const py::tuple& packed) {
  auto memory = std::make_unique<Memory>();
  for (const py::handle& one : packed) {
    const auto parts = py::cast<py::tuple>(one);
    aggregation::AttackState& made = memory->value.emplace_back();
    for (const py::handle& gradient : py::cast<py::list>(parts[0])) {
      made.own.push_back(ValuesOf<float>(gradient));
    }
    made.steps = parts[1].cast<std::uint64_t>();
    made.mean = FiniteValuesOf<double>(parts[2]);
    made.direction = FiniteValuesOf<double>(parts[3]);
    made.projections = parts[4].cast<std::map<std::uint64_t, double>>();
    made.aggregate = FiniteValuesOf<float>(parts[5]);
    const bool learns = made.steps > 0;
    if (made.direction.size() != made.mean.size() || made.mean.empty() == learns ||
        made.projections.empty() == learns) {
      throw py::value_error("its parts do not belong together");
    }
  }
  return memory;
}

}  // namespace

void AddAttacks(py::module_& module) {
  py::class_<Memory> bound(
      module, "Memory",
      "The state of attackers from step to step. Memory() is the state before the "
      "first step; a call updates the memory that it gets. Threads that share one "
      "take turns. copy, deepcopy and pickle keep it.");
  bound
      .def(py::init<>(),
           "Memory()\n"
           "\n"
           "An empty memory.")
      .def(
          "copy", [](const Memory& memory) { return std::make_unique<Memory>(memory.Copy()); },
          "copy()\n"
          "\n"
          "An equal memory.");
  AddPickling(
      bound, "Memory", [](const Memory& memory) { return Packed(memory); }, &Unpacked);
  module.def("attack", &Apply, py::arg("name"), py::arg("honest"),
             "attack(name, honest, *, byzantine=1, seed=0, step=0, own=None, rule=None, "
             "memory=None, threads=None, **parameters)\n"
             "\n"
             "The rows that `byzantine` attackers send beside the honest rows: an array of shape "
             "(byzantine, d). `honest` is float32, (n - m, d) or n - m arrays of d values. `own` "
             "are the attackers' true gradients, by default the honest mean; `rule` is the "
             "Pipeline that the opt_* attacks search against; `memory` is a Memory for stateful "
             "attacks. Equals ostraka.attacks.<name>(honest, ...).");
  module.def(
      "list_attacks",
      [] {
        py::list list;
        for (const aggregation::AttackInfo* attack : aggregation::Attacks()) {
          list.append(DictOf(*attack));
        }
        return list;
      },
      "list_attacks()\n"
      "\n"
      "All attacks: one dict each, with definition, source and parameters.");
  py::module_ attacks =
      module.def_submodule("attacks", "A function for every attack on gradients.");
  attacks.def("__getattr__", [](const std::string& name) {
    throw py::attribute_error(base::MessageOf(aggregation::MakeAttack(name, {}).status()));
  });
  for (const aggregation::AttackInfo* attack : aggregation::Attacks()) {
    const std::string name(attack->name);
    attacks.def(
        name.c_str(),
        [name](const py::object& honest, const py::args& more, const py::kwargs& keywords) {
          RefusePositional(name, "honest", "byzantine", more);
          return Apply(py::str(name), honest, keywords);
        },
        py::arg("honest"), DocOf(*attack).c_str());
  }
}

}  // namespace ostraka::python

// Rules: ostraka.Pipeline, ostraka.State, ostraka.aggregate, ostraka.rules.
#include <pybind11/stl.h>

#include <charconv>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "aggregation/rules/mixing.h"
#include "python/arguments.h"
#include "python/arrays.h"
#include "python/module.h"
#include "python/pickling.h"
#include "python/texts.h"

namespace ostraka::python {
namespace {

using aggregation::Pipeline;
using aggregation::Report;

py::dict DictOf(const Report& report) {
  py::dict entry;
  entry["selected"] = report.selected;
  entry["dropped"] = report.dropped;
  entry["scores"] = report.scores;
  entry["weights"] = report.weights;
  entry["iterations"] = report.iterations;
  entry["residual"] = report.residual;
  return entry;
}

template <typename T>
py::array AggregateAs(const Pipeline& pipeline, aggregation::BasicRows<T> rows,
                      const py::object& reference, const Threads& threads, PipelineState* state,
                      Report& report) {
  py::array held;  // keeps the reference's memory
  if (!reference.is_none()) {
    held = AsVector<T>(reference, rows.dimension, "reference");
    rows.reference = static_cast<const T*>(held.data());
  }
  py::array_t<T> out(static_cast<py::ssize_t>(rows.dimension));
  T* const values = out.mutable_data();
  base::Status status;
  {
    const py::gil_scoped_release released;
    std::unique_lock<std::mutex> turn;
    if (state != nullptr) turn = std::unique_lock(state->turn);
    status = pipeline.Aggregate(rows, threads.executor(), {values, rows.dimension},
                                state == nullptr ? nullptr : &state->value, &report);
  }
  ThrowIfError(status);
  return out;
}

PipelineState* StateOf(const py::object& object) {
  return PointerOrThrow<PipelineState>(object, "state", "an ostraka.State");
}

// Calls a pipeline, from whatever it was made.
py::object Run(const Pipeline& pipeline, const py::object& object, const py::object& reference,
               const py::object& remembered, const py::object& thread_count, bool wants_report) {
  PipelineState* const state = StateOf(remembered);
  const Matrix matrix = AsMatrix(object, "rows");
  const Threads threads(thread_count);
  Report report;
  py::array out = std::visit(
      [&](const auto& rows) {
        return AggregateAs(pipeline, rows, reference, threads, state, report);
      },
      matrix.rows);
  py::object result = AsResult(std::move(out), matrix.is_torch);
  if (!wants_report) return result;
  return py::make_tuple(result, DictOf(report));
}

Pipeline MakePipeline(const std::string& rule, const py::object& pre, bool drop_invalid,
                      const py::kwargs& parameters) {
  aggregation::PipelineSpec spec;
  spec.rule = {rule, ArgumentsOf(parameters)};
  spec.pre = ElementsOf(pre);
  spec.drop_invalid = drop_invalid;
  return ValueOrThrow(Pipeline::Make(std::move(spec)));
}

template <typename T>
py::array MixAs(const aggregation::Mixing& mixing, const aggregation::BasicRows<T>& rows,
                const Threads& threads, PipelineState* state) {
  const std::size_t count = mixing.OutputRows(rows.count());
  py::array_t<T> out({static_cast<py::ssize_t>(count), static_cast<py::ssize_t>(rows.dimension)});
  T* const values = out.mutable_data();
  base::Status status;
  {
    const py::gil_scoped_release released;
    std::unique_lock<std::mutex> turn;
    if (state != nullptr) turn = std::unique_lock(state->turn);
    std::vector<aggregation::State> next =
        state == nullptr ? decltype(state->value)() : state->value;
    status = mixing.Apply(rows, threads.executor(), next, {values, count * rows.dimension});
    if (status.ok() && state != nullptr) state->value = std::move(next);
  }
  ThrowIfError(status);
  return out;
}

py::object Mix(const py::object& pre, const py::object& object, const py::object& faults,
               const py::object& remembered, const py::object& thread_count) {
  std::optional<std::size_t> f;
  if (!faults.is_none()) f = CountOf(faults, "f");
  const aggregation::Mixing mixing = ValueOrThrow(aggregation::Mixing::Make(ElementsOf(pre), f));
  PipelineState* const state = StateOf(remembered);
  const Matrix matrix = AsMatrix(object, "rows");
  const Threads threads(thread_count);
  py::array out = std::visit([&](const auto& rows) { return MixAs(mixing, rows, threads, state); },
                             matrix.rows);
  return AsResult(std::move(out), matrix.is_torch);
}

// `value` as Python source: a number as it is, a choice in quotes.
std::string Literal(const std::string& value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = error == std::errc() && end == value.data() + value.size();
  return is_number ? value : "'" + value + "'";
}

// Source that makes an equal pipeline.
std::string ReprOf(const Pipeline& pipeline) {
  const aggregation::PipelineSpec& spec = pipeline.spec();
  std::string text = "ostraka.Pipeline('" + spec.rule.name + "'";
  std::optional<std::string> f;
  if (spec.f) f = std::to_string(*spec.f);
  for (const auto& [name, value] : spec.rule.arguments) {
    if (name == "f") {
      f = value;
    } else {
      text += ", " + name + "=" + Literal(value);
    }
  }
  if (f) text += ", f=" + *f;
  std::string pre;
  for (const aggregation::ElementSpec& element : spec.pre) {
    pre += (pre.empty() ? "'" : ", '") + element.name;
    char separator = ':';
    for (const auto& [name, value] : element.arguments) {
      if (name == "f") continue;  // it is given once
      pre += separator + name + "=" + value;
      separator = ',';
    }
    pre += "'";
  }
  if (!pre.empty()) text += ", pre=[" + pre + "]";
  return text + (spec.drop_invalid ? ", drop_invalid=True)" : ")");
}

bool BoolOf(const py::object& value, const char* name) {
  const int truth = PyObject_IsTrue(value.ptr());
  if (truth >= 0) return truth != 0;
  PyErr_Clear();  // an array of several values
  throw py::type_error(std::string(name) + " must be True or False");
}

bool TakeBool(py::kwargs& keywords, const char* name) { return BoolOf(Take(keywords, name), name); }

// Takes rows by position, and everything else by keyword.
py::object Aggregate(const py::object& rule, const py::object& rows, py::kwargs keywords) {
  const py::object pre = Take(keywords, "pre");
  const py::object reference = Take(keywords, "reference");
  const py::object state = Take(keywords, "state");
  const py::object threads = Take(keywords, "threads");
  const bool drop_invalid = TakeBool(keywords, "drop_invalid");
  const bool report = TakeBool(keywords, "report");
  const Pipeline pipeline = MakePipeline(TextOf(rule, "rule"), pre, drop_invalid, keywords);
  return Run(pipeline, rows, reference, state, threads, report);
}

py::tuple Packed(const PipelineState& state) {
  py::list packed;
  for (const aggregation::State& one : state.Copy()) {
    py::list vectors;
    for (const std::vector<double>& vector : one.vectors) vectors.append(BytesOf(vector));
    packed.append(py::make_tuple(one.calls, BytesOf(one.numbers), vectors));
  }
  return py::tuple(packed);
}

std::unique_ptr<PipelineState> UnpackedState(const py::tuple& packed) {
  auto state = std::make_unique<PipelineState>();
  for (const py::handle& one : packed) {
    const auto parts = py::cast<py::tuple>(one);
    aggregation::State& made = state->value.emplace_back();
    made.calls = parts[0].cast<std::uint64_t>();
    made.numbers = FiniteValuesOf<double>(parts[1]);
    for (const py::handle& vector : py::cast<py::list>(parts[2])) {
      made.vectors.push_back(FiniteValuesOf<double>(vector));
    }
  }
  return state;
}

py::tuple PackedElement(const aggregation::ElementSpec& element) {
  return py::make_tuple(element.name, element.arguments);
}

aggregation::ElementSpec UnpackedElement(const py::handle& packed) {
  const auto parts = py::cast<py::tuple>(packed);
  return {parts[0].cast<std::string>(), parts[1].cast<aggregation::Arguments>()};
}

py::tuple Packed(const Pipeline& pipeline) {
  const aggregation::PipelineSpec& spec = pipeline.spec();
  py::list pre;
  for (const aggregation::ElementSpec& element : spec.pre) pre.append(PackedElement(element));
  return py::make_tuple(PackedElement(spec.rule), pre, spec.f, spec.drop_invalid);
}

std::unique_ptr<Pipeline> UnpackedPipeline(const py::tuple& packed) {
  aggregation::PipelineSpec spec;
  spec.rule = UnpackedElement(packed[0]);
  for (const py::handle& element : py::cast<py::list>(packed[1])) {
    spec.pre.push_back(UnpackedElement(element));
  }
  spec.f = packed[2].cast<std::optional<std::size_t>>();
  spec.drop_invalid = packed[3].cast<bool>();
  return std::make_unique<Pipeline>(ValueOrThrow(Pipeline::Make(std::move(spec))));
}

void AddClasses(py::module_& module) {
  py::class_<PipelineState> states(
      module, "State",
      "The state of a stateful rule from call to call. State() is the state "
      "before the first call; a call updates the state that it gets. Threads "
      "that share one take turns. copy, deepcopy and pickle keep it.");
  states
      .def(py::init<>(),
           "State()\n"
           "\n"
           "An empty state.")
      .def(
          "copy",
          [](const PipelineState& state) { return std::make_unique<PipelineState>(state.Copy()); },
          "copy()\n"
          "\n"
          "An equal state.");
  AddPickling(
      states, "State", [](const PipelineState& state) { return Packed(state); }, &UnpackedState);
  py::class_<Pipeline> pipelines(
      module, "Pipeline",
      "Pipeline(rule, *, pre=None, drop_invalid=False, **parameters)\n"
      "\n"
      "Pre-aggregations and then a rule, checked once and called many times: Pipeline('krum', f=2, "
      "pre='nnm')(rows). `rule` is a name of list_rules(), `pre` one or more of list_pre() as "
      "'nnm' or 'bucketing:s=2,seed=7'. Unknown names raise a ValueError.");
  pipelines
      .def(py::init([](const py::object& rule, py::kwargs keywords) {
             const py::object pre = Take(keywords, "pre");
             const bool drop_invalid = TakeBool(keywords, "drop_invalid");
             return MakePipeline(TextOf(rule, "rule"), pre, drop_invalid, keywords);
           }),
           py::arg("rule"))
      .def(
          "__call__",
          [](const Pipeline& pipeline, const py::object& rows, const py::object& reference,
             const py::object& state, const py::object& threads, const py::object& report) {
            return Run(pipeline, rows, reference, state, threads, BoolOf(report, "report"));
          },
          py::arg("rows"), py::kw_only(), py::arg("reference") = py::none(),
          py::arg("state") = py::none(), py::arg("threads") = py::none(), py::arg("report") = false,
          "__call__(rows, *, reference=None, state=None, threads=None, report=False)\n"
          "\n"
          "The aggregate of `rows`: an array of shape (n, d), or n arrays of d values, float32 or "
          "float64, of NumPy or torch, which are not copied. With report=True also a dict of the "
          "rule's findings. The GIL is released; the result does not depend on the number of "
          "threads.")
      .def("__repr__", &ReprOf)
      .def_property_readonly("rule",
                             [](const Pipeline& p) { return std::string(p.rule().about.name); })
      .def_property_readonly("stateful", &Pipeline::stateful);
  AddPickling(
      pipelines, "Pipeline", [](const Pipeline& p) { return Packed(p); }, &UnpackedPipeline);
}

}  // namespace

void AddRules(py::module_& module) {
  AddClasses(module);
  module.def("aggregate", &Aggregate, py::arg("rule"), py::arg("rows"),
             "aggregate(rule, rows, *, pre=None, drop_invalid=False, reference=None, state=None, "
             "threads=None, report=False, **parameters)\n"
             "\n"
             "The aggregate of `rows` by the named rule. Equals ostraka.rules.<rule>(rows, ...), "
             "whose docstrings describe the parameters.");
  module.def("mix", &Mix, py::arg("pre"), py::arg("rows"), py::kw_only(), py::arg("f") = py::none(),
             py::arg("state") = py::none(), py::arg("threads") = py::none(),
             "mix(pre, rows, *, f=None, state=None, threads=None)\n"
             "\n"
             "The rows after the pre-aggregations `pre`, as the rule after them gets them.");
  module.def(
      "list_rules",
      [] {
        py::list list;
        for (const aggregation::RuleInfo* rule : aggregation::Rules()) {
          list.append(DictOf(rule->about));
        }
        return list;
      },
      "list_rules()\n"
      "\n"
      "All rules: one dict each, with definition, source, limits and parameters.");
  module.def(
      "list_pre",
      [] {
        py::list list;
        for (const aggregation::PreInfo* pre : aggregation::PreAggregations()) {
          list.append(DictOf(pre->about));
        }
        return list;
      },
      "list_pre()\n\nAll pre-aggregations, as list_rules().");
  py::module_ rules = module.def_submodule("rules", "A function for every rule.");
  // Called for names that the module lacks.
  rules.def("__getattr__", [](const std::string& name) {
    throw py::attribute_error(base::MessageOf(aggregation::FindRule(name).status()));
  });
  for (const aggregation::RuleInfo* rule : aggregation::Rules()) {
    const std::string name(rule->about.name);
    rules.def(
        name.c_str(),
        [name](const py::object& rows, const py::args& more, const py::kwargs& keywords) {
          RefusePositional(name, "rows", "f", more);
          return Aggregate(py::str(name), rows, keywords);
        },
        py::arg("rows"), DocOf(*rule).c_str());
  }
}

}  // namespace ostraka::python

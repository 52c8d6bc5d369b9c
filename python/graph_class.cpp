// ostraka.Graph: a graph file, its loss and its gradient by the exact kernels; ostraka.export.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"
#include "exact/models/models.h"
#include "exact/program/plan.h"
#include "exact/run/runner.h"
#include "node/device/hosted_device.h"
#include "node/train/exact/device_engine.h"
#include "python/arguments.h"
#include "python/arrays.h"
#include "python/device_functions.h"
#include "python/module.h"

namespace ostraka::python {
namespace {

using FloatArray = py::array_t<float, py::array::c_style | py::array::forcecast>;
using IntegerArray = py::array_t<std::int64_t, py::array::c_style>;

constexpr exact::PlanLimits kLimits{};

std::string ReadText(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw py::value_error(path + ": is a folder, and no graph file");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || text.empty()) throw py::value_error(path + ": cannot be read, or is empty");
  return text;
}

py::tuple ShapeOf(const exact::TensorType& type) { return py::tuple(py::cast(type.shape)); }

// The memory of `array`, which must have the shape that `type` states.
void RequireShape(const py::array& array, const exact::TensorType& type, const std::string& name) {
  const std::vector<std::int64_t> shape(array.shape(), array.shape() + array.ndim());
  if (shape != type.shape) {
    exact::TensorType given = type;
    given.shape = shape;
    throw py::value_error(name + " is " + exact::TextOf(given) + ", and the graph has " +
                          exact::TextOf(type));
  }
}

bool IsList(const py::handle& object) {
  return py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object);
}

// Arrays in lists may not lose anything either.
void CheckNested(const py::handle& list, const std::string& name) {
  for (const py::handle& item : py::reinterpret_borrow<py::sequence>(list)) {
    if (IsList(item)) CheckNested(item, name);
    if (py::isinstance<py::array>(item)) View(item, name);
  }
}

// A copy where need be, by the object's own hand, which knows its signs and what it has no numbers
// for.
py::array Converted(const py::handle& object, const std::string& name) {
  try {
    return py::module_::import("numpy").attr("asarray")(object);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;  // an interrupt
    std::string why = py::str(error.value()).cast<std::string>();
    throw py::value_error(name + " is no array that NumPy takes: " + why.substr(0, why.find('\n')));
  }
}

// `object` as NumPy's array, with numbers of one of the kinds `allowed` ("f", "iu"). Lists of
// numbers are arrays too; a mask, a sign or an imaginary part that would be lost is refused.
py::array NumbersOf(const py::handle& object, const std::string& allowed, const std::string& name,
                    const char* numbers) {
  const bool is_number = py::isinstance<py::float_>(object) || py::isinstance<py::int_>(object);
  std::optional<py::array> array;
  if (IsList(object)) CheckNested(object, name);
  if (IsList(object) || is_number) {
    const py::array made = py::array::ensure(object);
    PyErr_Clear();
    if (made) array = made;
  } else if (!py::isinstance<py::str>(object) && !py::isinstance<py::bytes>(object)) {
    array = py::isinstance<py::array>(object) || !py::hasattr(object, "__array__")
                ? View(object, name)
                : Converted(object, name);
  }
  const bool known = array && allowed.find(array->dtype().kind()) != std::string::npos;
  if (!known) {
    throw py::value_error(name + " is no array of " + numbers +
                          (array ? ", but of " + py::str(array->dtype()).cast<std::string>() : ""));
  }
  return *array;
}

std::vector<float> FloatsOf(const py::handle& object, const exact::TensorType& type,
                            const std::string& name) {
  const FloatArray array = FloatArray::ensure(NumbersOf(object, "fiub", name, "floats"));
  if (!array) throw py::error_already_set();
  RequireShape(array, type, name);
  return {array.data(), array.data() + array.size()};
}

// A graph that is ready to run. Calls take turns.
class Graph {
 public:
  Graph(const py::object& path, const py::object& constants, const py::object& threads)
      : threads_(std::make_unique<Threads>(threads)), text_(ReadText(PathOf(path, "path"))) {
    graph_ = ValueOrThrow(exact::ParseGraph(text_));
    ThrowIfError(exact::CheckGraph(graph_));
    std::vector<std::vector<float>> values;
    for (const exact::Constant& constant : graph_.constants) {
      values.push_back(ConstantOf(constant, constants));
    }
    runner_.emplace(ValueOrThrow(exact::PrepareGraph(text_, kLimits, ThreadCountOf(threads))),
                    std::move(values), exact::BestKernels(), threads_->executor());
  }

  std::string id() const { return exact::GraphId(text_).Hex(); }
  const std::string& text() const { return text_; }
  std::uint64_t peak_bytes() const { return runner_->plan().peak_bytes; }
  std::uint64_t operations() const { return runner_->plan().operations; }

  std::vector<std::string> Notices() {
    const py::gil_scoped_release released;
    const std::lock_guard turn(turn_);
    std::vector<std::string> lines;
    for (const auto& [name, engine] : engines_) {
      if (engine == nullptr) continue;
      for (train::TrainerNotice& notice : engine->TakeNotices()) {
        lines.push_back(std::move(notice.line));
      }
    }
    return lines;
  }

  py::dict Parameters() const {
    py::dict shapes;
    for (const exact::Parameter& parameter : graph_.parameters) {
      shapes[py::str(parameter.name)] = ShapeOf(parameter.type);
    }
    return shapes;
  }
  py::dict Inputs() const {
    py::dict types;
    for (const exact::Input& input : graph_.inputs) {
      types[py::str(input.name)] = exact::TextOf(input.type);
    }
    return types;
  }

  py::object Loss(const py::object& parameters, const py::kwargs& inputs) {
    const Given given(*this, DictOf(parameters), inputs);
    base::StatusOr<float> loss = 0.0F;
    {
      const py::gil_scoped_release released;
      const std::lock_guard turn(turn_);
      loss = runner_->Loss(given.parameters, given.values);
    }
    return py::float_(ValueOrThrow(std::move(loss)));
  }

  py::tuple Gradient(const py::object& parameters, const std::string& device,
                     const py::kwargs& inputs) {
    const Given given(*this, DictOf(parameters), inputs);
    std::vector<float> gradient(given.parameters.size());
    ThrowIfError(device::CheckDeviceName(device));
    const bool on_device = device != device::kProcessor;
    const device::HostCommand host = on_device ? ModuleAsHost() : device::HostCommand{};
    base::StatusOr<float> loss = 0.0F;
    {
      const py::gil_scoped_release released;
      const std::lock_guard turn(turn_);
      loss = on_device ? OnDevice(device, host, given, gradient)
                       : runner_->Gradient(given.parameters, given.values, gradient);
    }
    const float value = ValueOrThrow(std::move(loss));
    py::dict gradients;
    const float* at = gradient.data();
    for (const exact::Parameter& parameter : graph_.parameters) {
      FloatArray array(parameter.type.shape);
      std::copy_n(at, parameter.type.count(), array.mutable_data());
      at += parameter.type.count();
      gradients[py::str(parameter.name)] = std::move(array);
    }
    return py::make_tuple(value, std::move(gradients));
  }

 private:
  struct Given;

  // REQUIRES: `turn_` is held.
  base::StatusOr<float> OnDevice(const std::string& name, const device::HostCommand& host,
                                 const Given& given, std::span<float> gradient) {
    const train::MicroBatches batches{
        .count = 1, .inputs = [&](std::size_t) { return given.values; }, .check_wanted = nullptr};
    std::unique_ptr<train::GraphEngine>& engine = engines_[name];
    if (engine == nullptr) {
      auto made = train::MakeDeviceEngine(std::make_unique<train::RunnerEngine>(*runner_),
                                          device::HostedSource(name, 0, host));
      RETURN_IF_ERROR(made->Prepare(given.parameters, batches));
      engine = std::move(made);
    }
    ASSIGN_OR_RETURN(const double loss, engine->Mean(given.parameters, batches, gradient));
    return static_cast<float>(loss);
  }

  static py::dict DictOf(const py::object& parameters) {
    if (!py::isinstance<py::dict>(parameters)) {
      throw py::type_error(
          "parameters must be a dict of arrays, as {name: array}, and not of type " +
          py::str(py::type::of(parameters).attr("__name__")).cast<std::string>());
    }
    return parameters;
  }

  // What a caller gave, copied as the graph wants it.
  struct Given {
    Given(const Graph& owner, const py::dict& named, const py::kwargs& inputs) {
      for (const exact::Parameter& parameter : owner.graph_.parameters) {
        const std::vector<float> tensor =
            FloatsOf(Entry(named, parameter.name, "parameter"), parameter.type, parameter.name);
        parameters.insert(parameters.end(), tensor.begin(), tensor.end());
      }
      for (const exact::Input& input : owner.graph_.inputs) {
        if (input.is_drawn() && !inputs.contains(input.name.c_str())) {
          floats.emplace_back(static_cast<std::size_t>(input.type.count()), 1.0F);
          integers.emplace_back();
          continue;
        }
        AddInput(input, Entry(inputs, input.name, "input"));
      }
      for (const auto& [name, value] : inputs) {
        const auto named_so = [text = name.cast<std::string>()](const exact::Input& input) {
          return input.name == text;
        };
        const std::vector<exact::Input>& known = owner.graph_.inputs;
        if (std::none_of(known.begin(), known.end(), named_so)) {
          throw py::value_error("the graph has no input " + name.cast<std::string>());
        }
      }
      for (std::size_t i = 0; i < owner.graph_.inputs.size(); ++i) {
        values.push_back({.floats = floats[i], .integers = integers[i]});
      }
    }

    static py::object Entry(const py::dict& given, const std::string& name, const char* what) {
      if (!given.contains(name.c_str())) {
        throw py::value_error(std::string(what) + " " + name + " is missing");
      }
      return given[name.c_str()];
    }

    void AddInput(const exact::Input& input, const py::object& object) {
      floats.emplace_back();
      integers.emplace_back();
      if (input.type.element == exact::Element::kFloat) {
        floats.back() = FloatsOf(object, input.type, input.name);
        return;
      }
      const py::array numbers = NumbersOf(object, "iub", input.name, "integers");
      RequireShape(numbers, input.type, input.name);
      const IntegerArray array = IntegerArray::ensure(numbers);
      PyErr_Clear();
      if (!array) throw py::value_error(input.name + " is of uint64: give .astype('int64')");
      for (const std::int64_t* at = array.data(); at != array.data() + array.size(); ++at) {
        if (*at < input.lowest || *at >= input.bound) {
          throw py::value_error(input.name + " has the value " + std::to_string(*at) +
                                ", and the graph takes " + std::to_string(input.lowest) + " to " +
                                std::to_string(input.bound - 1));
        }
        integers.back().push_back(static_cast<std::int32_t>(*at));
      }
    }

    std::vector<float> parameters;
    std::vector<std::vector<float>> floats;
    std::vector<std::vector<std::int32_t>> integers;
    std::vector<exact::InputValues> values;
  };

  static std::vector<float> ConstantOf(const exact::Constant& constant, const py::object& given) {
    if (given.is_none()) {
      throw py::value_error("the graph has constants, such as " + constant.name +
                            ": give constants={name: array}, or the path of their file");
    }
    const py::dict named =
        py::isinstance<py::dict>(given)
            ? py::dict(given)
            : py::dict(py::module_::import("ostraka_export")
                           .attr("read_tensors")(py::module_::import("os").attr("fsdecode")(
                               py::bytes(PathOf(given, "constants")))));
    std::vector<float> values =
        FloatsOf(Given::Entry(named, constant.name, "constant"), constant.type, constant.name);
    if (exact::HashOfConstant(values) != constant.hash) {
      throw py::value_error("constant " + constant.name + " has other values than the graph names");
    }
    return values;
  }

  std::unique_ptr<Threads> threads_;
  std::string text_;
  exact::Graph graph_;
  std::optional<exact::Runner> runner_;  // set by the constructor
  // By device name; each shares the memory of runner_.
  std::map<std::string, std::unique_ptr<train::GraphEngine>> engines_;
  std::mutex turn_;  // locked without the GIL
};

}  // namespace
}  // namespace ostraka::python

OSTRAKA_READY_CLASS(ostraka::python::Graph);

namespace ostraka::python {

void AddGraphs(py::module_& module) {
  py::class_<Graph>(
      module, "Graph",
      "A graph file, its loss and its gradient by the exact kernels: equal to the bit on every "
      "machine.\n\n    graph = ostraka.Graph('gpt.graph')\n    loss, gradients = "
      "graph.gradient(parameters, tokens=tokens, targets=targets)")
      .def(py::init<const py::object&, const py::object&, const py::object&>(), py::arg("path"),
           py::kw_only(), py::arg("constants") = py::none(), py::arg("threads") = py::none(),
           "Graph(path, *, constants=None, threads=None)\n"
           "\n"
           "Reads, checks and plans the file. `constants` are the frozen tensors that it names: a "
           "dict of "
           "arrays, or the path of a safetensors file. ValueError with one line for a file that is "
           "no graph.")
      .def(
          "gradient", &Graph::Gradient, py::arg("parameters"), py::kw_only(),
          py::arg("device") = device::kProcessor,
          "gradient(parameters, *, device='cpu', **inputs)\n"
          "\n"
          "(loss, {name: gradient}) at a dict of parameters, on one micro-batch of named inputs. "
          "Arrays and "
          "CPU tensors of the shapes in `parameters` and `inputs`. Threads that share a graph take "
          "turns. An input that is drawn (dropout) is 1 unless it is given. `device` is a name of "
          "ostraka.devices(), or 'auto' for the fastest that computes "
          "the processor's bits; no bit depends on it. If it fails, the processor computes, and "
          "notices() says so. ValueError if a device that is named cannot be used at all.")
      .def("notices", &Graph::Notices,
           "notices()\n"
           "\n"
           "What happened to devices since the last call, a line each.")
      .def(
          "__reduce__",
          [](const py::object&) -> py::object {
            throw py::type_error(
                "a Graph holds threads and plans, and is not copied or pickled: give the path, and "
                "make ostraka.Graph(path) where it is needed");
          })
      .def("loss", &Graph::Loss, py::arg("parameters"),
           "loss(parameters, **inputs)\n"
           "\n"
           "The loss alone.")
      .def_property_readonly("id", &Graph::id, "The hash that manifests name the file by.")
      .def_property_readonly("text", &Graph::text, "The file.")
      .def_property_readonly("parameters", &Graph::Parameters,
                             "{name: shape}, in the file's order.")
      .def_property_readonly("inputs", &Graph::Inputs, "{name: type}, such as i32[8,64].")
      .def_property_readonly("peak_bytes", &Graph::peak_bytes, "Memory that a gradient needs.")
      .def_property_readonly("operations", &Graph::operations,
                             "Floating-point operations of a gradient.");
  module.def(
      "export",
      [](const py::args& arguments, const py::kwargs& keywords) {
        return py::module_::import("ostraka_export").attr("export")(*arguments, **keywords);
      },
      "export(module, example, path, *, loss=None, initial=None, overwrite=False, check=True)\n"
      "\n"
      "Writes a PyTorch module as a graph file, for `ostraka run init --model graph:FILE`. "
      "`example` is a tuple of inputs, or a dict by the names that forward has, "
      "whose shapes become the micro-batch's; the last one, of integers, is `targets`. The "
      "module returns its "
      "loss, or logits with loss='cross_entropy'. Parameters with requires_grad=False and buffers "
      "become constants, "
      "in PATH.constants.safetensors. `initial` says how a run draws parameters, {pattern: 'normal "
      "2e-02'}; "
      "otherwise it is guessed from their values. Before a file is written, `check` compares the "
      "graph's loss and "
      "gradients with eager PyTorch's. Needs torch 2.5 or later. Returns a report; "
      "raises a ValueError of "
      "one line that names the module's place and a remedy.");
}

}  // namespace ostraka::python

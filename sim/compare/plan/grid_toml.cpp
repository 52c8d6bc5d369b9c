#include "sim/compare/plan/grid_toml.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <sstream>

#include "node/base/suggest.h"
#include "node/base/toml_text.h"
#include "sim/compare/plan/toml.h"

namespace ostraka::compare {
namespace {

using base::InvalidArgument;
using base::Status;

constexpr std::size_t kMaxRange = 10'000;

Status At(const toml::node& node, const std::string& message) {
  return InvalidArgument("grid line " + std::to_string(node.source().begin.line) + ": " + message);
}

// --- single values; the message says what the value must be -------------------------------------

Status Read(const toml::node& node, std::vector<std::string>& values) {
  const auto text = node.value_exact<std::string>();
  if (!text || text->empty()) return InvalidArgument("must be a string or a list of strings");
  values.push_back(*text);
  return base::OkStatus();
}

Status Read(const toml::node& node, std::vector<double>& values) {
  const auto number = node.value<double>();
  if (!number || node.is_boolean()) return InvalidArgument("must be a number or a list of numbers");
  values.push_back(*number);
  return base::OkStatus();
}

bool ReadRange(const std::string& text, std::vector<std::uint64_t>& values) {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  const char* const end = text.data() + text.size();
  const auto begin = std::from_chars(text.data(), end, first);
  if (begin.ec != std::errc() || end - begin.ptr < 3 || begin.ptr[0] != '.' ||
      begin.ptr[1] != '.') {
    return false;
  }
  const auto rest = std::from_chars(begin.ptr + 2, end, last);
  if (rest.ec != std::errc() || rest.ptr != end || last < first || last - first >= kMaxRange) {
    return false;
  }
  for (std::uint64_t value = first; value <= last; ++value) values.push_back(value);
  return true;
}

Status Read(const toml::node& node, std::vector<std::uint64_t>& values) {
  if (const auto text = node.value_exact<std::string>(); text && ReadRange(*text, values)) {
    return base::OkStatus();
  }
  const auto number = node.value_exact<std::int64_t>();
  if (!number || *number < 0) {
    return InvalidArgument(
        "must be a whole number of at least 0, a range such as \"0..4\", or a list of them");
  }
  values.push_back(static_cast<std::uint64_t>(*number));
  return base::OkStatus();
}

// --- keys ---------------------------------------------------------------------------------------

struct Key {
  std::string name;
  std::function<Status(const toml::node&)> read;
  std::function<std::string()> write;
};

std::string TextOf(const std::string& value) {
  std::ostringstream text;
  text << toml::toml_formatter(toml::value<std::string>(value), toml::format_flags::none);
  return text.str();
}
std::string TextOf(std::uint64_t value) { return std::to_string(value); }
std::string TextOf(double value) {
  const std::string text = NumberText(value);
  // A float in TOML needs a point or an exponent.
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

template <typename T>
Key ListKey(std::string name, std::vector<T>& values) {
  return {std::move(name),
          [&values](const toml::node& node) -> Status {
            values.clear();
            const toml::array* array = node.as_array();
            if (array == nullptr) return Read(node, values);
            if (array->empty()) return InvalidArgument("must not be an empty list");
            for (const toml::node& element : *array) RETURN_IF_ERROR(Read(element, values));
            return base::OkStatus();
          },
          [&values] {
            std::string text;
            for (const T& value : values) text += (text.empty() ? "" : ", ") + TextOf(value);
            return "[" + text + "]";
          }};
}

Key CountKey(std::string name, std::uint64_t& value) {
  return {std::move(name),
          [&value](const toml::node& node) -> Status {
            const auto number = node.value_exact<std::int64_t>();
            if (!number || *number < 0) {
              return InvalidArgument("must be a whole number of at least 0");
            }
            value = static_cast<std::uint64_t>(*number);
            return base::OkStatus();
          },
          [&value] { return TextOf(value); }};
}

Key TextKey(std::string name, std::string& value) {
  return {std::move(name),
          [&value](const toml::node& node) -> Status {
            const auto text = node.value_exact<std::string>();
            if (!text) return InvalidArgument("must be a string");
            value = *text;
            return base::OkStatus();
          },
          [&value] { return TextOf(value); }};
}

Key FlagKey(std::string name, bool& value) {
  return {std::move(name),
          [&value](const toml::node& node) -> Status {
            const auto flag = node.value_exact<bool>();
            if (!flag) return InvalidArgument("must be true or false");
            value = *flag;
            return base::OkStatus();
          },
          [&value] { return value ? "true" : "false"; }};
}

std::vector<Key> KeysOf(Grid& grid) {
  return {TextKey("name", grid.name),
          ListKey("data", grid.data),
          ListKey("model", grid.model),
          ListKey("hidden", grid.hidden),
          ListKey("partition", grid.partition),
          ListKey("peers", grid.peers),
          ListKey("byzantine", grid.byzantine),
          ListKey("tolerate", grid.tolerate),
          ListKey("rules", grid.rules),
          ListKey("attacks", grid.attacks),
          CountKey("attack_from", grid.attack_from),
          ListKey("seeds", grid.seeds),
          CountKey("steps", grid.steps),
          CountKey("batch_size", grid.batch_size),
          CountKey("evaluate_every", grid.evaluate_every),
          TextKey("score", grid.score),
          TextKey("optimizer", grid.optimizer),
          ListKey("inner_steps", grid.inner_steps),
          ListKey("outer_rate", grid.outer_rate),
          ListKey("outer_momentum", grid.outer_momentum),
          ListKey("learning_rate", grid.learning_rate),
          ListKey("schedule", grid.schedule),
          CountKey("warmup_steps", grid.warmup_steps),
          ListKey("momentum", grid.momentum),
          ListKey("worker_momentum", grid.worker_momentum),
          ListKey("weight_decay", grid.weight_decay),
          FlagKey("study", grid.study)};
}

base::StatusOr<Grid> PresetOf(const toml::node& node) {
  const auto name = node.value_exact<std::string>();
  if (!name) return At(node, "preset must be a string");
  const auto text = PresetText(*name);
  if (!text.ok()) return At(node, base::MessageOf(text.status()));
  return ParseGrid(*text);
}

}  // namespace

base::StatusOr<Grid> ParseGrid(std::string_view text) {
  const auto ascii = base::AsciiToml(text);
  if (!ascii.ok()) return InvalidArgument("grid " + base::MessageOf(ascii.status()));
  const toml::parse_result parsed = toml::parse(*ascii);
  if (!parsed) {
    const auto& error = parsed.error();
    return InvalidArgument("grid line " + std::to_string(error.source().begin.line) + ": " +
                           std::string(error.description()));
  }
  Grid grid;
  if (const toml::node* preset = parsed.table().get("preset"); preset != nullptr) {
    ASSIGN_OR_RETURN(grid, PresetOf(*preset));
  }
  const std::vector<Key> keys = KeysOf(grid);
  std::vector<std::string> names = {"preset"};
  for (const Key& key : keys) names.push_back(key.name);
  for (const auto& [name, node] : parsed.table()) {
    const std::string own(name.str());
    const auto key = std::find_if(keys.begin(), keys.end(),
                                  [&own](const Key& known) { return known.name == own; });
    if (key == keys.end()) {
      if (own == "preset") continue;
      return At(node, "unknown key '" + own + "'" + base::SuggestionFor(own, names));
    }
    const Status status = key->read(node);
    if (!status.ok()) return At(node, own + " " + base::MessageOf(status));
  }
  return grid;
}

std::string WriteGrid(const Grid& grid) {
  Grid copy = grid;
  std::string text = "# The grid of this comparison, every key written out.\n";
  for (const Key& key : KeysOf(copy)) {
    // An empty list stands for a default that cannot be written, so it is left out.
    const std::string value = key.write();
    if (value != "[]") text += key.name + " = " + value + "\n";
  }
  return text;
}

}  // namespace ostraka::compare

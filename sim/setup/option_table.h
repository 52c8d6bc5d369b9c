// Every option of a simulation, declared once: its name in a replay file, where it stands in
// SimOptions, and its flag and help on the command line (node/cli/sim). The manual follows from it.
//
// Thread safety: constants and pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/setup/options.h"

namespace ostraka::sim {

// Where an option stands. A duration is written in nanoseconds in a replay file and given in
// seconds on the command line.
using OptionValue =
    std::variant<std::uint32_t*, std::uint64_t*, double*, bool*, std::string*, base::Duration*>;

// How an option with a type of its own is written and read.
struct OptionWords {
  std::function<std::string(const SimOptions&)> write;
  std::function<bool(std::string_view, SimOptions&)> read;
};

struct SimOption {
  std::string_view name;  // in a replay file
  std::variant<OptionValue (*)(SimOptions&), OptionWords> value;
  // Left out of the text at its default. The text names the run, so an option added this way
  // changes only the runs that use it.
  bool only_if_set = false;
  // Of `ostraka sim`; empty: it has none, or its value follows from other flags too.
  std::string_view flag = {};
  std::string_view help = {};
};

// In the order of the text.
const std::vector<SimOption>& AllOptions();

std::string WriteOption(const SimOption& option, const SimOptions& options);
// False: the text is no value of it.
bool ReadOption(const SimOption& option, std::string_view text, SimOptions& options);

}  // namespace ostraka::sim

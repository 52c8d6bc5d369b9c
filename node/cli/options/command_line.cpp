#include "node/cli/options/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace ostraka::cli {

std::string ShellWord(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string OptionsGiven(const CLI::App& command, const std::set<std::string>& without) {
  std::string line;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string name = "--" + option->get_lnames().front();
    if (without.contains(name)) continue;
    if (option->get_expected_max() == 0) {  // a flag
      line += " " + name;
      continue;
    }
    for (const std::string& value : option->results()) line += " " + name + " " + ShellWord(value);
  }
  return line;
}

}  // namespace ostraka::cli

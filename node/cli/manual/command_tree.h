// A command and its subcommands as plain data, read from their declarations.
//
// Thread safety: immutable values.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ostraka::cli {

// An option, or a word without a name such as FILE.
struct OptionText {
  std::vector<std::string> names;    // "-h", "--help"; a word: its only name
  std::string value;                 // what follows the name, such as "UINT"; empty for a flag
  std::string limits;                // of the value, such as "INT in [1 - 1024]"
  std::vector<std::string> choices;  // ChoicesOf; empty: any value
  std::string fallback;              // the default value
  std::string meaning;
  bool required = false;
  bool repeats = false;  // takes several values
};

struct CommandText {
  std::string path;  // "ostraka key new"
  std::string name;  // "new"
  std::string summary;
  std::string footer;  // examples, and whatever --help prints last
  std::vector<OptionText> options;
  std::vector<OptionText> words;
  std::vector<CommandText> commands;
};

// `app` and all below it, in the order of --help and without what --help hides. `above` is the path
// of the command that `app` belongs to, empty for the program.
CommandText TreeOf(CLI::App& app, const std::string& above = "");

}  // namespace ostraka::cli

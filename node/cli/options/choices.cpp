#include "node/cli/options/choices.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "node/base/check.h"

namespace ostraka::cli {
namespace {

constexpr std::string_view kMark = "choices";

}  // namespace

// CLI11 has no place for data on an option, so an inactive check carries the list in its name.
CLI::Option* OfferChoices(CLI::Option* option, const std::vector<std::string>& choices) {
  std::string text(kMark);
  for (const std::string& choice : choices) {
    OSTRAKA_CHECK(!choice.empty() && choice.find_first_of(" '\n") == std::string::npos);
    text += " " + choice;
  }
  return option->check(CLI::Validator().active(false).name(text));
}

std::vector<std::string> ChoicesOf(CLI::Option& option) {
  std::vector<std::string> choices;
  // CLI11 says in no other way how many checks there are.
  try {
    for (int i = 0;; ++i) {
      const std::string text = option.get_validator(i)->get_name();
      if (!text.starts_with(kMark)) continue;
      for (std::size_t at = kMark.size(); at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at + 1), text.size());
        choices.push_back(text.substr(at + 1, end - at - 1));
        at = end;
      }
    }
  } catch (const CLI::OptionNotFound&) {
    return choices;
  }
}

}  // namespace ostraka::cli

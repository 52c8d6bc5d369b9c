// ostraka manual: the manual page and the completions of shells.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "node/base/suggest.h"
#include "node/base/version.h"
#include "node/cli/manual/command_tree.h"
#include "node/cli/manual/commands.h"
#include "node/cli/manual/completions.h"
#include "node/cli/manual/man_page.h"
#include "node/cli/options/choices.h"

namespace ostraka::cli {
namespace {

constexpr const char* kForms[] = {"man", "bash", "zsh", "fish"};

ExitCode Print(CLI::App& program, const std::string& form) {
  const CommandText tree = TreeOf(program);
  std::string text;
  if (form == "man") text = ManPage(tree, base::ProgramVersion());
  if (form == "bash") text = BashCompletion(tree);
  if (form == "zsh") text = ZshCompletion(tree);
  if (form == "fish") text = FishCompletion(tree);
  if (text.empty()) {
    return Fail(base::InvalidArgument("unknown form '" + form + "'" +
                                      base::SuggestionFor(form, TextsOf(kForms))));
  }
  std::fputs(text.c_str(), stdout);
  return kDone;
}

}  // namespace

void AddManualCommand(CLI::App& program, Invocation& invocation) {
  auto* command =
      program.add_subcommand("manual", "print the manual page, or the completions of a shell");
  auto form = std::make_shared<std::string>("man");
  OfferChoices(
      command->add_option("form", *form,
                          "man (the page, for `man -l -`), bash, zsh or fish (completions)"),
      TextsOf(kForms))
      ->capture_default_str();
  command->footer(
      "Examples: ostraka manual | man -l -\n"
      "          source <(ostraka manual bash)");
  command->callback([&program, &invocation, form] {
    invocation.body = [&program, form] { return Print(program, *form); };
  });
}

}  // namespace ostraka::cli

// ostraka: the command line. Parses, runs the chosen subcommand, exits.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "crypto/sign.h"
#include "node/cli/commands.h"

namespace {

using ostraka::cli::ExitCode;

constexpr char kDescription[] =
    "ostraka: train one model together with people whom nobody vouches for.\n"
    "Peers check each other's gradients and banish cheats by evidence.";
constexpr char kFooter[] =
    "Example: ostraka swarm\n"
    "  eight real nodes on this machine, three of them liars; watch them being banished\n"
    "Exit codes: 0 done, 1 came out negative, 2 bad usage or input, 3 environment";

int Main(int argc, char** argv) {
  if (const auto ready = ostraka::crypto::Initialize(); !ready.ok()) {
    return ostraka::cli::Fail(ready);
  }
  CLI::App program(kDescription, "ostraka");
  program.footer(kFooter);
  program.require_subcommand(1);
  program.set_version_flag("--version", "ostraka " OSTRAKA_VERSION);
  ostraka::cli::Invocation invocation;
  ostraka::cli::AddSwarmCommand(program, invocation);
  ostraka::cli::AddNodeCommand(program, invocation);
  ostraka::cli::AddKeyCommand(program, invocation);
  ostraka::cli::AddRunCommand(program, invocation);
  ostraka::cli::AddLedgerCommand(program, invocation);
  ostraka::cli::AddSimCommand(program, invocation);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return program.exit(help);
  } catch (const CLI::ParseError& error) {
    const std::string at = argc > 1 && argv[1][0] != '-' ? std::string(" ") + argv[1] : "";
    return ostraka::cli::Fail(ostraka::base::InvalidArgument(std::string(error.what()) +
                                                             " (see `ostraka" + at + " --help`)"));
  }
  const ExitCode code = invocation.body();
  // Output that could not be written (a full disk, a closed pipe) is no success.
  if (std::fflush(stdout) != 0) {
    return ostraka::cli::Fail(ostraka::base::Unavailable("cannot write to standard output"));
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) { return Main(argc, argv); }

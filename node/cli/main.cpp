// ostraka: the command line. Parses, runs the chosen subcommand, exits.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/sign.h"
#include "node/base/version.h"
#include "node/cli/arrays/commands.h"
#include "node/cli/data/commands.h"
#include "node/cli/dht/commands.h"
#include "node/cli/doctor/commands.h"
#include "node/cli/join/commands.h"
#include "node/cli/manual/commands.h"
#include "node/cli/model/commands.h"
#include "node/cli/node/commands.h"
#include "node/cli/portmap/commands.h"
#include "node/cli/sim/commands.h"
#include "node/cli/swarm/commands.h"
#include "node/cli/terminal/exit_code.h"
#include "node/cli/terminal/usage.h"
#include "node/device/host_wire.h"
#include "node/device/serve_device.h"
#include "node/net/link/tls_identity.h"

namespace {

using ostraka::cli::ExitCode;

constexpr char kDescription[] =
    "ostraka: train one model together with peers that need not trust each other.\n"
    "Peers check each other's gradients and ban attackers by evidence.";
constexpr char kFooter[] =
    "Example: ostraka swarm\n"
    "  runs eight real nodes on this machine, three of them attackers, and shows their bans\n"
    "Exit codes: 0 done, 1 negative result, 2 bad usage or input, 3 environment";

// The text tells who updates OpenSSL: a release of this project if the program holds it, else the
// system (SECURITY.md).
#ifdef OSTRAKA_STATIC
constexpr char kTlsFrom[] = "in this program";
#else
constexpr char kTlsFrom[] = "of this system";
#endif

std::string VersionText() {
  return "ostraka " + ostraka::base::ProgramVersion() + "\n" + ostraka::net::TlsLibrary() + ", " +
         kTlsFrom;
}

// A parent may have closed our standard descriptors. Files opened later would take their numbers,
// and printed text would corrupt them, for example the ledger. A closed stdout is replaced by
// /dev/full, so that a lost result is not a success.
bool HoldStandardDescriptors() {
  const char* const kStandIns[] = {"/dev/null", "/dev/full", "/dev/null"};
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) == -1 && open(kStandIns[fd], O_RDWR) != fd) return false;
  }
  return true;
}

// Output that cannot be written (a full disk, a closed pipe) turns success into an error.
ExitCode Written(ExitCode code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return ostraka::cli::Fail(
      ostraka::base::Unavailable("cannot write to standard output: check that the disk is not full "
                                 "and the reader still runs"));
}

int Main(int argc, char** argv) {
  ostraka::cli::EndInOneLineWithoutResources();
  if (!HoldStandardDescriptors()) return ExitCode::kEnvironment;
  if (const auto ready = ostraka::crypto::Initialize(); !ready.ok()) {
    return ostraka::cli::Fail(ready);
  }
  CLI::App program(kDescription, "ostraka");
  program.footer(kFooter);
  program.require_subcommand(1);
  program.set_version_flag("--version", &VersionText);
  ostraka::cli::Invocation invocation;
  ostraka::cli::AddSwarmCommand(program, invocation);
  ostraka::cli::AddNodeCommand(program, invocation);
  ostraka::cli::AddKeyCommand(program, invocation);
  ostraka::cli::AddRunCommand(program, invocation);
  ostraka::cli::AddInviteCommand(program, invocation);
  ostraka::cli::AddLinkCommand(program, invocation);
  ostraka::cli::AddJoinCommand(program, invocation);
  ostraka::cli::AddStatusCommand(program, invocation);
  ostraka::cli::AddLeaveCommand(program, invocation);
  ostraka::cli::AddPauseCommands(program, invocation);
  ostraka::cli::AddDoctorCommand(program, invocation);
  ostraka::cli::AddLedgerCommand(program, invocation);
  ostraka::cli::AddEvidenceCommand(program, invocation);
  ostraka::cli::AddReplayCommand(program, invocation);
  ostraka::cli::AddExportCommand(program, invocation);
  ostraka::cli::AddModelCommand(program, invocation);
  ostraka::cli::AddGenerateCommand(program, invocation);
  ostraka::cli::AddMemoryCommand(program, invocation);
  ostraka::cli::AddDataCommand(program, invocation);
  ostraka::cli::AddSimCommand(program, invocation);
  ostraka::cli::AddCompareCommand(program, invocation);
  ostraka::cli::AddAggregateCommand(program, invocation);
  ostraka::cli::AddAttackCommand(program, invocation);
  ostraka::cli::AddBenchCommand(program, invocation);
  ostraka::cli::AddDhtCommand(program, invocation);
  ostraka::cli::AddPortmapCommand(program, invocation);
  ostraka::cli::AddManualCommand(program, invocation);
  ostraka::cli::ReadOptionsAsWritten(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return Written(static_cast<ExitCode>(program.exit(help)));
  } catch (const CLI::ParseError& error) {
    // Who types the name alone wants to know what this is; the error below lists the subcommands.
    if (argc <= 1) std::fprintf(stderr, "%s\n\n%s\n\n", kDescription, kFooter);
    return ostraka::cli::Fail(
        ostraka::cli::UsageError(program, {argv + std::min(argc, 1), argv + argc}, error));
  }
  return Written(invocation.body());
}

}  // namespace

int main(int argc, char** argv) {
  // A child of this program's own, with a device's driver: no command for people.
  if (argc == 3 && std::string_view(argv[1]) == ostraka::device::kDeviceHost) {
    return ostraka::device::RunDeviceHost(argv[2]);
  }
  return Main(argc, argv);
}

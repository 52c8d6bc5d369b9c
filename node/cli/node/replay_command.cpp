// ostraka replay: runs what `ostraka node --record` recorded through the member's machine again,
// and says whether it asks for the same. Needs neither key nor data nor network.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "node/base/version.h"
#include "node/cli/node/commands.h"
#include "node/cli/terminal/exit_code.h"
#include "node/cli/views/node_json.h"
#include "node/config/manifest_toml.h"
#include "node/protocol/recording/replay_run.h"
#include "node/store/recording_file.h"

namespace ostraka::cli {
namespace {

struct ReplayOptions {
  std::string file;
  bool cut = false;
  bool calls = false;
  bool json = false;
};

base::StatusOr<std::shared_ptr<const protocol::Manifest>> ManifestOf(
    const std::string& path, const wire::RecordingHead& head) {
  if (head.protocol_version != wire::kProtocolVersion || head.draft != wire::kProtocolDraft) {
    const auto version = [](std::uint32_t number, std::uint32_t draft) {
      return std::to_string(number) + ", draft " + std::to_string(draft);
    };
    return base::InvalidArgument(
        path + " was recorded by protocol version " + version(head.protocol_version, head.draft) +
        ", and this is version " + version(wire::kProtocolVersion, wire::kProtocolDraft) +
        ": replay it with the ostraka that recorded it");
  }
  auto manifest = config::ParseManifest(std::string(head.manifest.begin(), head.manifest.end()));
  if (!manifest.ok()) {
    return base::InvalidArgument(path + ": its manifest is damaged (" +
                                 base::MessageOf(manifest.status()) + "): copy it again");
  }
  return std::make_shared<const protocol::Manifest>(*std::move(manifest));
}

void PrintCall(base::Time at, const std::string& line) {
  std::printf("%9lld.%03lld s  %s\n", static_cast<long long>(at.ns / 1'000'000'000),
              static_cast<long long>(at.ns / 1'000'000 % 1000), PrintableLine(line).c_str());
}

nlohmann::json ReplayJson(const store::RecordingContent& content,
                          const protocol::Manifest& manifest, const protocol::Replayed& replayed) {
  nlohmann::json result = {{"run_id", manifest.run_id.Hex()},
                           {"peer", content.head.self.Hex()},
                           {"recorded_by", content.head.program},
                           {"cut", content.cut},
                           {"calls", content.calls.size()},
                           {"calls_equal", replayed.turns},
                           {"jobs_computed_again", replayed.jobs_again},
                           {"seconds", (replayed.until - base::Time{}).seconds()},
                           {"ends_unsent", replayed.ends_unsent},
                           {"ended_within_call", replayed.ended_within_call},
                           {"equal", !replayed.difference}};
  if (replayed.first_step) result["first_step"] = *replayed.first_step;
  if (replayed.last_step) result["last_step"] = *replayed.last_step;
  if (replayed.halted) result["halted"] = replayed.halted->reason;
  if (replayed.difference) result["difference"] = *replayed.difference;
  return result;
}

std::string ResultLine(const protocol::Replayed& replayed, std::size_t calls) {
  if (replayed.difference) return "DIFFERS at " + PrintableLine(*replayed.difference);
  if (replayed.ends_unsent) {
    return "equal up to the last " + std::to_string(calls - replayed.turns) +
           " calls, which rest on a message that was never sent";
  }
  if (replayed.ended_within_call) {
    return "equal up to the last call; the node ended within that one, and it returns here: the "
           "node was killed, or the bug needs its machine";
  }
  return "all outputs are equal";
}

void Print(const wire::RecordingHead& head, const protocol::Manifest& manifest,
           const protocol::Replayed& replayed, std::size_t calls) {
  std::string steps = "no step";
  if (replayed.first_step) {
    steps = "steps " + std::to_string(*replayed.first_step) + " to " +
            std::to_string(*replayed.last_step);
  }
  std::printf("member %s of run %s: %s, %zu calls in %.1f s; %llu jobs computed again\n",
              head.self.Short().c_str(), manifest.run_id.Short().c_str(), steps.c_str(), calls,
              (replayed.until - base::Time{}).seconds(),
              static_cast<unsigned long long>(replayed.jobs_again));
  if (replayed.halted)
    std::printf("it halted: %s\n", PrintableLine(replayed.halted->reason).c_str());
  std::printf("%s\n", ResultLine(replayed, calls).c_str());
  if (replayed.difference && head.program != base::ProgramVersion()) {
    std::printf("it was recorded by ostraka %s, and this is %s: replay it with that one first\n",
                PrintableLine(head.program).c_str(), base::ProgramVersion().c_str());
  }
}

base::StatusOr<ExitCode> ReplayFile(const ReplayOptions& options) {
  ASSIGN_OR_RETURN(const store::RecordingContent content, store::ReadRecording(options.file));
  const std::size_t calls = content.calls.size();
  if (content.cut && !options.cut) {
    return base::InvalidArgument(options.file + " is cut after " + std::to_string(calls) +
                                 " calls: copy it again, or replay its whole entries by --cut");
  }
  if (calls == 0) {
    return base::InvalidArgument(options.file +
                                 " holds no call: its node ended before it was given anything");
  }
  ASSIGN_OR_RETURN(const auto manifest, ManifestOf(options.file, content.head));
  const auto replayed = protocol::ReplayRecording(content.head, manifest, content.calls,
                                                  options.calls ? PrintCall : protocol::SeeTurn());
  if (!replayed.ok()) {
    return base::InvalidArgument(
        options.file + " is damaged: " + base::MessageOf(replayed.status()) + ": copy it again");
  }
  if (options.json) {
    PrintJson(ReplayJson(content, *manifest, *replayed));
  } else {
    Print(content.head, *manifest, *replayed, calls);
  }
  return replayed->difference ? kNegative : kDone;
}

}  // namespace

void AddReplayCommand(CLI::App& program, Invocation& invocation) {
  auto* command =
      program.add_subcommand("replay", "run what `ostraka node --record` recorded once more");
  auto options = std::make_shared<ReplayOptions>();
  command->add_option("recording", options->file, "a file that `ostraka node --record` wrote")
      ->required();
  command->add_flag("--cut", options->cut, "replay the whole entries of a file that is cut");
  command->add_flag("--calls", options->calls, "print a line for each call of the machine");
  command->add_flag("--json", options->json, "print the result as one JSON object");
  command->footer(
      "Example: ostraka replay recordings/0123456789abcdef-0011223344556677-1.recording\n"
      "A recording holds what one node was given and said: messages, links, timers, results, and "
      "its store at the start. It holds no key, so it can be sent with a report of a bug; who has "
      "it learns no more than a member of the run.\n"
      "Exit codes: 0 all outputs that the recording holds are equal; 1 they differ: the bug "
      "depends on something that is "
      "not recorded; 2 the file is no recording of this version, or is cut or damaged; 3 it cannot "
      "be read");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const auto code = ReplayFile(*options);
      return code.ok() ? *code : Fail(code.status());
    };
  });
}

}  // namespace ostraka::cli

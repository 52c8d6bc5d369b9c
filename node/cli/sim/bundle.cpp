#include "node/cli/sim/bundle.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "node/cli/terminal/exit_code.h"
#include "sim/report/sequence.h"
#include "sim/run/cluster.h"

namespace ostraka::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEventsKept = 400;
constexpr std::uint64_t kMostFolders = 10'000;  // of one seed

using Files = std::map<std::string, std::string>;  // text by name

base::StatusOr<Files> Record(const sim::SimOptions& options) {
  sim::SequenceRecorder recorder(kEventsKept);
  ASSIGN_OR_RETURN(const sim::Roster roster, sim::RosterOf(options));
  RETURN_IF_ERROR(sim::RunSimulation(options, {}, &recorder).status());
  return Files{{"options.replay", sim::FormatOptions(options) + "\n"},
               {"events.txt", recorder.Lines()},
               {"sequence.mmd", recorder.Mermaid(roster)}};
}

base::Status WriteText(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? base::OkStatus() : base::Unavailable("cannot write '" + path + "'");
}

bool Holds(const std::string& folder, const Files& files) {
  for (const auto& [name, text] : files) {
    std::ifstream file(folder + "/" + name, std::ios::binary);
    const std::string held{std::istreambuf_iterator<char>(file), {}};
    if (!file || held != text) return false;
  }
  return true;
}

}  // namespace

base::StatusOr<std::string> WriteBundle(const sim::SimOptions& options) {
  ASSIGN_OR_RETURN(const Files files, Record(options));
  const std::string name = "ostraka-sim-seed-" + std::to_string(options.seed);
  for (std::uint64_t i = 1; i <= kMostFolders; ++i) {
    const std::string folder = i == 1 ? name : name + "-" + std::to_string(i);
    std::error_code error;
    if (fs::create_directory(folder, error)) {
      for (const auto& [file, text] : files) RETURN_IF_ERROR(WriteText(folder + "/" + file, text));
      return folder;
    }
    if (!fs::exists(fs::symlink_status(folder))) {
      return base::Unavailable("cannot make folder '" + folder + "': " + error.message());
    }
    if (Holds(folder, files)) return folder;
  }
  return base::Unavailable("there are too many folders '" + name + "': remove some");
}

nlohmann::json ReplayOf(const sim::SimOptions& options) {
  nlohmann::json replay = {{"options", sim::FormatOptions(options)}};
  const auto folder = WriteBundle(options);
  if (folder.ok()) {
    replay["replay"] = "ostraka sim --replay " + *folder + "/options.replay";
  } else {
    replay["replay"] = "ostraka sim --replay FILE";
    replay["not_written"] = base::MessageOf(folder.status());
  }
  return replay;
}

std::string ReplayText(const nlohmann::json& replay) {
  const std::string command = "  replay: " + replay.at("replay").get<std::string>() + "\n";
  if (!replay.contains("not_written")) return command;
  return command + "  (" + PrintableLine(replay["not_written"].get<std::string>()) +
         "; write the next line to FILE)\n" + replay.at("options").get<std::string>() + "\n";
}

}  // namespace ostraka::cli

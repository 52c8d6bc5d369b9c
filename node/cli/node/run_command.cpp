// ostraka run init|show|check: run manifests. (run recover: run_recover_command.cpp)
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "crypto/sign.h"
#include "node/cli/node/commands.h"
#include "node/cli/node/join_options.h"
#include "node/cli/options/manifest_options.h"
#include "node/cli/options/source_options.h"
#include "node/cli/terminal/human.h"
#include "node/cli/terminal/member_names.h"
#include "node/cli/terminal/new_file.h"
#include "node/cli/views/disk_text.h"
#include "node/cli/views/node_json.h"
#include "node/config/data_places.h"
#include "node/config/manifest_toml.h"
#include "node/config/origin.h"
#include "node/config/run_memory.h"
#include "node/config/run_work.h"
#include "node/config/stream_access.h"
#include "node/config/training.h"
#include "node/os/endpoint.h"
#include "node/protocol/ground/exchange.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/member_name.h"
#include "node/protocol/ground/reach.h"
#include "node/protocol/ground/schedule.h"
#include "node/protocol/rules/recomputing.h"
#include "node/train/exact/constants_file.h"
#include "node/train/trainer_loader.h"

namespace ostraka::cli {
namespace {

struct RunOptions {
  std::string file;
  std::vector<std::string> members;     // NAME=ID@HOST:PORT
  std::vector<std::string> only_dials;  // names or ids of some of them
  ManifestOptions manifest;
  std::string weights;  // a file; empty: drawn parameters
  JoinOptions join;
  std::uint32_t faults = 0;
  std::string data;              // for check: where the run's data is on this machine
  bool unnamed_sources = false;  // for init: the addresses of the data stay out of the manifest
  std::string graph;             // for check: where its graph file is, if it trains one
  bool json = false;
};

base::StatusOr<protocol::Member> ParseMember(const std::string& text) {
  protocol::Member member;
  const std::size_t at = text.find('@');
  std::string id = text.substr(0, at);
  const std::size_t equals = id.find('=');
  if (equals != std::string::npos) {
    member.name = id.substr(0, equals);
    id.erase(0, equals + 1);
    const base::Status good = protocol::CheckMemberName(member.name);
    if (!good.ok()) {
      return base::InvalidArgument("--member '" + text + "': " + base::MessageOf(good));
    }
  }
  const auto peer = base::PeerId::FromHexDigits(id);
  if (!peer) {
    return base::InvalidArgument("--member '" + text +
                                 "': write NAME=ID@HOST:PORT or ID@HOST:PORT, the ID as `ostraka "
                                 "key show` prints it");
  }
  if (!crypto::IsKey(*peer)) {
    return base::InvalidArgument(
        "--member '" + text +
        "': nobody can have this id, so some digit of it is wrong: copy it again");
  }
  member.id = *peer;
  if (at == std::string::npos) return member;  // it only dials
  const auto address = os::ParseHostPort(text.substr(at + 1));
  if (!address.ok()) return base::InvalidArgument("--member " + base::MessageOf(address.status()));
  member.address = text.substr(at + 1);
  return member;
}

base::Status MarkDialers(const std::vector<std::string>& names,
                         std::vector<protocol::Member>& members) {
  for (const std::string& name : names) {
    const auto is_named = [&](const protocol::Member& member) {
      return member.name == name || member.id.Hex() == name;
    };
    const auto member = std::find_if(members.begin(), members.end(), is_named);
    if (name.empty() || member == members.end()) {
      return base::InvalidArgument("--only-dials '" + name +
                                   "' is no member: give the name or the id of a --member");
    }
    member->only_dials = true;
  }
  return base::OkStatus();
}

nlohmann::json JsonOfMember(const protocol::Member& member) {
  nlohmann::json result = {
      {"peer", member.id.Hex()}, {"address", member.address}, {"reachable", !member.only_dials}};
  if (!member.name.empty()) result["name"] = member.name;
  return result;
}

void PrintMembers(const std::vector<protocol::Member>& members) {
  std::size_t widest = 0;
  for (const auto& member : members) widest = std::max(widest, member.name.size());
  for (const auto& member : members) {
    const std::string padding(widest - member.name.size(), ' ');
    std::printf("member %s%s%s%s  %s%s\n", member.name.c_str(), padding.c_str(),
                widest == 0 ? "" : "  ", member.id.Hex().c_str(),
                member.address.empty() ? "(dials only)" : PrintableLine(member.address).c_str(),
                member.only_dials ? " (not reachable: owns nothing, others carry for it)" : "");
  }
}

nlohmann::json JoinJson(const protocol::Manifest& manifest) {
  const protocol::JoinPlan& join = manifest.join;
  nlohmann::json allow = nlohmann::json::array();
  nlohmann::json moderators = nlohmann::json::array();
  for (const base::PeerId& id : join.allow) allow.push_back(id.Hex());
  for (const base::PeerId& id : join.moderators) moderators.push_back(id.Hex());
  return {{"policy", protocol::JoinPolicyName(join.policy)},
          {"allow", allow},
          {"moderators", moderators},
          {"quota", join.quota},
          {"seats", protocol::SeatsIn(manifest)}};
}

// What the mode bears is of the members at each time, and those that come may be faulty too.
void PrintJoin(const protocol::Manifest& manifest) {
  const protocol::JoinPlan& join = manifest.join;
  if (join.policy == protocol::JoinPolicy::kClosed) return;
  std::string who;
  if (!join.allow.empty()) who = std::to_string(join.allow.size()) + " by their keys";
  for (const base::PeerId& moderator : join.moderators) {
    who += (who.empty() ? "" : ", ") + std::to_string(join.quota) + " by invites of " +
           moderator.Short();
  }
  std::printf("others may come, to %zu members at once: at most %s\n", protocol::SeatsIn(manifest),
              who.c_str());
}

// A name with its hash cut to the 16 digits that people compare.
std::string ShortName(const std::string& name) {
  const std::size_t at = name.find('@');
  return at == std::string::npos ? name : name.substr(0, at + 1 + 16);
}

// What a step moves, and how long that takes on lines that people have.
void PrintExchange(const protocol::Manifest& manifest, std::uint64_t dimension) {
  const protocol::Exchange exchange = protocol::ExchangeOf(manifest, dimension);
  const auto at = [&](double megabits) {
    const auto bytes = static_cast<double>(std::max(exchange.sent_bytes, exchange.received_bytes));
    return SpanText(bytes * 8 / (megabits * 1e6));
  };
  const std::string steps =
      manifest.training.inner.steps > 1
          ? " for " + std::to_string(manifest.training.inner.steps) + " local steps"
          : "";
  std::printf(
      "%s parameters: each step%s a member sends %s and gets %s: %s at 20 Mbit/s, %s at 100, %s at "
      "1000, beside some delays of its line\n",
      CountText(dimension).c_str(), steps.c_str(), BytesText(exchange.sent_bytes).c_str(),
      BytesText(exchange.received_bytes).c_str(), at(20).c_str(), at(100).c_str(),
      at(1000).c_str());
}

// What is known with the model and the data at hand.
struct Checked {
  std::string unchecked = {};      // what was not checked and why; empty: nothing
  base::TensorLayout layout = {};  // of the model; empty: not known
  std::uint64_t memory = 0;        // bytes that a member needs; 0: not known
};

void PrintSummary(const protocol::Manifest& m, bool json, const Checked& checked = {}) {
  const std::uint64_t dimension = base::ElementCount(checked.layout);
  const auto n = static_cast<std::uint32_t>(m.members.size());
  const auto thresholds =
      protocol::ThresholdsFor(m.mode, n, protocol::GenesisAsynchronousFaults(m.mode, n));
  if (json) {
    nlohmann::json members = nlohmann::json::array();
    for (const auto& member : m.members) members.push_back(JsonOfMember(member));
    nlohmann::json result = {{"run_id", m.run_id.Hex()},
                             {"name", m.name},
                             {"mode", protocol::ModeName(m.mode)},
                             {"members", members},
                             {"tolerates", thresholds.t_s},
                             {"tolerates_asynchronous", thresholds.t_a},
                             {"model", m.training.model},
                             {"data", m.training.data},
                             {"compute_profile", m.compute_profile},
                             {"steps", m.training.steps},
                             {"validators", m.validators},
                             {"learning_rate", m.training.learning_rate},
                             {"momentum", m.training.momentum},
                             {"optimizer", aggregation::OptimizerName(m.training.optimizer)},
                             {"schedule", protocol::ScheduleName(m.training.schedule)},
                             {"clip_norm", m.training.clip_norm},
                             {"inner_steps", m.training.inner.steps},
                             {"batches", m.training.batches},
                             {"most_batches", m.training.most_batches},
                             {"alarm_validators", m.alarm_validators},
                             {"part_codec", protocol::CodecName(m.codecs.parts)},
                             {"result_codec", protocol::CodecName(m.codecs.results)},
                             {"free_delay_ms", protocol::FreeDelayIn(m).each_step.ns / 1'000'000}};
    if (dimension > 0) {
      const protocol::Exchange exchange = protocol::ExchangeOf(m, dimension);
      result["parameters"] = dimension;
      result["step_bytes"] = {{"sent", exchange.sent_bytes}, {"received", exchange.received_bytes}};
      result["disk"] = DiskJson(protocol::DiskOf(m, dimension));
    }
    if (checked.memory > 0) result["memory_bytes"] = checked.memory;
    if (!m.training.data_places.empty()) result["sources"] = m.training.data_places;
    result["join"] = JoinJson(m);
    if (m.origin && m.origin->weights) {
      result["weights"] = {{"state_root", m.origin->state_root.Hex()}};
    } else if (m.origin) {
      result["origin"] = {{"run_id", m.origin->run_id.Hex()},
                          {"step", m.origin->step},
                          {"state_root", m.origin->state_root.Hex()}};
    }
    PrintJson(result);
    return;
  }
  std::printf("run %s%s%s\n", m.run_id.Hex().c_str(), m.name.empty() ? "" : "  ",
              PrintableLine(m.name).c_str());
  std::printf("mode %s: %u members, tolerates %u faulty (%u while messages are late)\n",
              protocol::ModeName(m.mode), n, thresholds.t_s, thresholds.t_a);
  if (m.origin && m.origin->weights) {
    std::printf("begins with trained weights, state %s\n", m.origin->state_root.Short().c_str());
  } else if (m.origin) {
    std::printf("continues run %s after step %llu\n", m.origin->run_id.Short().c_str(),
                static_cast<unsigned long long>(m.origin->step));
  }
  const std::uint32_t spared =
      protocol::SparedValidators(n, protocol::FaultBound(thresholds), m.validators);
  std::printf("trains %s on %s for %llu steps, %s; validators per step: %u%s\n",
              ShortName(m.training.model).c_str(), ShortName(m.training.data).c_str(),
              static_cast<unsigned long long>(m.training.steps),
              protocol::UpdateText(m.training).c_str(), spared,
              spared < m.validators ? ", as many as the mode can spare" : "");
  for (const std::string& place : m.training.data_places) {
    std::printf("source of the data, for nodes with --sources yes: %s\n", place.c_str());
  }
  if (m.alarm_validators > spared) {
    std::printf("after an accusation %u validators for %u steps, of which %u train as well\n",
                m.alarm_validators, m.alarm_steps, m.alarm_validators - spared);
  }
  std::printf("gradients: %s\n", m.compute_profile == protocol::kExact
                                     ? "exact/1, equal in every bit on every machine"
                                     : "tolerant, equal within eps_g");
  if (m.codecs != protocol::Codecs{}) {
    std::printf("sent as: parts %s, aggregates %s\n",
                std::string(protocol::CodecName(m.codecs.parts)).c_str(),
                std::string(protocol::CodecName(m.codecs.results)).c_str());
  }
  std::printf("%s\n", config::PaceText(m).c_str());
  if (dimension > 0) PrintExchange(m, dimension);
  if (checked.memory > 0) {
    std::printf("a member needs about %s of memory (ostraka memory lists what for)\n",
                BytesText(checked.memory).c_str());
  }
  if (dimension > 0) {
    std::printf("it keeps %s\n", DiskText(protocol::DiskOf(m, dimension)).c_str());
  }
  if (thresholds.t_s > 0) {
    const auto delay = protocol::FreeDelayIn(m);
    std::printf(
        "an attacker can make a step of this run last up to %s longer than its work, again and "
        "again, and %s where it validates: a smaller delta_ms, patience_ms and part_timeout_ms "
        "leave it less\n",
        SpanText(static_cast<double>(delay.each_step.ns) / 1e9).c_str(),
        SpanText(static_cast<double>(delay.as_validator.ns) / 1e9).c_str());
  }
  PrintMembers(m.members);
  PrintJoin(m);
}

base::Status CheckFaults(const protocol::Manifest& manifest, std::uint32_t faults) {
  return protocol::CheckTolerates(manifest.mode,
                                  static_cast<std::uint32_t>(manifest.members.size()), faults);
}

base::Status CheckAddresses(const protocol::Manifest& manifest) {
  std::map<std::string, base::PeerId> at;
  for (const protocol::Member& member : manifest.members) {
    if (member.address.empty()) continue;
    const auto [other, is_new] = at.emplace(member.address, member.id);
    if (is_new) continue;
    return base::InvalidArgument("members " + other->second.Short() + " and " + member.id.Short() +
                                 " have one address, " + member.address +
                                 ": give each member its own host or port");
  }
  return base::OkStatus();
}

// Two members without addresses get no link, and nobody carries for members that the manifest calls
// reachable. It is no error, because addresses may come from `ostraka node --peers`.
void TellOfDialers(const protocol::Manifest& manifest) {
  const auto warning = protocol::ReachWarning(protocol::GenesisHead(manifest));
  if (warning) std::fprintf(stderr, "warning: %s\n", warning->c_str());
  std::vector<base::PeerId> dialers;
  for (const protocol::Member& member : manifest.members) {
    if (member.address.empty() && !member.only_dials) dialers.push_back(member.id);
  }
  if (dialers.size() < 2) return;
  std::string text = dialers[0].Short() + " and " + dialers[1].Short();
  if (dialers.size() > 2) text += " and " + std::to_string(dialers.size() - 2) + " more members";
  std::fprintf(stderr,
               "note: %s have no address, so they cannot reach each other, and the run cannot "
               "begin: give all but one an address, here or by `ostraka node --peers`, or say of "
               "them that they cannot be dialed, with `run init --only-dials`\n",
               MemberNames(protocol::NamesOf(manifest.members)).In(text).c_str());
}

// The least number of members with which the mode bears a faulty one.
std::uint32_t LeastProtected(protocol::Mode mode) {
  std::uint32_t n = 3;
  while (protocol::FaultsBorne(mode, n) == 0) ++n;
  return n;
}

// A run that bears nobody is allowed, and says so: its members must trust each other.
void TellOfProtection(const protocol::Manifest& manifest) {
  const auto n = static_cast<std::uint32_t>(manifest.members.size());
  if (protocol::FaultsBorne(manifest.mode, n) > 0) return;
  const std::string least = std::to_string(LeastProtected(manifest.mode));
  std::fprintf(stderr,
               "warning: with %u members nothing is protected: no gradient is checked, one member "
               "that lies spoils the model, and one that is away stops the run for a while; %s "
               "members bear one of them\n",
               n, least.c_str());
  if (manifest.join.policy == protocol::JoinPolicy::kClosed) return;
  std::fprintf(
      stderr,
      "warning: strangers may come into this run, and judge by its first members: as those "
      "bear nobody faulty (F is 0), the key of one alone convicts anybody before a "
      "stranger (docs/evidence.md, 5); begin an open run with 5 members or more\n");
}

// Refuses a model that does not fit its data, or has too few parameters.
base::StatusOr<Checked> CheckTrainer(const protocol::Manifest& manifest,
                                     const train::TrainerOptions& options) {
  const bool is_built_in = options.data == "digits" || options.data == "toy";
  if (options.data_dir.empty() && !is_built_in) {
    return Checked{"whether the model fits the data: say with --data where " + options.data +
                   " is here"};
  }
  const auto trainer = train::MakeTrainer(options);
  // Without the trainer's library the machine can write a manifest for others.
  if (!trainer.ok() && trainer.status().code() == absl::StatusCode::kNotFound &&
      !train::TrainerLibrary().ok()) {
    return Checked{"the model and the data: " + base::MessageOf(trainer.status())};
  }
  if (!trainer.ok()) return trainer.status();
  const std::uint64_t dimension = base::ElementCount((*trainer)->layout());
  RETURN_IF_ERROR(config::CheckDimension(dimension, protocol::SeatsIn(manifest), manifest));
  RETURN_IF_ERROR(
      CheckNoLeak({options.graph, options.constants}, manifest, (*trainer)->InitialParameters({})));
  return Checked{"", (*trainer)->layout(),
                 config::SumOf(config::MemoryRowsOf(manifest, **trainer))};
}

std::shared_ptr<const train::StreamAccess> StreamFor(bool allow_private) {
  return config::StreamAccessOf({.allow_private = allow_private});
}

base::Status CheckNames(const protocol::Manifest& manifest) {
  RETURN_IF_ERROR(CheckAddresses(manifest));
  for (const protocol::Member& member : manifest.members) {
    if (crypto::IsKey(member.id)) continue;
    return base::InvalidArgument("nobody can have the id " + member.id.Hex() +
                                 ", so some digit of it is wrong: make the manifest again");
  }
  return config::CheckTraining(manifest);
}

base::Status Init(const RunOptions& options) {
  ASSIGN_OR_RETURN(protocol::Manifest manifest, MakeManifest(options.manifest));
  for (const std::string& text : options.members) {
    ASSIGN_OR_RETURN(protocol::Member member, ParseMember(text));
    manifest.members.push_back(std::move(member));
  }
  RETURN_IF_ERROR(MarkDialers(options.only_dials, manifest.members));
  ASSIGN_OR_RETURN(manifest.join, JoinPlanOf(options.join, manifest.members.size()));
  std::sort(manifest.members.begin(), manifest.members.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  SetAlarm(options.manifest, manifest);
  RETURN_IF_ERROR(CheckFaults(manifest, options.faults));
  const std::string& data = options.manifest.manifest.training.data;  // as the user wrote it
  if (!options.unnamed_sources) manifest.training.data_places = config::AddressesOf(data);
  for (const std::string& place : manifest.training.data_places) {
    RETURN_IF_ERROR(config::CheckDataPlace(place, options.manifest.allow_private_sources));
  }
  base::Digest nonce;
  crypto::FillRandom(nonce.bytes);
  std::string text = config::WriteManifest(manifest, nonce);
  ASSIGN_OR_RETURN(protocol::Manifest parsed, config::ParseManifest(text));
  const bool is_elsewhere = data.find(':') != std::string::npos;
  RETURN_IF_ERROR(CheckNames(parsed));
  ASSIGN_OR_RETURN(train::TrainerOptions trainer,
                   config::TrainerOptionsOf(
                       parsed, {.data = is_elsewhere ? data : "",
                                .stream = StreamFor(options.manifest.allow_private_sources)}));
  ASSIGN_OR_RETURN(const train::GraphFiles graph, GraphFilesOf(options.manifest));
  trainer.graph = graph.text;
  trainer.constants = graph.constants;
  ASSIGN_OR_RETURN(const Checked checked, CheckTrainer(parsed, trainer));
  if (!options.weights.empty()) {
    if (checked.layout.empty()) {
      return base::FailedPrecondition("--from needs the model here: " + checked.unchecked);
    }
    ASSIGN_OR_RETURN(
        const config::WeightsOrigin weights,
        config::OriginOfWeights(options.weights, checked.layout, manifest.training.optimizer));
    if (!weights.left_out.empty()) {
      std::fprintf(stderr, "note: the model has no tensors %s of %s\n",
                   PrintableLine(weights.left_out).c_str(), options.weights.c_str());
    }
    manifest.origin = weights.origin;
    text = config::WriteManifest(manifest, nonce);
    ASSIGN_OR_RETURN(parsed, config::ParseManifest(text));
  }
  // The manifest comes last: with it there is a run, and all that it names is there.
  const std::string beside = GraphBeside(options.file);
  if (!graph.text.empty()) RETURN_IF_ERROR(WriteNewFile(beside, graph.text));
  if (!graph.constants.empty()) {
    RETURN_IF_ERROR(WriteNewFile(train::ConstantsBeside(beside), graph.constants));
  }
  RETURN_IF_ERROR(WriteNewFile(options.file, text));
  TellOfDialers(parsed);
  TellOfProtection(parsed);
  PrintSummary(parsed, options.json, checked);
  if (!options.weights.empty() && !options.json) {
    std::printf("each member needs the weights too: ostraka node %s --origin %s --key ...\n",
                PrintableLine(options.file).c_str(), PrintableLine(options.weights).c_str());
  }
  return base::OkStatus();
}

// It is no error: the file that all members have may be one with such marks.
base::Status TellOfForeignMarks(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, config::ReadManifestText(file));
  const std::string note = config::NoteOnForeignMarks(text);
  if (!note.empty()) std::fprintf(stderr, "note: %s\n", note.c_str());
  return base::OkStatus();
}

base::Status Show(const RunOptions& options) {
  ASSIGN_OR_RETURN(const protocol::Manifest manifest, config::ReadManifestFile(options.file));
  RETURN_IF_ERROR(TellOfForeignMarks(options.file));
  RETURN_IF_ERROR(CheckFaults(manifest, options.faults));
  RETURN_IF_ERROR(config::CheckTraining(manifest));
  PrintSummary(manifest, options.json);
  return base::OkStatus();
}

base::Status Check(const RunOptions& options) {
  ASSIGN_OR_RETURN(const protocol::Manifest manifest, config::ReadManifestFile(options.file));
  RETURN_IF_ERROR(TellOfForeignMarks(options.file));
  RETURN_IF_ERROR(CheckFaults(manifest, options.faults));
  RETURN_IF_ERROR(CheckNames(manifest));
  ASSIGN_OR_RETURN(const train::TrainerOptions trainer,
                   config::TrainerOptionsOf(
                       manifest, {.data = options.data,
                                  .stream = StreamFor(options.manifest.allow_private_sources),
                                  .graph = GraphFileOf(options.graph, options.file, manifest)}));
  ASSIGN_OR_RETURN(const Checked checked, CheckTrainer(manifest, trainer));
  if (!checked.unchecked.empty()) {
    std::fprintf(stderr, "not checked: %s\n", checked.unchecked.c_str());
  }
  TellOfDialers(manifest);
  TellOfProtection(manifest);
  PrintSummary(manifest, options.json, checked);
  return base::OkStatus();
}

}  // namespace

void AddRunCommand(CLI::App& program, Invocation& invocation) {
  auto* command =
      program.add_subcommand("run", "run manifests: the settings that all members share");
  command->require_subcommand(1);
  command->footer("Example: ostraka run check run.toml");
  auto options = std::make_shared<RunOptions>();

  auto* init = command->add_subcommand("init", "write a manifest");
  WritesTo(init->add_option("--out", options->file, "the file to write"))->required();
  init->add_option("--member", options->members,
                   "NAME=ID@HOST:PORT, once for each member; without @HOST:PORT for a member that "
                   "only dials; NAME= may be left out")
      ->required();
  init->add_option("--only-dials", options->only_dials,
                   "NAME or ID of a member that cannot be dialed from outside (behind a NAT): it "
                   "owns no columns, and others carry its messages; at least 3 must be reachable");
  init->add_option("--faults", options->faults,
                   "refuse a mode that tolerates fewer faulty members");
  AddManifestOptions(*init, options->manifest);
  init->add_option(
      "--from", options->weights,
      "begin with the trained weights of this safetensors file, whose tensors have the "
      "names and shapes of the model's");
  init->add_flag("--unnamed-sources", options->unnamed_sources,
                 "leave the addresses of --data stream:... out of the manifest, where they tell "
                 "newcomers what to fetch from");
  AddPrivateSources(*init, options->manifest.allow_private_sources);
  AddJoinOptions(*init, options->join);
  init->add_flag("--json", options->json, "print one JSON object");
  init->footer(
      "Example: ostraka run init --out run.toml --member anna=$(cat anna.id)@10.0.0.1:7000 "
      "--member ...");
  init->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = Init(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });

  const auto add_reader = [&](const char* name, const char* description,
                              base::Status (*body)(const RunOptions&)) {
    auto* reader = command->add_subcommand(name, description);
    reader->add_option("file", options->file, "the manifest")->required();
    reader->add_option("--faults", options->faults,
                       "refuse a mode that tolerates fewer faulty members");
    reader->add_flag("--json", options->json, "print one JSON object");
    reader->footer(std::string("Example: ostraka run ") + name + " run.toml");
    reader->callback([options, &invocation, body] {
      invocation.body = [options, body] {
        const base::Status status = body(*options);
        return status.ok() ? kDone : Fail(status);
      };
    });
    return reader;
  };
  add_reader("show", "print the settings of a manifest", Show);
  auto* check = add_reader(
      "check", "check that a node with this manifest can start here (exit code 0); asks no network",
      Check);
  check->add_option(
      "--data", options->data,
      "mnist:DIR, cifar10:DIR, text:FILE, tokens:FILE, examples:FILE or stream:PLACE: "
      "also check this copy of the run's data");
  AddPrivateSources(*check, options->manifest.allow_private_sources);
  check->add_option("--graph", options->graph,
                    "the run's graph file (default: the manifest's path and .graph)");
  AddRunRecoverCommand(*command, invocation);
}

}  // namespace ostraka::cli

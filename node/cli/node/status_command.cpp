// ostraka status: a node's status, from its data folder or its HTTP address.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "node/cli/node/commands.h"
#include "node/cli/node/only_data_dir.h"
#include "node/cli/node/pauses.h"
#include "node/cli/terminal/data_dir.h"
#include "node/cli/views/node_answers.h"
#include "node/cli/views/node_json.h"
#include "node/cli/views/status_text.h"
#include "node/host/report/figures.h"
#include "node/host/report/recall.h"
#include "node/host/report/stop_price.h"
#include "node/http/http_get.h"
#include "node/store/ledger_reader.h"
#include "node/store/ledger_schema.h"

namespace ostraka::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct StatusOptions {
  std::string where;
  bool json = false;
};

base::Status NotANode(const std::string& source) {
  return base::InvalidArgument(source +
                               ": answered, but not as a node answers: give the address of "
                               "`ostraka node --http`");
}

base::StatusOr<json> ParseStatus(const std::string& source, const http::HttpResponse& answer) {
  json status = json::parse(answer.body, nullptr, false);
  if (answer.status != 200 || !status.is_object() || !status.contains("running")) {
    return NotANode(source);
  }
  return status;
}

// The status of a stopped node, from its ledger.
base::StatusOr<json> FromLedger(const std::string& dir) {
  ASSIGN_OR_RETURN(store::LedgerReader ledger, store::LedgerReader::Open(dir));
  ASSIGN_OR_RETURN(const store::LedgerSummary summary, ledger.Summary());
  const host::RunHistory history = host::RecallHistory(dir);
  if (!history.unread().empty()) return base::Unavailable(history.unread());
  const base::StatusOr<wire::Block> last = ledger.LastBlock();
  json removals = json::array();
  for (const host::PastRemoval& past : host::RemovalsAsOf(history, last.ok() ? &*last : nullptr)) {
    removals.push_back(JsonOf(past));
  }
  json result = {
      {"running", false}, {"peer", summary.peer.Hex()}, {"run_id", summary.run_id.Hex()},
      {"healthy", false}, {"outcome", summary.outcome}, {"removals", std::move(removals)}};
  if (!summary.names.empty()) result["names"] = NamesJson(summary.names);
  if (last.ok()) {
    result["step"] = wire::TrainedSteps(*last) > 0 ? wire::TrainedSteps(*last) - 1 : 0;
    result["members"] = last->members.size();
  } else if (!absl::IsNotFound(last.status())) {
    return last.status();
  }
  return result;
}

base::StatusOr<json> FromFolder(const std::string& dir) {
  const std::string socket = dir + "/" + kStatusSocketName;
  const auto answer = http::HttpGet({.address = {}, .socket_path = socket}, "/status");
  if (!answer.ok() && !absl::IsNotFound(answer.status())) return answer.status();
  ASSIGN_OR_RETURN(json status, answer.ok() ? ParseStatus(socket, *answer) : FromLedger(dir));
  if (IsPaused(dir)) status["paused"] = true;
  if (const auto why = WhyRestsIn(dir)) {
    status["rests"] = *why;
    if (status.contains("outcome")) {
      status["outcome"] = host::OutcomeAtRest(status["outcome"].get<std::string>());
    }
  }
  return status;
}

base::StatusOr<json> FromAddress(std::string address) {
  constexpr std::string_view kScheme = "http://";
  if (address.starts_with(kScheme)) address.erase(0, kScheme.size());
  address = address.substr(0, address.find('/'));
  ASSIGN_OR_RETURN(const http::HttpResponse answer,
                   http::HttpGet({.address = address, .socket_path = {}}, "/status"));
  return ParseStatus(address, answer);
}

base::StatusOr<json> Ask(const StatusOptions& options) {
  if (options.where.empty()) {
    ASSIGN_OR_RETURN(const std::string folder, OnlyDataDir());
    return FromFolder(folder);
  }
  std::error_code ignored;  // an inaccessible path counts as no folder, and so as an address
  if (fs::is_directory(options.where, ignored)) return FromFolder(options.where);
  if (options.where.find(':') != std::string::npos && options.where.front() != '/') {
    return FromAddress(options.where);
  }
  return base::NotFound("'" + options.where +
                        "' is no folder and no HOST:PORT: name a node's data folder, or its "
                        "--http address");
}

base::StatusOr<ExitCode> Status(const StatusOptions& options) {
  ASSIGN_OR_RETURN(const json status, Ask(options));
  try {
    const bool healthy = status.at("healthy").get<bool>();
    if (options.json) {
      PrintJson(status);
    } else {
      std::printf("%s", StatusText(status).c_str());
    }
    return healthy ? kDone : kNegative;
  } catch (const json::exception&) {
    return NotANode(options.where);
  }
}

}  // namespace

void AddStatusCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand(
      "status", "show a node's step, its links, and the messages that it waits for");
  auto options = std::make_shared<StatusOptions>();
  command->add_option("where", options->where,
                      "the node's data folder, or its address from `ostraka node --http` "
                      "(default: the only folder in ~/.local/share/ostraka)");
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(
      "Example: ostraka status out/node0\n"
      "         ostraka status 127.0.0.1:9464\n"
      "Exit codes: 0 healthy; 1 no progress for too long, ended or not running; 3 no answer");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const auto code = Status(*options);
      return code.ok() ? *code : Fail(code.status());
    };
  });
}

}  // namespace ostraka::cli

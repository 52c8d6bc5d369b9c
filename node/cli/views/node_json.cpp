#include "node/cli/views/node_json.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "node/cli/terminal/exit_code.h"
#include "node/host/report/arrivals.h"
#include "node/protocol/ground/state.h"

namespace ostraka::cli {

using nlohmann::json;

namespace {

// A later block says that a member is banned, and not how.
constexpr const char* kUnseenBan = "ban";

}  // namespace

void PrintJson(const json& value) {
  std::printf("%s\n", value.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
}

json JsonOf(const wire::Removal& removal) {
  return {{"peer", removal.peer.Hex()},
          {"step", removal.step},
          {"kind", wire::RemovalKindName(removal.kind)},
          {"cause", wire::CauseName(removal.reason.cause)},
          {"reason", wire::TextOf(removal.reason)}};
}

json JsonOf(const host::PastRemoval& past) {
  json result = JsonOf(past.removal);
  if (!past.seen) {
    result["seen"] = false;
    result.erase("cause");
    if (wire::IsBan(past.removal.kind)) {
      result["kind"] = kUnseenBan;
      result.erase("step");
    }
  }
  if (past.returned) result["returned"] = *past.returned;
  return result;
}

std::string RemovalWord(const json& removal) {
  if (removal["kind"] == kUnseenBan) return "banned";
  for (std::uint8_t i = 0; i < wire::kRemovalKindCount; ++i) {
    const auto kind = static_cast<wire::RemovalKind>(i);
    if (removal["kind"] == wire::RemovalKindName(kind) && wire::IsBan(kind)) return "banned";
  }
  return "dropped";
}

json JsonOf(const net::ExchangeCounts& chunks) {
  return {{"borrowed", chunks.borrowed}, {"lent", chunks.lent}};
}

json JsonOf(const wire::CaseId& id) {
  json result = {{"case_kind", wire::CaseKindName(id.kind)},
                 {"accuser", id.accuser.Hex()},
                 {"target", id.target.Hex()},
                 {"accused_step", id.step}};
  if (id.kind != wire::CaseKind::kGradient) result["column"] = id.column;
  return result;
}

std::string CaseText(const json& id) {
  const auto short_id = [&](const char* key) { return id[key].get<std::string>().substr(0, 16); };
  const std::string accuser = short_id("accuser");
  const std::string target = short_id("target");
  const std::string step = " of step " + id["accused_step"].dump();
  const std::string kind = id["case_kind"].get<std::string>();
  if (kind == "gradient") return accuser + " accuses " + target + " of its gradient" + step;
  const std::string column = id["column"].dump();
  if (kind == "numbers") {
    return accuser + " accuses " + target + " of its numbers for column " + column + step;
  }
  return target + " must show the part that " + accuser + " sent it for column " + column + step;
}

json StepEvent(const wire::Block& block, std::optional<double> batch_loss) {
  const auto applied =
      std::count(block.columns.begin(), block.columns.end(), wire::ColumnFate::kApplied);
  json cases = json::array();
  for (const wire::Case& open : block.cases) cases.push_back(JsonOf(open.id));
  const auto hex_of = [](const std::vector<base::PeerId>& peers) {
    json list = json::array();
    for (const base::PeerId& peer : peers) list.push_back(peer.Hex());
    return list;
  };
  const host::Admitted admitted = host::AdmittedBy(block);
  json event = {{"event", "step"},
                {"step", block.step},
                {"genesis", block.genesis},
                {"members", block.members.size()},
                {"applied", applied},
                {"parts", block.columns.size()},
                {"tau", block.tau},
                {"cases", cases},
                {"returned", hex_of(admitted.returned)}};
  if (!admitted.came.empty()) event["came"] = hex_of(admitted.came);
  if (!block.leaving.empty()) event["leaving"] = hex_of(block.leaving);
  if (!block.left.empty()) event["left"] = hex_of(block.left);
  if (batch_loss) event["batch_loss"] = *batch_loss;
  if (!block.genesis && !wire::Trained(block)) event["closes"] = wire::RunIsOver(block);
  return event;
}

json EvaluationEvent(std::uint64_t step, const train::Evaluation& evaluation) {
  json event = {{"event", "evaluation"},       {"step", step},
                {"metric", evaluation.metric}, {"on", train::HeldOutName(evaluation.on)},
                {"value", evaluation.value},   {"loss", evaluation.loss}};
  if (evaluation.sample) event["sample"] = SampleJson(*evaluation.sample);
  return event;
}

json SampleJson(const train::TextSample& sample) {
  std::string_view prompt = sample.prompt;
  std::string_view text = sample.text;
  return {{"prompt", PrintableText(prompt, /*whole=*/true)},
          {"text", PrintableText(text, /*whole=*/true)}};
}

json SuspicionEvent(const protocol::Suspicion& suspicion) {
  return {{"event", "suspicion"},
          {"step", suspicion.step},
          {"peer", suspicion.peer.Hex()},
          {"check", suspicion.check},
          {"reason", suspicion.reason}};
}

json RemovalEvent(const wire::Removal& removal) {
  json event = JsonOf(removal);
  event["event"] = "removal";
  return event;
}

json LinksEvent(std::size_t up, std::size_t of) {
  return {{"event", "links"}, {"up", up}, {"of", of}};
}

json HaltedEvent(const host::NodeOutcome& outcome) {
  return {{"event", "halted"},
          {"end", host::NodeEndName(outcome.end)},
          {"step", outcome.step},
          {"reason", outcome.reason}};
}

json ReportJson(const host::NodeReport& report, const base::PeerId& self,
                const base::TensorLayout& layout) {
  json removals = json::array();
  for (const wire::Removal& removal : report.removals) removals.push_back(JsonOf(removal));
  json result = {
      {"ok", report.outcome.end == host::NodeEnd::kFinished ||
                 report.outcome.end == host::NodeEnd::kLeft},
      {"peer", self.Hex()},
      {"end", host::NodeEndName(report.outcome.end)},
      {"step", report.outcome.step},
      {"reason", report.outcome.reason},
      {"steps", report.steps_done},
      {"removals", removals},
      {"seconds", report.wall.seconds()},
      {"bytes_sent", report.traffic.total.control_sent + report.traffic.total.payload_sent},
      {"payload_bytes_sent", report.traffic.total.payload_sent},
      {"peak_rss_bytes", report.peak_rss_bytes},
      {"longest_turn_seconds", report.longest_turn.seconds()}};
  if (report.lending) result["data_chunks"] = JsonOf(*report.lending);
  if (report.last_block != nullptr) {
    const std::vector<base::PeerId>& members = report.last_block->members;
    result["member"] = std::binary_search(members.begin(), members.end(), self);
  }
  if (report.state.parameters != nullptr) {
    result["state_root"] = protocol::StateRoot(report.state, layout).Hex();
  }
  if (report.evaluation) {
    result["metric"] = {{"name", report.evaluation->metric},
                        {"on", train::HeldOutName(report.evaluation->on)},
                        {"value", report.evaluation->value},
                        {"loss", report.evaluation->loss},
                        {"step", report.evaluated_step}};
    result["trend"] = host::TrendName(report.trend);
    if (!report.trouble.empty()) result["trouble"] = report.trouble;
  }
  const double steps = static_cast<double>(std::max<std::uint64_t>(report.timed_steps, 1));
  const protocol::StepTimes& times = report.step_times;
  const auto per_step = [steps](std::int64_t ns) { return static_cast<double>(ns) * 1e-9 / steps; };
  result["seconds_per_step"] = {
      {"compute", per_step(times.compute_ns)},
      {"aggregate", per_step(times.aggregate_ns)},
      {"agree", per_step(times.agree_ns)},
      {"total", per_step(times.compute_ns + times.aggregate_ns + times.agree_ns)}};
  return result;
}

}  // namespace ostraka::cli

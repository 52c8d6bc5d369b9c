// Sums since the start of the process, by the labels that a monitor has for them.
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "node/cli/views/status_sections.h"

namespace ostraka::cli {

using host::NodeStatus;
using nlohmann::json;

namespace {

json StepsJson(const NodeStatus& status) {
  const host::StepHistogram& steps = status.step_seconds;
  json at_most = json::array();
  for (std::size_t i = 0; i < steps.kBoundsSeconds.size(); ++i) {
    at_most.push_back({steps.kBoundsSeconds[i], steps.at_most[i]});
  }
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  return {{"done", status.steps_done},
          {"at_most", std::move(at_most)},
          {"count", steps.count},
          {"seconds", steps.sum_seconds},
          {"part_seconds",
           {{"compute", seconds(status.step_times.compute_ns)},
            {"aggregate", seconds(status.step_times.aggregate_ns)},
            {"agree", seconds(status.step_times.agree_ns)}}}};
}

json TrafficJson(const net::TransportCounters& traffic) {
  const auto both = [](std::uint64_t control, std::uint64_t payload) {
    return json{{"control", control}, {"payload", payload}};
  };
  json refused = json::object();
  for (std::size_t i = 0; i < net::kRefusals; ++i) {
    refused[net::RefusalName(static_cast<net::Refusal>(i))] = traffic.refused_by[i];
  }
  return {{"sent_bytes", both(traffic.total.control_sent, traffic.total.payload_sent)},
          {"received_bytes", both(traffic.total.control_received, traffic.total.payload_received)},
          {"queued_bytes", both(traffic.queued_control_bytes, traffic.queued_bulk_bytes)},
          {"carried_dropped", traffic.total.carried_dropped},
          {"links_up", traffic.links_up},
          {"links", traffic.links},
          {"connections_open", traffic.connections_open},
          {"half_open", traffic.half_open},
          {"dialed", traffic.dialed},
          {"accepted", traffic.accepted},
          {"refused", std::move(refused)}};
}

json WorkJson(const NodeStatus& status) {
  const host::JobPoolStats& jobs = status.jobs;
  const store::LedgerStats& ledger = status.ledger;
  return {{"jobs",
           {{"compute", jobs.compute_jobs},
            {"pure", jobs.pure_jobs},
            {"evaluation", jobs.evaluations}}},
          {"job_seconds",
           {{"compute", jobs.compute_busy.seconds()},
            {"pure", jobs.pure_busy.seconds()},
            {"evaluation", jobs.evaluation_busy.seconds()}}},
          {"jobs_waiting", jobs.waiting},
          {"stores", ledger.stores},
          {"commits", ledger.commits},
          {"commit_seconds", ledger.commit_time.seconds()},
          {"stores_waiting_bytes", ledger.waiting_bytes}};
}

}  // namespace

json CountersJson(const NodeStatus& status) {
  json removals = json::object();
  for (std::uint8_t kind = 0; kind < wire::kRemovalKindCount; ++kind) {
    removals[wire::RemovalKindName(static_cast<wire::RemovalKind>(kind))] =
        status.removals_by_kind[kind];
  }
  json columns = json::object();
  for (std::uint8_t fate = 0; fate < wire::kColumnFateCount; ++fate) {
    columns[wire::ColumnFateName(static_cast<wire::ColumnFate>(fate))] = status.columns[fate];
  }
  json result = {{"removals", std::move(removals)},
                 {"suspicions", status.suspicions},
                 {"columns", std::move(columns)},
                 {"steps", StepsJson(status)},
                 {"traffic", TrafficJson(status.traffic)},
                 {"work", WorkJson(status)},
                 {"process",
                  {{"cpu_seconds", status.process.cpu_seconds},
                   {"peak_rss_bytes", status.process.peak_rss_bytes},
                   {"written_bytes", status.process.written_bytes},
                   {"open_files", status.process.open_files},
                   {"max_open_files", status.process.max_open_files}}}};
  if (status.block != nullptr) {
    const host::Outside outside = host::OutsideOf(*status.block);
    result["former_members"] = {{"banned", outside.banned.size()},
                                {"dropped", outside.dropped.size()},
                                {"left", outside.left.size()}};
  }
  return result;
}

}  // namespace ostraka::cli

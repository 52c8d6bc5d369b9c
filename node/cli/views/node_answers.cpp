#include "node/cli/views/node_answers.h"

#include <nlohmann/json.hpp>

#include "node/cli/terminal/exit_code.h"

namespace ostraka::cli {

using nlohmann::json;

http::HttpResponse AnswerHttp(std::string_view path, const StatusRun& run,
                              const host::NodeStatus& status, const host::RunHistory& history) {
  http::HttpResponse response;
  if (path == "/metrics") {
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = MetricsText(StatusJson(run, status, history));
  } else if (path == "/status") {
    response.content_type = "application/json";
    const json answer = StatusJson(run, status, history);
    response.body = answer.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  } else if (path == "/healthz") {
    const host::Health health = host::HealthOf(status);
    response.status = health.ok ? 200 : 503;
    response.body = PrintableLine(run.names.In(health.reason)) + "\n";
  } else {
    response.status = path == "/" ? 200 : 404;
    response.body = "ostraka node: /status /metrics /healthz\n";
  }
  return response;
}

}  // namespace ostraka::cli

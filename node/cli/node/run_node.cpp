#include "node/cli/node/run_node.h"

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "node/cli/node/page_service.h"
#include "node/cli/node/pauses.h"
#include "node/cli/node/stop_orders.h"
#include "node/cli/terminal/human.h"
#include "node/cli/terminal/ink.h"
#include "node/cli/views/node_json.h"
#include "node/cli/views/node_view.h"
#include "node/cli/views/way_back_text.h"
#include "node/host/host.h"
#include "node/os/endpoint.h"
#include "node/os/heap.h"
#include "node/os/steady_clock.h"
#include "node/os/stop_signals.h"
#include "node/os/timer.h"
#include "node/protocol/ground/invite.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/rules/coming.h"
#include "node/protocol/rules/standing.h"

namespace ostraka::cli {
namespace {

// A service manager that stops a node has no failure to report.
constexpr const char* kSystemStop = "SIGTERM";
constexpr const char* kCtrlC = "Ctrl-C";

ExitCode ExitCodeOf(host::NodeEnd end, const std::string& stopped_by) {
  if (end == host::NodeEnd::kInterrupted && stopped_by == kSystemStop) return kDone;
  switch (end) {
    case host::NodeEnd::kFinished:
    case host::NodeEnd::kLeft:
      return kDone;
    case host::NodeEnd::kBanned:
    case host::NodeEnd::kDiverged:
    case host::NodeEnd::kRefused:
    case host::NodeEnd::kForked:
    case host::NodeEnd::kInterrupted:
      return kNegative;
    case host::NodeEnd::kStalled:
    case host::NodeEnd::kFailed:
      return kEnvironment;
  }
  return kEnvironment;
}

// Of the run that it enters, and by what: the host takes these with the options.
struct Entry {
  std::shared_ptr<const protocol::Manifest> manifest;
  std::optional<wire::Voucher> shown;
};

Entry EntryOf(const host::RunOptions& options) {
  Entry entry{options.manifest, std::nullopt};
  if (options.credential) {
    entry.shown = protocol::VoucherOf(options.manifest->run_id, options.credential->invite);
  }
  return entry;
}

// How long a step took, if this process has taken part in one.
std::optional<double> StepSeconds(const host::NodeReport& report) {
  const protocol::StepTimes& all = report.step_times;
  if (report.timed_steps == 0) return std::nullopt;
  const base::Duration sum{all.compute_ns + all.aggregate_ns + all.agree_ns};
  return sum.seconds() / static_cast<double>(report.timed_steps);
}

// Until when it may be in the run again, of a node that people ended.
void SayWayBack(const host::NodeReport& report, const base::PeerId& self, const Entry& entry) {
  const host::NodeEnd end = report.outcome.end;
  const bool by_people = end == host::NodeEnd::kLeft || end == host::NodeEnd::kInterrupted;
  if (!by_people || report.last_block == nullptr) return;
  const wire::Block& head = *report.last_block;
  const std::string text =
      WayBackText({.way = protocol::WayBackOf(head, *entry.manifest, self, entry.shown),
                   .is_member = protocol::IsMember(head.members, self),
                   .was_one = protocol::IsKey(head, self),
                   .step = HeightOf(head),
                   .steps = entry.manifest->training.steps,
                   .step_seconds = StepSeconds(report)});
  if (!text.empty()) std::fprintf(stderr, "%s\n", text.c_str());
}

ExitCode Show(const NodeOutputOptions& output, const host::Run& run, const std::string& data_dir,
              const std::string& stopped_by, const Entry& entry) {
  const host::NodeReport& report = *run.report();
  nlohmann::json result = ReportJson(report, run.self(), run.layout());
  if (report.checkpoint.ok()) {
    result["checkpoint"] = *report.checkpoint;
    if (!output.events) {
      std::fprintf(stderr, "the state is in %s\nthe model: ostraka export %s model.safetensors\n",
                   report.checkpoint->c_str(), data_dir.c_str());
    }
  }
  if (!output.events && !report.trouble.empty()) {
    const std::string words = Ink(STDERR_FILENO).Bad("NOT WELL TRAINED");
    std::fprintf(stderr, "%s: %s\n", words.c_str(), report.trouble.c_str());
  }
  if (!output.events) SayWayBack(report, run.self(), entry);
  if (output.events) result["event"] = "report";
  if (output.events || output.json) PrintJson(result);
  // A run whose result is lost has failed, whatever its outcome.
  if (!report.checkpoint.ok() && report.steps_done > 0) return Fail(report.checkpoint.status());
  return ExitCodeOf(report.outcome.end, stopped_by);
}

// How often a node looks whether it shall rest.
constexpr base::Duration kLook = base::Seconds(1);
constexpr const char* kPause = "a pause";

// Lets the run go as soon as the node shall rest.
class RestWatch {
 public:
  // All outlive it.
  RestWatch(host::Host& host, host::Run& run, const Pauses& pauses, std::string& stopped_by)
      : run_(run), pauses_(pauses), stopped_by_(stopped_by), timer_(host.io()) {
    Look();
  }

 private:
  void Look() {
    if (!stopped_by_.empty()) return;
    if (!pauses_.WhyNow()) return timer_.Start(kLook, [this] { Look(); });
    stopped_by_ = kPause;
    run_.Leave(kPause);
  }

  host::Run& run_;
  const Pauses& pauses_;
  std::string& stopped_by_;
  os::Timer timer_;
};

std::string PriceOf(const Hours& hours) {
  const std::string barred = std::to_string(protocol::kBarredSteps);
  return "takes part from " + hours.Text() + ": where a step takes longer than " +
         SpanText(hours.minutes() * 60.0 / static_cast<double>(protocol::kBarredSteps)) +
         ", that has fewer than " + barred + " steps, and a member that leaves within " + barred +
         " steps of its return stays out for the next " + barred;
}

void Tell(const NodeOutputOptions& output, const char* event, const std::string& words,
          const std::string& why) {
  if (output.events) {
    PrintJson({{"event", event}, {"why", why}});
    std::fflush(stdout);
    return;
  }
  std::fprintf(stderr, "%s: %s\n", words.c_str(), why.c_str());
}

// Waits until the node need not rest. False: a signal ended the wait. Errors as of RestSign::Show.
base::StatusOr<bool> AwaitTurn(const Pauses& pauses, const std::string& data_dir,
                               const NodeOutputOptions& output) {
  RestSign sign(data_dir);
  base::Status shown;
  std::string told;
  const bool stopped = os::AwaitStop(kLook, [&] {
    const auto why = pauses.WhyNow();
    if (!why) return false;
    if (*why == told) return true;
    shown = sign.Show(*why);
    if (!shown.ok()) return false;
    Tell(output, "rests", "this node rests", *why);
    told = *why;
    return true;
  });
  RETURN_IF_ERROR(shown);
  if (!stopped && !told.empty()) Tell(output, "goes_on", "this node goes on", "its pause is over");
  return !stopped;
}

// One run from its opening to its end. Nullopt: the node is to rest.
base::StatusOr<std::optional<ExitCode>> RunOnce(const NodeCommandOptions& options,
                                                host::RunOptions run_options, Log& log,
                                                const Pauses& pauses) {
  const NodeOutputOptions& output = options.output;
  const std::shared_ptr<RunPage> page = ServePage(run_options);
  const std::string data_dir = run_options.files.data_dir;
  const Entry entry = EntryOf(run_options);
  const std::unique_ptr<host::NodeEvents> events =
      output.events
          ? MakeJsonView(MemberNames(protocol::NamesOf(run_options.manifest->members)), log)
          : MakePeopleView({run_options.manifest, run_options.key->id(), data_dir,
                            options.network.http.address},
                           log);
  host::Host host;
  ASSIGN_OR_RETURN(const std::shared_ptr<host::Run> run,
                   host.Open(std::move(run_options), *events));
  if (options.lab.Attacks()) {
    std::fprintf(stderr, "this node is Byzantine: it attacks with %s\n",
                 options.lab.attack.c_str());
  }
  std::string stopped_by;
  {
    StopOrders orders;
    const os::StopSignals signals(host.io(), [&](const std::string& name) {
      switch (orders.Of(name, os::SteadyNow())) {
        case StopOrders::Order::kNone:
          return true;
        case StopOrders::Order::kStop:
          // A person who ends a node goes away; whatever stops a service starts it again.
          if (name != kCtrlC) {
            run->StopSafely(name);
          } else if (stopped_by == kPause) {
            log.Say(LogLevel::kWarning, "Ctrl-C: this node leaves already, and then ends");
          } else {
            run->Leave(name);
          }
          stopped_by = name;
          return true;
        case StopOrders::Order::kStopAtOnce:
          break;
      }
      stopped_by = name;
      host.Stop(name);
      return false;
    });
    const RestWatch watch(host, *run, pauses, stopped_by);
    host.RunToTheEnd();
  }
  const host::NodeEnd end = run->report()->outcome.end;
  if (stopped_by == kPause && (end == host::NodeEnd::kLeft || end == host::NodeEnd::kInterrupted)) {
    if (!output.events) SayWayBack(*run->report(), run->self(), entry);
    return std::nullopt;
  }
  const ExitCode code = Show(output, *run, data_dir, stopped_by, entry);
  if (options.network.http.address.empty()) return code;
  std::fflush(stdout);  // a parent process need not wait for the last page
  const base::Status shown =
      ServeLastPage(*page, os::WithPort(options.network.http.address, run->http_port()));
  if (!shown.ok()) log.Say(LogLevel::kWarning, "no last page: " + base::MessageOf(shown));
  return code;
}

}  // namespace

base::StatusOr<ExitCode> RunNode(const NodeCommandOptions& options, ReadOnce once) {
  // A reader of the output that has seen enough must not end a member of a run.
  os::IgnoreClosedPipes();
  os::UseOneHeap();
  const NodeOutputOptions& output = options.output;
  ASSIGN_OR_RETURN(const std::unique_ptr<Log> log,
                   Log::Open(output.log, output.events ? LogLevel::kWarning : LogLevel::kInfo));
  std::optional<Hours> hours;
  if (!options.hours.empty()) {
    ASSIGN_OR_RETURN(hours, Hours::Parse(options.hours));
    log->Say(LogLevel::kInfo, PriceOf(*hours));
  }
  while (true) {
    NodeCommandOptions round = options;
    // Each round takes over a socket of its own. What is no socket is refused by its number.
    const int socket = dup(options.network.listen_fd);
    if (socket >= 0) round.network.listen_fd = socket;
    ASSIGN_OR_RETURN(host::RunOptions run_options, RunOptionsOf(round, once));
    const Pauses pauses(run_options.files.data_dir, hours);
    ASSIGN_OR_RETURN(const bool is_its_turn, AwaitTurn(pauses, run_options.files.data_dir, output));
    if (!is_its_turn) return kDone;
    ASSIGN_OR_RETURN(const std::optional<ExitCode> code,
                     RunOnce(options, std::move(run_options), *log, pauses));
    if (code) return *code;
  }
}

}  // namespace ostraka::cli

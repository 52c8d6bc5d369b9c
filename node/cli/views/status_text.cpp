#include "node/cli/views/status_text.h"

#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include "node/cli/terminal/exit_code.h"
#include "node/cli/terminal/human.h"
#include "node/cli/terminal/member_names.h"
#include "node/cli/terminal/progress.h"
#include "node/cli/views/json_reading.h"
#include "node/cli/views/node_json.h"
#include "node/cli/views/status_json.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

std::string Span(double seconds) {
  char text[48];
  const auto whole = static_cast<long long>(seconds);
  if (seconds < 120) {
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  } else if (whole < 2 * 3600) {
    std::snprintf(text, sizeof text, "%lld min", whole / 60);
  } else {
    std::snprintf(text, sizeof text, "%lld h %lld min", whole / 3600, whole / 60 % 60);
  }
  return text;
}

class Text {
 public:
  static std::string Of(const json& status) {
    Text text(NamesOf(status));
    text.Line("run", status.at("run_id"));
    text.Node(status.at("peer"));
    if (status.contains("phase")) {
      text.Live(status);
    } else {
      text.Ended(status);
    }
    for (const json& removal : status.at("removals")) {
      text.Line(RemovalWord(removal).c_str(),
                ShortOf(removal.at("peer")) +
                    (removal.contains("step") ? " in step " + Count(removal.at("step")) : "") +
                    (removal.contains("returned")
                         ? ", a member again since step " + Count(removal.at("returned"))
                         : "") +
                    ": " + removal.at("reason").get<std::string>());
    }
    if (status.contains("removals_earlier")) {
      text.Line("", Count(status.at("removals_earlier")) +
                        " earlier: ostraka ledger show, ostraka ledger explain");
    }
    if (status.contains("rests")) {
      text.Line("rests", status.at("rests"));
    } else if (status.contains("paused")) {
      text.Line("paused", "no node rests here; one that is started waits for `ostraka resume`");
    }
    return text.text_;
  }

 private:
  explicit Text(MemberNames names) : names_(std::move(names)) {}

  void Line(const char* name, const std::string& text) { Raw(name, names_.In(text)); }
  void Raw(const char* name, const std::string& text) {
    text_ +=
        name + std::string(8 - std::string_view(name).size(), ' ') + PrintableLine(text) + "\n";
  }
  // The id as a whole, for others to copy.
  void Node(const std::string& id) {
    const auto peer = base::PeerId::FromHexDigits(id);
    const std::string name = peer ? names_.Of(*peer) : "";
    Raw("node", id + (name.empty() ? "" : "  " + name));
  }
  static std::string ShortOf(const json& id) { return id.get<std::string>().substr(0, 16); }
  static std::string Count(const json& count) { return std::to_string(count.get<std::uint64_t>()); }

  void Live(const json& status) {
    Line("health", (status.at("healthy").get<bool>() ? "ok: " : "UNHEALTHY: ") +
                       status.at("health").get<std::string>());
    Line("now", "step " + Count(status.at("step")) + " of " + Count(status.at("steps")) + ", " +
                    status.at("phase").get<std::string>() + " for " +
                    Span(status.at("seconds_since_progress")));
    Line("waits", WaitsFor(status.at("waits_for")));
    if (status.contains("out")) Line("OUT", OutOf(status.at("out")));
    if (status.value("place", "") == "leaving") Line("leaves", "the others let this node go soon");
    const std::uint64_t others =
        status.at("linked").get<std::uint64_t>() + status.at("unlinked").size();
    const std::uint64_t members =
        status.at("members").get<std::uint64_t>() - (status.value("member", true) ? 1 : 0);
    std::string links =
        "to " + Count(status.at("linked")) + " of " + std::to_string(others) +
        (others == members ? " other members"
                           : " others, of whom " + std::to_string(members) + " are members");
    for (const json& peer : status.at("unlinked")) links += ", not " + ShortOf(peer);
    Line("links", links);
    Forwarded(status);
    Unlinked(status);
    if (status.contains("join")) Door(status.at("join"));
    if (status.contains("reach_warning")) Line("FEW", status.at("reach_warning"));
    if (status.contains("dht")) Dht(status.at("dht"));
    if (status.contains("port_mapping")) Router(status.at("port_mapping"));
    if (status.contains("dial_back")) DialBack(status.at("dial_back"));
    if (status.contains("data_chunks")) Chunks(status.at("data_chunks"));
    if (status.contains("of_another_run")) {
      for (const json& member : status.at("of_another_run")) {
        Line("DIFFERS", ShortOf(member.at("peer")) + " " + member.at("reason").get<std::string>());
      }
    }
    if (status.contains("slow")) {
      const json& slow = status.at("slow");
      Line("SLOW", "it has delayed the others by " + Count(slow.at("used_ms")) +
                       " ms, and is dropped beyond " + Count(slow.at("allowed_ms")) +
                       " ms (docs/operating.md)");
    }
    if (status.contains("computes_on"))
      Line("works", "on " + status.at("computes_on").get<std::string>());
    if (status.contains("metric")) Line("learns", LossOf(status.at("metric")));
    if (status.contains("sample")) {
      const json& sample = status.at("sample");
      Line("writes", SampleText(sample.at("prompt").get<std::string>(),
                                sample.at("text").get<std::string>()));
    }
    if (status.contains("batch")) Line("batch", BatchOf(status.at("batch")));
    if (status.contains("trouble")) Line("TROUBLE", status.at("trouble"));
    if (status.contains("step_costs")) Line("costs", CostsOf(status.at("step_costs")));
    if (status.contains("eta_seconds")) {
      Line("ends", "in " + Span(status.at("eta_seconds")) + " at " +
                       SpanText(status.at("seconds_per_step")) + " a step");
    }
  }

  static std::string CostsOf(const json& costs) {
    const auto seconds = [&](const char* key) { return costs.at(key).get<double>(); };
    return "a step " + StepTrafficText(costs) + "; it computes for " +
           SpanText(seconds("compute_seconds")) + ", exchanges for " +
           SpanText(seconds("aggregate_seconds")) + ", agrees for " +
           SpanText(seconds("agree_seconds"));
  }

  static std::string OutOf(const json& out) {
    AbsenceFacts facts;
    if (out.contains("since")) facts.since = out.at("since").get<std::uint64_t>();
    if (out.contains("may_return")) facts.may_return = out.at("may_return").get<std::uint64_t>();
    if (out.contains("seconds")) facts.seconds = out.at("seconds").get<double>();
    const std::string reason = out.value("reason", "");
    return AbsenceText(facts) + (reason.empty() ? "" : ": " + reason);
  }

  // Who only dials, and whose messages others carry.
  void Forwarded(const json& status) {
    if (!status.contains("reachable")) return;
    std::string dialers = status.at("reachable").get<bool>() ? "" : "this node";
    std::string carried;
    for (const json& peer : status.at("peers")) {
      if (!peer.at("reachable").get<bool>()) {
        dialers += (dialers.empty() ? "" : ", ") + ShortOf(peer.at("peer"));
      }
      if (peer.contains("path") && peer.at("path") == "forwarded") {
        carried += (carried.empty() ? "" : ", ") + ShortOf(peer.at("peer"));
      }
    }
    if (!dialers.empty()) Line("dial", "only: " + dialers);
    if (!carried.empty()) Line("carried", "by others to and from: " + carried);
  }

  // Where each member that is not linked was dialed, and how that failed.
  void Unlinked(const json& status) {
    if (!status.contains("peers")) return;
    for (const json& peer : status.at("peers")) {
      if (peer.contains("path")) continue;
      std::string line;
      for (const json& address : peer.at("addresses")) {
        const std::string failure = address.at("last_failure");
        line += (line.empty() ? " at " : "; ") + address.at("address").get<std::string>() + " (" +
                address.at("source").get<std::string>() + ") " +
                (failure.empty() ? "was not dialed yet" : failure);
      }
      Line("away", ShortOf(peer.at("peer")) +
                       (line.empty() ? " has no address here, and is to dial us" : line));
    }
  }

  // Seats, the moderators' quotas, and the keys that ask to come in.
  void Door(const json& door) {
    const std::string policy = door.at("policy");
    std::string line = Count(door.at("members")) + " of " + Count(door.at("seats")) + " taken";
    const auto kept = door.at("kept").get<std::uint64_t>();
    if (kept > 0) line += ", " + std::to_string(kept) + " more kept for members that may return";
    line += policy == "closed" ? "; nobody else comes in" : "; others come by " + policy;
    Line("seats", line + "; bears " + Count(door.at("bears")) + " faulty");
    for (const json& moderator : door.at("moderators")) {
      Line("invites", "of " + ShortOf(moderator.at("peer")) + " have used " +
                          Count(moderator.at("admitted")) + " of its " +
                          Count(moderator.at("quota")) + " keys" +
                          (moderator.value("revoked", false) ? "; all are revoked" : ""));
    }
    for (const json& asking : door.at("asking")) {
      Line("asks", ShortOf(asking.at("peer")) + ": confirmed in " + Count(asking.at("blocks")) +
                       " of " + Count(asking.at("needed")) + " blocks" +
                       (asking.contains("moderator")
                            ? ", by an invite of " + ShortOf(asking.at("moderator"))
                            : ""));
    }
    if (door.contains("asking_more")) Line("", Count(door.at("asking_more")) + " more ask");
  }

  void Router(const json& router) {
    if (router.contains("outside")) {
      Line("router", "forwards " + router.at("outside").get<std::string>() + " to this node");
    } else if (!router.contains("problem")) {
      Line("router", "is being asked for the port");
    }
    if (router.contains("problem")) Line("router", router.at("problem"));
  }

  void Chunks(const json& chunks) {
    Line("data", Count(chunks.at("borrowed")) + " chunks from members, " +
                     Count(chunks.at("lent")) + " lent to them");
  }

  // Whether others can dial this node, as they found.
  void DialBack(const json& dial_back) {
    for (const json& result : dial_back.at("results")) {
      Line("tried", result.at("text").get<std::string>() + ", " +
                        Span(result.at("seconds_ago").get<double>()) + " ago");
    }
    if (dial_back.contains("advice")) Line("CLOSED", dial_back.at("advice"));
  }

  void Dht(const json& dht) {
    const std::string mode = dht.at("mode");
    if (mode == "off") return;
    std::string line =
        mode + ", " +
        (dht.at("joined").get<bool>() ? "joined with " + Count(dht.at("nodes")) + " nodes"
                                      : std::string("not joined"));
    std::string announced;
    for (const json& address : dht.at("announced")) {
      announced += (announced.empty() ? ", announces " : " ") + address.get<std::string>();
    }
    line += announced.empty() ? ", announces nothing" : announced;
    if (dht.contains("problem")) line += ": " + dht.at("problem").get<std::string>();
    Line("dht", line);
  }

  void Ended(const json& status) {
    const std::string outcome = status.at("outcome");
    Line("health",
         "not running; " + (outcome.empty() ? "it ended without a last word: it was killed, or its "
                                              "disk was full. Start it again, nothing is lost"
                                            : "it ended: " + outcome));
    if (!status.contains("step")) return;
    Line("last",
         "step " + Count(status.at("step")) + ", " + Count(status.at("members")) + " members");
  }

  static std::string LossOf(const json& metric) {
    return EvaluationText(metric.at("name"), NumberOf(metric.at("value")),
                          NumberOf(metric.at("loss"))) +
           " after step " + Count(metric.at("step"));
  }

  static std::string BatchOf(const json& batch) {
    return "loss " + FourDigits(NumberOf(batch.at("loss"))) + " on its own batch of step " +
           Count(batch.at("step"));
  }

  // Text such as "for part of a, b; commit of a (not linked)".
  static std::string WaitsFor(const json& waits_for) {
    std::string line;
    std::string last;
    for (const json& missing : waits_for) {
      const std::string message = missing.at("message");
      line += message == last ? ", " : (last.empty() ? "for " : "; ") + message + " of ";
      last = message;
      line += ShortOf(missing.at("peer"));
      if (!missing.at("linked").get<bool>()) line += " (not linked)";
    }
    return line.empty() ? "for no message of another member" : line;
  }

  const MemberNames names_;
  std::string text_;
};

}  // namespace

std::string StatusText(const json& status) { return Text::Of(status); }

std::string StepTrafficText(const json& costs) {
  const auto bytes = [&](const char* key) { return BytesText(costs.at(key).get<std::uint64_t>()); };
  // An older node does not say what it writes.
  const std::string writes = costs.contains("written_bytes")
                                 ? ", and writes " + bytes("written_bytes") + " to the disk"
                                 : "";
  return "sends " + bytes("sent_bytes") + " and gets " + bytes("received_bytes") + writes;
}

}  // namespace ostraka::cli

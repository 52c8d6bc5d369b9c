#include "node/cli/doctor/dialed.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/cli/views/node_answers.h"
#include "node/http/http_get.h"
#include "node/net/reach/dial_back_status.h"

namespace ostraka::cli {
namespace {

using net::DialOutcome;
using nlohmann::json;

bool Is(const DialedFacts::Try& one, DialOutcome outcome) {
  return one.outcome == net::DialOutcomeName(outcome);
}

std::size_t Count(const DialedFacts& facts, DialOutcome outcome) {
  return static_cast<std::size_t>(
      std::count_if(facts.tries.begin(), facts.tries.end(),
                    [outcome](const DialedFacts::Try& one) { return Is(one, outcome); }));
}

std::string Texts(const DialedFacts& facts, const MemberNames& names) {
  std::string all;
  for (const DialedFacts::Try& one : facts.tries) {
    all += (all.empty() ? "" : "; ") + names.In(one.text);
  }
  return all;
}

}  // namespace

std::optional<DialedFacts> ParseDialed(std::string_view status) {
  const json whole = json::parse(status, nullptr, false);
  if (!whole.is_object() || !whole.contains("dial_back")) return std::nullopt;
  try {
    const json& dial_back = whole.at("dial_back");
    DialedFacts facts;
    facts.on = dial_back.at("on").get<bool>();
    facts.only_dials = !whole.at("reachable").get<bool>();
    facts.port = dial_back.value("port", std::uint16_t{0});
    for (const json& result : dial_back.at("results")) {
      facts.tries.push_back(
          {result.at("outcome").get<std::string>(), result.at("text").get<std::string>()});
    }
    return facts;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::optional<DialedFacts> AskNode(const std::string& data_dir) {
  const auto answer =
      http::HttpGet({.address = {}, .socket_path = data_dir + "/" + kStatusSocketName}, "/status");
  if (!answer.ok() || answer->status != 200) return std::nullopt;
  return ParseDialed(answer->body);
}

Strays StraysOf(const DialedFacts& facts) {
  const bool reset = Count(facts, DialOutcome::kRefused) > 0;
  const bool dropped = Count(facts, DialOutcome::kSilent) > 0;
  if (reset == dropped) return Strays::kUnknown;
  return reset ? Strays::kReset : Strays::kDropped;
}

Finding JudgeDialed(const DialedFacts& facts, const MemberNames& names) {
  const std::size_t tried = facts.tries.size() - Count(facts, DialOutcome::kDeclined);
  if (!facts.on) return {"dialed", Severity::kOk, "the node runs with --dial-back off", ""};
  if (facts.port == 0) {
    return {"dialed", Severity::kOk,
            "the node does not listen, so nobody can dial it: it only dials", ""};
  }
  const std::string port = "TCP port " + std::to_string(facts.port);
  if (tried == 0) {
    return {"dialed", Severity::kOk,
            "no member has dialed " + port + " of the node yet: ask again while it is linked", ""};
  }
  const std::string text = Texts(facts, names);
  if (Count(facts, DialOutcome::kReached) > 0) {
    return {"dialed", Severity::kOk, "others reach the node: " + text, ""};
  }
  if (facts.only_dials) {
    return {"dialed", Severity::kOk,
            "nobody reaches the node, which declares that it only dials: " + text, ""};
  }
  return {"dialed", Severity::kWarning, "nobody reaches the node: " + text,
          net::DialBackRemedy(facts.port)};
}

}  // namespace ostraka::cli

#include "node/net/reach/dial_back_status.h"

#include <algorithm>
#include <set>

namespace ostraka::net {
namespace {

// One member may be cut off itself, or lie.
constexpr std::size_t kSeveral = 2;

}  // namespace

std::vector<DialedBack> MostTelling(const DialBackStatus& status, std::size_t most) {
  std::vector<DialedBack> results = status.results;
  std::stable_sort(results.begin(), results.end(), [](const DialedBack& a, const DialedBack& b) {
    return a.where.port != 0 && b.where.port == 0;
  });
  if (results.size() > most) results.resize(most);
  return results;
}

bool IsInVain(DialOutcome outcome) {
  return outcome != DialOutcome::kReached && outcome != DialOutcome::kDeclined;
}

const char* DialOutcomeText(DialOutcome outcome) {
  switch (outcome) {
    case DialOutcome::kReached:
      return "it reached this node";
    case DialOutcome::kRefused:
      return "the connection was refused (RST)";
    case DialOutcome::kSilent:
      return "no answer";
    case DialOutcome::kOtherKey:
      return "another key answered";
    case DialOutcome::kNoNode:
      return "what answered is no node";
    case DialOutcome::kUnreachable:
      return "the network knows no way";
    case DialOutcome::kDeclined:
      return "nobody dialed";
  }
  return "";
}

std::string TextOf(const DialedBack& result) {
  if (result.where.port == 0)
    return "a dial of " + result.peer.Short() + " reached this node: they are linked";
  if (result.outcome == DialOutcome::kDeclined) return result.peer.Short() + " declined to dial";
  return result.peer.Short() + " dialed " + dht::TextOf(result.where) + ": " +
         DialOutcomeText(result.outcome);
}

std::string DialBackAdvice(const DialBackStatus& status, bool only_dials) {
  if (only_dials || status.port == 0) return {};
  const bool any_public =
      std::any_of(status.results.begin(), status.results.end(), [](const DialedBack& result) {
        return result.is_public && result.outcome != DialOutcome::kDeclined;
      });
  std::set<std::string> from;
  std::set<std::string> reached_from;
  std::string tries;
  for (const DialedBack& result : status.results) {
    if (any_public && !result.is_public) continue;  // a neighbour says nothing of the outside
    if (result.outcome == DialOutcome::kReached) {
      if (result.where.port == 0) return {};  // a link that came in: this node saw it itself
      reached_from.insert(result.from);
    }
    if (!IsInVain(result.outcome)) continue;
    from.insert(result.from);
    tries += (tries.empty() ? "" : "; ") + TextOf(result);
  }
  if (from.size() < kSeveral || from.size() <= reached_from.size()) return {};
  return "others cannot dial this node (" + tries + "): " + DialBackRemedy(status.port);
}

std::string DialBackRemedy(std::uint16_t port) {
  return "let TCP port " + std::to_string(port) +
         " through the firewall and the router, or start the node with --map-port; if that cannot "
         "be, with --reachable no, in a run that lists members that only dial";
}

}  // namespace ostraka::net

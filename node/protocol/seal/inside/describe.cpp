#include "node/protocol/seal/inside/describe.h"

#include <vector>

namespace ostraka::protocol {
namespace {

using Step = SealClock::Step;

// Tenths of a second, without floating point.
std::string Seconds(base::Duration duration) {
  const std::int64_t tenths = duration.ns / 100'000'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string Names(const std::vector<PeerId>& peers) {
  constexpr std::size_t kShown = 4;
  std::string names;
  for (std::size_t i = 0; i < peers.size() && i < kShown; ++i) {
    names += (names.empty() ? "" : ", ") + peers[i].Short();
  }
  if (peers.size() > kShown) names += " and " + std::to_string(peers.size() - kShown) + " more";
  return names;
}

const char* NameOf(Step step) {
  switch (step) {
    case Step::kIdle:
      return "idle";
    case Step::kEchoed:
      return "echoed";
    case Step::kClosed:
      return "closed";
    case Step::kRest:
      return "rest";
    case Step::kStatus:
      return "STATUS";
    case Step::kPropose:
      return "PROPOSE";
    case Step::kVote:
      return "VOTE";
    case Step::kLock:
      return "LOCK";
  }
  return "?";
}

// The clauses below are empty or end with "; ".

std::string OfGate(const SealView& seal, base::Time now) {
  if (seal.clock.step() != Step::kClosed) return "";
  return "closed " + Seconds(now - seal.clock.began()) + " ago; " +
         std::to_string(seal.gate.closers().size()) + " of " + std::to_string(seal.gate.quorum()) +
         " have; waits for " + Names(seal.gate.Lacking()) + "; ";
}

std::string OfIteration(const SealView& seal, base::Time now) {
  if (seal.clock.step() <= Step::kRest) return "";
  const std::uint32_t k = seal.clock.iteration();
  const SealRounds& rounds = seal.slow_path.rounds();
  std::string line = "iteration " + std::to_string(k) + ", " + NameOf(seal.clock.step()) + " for " +
                     Seconds(now - seal.clock.began()) + ", leader " +
                     seal.setup.LeaderOf(k).Short();
  if (seal.clock.step() == Step::kStatus && !seal.clock.gathered()) {
    std::vector<PeerId> elsewhere;
    for (const PeerId& member : seal.setup.others()) {
      if (rounds.ReachedBy(member) < k) elsewhere.push_back(member);
    }
    line +=
        "; no quorum of " + std::to_string(seal.setup.quorum()) + ": waits for " + Names(elsewhere);
  }
  const std::string refusal = rounds.RefusalOf(k);
  if (!refusal.empty()) line += "; no vote: " + refusal;
  return line + "; ";
}

std::string OfEchoes(const SealView& seal) {
  const auto& echoes = seal.echoes.all();
  const auto own = echoes.find(seal.setup.self());
  std::vector<PeerId> without_echo;
  std::string difference;
  for (const PeerId& member : seal.setup.unmuted()) {
    const auto echo = echoes.find(member);
    if (echo == echoes.end()) {
      without_echo.push_back(member);
    } else if (difference.empty() && own != echoes.end() &&
               echo->second.body.vector != own->second.body.vector) {
      difference = member.Short() + " echoed another vector: " +
                   DifferenceOf(own->second.body, echo->second.body, seal.setup.entries(),
                                seal.setup.members()) +
                   "; ";
    }
  }
  if (without_echo.empty()) return difference;
  return "no echo of " + Names(without_echo) + "; " + difference;
}

}  // namespace

std::string DescribeSeal(const SealView& seal, base::Time now) {
  if (seal.decision.vector()) return "decided";
  if (seal.decision.made()) {
    return "decided; waits for what it names, from " + Names(seal.decision.witnesses());
  }
  if (!seal.echoes.wait_ended_at()) return "waits for the messages of the phase";
  std::string line = seal.setup.muted() ? "follows without a voice: " : "";
  line += OfGate(seal, now) + OfIteration(seal, now) + OfEchoes(seal);
  if (const auto sent = seal.echoes.sent_at()) line += "own echo " + Seconds(now - *sent) + " ago";
  while (line.ends_with("; ")) line.resize(line.size() - 2);
  return line;
}

}  // namespace ostraka::protocol

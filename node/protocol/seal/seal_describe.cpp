// The line for people: what a seal waits for.
#include "node/protocol/seal/seal_impl.h"

namespace ostraka::protocol {
namespace {

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

const char* NameOf(SealClock::Step step) {
  switch (step) {
    case SealClock::Step::kIdle:
      return "idle";
    case SealClock::Step::kEchoed:
      return "echoed";
    case SealClock::Step::kClosed:
      return "closed";
    case SealClock::Step::kRest:
      return "rest";
    case SealClock::Step::kStatus:
      return "STATUS";
    case SealClock::Step::kPropose:
      return "PROPOSE";
    case SealClock::Step::kVote:
      return "VOTE";
    case SealClock::Step::kLock:
      return "LOCK";
  }
  return "?";
}

}  // namespace

std::string Seal::Impl::Describe(base::Time now) const {
  if (decision) return "decided";
  if (decided_value_) {
    return "decided; waits for what it names, from " + Names(witnesses_);
  }
  if (!begun_at_) return "waits for the messages of the phase";
  std::string line = options_.muted ? "follows without a voice: " : "";
  std::vector<PeerId> without_echo;
  std::string difference;
  const auto own = echoes_.find(options_.self);
  for (const PeerId& member : awake_) {
    const auto echo = echoes_.find(member);
    if (echo == echoes_.end()) {
      without_echo.push_back(member);
    } else if (difference.empty() && own != echoes_.end() &&
               echo->second.body.vector != own->second.body.vector) {
      difference = member.Short() + " echoed another vector: " +
                   DifferenceOf(own->second.body, echo->second.body, options_.members);
    }
  }
  const std::uint32_t k = clock_.iteration();
  if (clock_.step() == SealClock::Step::kClosed) {
    line += "closed " + Seconds(now - clock_.began()) + " ago; " +
            std::to_string(gate_.closers().size()) + " of " + std::to_string(gate_.quorum()) +
            " have; waits for " + Names(gate_.Lacking()) + "; ";
  }
  if (clock_.step() > SealClock::Step::kRest) {
    line += "iteration " + std::to_string(k) + ", " + NameOf(clock_.step()) + " for " +
            Seconds(now - clock_.began()) + ", leader " + LeaderOf(k).Short();
    std::vector<PeerId> elsewhere;
    for (const PeerId& member : OthersAwake()) {
      const auto reached = reached_.find(member);
      if (reached == reached_.end() || reached->second < k) elsewhere.push_back(member);
    }
    if (!clock_.gathered() && clock_.step() == SealClock::Step::kStatus) {
      line += "; no quorum of " + std::to_string(quorum_) + ": waits for " + Names(elsewhere);
    }
    const auto round = rounds_.find(k);
    if (round != rounds_.end() && !round->second.refusal.empty()) {
      line += "; no vote: " + round->second.refusal;
    }
    line += "; ";
  }
  if (!without_echo.empty()) line += "no echo of " + Names(without_echo) + "; ";
  if (!difference.empty()) line += difference + "; ";
  if (echo_time_) line += "own echo " + Seconds(now - *echo_time_) + " ago";
  while (line.ends_with("; ")) line.resize(line.size() - 2);
  return line;
}

}  // namespace ostraka::protocol

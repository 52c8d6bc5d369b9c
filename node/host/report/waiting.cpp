#include "node/host/report/waiting.h"

#include <algorithm>

#include "node/base/check.h"
#include "node/host/report/node_status.h"

namespace ostraka::host {
namespace {

constexpr std::size_t kNamedInTheLog = 8;
constexpr std::int64_t kSecond = base::Seconds(1).ns;

bool Contains(const std::vector<base::PeerId>& peers, const base::PeerId& peer) {
  return std::find(peers.begin(), peers.end(), peer) != peers.end();
}

std::vector<base::PeerId> Unlinked(const NodeStatus& status) {
  std::vector<base::PeerId> unlinked;
  for (const base::PeerId& peer : status.others) {
    if (PathTo(status, peer) == Path::kNone) unlinked.push_back(peer);
  }
  return unlinked;
}

std::vector<base::PeerId> AwaitedBy(const NodeStatus& status) {
  const std::vector<base::PeerId> unlinked = Unlinked(status);
  if (!status.met && !unlinked.empty()) return unlinked;
  std::vector<base::PeerId> absent;
  std::vector<base::PeerId> first;  // those whose messages the others' follow from
  for (const protocol::Progress::Missing& missing : status.progress.missing) {
    if (Contains(unlinked, missing.peer) && !Contains(absent, missing.peer)) {
      absent.push_back(missing.peer);
    }
    const bool is_first = missing.message == status.progress.missing.front().message;
    if (is_first && !Contains(first, missing.peer)) first.push_back(missing.peer);
  }
  return absent.empty() ? first : absent;
}

}  // namespace

std::optional<Waiting> WaitingOf(const NodeStatus& status) {
  // After the end a node says for whom it stays (protocol::Staying).
  if (status.outcome || status.progress.phase == "linger") return std::nullopt;
  // A newcomer that has links with most others is told how far it is (protocol::CatchingUp). Those
  // that it lacks may have been dropped long ago.
  const bool has_most = 2 * status.linked.size() > status.others.size();
  if (!status.met && status.progress.phase == "follow" && has_most) return std::nullopt;
  if (status.since_progress < std::max(kShownAfter, status.recent_step * 4)) return std::nullopt;
  Waiting waiting{.step = status.progress.step,
                  .begun = status.met,
                  .since = status.since_progress,
                  .peers = AwaitedBy(status),
                  .follows = status.progress.phase == "follow"};
  if (waiting.peers.empty()) return std::nullopt;
  return waiting;
}

std::string WaitingText(const Waiting& waiting,
                        const std::function<std::string(const base::PeerId&)>& shown,
                        std::size_t most) {
  OSTRAKA_CHECK(most > 0);
  std::string text = waiting.begun ? "step " + std::to_string(waiting.step) + ": " : "";
  text += "waiting " + std::to_string(waiting.since.ns / kSecond) + " s for ";
  const std::size_t named = std::min(most, waiting.peers.size());
  for (std::size_t i = 0; i < named; ++i) {
    if (i > 0) text += ", ";
    text += shown(waiting.peers[i]);
  }
  if (waiting.peers.size() > named) {
    text += " and " + std::to_string(waiting.peers.size() - named) + " more";
  }
  if (waiting.begun) return text + "; nothing is lost";
  if (!waiting.follows) return text + "; the run begins when all have started";
  return text +
         ": the run may be over, or go on without those that this node knows; then ask a moderator "
         "for a fresh invite";
}

std::optional<std::string> WaitLog::Of(const std::optional<Waiting>& now) {
  if (!now) {
    const bool had_a_line = kFirstLine < next_;
    next_ = kFirstLine;
    if (!had_a_line) return std::nullopt;
    return begun_ ? "step " + std::to_string(step_) + ": the run goes on" : "the run begins";
  }
  if (now->since < next_) return std::nullopt;
  while (next_ <= now->since) next_ = next_ * 2;
  step_ = now->step;
  begun_ = now->begun;
  CheckInvariants();
  return WaitingText(
      *now, [](const base::PeerId& peer) { return peer.Short(); }, kNamedInTheLog);
}

void WaitLog::CheckInvariants() const { OSTRAKA_CHECK(kFirstLine <= next_); }

}  // namespace ostraka::host

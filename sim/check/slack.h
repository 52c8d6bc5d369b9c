// Whether the head bears its Byzantine members: they are no more than its t_s.
//
// Every run begins so (CheckOptions), but a cut can end otherwise. Honest members that nobody heard
// are dropped, t_s shrinks with them, and each of them is missing until it is admitted again
// (docs/protocol/network.md, gaps). Nothing false is sealed even then, but a liar can keep the
// others from a quorum until people RECOVER. So a checker of progress asks here first.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/engine/checker.h"

namespace ostraka::sim {

// True if at most t_s members of `view` are Byzantine.
inline bool BearsItsByzantine(const protocol::Block& view, const Roster& roster) {
  const auto byzantine =
      std::count_if(view.members.begin(), view.members.end(), [&](const base::PeerId& member) {
        const auto peer = roster.IndexOf(member);
        return peer && !roster.IsHonest(*peer);
      });
  return static_cast<std::uint64_t>(byzantine) <= view.thresholds.t_s;
}

class Slack {
 public:
  explicit Slack(const Roster& roster) : roster_(roster) {}

  // An action of an honest peer.
  void OnAction(const protocol::Action& action) {
    const auto* done = Observed<protocol::StepDone>(action);
    if (!done || HeightOf(*done->block) < height_) return;
    height_ = HeightOf(*done->block);
    borne_ = BearsItsByzantine(*done->block, roster_);
    members_ = done->block->members;
  }

  bool Borne() const { return borne_; }
  const std::vector<base::PeerId>& members() const { return members_; }  // of the head, by key

 private:
  Roster roster_;
  std::uint64_t height_ = 0;
  bool borne_ = true;
  std::vector<base::PeerId> members_;
};

}  // namespace ostraka::sim

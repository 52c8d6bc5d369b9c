// Whether the newest view bears the Byzantine members in it: no more than its t_s.
//
// No run begins otherwise (CheckOptions), but a cut can end there. Honest members that nobody heard
// are dropped, the bound goes down with them, and each of them is missing until it is admitted
// again (docs/protocol.md, Open). Then nothing false is sealed all the same, and a liar can keep
// the rest from a quorum until people RECOVER. So who asks for progress asks here first.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/engine/checker.h"

namespace ostraka::sim {

// Whether the members of `view` that are Byzantine are no more than it bears.
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

  // Of an honest peer.
  void OnAction(const protocol::Action& action) {
    const auto* done = Observed<protocol::StepDone>(action);
    if (!done || HeightOf(*done->block) < height_) return;
    height_ = HeightOf(*done->block);
    borne_ = BearsItsByzantine(*done->block, roster_);
  }

  bool Borne() const { return borne_; }

 private:
  Roster roster_;
  std::uint64_t height_ = 0;
  bool borne_ = true;
};

}  // namespace ostraka::sim

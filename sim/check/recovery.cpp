#include "sim/check/recovery.h"

#include <algorithm>
#include <string>

#include "node/protocol/ground/roles.h"
#include "node/protocol/rules/recomputing.h"
#include "node/protocol/seal/seal_bounds.h"

namespace ostraka::sim {

base::Duration RecoveryBound(const RecoveryTerms& terms) {
  const base::Duration delta = terms.delta;
  const std::int64_t faulty = terms.faulty;
  wire::Block head;  // one of the whole wait
  head.delta_us = static_cast<std::uint64_t>(delta.ns / 1'000);
  const base::Duration longest = protocol::LongestProofDeadlineAfter(head, terms.manifest);
  const base::Duration short_deadline = delta * 3;  // for one draw of seal B
  const base::Duration healing =
      protocol::HealingBound(delta, terms.iteration, terms.faulty) + longest;
  const base::Duration decision = protocol::DecisionBound(delta, terms.faulty);
  const base::Duration coin = (short_deadline + decision) * (faulty + 1);
  const base::Duration block = longest + decision;
  const base::Duration fetching =
      delta * (static_cast<std::int64_t>(terms.behind) + 4) * (faulty + 1);
  return healing * 2 + coin + block + fetching;
}

Recovery::Recovery(const Roster& roster, base::Time over, const protocol::Manifest& manifest)
    : roster_(roster),
      over_(over),
      peers_(roster.ids.size(), Peer{.delta = manifest.delta}),
      terms_{.manifest = manifest},
      slack_(roster) {
  byzantine_ = static_cast<std::uint32_t>(
      std::count(roster.byzantine.begin(), roster.byzantine.end(), true));
}

void Recovery::OnStep(const StepRecord& record) {
  now_ = record.now;
  if (now_ >= over_ && !stock_taken_) TakeStock();
}

void Recovery::TakeStock() {
  stock_taken_ = true;
  std::uint64_t lowest = UINT64_MAX;
  for (std::uint32_t i = 0; i < peers_.size(); ++i) {
    const Peer& peer = peers_[i];
    if (!roster_.IsHonest(i)) continue;
    highest_ = std::max(highest_, peer.height);
    lowest = std::min(lowest, peer.height);
    terms_.delta = std::max(terms_.delta, peer.delta);
    terms_.iteration = std::max(terms_.iteration, peer.iteration);
  }
  if (lowest < highest_) terms_.behind = highest_ - lowest;
  nobody_left_ = lowest < highest_;
  for (std::uint32_t i = 0; i < peers_.size(); ++i) {
    if (!roster_.IsHonest(i)) continue;
    const bool has_all = peers_[i].height == highest_;
    const bool excused =
        has_all ? peers_[i].finished : !protocol::IsMember(slack_.members(), roster_.ids[i]);
    nobody_left_ = nobody_left_ && excused;
  }
  CountAway();
}

bool Recovery::Waits(std::uint32_t peer) const {
  const Peer& state = peers_[peer];
  return roster_.IsHonest(peer) && !state.finished && state.height <= highest_;
}

void Recovery::CountAway() {
  const auto away =
      std::count_if(peers_.begin(), peers_.end(), [](const Peer& p) { return p.away; });
  terms_.faulty = std::max(terms_.faulty, byzantine_ + static_cast<std::uint32_t>(away));
}

void Recovery::Note(std::uint32_t index, const protocol::Action& action) {
  Peer& peer = peers_[index];
  if (Observed<protocol::StepStarted>(action) || Observed<protocol::StepDone>(action)) {
    begun_ = true;
  }
  if (const auto* done = Observed<protocol::StepDone>(action)) {
    peer.height = std::max(peer.height, HeightOf(*done->block));
    peer.delta = base::Microseconds(static_cast<std::int64_t>(done->block->delta_us));
    peer.iteration = 0;
  } else if (const auto* slow = Observed<protocol::SlowSeal>(action)) {
    peer.iteration = slow->iteration;
  } else if (Observed<protocol::Sealed>(action)) {
    peer.iteration = 0;
  } else if (Observed<protocol::Away>(action)) {
    peer.away = true;
    peer.iteration = 0;
  } else if (Observed<protocol::Back>(action)) {
    peer.away = false;
  } else if (Observed<protocol::Halted>(action)) {
    peer.finished = true;
  }
}

base::Status Recovery::OnAction(std::uint32_t peer, const protocol::Action& action) {
  Note(peer, action);
  slack_.OnAction(action);
  if (!stock_taken_ || took_ || !slack_.Borne()) return base::OkStatus();
  // The largest Delta of a peer until it has the new block.
  if (Waits(peer)) terms_.delta = std::max(terms_.delta, peers_[peer].delta);
  CountAway();
  return Judge();
}

base::Status Recovery::Judge() {
  const base::Duration since{now_.ns - over_.ns};
  std::optional<std::uint32_t> waits;
  for (std::uint32_t i = 0; i < peers_.size() && !waits; ++i) {
    if (Waits(i)) waits = i;
  }
  if (since <= bound()) {
    if (!waits) took_ = since;
    return base::OkStatus();
  }
  if (nobody_left_ || (!begun_ && byzantine_ > 0)) return base::OkStatus();
  const std::string late =
      waits ? Named(roster_, *waits) + " has " + std::to_string(peers_[*waits].height) + " blocks"
            : std::string("the last honest peer had a new block only");
  return base::FailedPrecondition(late + " " + std::to_string(since.seconds()) +
                                  " s after the last fault ended; there were " +
                                  std::to_string(highest_) + " before, and the bound is " +
                                  std::to_string(bound().seconds()) + " s");
}

}  // namespace ostraka::sim

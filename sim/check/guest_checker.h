// "guests": within kAnswerWindow an honest peer answers all keys together that were never members
// with no more than the ration that these share (node/protocol/mail/guest_ration.h), whatever and
// however many of them ask; and it sends no result or state to a key whose invite has ended by its
// newest block, unless that has come in.
//
// What it counts is what is sent because somebody asks: requests, answers, and what others signed.
//
// Memory: a time and two numbers for each peer.
//
// What an attacker can do here: nothing; only honest peers are counted.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "node/wire/opener.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

struct GuestBounds {
  std::uint64_t answers = 0;  // to all of them within kAnswerWindow (sim/check/queue_checker.h)
  std::uint64_t bytes = 0;
};
// In a run with so many parameters, whose members give guests so many bytes a second; 0: what one
// member may have.
GuestBounds GuestBoundsOf(std::uint64_t dimension, std::uint64_t guest_bytes_a_second);

class GuestAnswers final : public Checker, public StepObserver {
 public:
  GuestAnswers(const Roster& roster, const GuestBounds& bounds,
               std::map<base::PeerId, std::uint64_t> ends, std::shared_ptr<wire::Opener> opener)
      : roster_(roster),
        bounds_(bounds),
        ends_(std::move(ends)),
        opener_(std::move(opener)),
        peers_(roster.ids.size()) {}
  std::string_view name() const override { return "guests"; }
  // Reads the clock. Register with the simulator before the set.
  void OnStep(const StepRecord& record) override { now_ = record.now; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct Given {
    base::Time since;
    std::uint64_t answers = 0;
    std::uint64_t bytes = 0;
    std::uint64_t height = 0;  // of its newest block
  };

  Roster roster_;
  GuestBounds bounds_;
  std::map<base::PeerId, std::uint64_t> ends_;  // of their invites
  std::shared_ptr<wire::Opener> opener_;
  base::Time now_;
  std::vector<Given> peers_;
  std::set<base::PeerId> came_;  // were members once
};

}  // namespace ostraka::sim

// Properties of the columns of a step: how they are aggregated, when they are applied, and what
// stays unchanged if they are not (docs/protocol/checks.md). Computed anew from the frames on the
// wire and the blocks.
//
// May not know: the protocol's own rules.
//
// Memory: PROOFs and aggregates of the newest few steps.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "sim/check/sealed_tip.h"
#include "sim/check/speech.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

// "aggregation": an honest aggregator's result is CenteredClip's fixed point, as exactly as
// promised:
// sum_i D_i| <= |S| (eps + 2^-23 |ghat| + quantum).
class Aggregation final : public Checker, public StepObserver {
 public:
  explicit Aggregation(const Roster& roster) : roster_(roster) {}
  std::string_view name() const override { return "aggregation"; }
  // Reads results as they arrive. Register with the simulator before the set.
  void OnStep(const StepRecord& record) override;
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
  std::map<std::pair<std::uint32_t, protocol::JobId>, std::shared_ptr<const protocol::JobSpec>>
      running_;
  base::Status fault_;  // the first one, until OnAction returns it
};

// "columns": an applied column has at least 2b + 1 senders and sealed numbers whose sums vanish; a
// void column leaves every bit of its coordinates unchanged.
class Columns final : public Checker, public StepObserver {
 public:
  Columns(const Roster& roster, std::shared_ptr<const protocol::Manifest> manifest,
          std::shared_ptr<wire::Opener> opener = std::make_shared<wire::PlainOpener>());
  std::string_view name() const override { return "columns"; }
  // Reads PROOFs and aggregates of all peers. Register with the simulator before the set.
  void OnStep(const StepRecord& record) override;
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct Said {                                                       // of one step
    std::map<base::PeerId, std::vector<wire::SharedMessage>> proofs;  // different PROOFs of a peer
    std::map<base::Digest, protocol::SharedBlob> results;             // by root
  };
  void Hear(std::uint32_t peer, const protocol::Action& action);
  base::Status JudgeStep(const protocol::StepDone& done) const;
  base::Status JudgeApplied(const wire::Block& block, std::size_t column,
                            std::uint64_t length) const;
  base::Status JudgeSums(const wire::Block& block, std::size_t column, std::uint64_t length) const;
  std::size_t LeastSenders(const std::vector<base::PeerId>& senders) const;

  Roster roster_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  Speech speech_;
  std::map<std::uint64_t, Said> said_;  // by step, the newest few
  SealedTip before_;
};

}  // namespace ostraka::sim

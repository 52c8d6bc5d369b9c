// Order of events: no coin is shown before its commitments are sealed, no draw judges numbers
// before they are sealed, and evidence that one member holds reaches the others.
//
// Memory: the newest few steps; evidence until its subject is banned.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/check/speech.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

// "phase_order": an honest peer signs a COMMIT only after it accepted the block before, a REVEAL
// only after it decided seal A, and a PROOF only after it decided seal B of that step.
class PhaseOrder final : public Checker {
 public:
  explicit PhaseOrder(const Roster& roster,
                      std::shared_ptr<wire::Opener> opener = std::make_shared<wire::PlainOpener>())
      : roster_(roster), peers_(roster.ids.size()), speech_(roster, std::move(opener)) {}
  std::string_view name() const override { return "phase_order"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct Peer {
    std::uint64_t height = 0;    // number of accepted blocks
    std::uint64_t sealed_a = 0;  // seal A is decided in all steps below
    std::uint64_t sealed_b = 0;
  };
  Roster roster_;
  std::vector<Peer> peers_;
  Speech speech_;
};

// "draw_order": validators judge numbers that were sealed before the coin that drew them was shown.
// A block's draw concerns an earlier step, in whose block the target's PROOF is sealed. Judges the
// first accepted block of each step.
class DrawOrder final : public Checker {
 public:
  explicit DrawOrder(const Roster& roster) : roster_(roster) {}
  std::string_view name() const override { return "draw_order"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
  std::map<std::uint64_t, std::vector<base::PeerId>> proven_;  // by step, the newest few
};

// "guilt_spreads": a member against which an honest member has evidence is banned by the second
// block after. Members that a fault hits are excused: the evidence that they held may be lost.
class GuiltSpreads final : public Checker {
 public:
  explicit GuiltSpreads(const Roster& roster) : roster_(roster), steps_(roster.ids.size()) {}
  std::string_view name() const override { return "guilt_spreads"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct Guilt {
    std::uint32_t witness = 0;
    std::uint64_t step = 0;  // the witness's step
  };
  void Hear(std::uint32_t peer, const protocol::Store& store);
  base::Status OnBlock(const wire::Block& block) const;

  Roster roster_;
  std::vector<std::optional<std::uint64_t>> steps_;  // in progress; nullopt: away
  std::map<base::PeerId, Guilt> guilty_;
};

}  // namespace ostraka::sim

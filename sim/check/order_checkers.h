// What must not happen before something else has: coins before their commitments are sealed, draws
// before what they judge is, and guilt known to one that never reaches the others.
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

// "phase_order": an honest peer signs a COMMIT only after the block before, a REVEAL only after
// seal A and a PROOF only after seal B of that step were decided here.
class PhaseOrder final : public Checker {
 public:
  explicit PhaseOrder(const Roster& roster,
                      std::shared_ptr<wire::Opener> opener = std::make_shared<wire::PlainOpener>())
      : roster_(roster), peers_(roster.ids.size()), speech_(roster, std::move(opener)) {}
  std::string_view name() const override { return "phase_order"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct Peer {
    std::uint64_t height = 0;    // blocks accepted
    std::uint64_t sealed_a = 0;  // steps whose seal A is decided: those below
    std::uint64_t sealed_b = 0;
  };
  Roster roster_;
  std::vector<Peer> peers_;
  Speech speech_;
};

// "draw_order": validators judge numbers that were sealed before the coin that drew them was shown:
// a block's draw is about a step before its own, in whose block the target's PROOF is sealed. Of
// each step the first block that somebody accepts is judged.
class DrawOrder final : public Checker {
 public:
  explicit DrawOrder(const Roster& roster) : roster_(roster) {}
  std::string_view name() const override { return "draw_order"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
  std::map<std::uint64_t, std::vector<base::PeerId>> proven_;  // by step, the newest few
};

// "guilt_spreads": whoever an honest member has evidence against is banned by the second block
// after. Members that a fault hits are excused: what they held may be lost.
class GuiltSpreads final : public Checker {
 public:
  explicit GuiltSpreads(const Roster& roster) : roster_(roster), steps_(roster.ids.size()) {}
  std::string_view name() const override { return "guilt_spreads"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct Guilt {
    std::uint32_t witness = 0;
    std::uint64_t step = 0;  // that the witness was in
  };
  void Hear(std::uint32_t peer, const protocol::Store& store);
  base::Status OnBlock(const wire::Block& block) const;

  Roster roster_;
  std::vector<std::optional<std::uint64_t>> steps_;  // in progress; nullopt: away
  std::map<base::PeerId, Guilt> guilty_;
};

}  // namespace ostraka::sim

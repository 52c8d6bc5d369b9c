// The checkers of a run. Each checks one line of docs/protocol.md 1, and fails with one line that
// names the peer and the step.
//
// May not know: the protocol's own rules (sim/engine/checker.h says why).
//
// Memory: a few digests for each step of the run, and for each peer in the newest steps; vectors of
// the newest steps only.
//
// What an attacker can do here: nothing; only the signed actions of honest peers count against
// them.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "sim/adversary/coven.h"
#include "sim/check/slack.h"
#include "sim/check/speech.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

class Recovery;

// "honest_removed": no block that an honest peer accepts removes an honest peer, but for drops of
// unlucky ones; nor does any suspend it.
class HonestNeverRemoved final : public Checker {
 public:
  explicit HonestNeverRemoved(const Roster& roster) : roster_(roster) {}
  std::string_view name() const override { return "honest_removed"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
};

// "honest_suspected": no honest peer's own check names an honest peer, since an honest peer never
// does what only a Byzantine one would.
class HonestNeverSuspected final : public Checker {
 public:
  explicit HonestNeverSuspected(const Roster& roster) : roster_(roster) {}
  std::string_view name() const override { return "honest_suspected"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
};

// "agreement": honest peers decide equal seals and equal blocks (so equal removals), in one order,
// step by step.
class Agreement final : public Checker {
 public:
  explicit Agreement(const Roster& roster) : roster_(roster) {}
  std::string_view name() const override { return "agreement"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct First {
    std::uint32_t peer = 0;
    base::Digest digest;
  };
  base::Status OnSealed(std::uint32_t peer, const protocol::Sealed& sealed);
  base::Status OnBlock(std::uint32_t peer, const wire::Block& block);

  Roster roster_;
  using SealName = std::tuple<std::uint64_t, std::uint8_t, std::uint32_t>;  // step, phase, draw
  std::map<SealName, First> seals_;
  std::map<std::uint64_t, First> blocks_;  // by height: 0 genesis, step + 1 after
};

// "ban_lost": a member that a block banned is banned in every later block that an honest peer
// accepts, including blocks that it reads or fetches after a crash.
class BansKept final : public Checker {
 public:
  explicit BansKept(const Roster& roster) : roster_(roster) {}
  std::string_view name() const override { return "ban_lost"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
  std::map<base::PeerId, std::uint64_t> banned_;  // the step whose block banned it
};

// "rejoin_only": a member that took part in a step and restarts without its disk signs nothing but
// genesis and REJOIN until a block admits it, because it cannot know what it signed before.
class RebornRejoins final : public Checker, public StepObserver {
 public:
  explicit RebornRejoins(const Roster& roster, std::shared_ptr<wire::Opener> opener =
                                                   std::make_shared<wire::PlainOpener>());
  std::string_view name() const override { return "rejoin_only"; }
  // Learns from inputs which peers start without a disk. Register with the simulator before the
  // set.
  void OnStep(const StepRecord& record) override;
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
  std::vector<bool> lived_;   // had a disk: began a step or accepted a block
  std::vector<bool> reborn_;  // lost it since
  Speech speech_;
};

// "state": after every step, parameters and optimizer state are equal by bits on all honest peers.
class StateEquality final : public Checker {
 public:
  explicit StateEquality(const Roster& roster) : roster_(roster) {}
  std::string_view name() const override { return "state"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct First {
    std::uint32_t peer = 0;
    protocol::ModelState state;  // null vectors in old steps
    base::Digest digest;         // kept in old steps instead
  };
  Roster roster_;
  std::map<std::uint64_t, First> first_;  // by height
};

// "self_equivocation": an honest peer never signs two bodies for one slot, except for the slots
// that a peer without its disk may sign anew. Reads frames on the wire. Off in unprotected runs,
// whose frames are not signed.
class NoSelfEquivocation final : public Checker, public StepObserver {
 public:
  explicit NoSelfEquivocation(const Roster& roster, std::shared_ptr<wire::Opener> opener =
                                                        std::make_shared<wire::PlainOpener>());
  std::string_view name() const override { return "self_equivocation"; }
  // Learns from inputs which peers start without a disk. Register with the simulator before the
  // set.
  void OnStep(const StepRecord& record) override;
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct Author {
    std::map<std::uint64_t, std::map<wire::Slot, base::Digest>> signed_slots;  // by step
    std::uint64_t newest_step = 0;
  };
  void Forget(Author& author, std::uint64_t step);

  Roster roster_;
  std::vector<Author> authors_;
  Speech speech_;
};

// "write_ahead": an honest peer signs nothing before the record of it is durable.
class WriteAhead final : public Checker, public StepObserver {
 public:
  explicit WriteAhead(const Roster& roster,
                      std::shared_ptr<wire::Opener> opener = std::make_shared<wire::PlainOpener>());
  std::string_view name() const override { return "write_ahead"; }
  // Learns from inputs which stores are durable. Register with the simulator before the set.
  void OnStep(const StepRecord& record) override;
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct Disk {
    std::map<protocol::StoreId, std::vector<base::Digest>> waiting;
    std::set<base::Digest> durable;
    std::vector<base::Digest> durable_order;  // oldest first; the oldest is forgotten first
  };
  Roster roster_;
  std::vector<Disk> disks_;
  Speech speech_;
};

// "undetected": a peer that departed from the protocol is removed by the end, unless the run had no
// slack left. For attacks whose removal the protocol promises. `in_time`: it promises the removal
// of attackers that continue; a peer that stopped long before the end, perhaps for lack of
// colluders, may never have been validated.
class CheatersRemoved final : public Checker {
 public:
  CheatersRemoved(const Roster& roster, std::shared_ptr<const Coven> coven, bool in_time = false)
      : roster_(roster), coven_(std::move(coven)), in_time_(in_time), slack_(roster) {}
  std::string_view name() const override { return "undetected"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;
  base::Status AtEnd() override;

 private:
  Roster roster_;
  std::shared_ptr<const Coven> coven_;
  bool in_time_;
  Slack slack_;
  std::set<base::PeerId> removed_;
  std::uint64_t newest_step_ = 0;
};

// "progress": every honest peer reaches the end of the run, or the run stands still without slack
// (sim/check/slack.h), or no honest peer ever begins: genesis needs every member, Byzantine ones
// too.
class Progress final : public Checker {
 public:
  // `recovery`: of a run with faults, and outlives this; null without.
  explicit Progress(const Roster& roster, const Recovery* recovery = nullptr);
  std::string_view name() const override { return "progress"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;
  base::Status AtEnd() override;

  // But for those that left, and came back or in when the run was as good as over.
  bool AllFinished() const;
  bool HasSlack() const { return slack_.Borne(); }

 private:
  // Blocks that a return takes, with room for a slow way: probation, and the blocks until it asks.
  static constexpr std::uint64_t kBlocksToReturn = 20;
  void OnBlock(const wire::Block& block);
  bool ComesTooLate(std::uint32_t peer) const;

  Roster roster_;
  const Recovery* recovery_;
  std::uint32_t honest_ = 0;
  std::uint32_t finished_ = 0;
  Slack slack_;
  bool begun_ = false;  // some honest peer began
  std::vector<bool> done_;
  std::vector<std::uint64_t> steps_;  // blocks accepted
  std::uint64_t height_ = 0;          // of the newest block
  bool closing_ = false;              // a block closes the run: nobody comes in any more
  // Honest peers that left or are to come, and are no members yet: the height at which each
  // started.
  std::map<std::uint32_t, std::optional<std::uint64_t>> away_;
};

}  // namespace ostraka::sim

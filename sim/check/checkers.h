// The checkers of a run. Each promises one line of docs/protocol.md, 1.
//
// Memory: per step of the run a few digests, and at most a few a peer of the newest steps; vectors
// only of the newest steps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "sim/adversary/coven.h"
#include "sim/check/slack.h"
#include "sim/check/speech.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

// "honest_removed": no block that an honest peer accepts removes an honest peer.
class HonestNeverRemoved final : public Checker {
 public:
  explicit HonestNeverRemoved(const Roster& roster) : roster_(roster) {}
  std::string_view name() const override { return "honest_removed"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
};

// "honest_suspected": no honest peer's own check names an honest peer: what it sees of one is never
// what only a cheat would do.
class HonestNeverSuspected final : public Checker {
 public:
  explicit HonestNeverSuspected(const Roster& roster) : roster_(roster) {}
  std::string_view name() const override { return "honest_suspected"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
};

// "agreement": honest peers decide the same seals and the same blocks (so the same removals), in
// the same order, step by step.
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

// "ban_lost": whom a block banned is banned in every later block that an honest peer accepts, also
// in those that it reads again or fetches after a crash.
class BansKept final : public Checker {
 public:
  explicit BansKept(const Roster& roster) : roster_(roster) {}
  std::string_view name() const override { return "ban_lost"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
  std::map<base::PeerId, std::uint64_t> banned_;  // and in the block of which step
};

// "rejoin_only": who was in a step and starts again without its disk signs nothing but genesis and
// REJOIN until a block admits it: nobody knows what it signed before.
class RebornRejoins final : public Checker, public StepObserver {
 public:
  explicit RebornRejoins(const Roster& roster, std::shared_ptr<wire::Opener> opener =
                                                   std::make_shared<wire::PlainOpener>());
  std::string_view name() const override { return "rejoin_only"; }
  // Learns from inputs who starts from nothing. Register with the simulator before the set.
  void OnStep(const StepRecord& record) override;
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
  std::vector<bool> lived_;   // has had a disk: began a step or accepted a block
  std::vector<bool> reborn_;  // and lost it since
  Speech speech_;
};

// "state": parameters and optimiser state are equal by bits on all honest peers after every step.
class StateEquality final : public Checker {
 public:
  explicit StateEquality(const Roster& roster) : roster_(roster) {}
  std::string_view name() const override { return "state"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct First {
    std::uint32_t peer = 0;
    protocol::ModelState state;  // null vectors once it is old
    base::Digest digest;         // instead of them
  };
  Roster roster_;
  std::map<std::uint64_t, First> first_;  // by height
};

// "self_equivocation": an honest peer never signs two bodies for one slot, but for those that one
// who lost its disk may say anew. Reads frames on the wire. Off in unprotected runs, whose frames
// are not signed.
class NoSelfEquivocation final : public Checker, public StepObserver {
 public:
  explicit NoSelfEquivocation(const Roster& roster, std::shared_ptr<wire::Opener> opener =
                                                        std::make_shared<wire::PlainOpener>());
  std::string_view name() const override { return "self_equivocation"; }
  // Learns from inputs who starts from nothing. Register with the simulator before the set.
  void OnStep(const StepRecord& record) override;
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  struct Author {
    std::map<wire::Slot, base::Digest> signed_slots;
    std::uint64_t newest_step = 0;
  };
  void Forget(Author& author, std::uint64_t step);

  Roster roster_;
  std::vector<Author> authors_;
  Speech speech_;
};

// "write_ahead": an honest peer signs nothing whose record was not durable before.
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
    std::vector<base::Digest> durable_order;  // oldest first, to forget
  };
  Roster roster_;
  std::vector<Disk> disks_;
  Speech speech_;
};

// "undetected": whoever left the protocol is removed by the end, unless the run had no slack left.
// For attacks that the protocol promises to remove. `in_time`: it promises that of those who go on;
// who stopped long before the end, for want of friends perhaps, may never have been watched.
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

// "progress": every honest peer comes to the end of the run, or the run stands still with no slack
// left (sim/check/slack.h), or no honest peer ever begins: genesis needs every member, the
// Byzantine too.
class Progress final : public Checker {
 public:
  explicit Progress(const Roster& roster);
  std::string_view name() const override { return "progress"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;
  base::Status AtEnd() override;

  bool AllFinished() const { return finished_ == honest_; }
  bool HasSlack() const { return slack_.Borne(); }

 private:
  Roster roster_;
  std::uint32_t honest_ = 0;
  std::uint32_t finished_ = 0;
  Slack slack_;
  bool begun_ = false;  // an honest peer has
  std::vector<bool> done_;
  std::vector<std::uint64_t> steps_;  // blocks accepted
};

}  // namespace ostraka::sim

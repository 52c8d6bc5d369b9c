// The premises of docs/seal.md as checkers: what its proofs assume of the caller and of each other.
// A run can break a premise and end well, and the next run then forks. They hold while the network
// is timely, so runs with cuts or crashes skip them (sim/run/cluster.cpp).
//
// All read a SealWatch, which must be registered with the simulator before the set.
//
// May not know: the protocol's own rules.
//
// Memory: none of their own; SealWatch holds the seals.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>

#include "node/base/time.h"
#include "sim/engine/checker.h"
#include "sim/premises/seal_watch.h"

namespace ostraka::sim {

// "echo_skew": honest ECHOs of a seal lie within Delta of each other, in seal A as much further
// apart as members opened it: each waits from its own opening on. [Seed 1410: a newcomer had the
// last result 1.1 s after the others began the step, in which a member was silent.] Where the
// protocol has a gate, none comes later than 4 d = Delta after the first honest member can have
// passed it, with Q CLOSEs that include honest ones (seal.md on the gate: no member echoes after
// it, and all pass within 3 d).
class EchoSkew final : public Checker {
 public:
  EchoSkew(const Roster& roster, const SealWatch* watch) : roster_(roster), watch_(watch) {}
  std::string_view name() const override { return "echo_skew"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
  const SealWatch* watch_;
};

// "opening_skew": honest members open seals B and C within Delta of each other, and seal A before
// the first honest deadline of it.
class OpeningSkew final : public Checker {
 public:
  OpeningSkew(const Roster& roster, const SealWatch* watch, base::Duration part_timeout)
      : roster_(roster), watch_(watch), part_timeout_(part_timeout) {}
  std::string_view name() const override { return "opening_skew"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
  const SealWatch* watch_;
  base::Duration part_timeout_;
};

// "begins_together": every honest member begins step 0 within the deadline of seal A (2 P + 2
// Delta) of the first one.
class BeginsTogether final : public Checker {
 public:
  BeginsTogether(const Roster& roster, const SealWatch* watch, base::Duration deadline)
      : roster_(roster), watch_(watch), deadline_(deadline) {}
  std::string_view name() const override { return "begins_together"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;
  base::Status AtEnd() override;

 private:
  Roster roster_;
  const SealWatch* watch_;
  base::Duration deadline_;
};

// "lock_known": an honest member that begins an iteration holds the certificate of every honest
// LOCK of an earlier one, so its STATUS has no lower rank. And no honest member votes for another
// value than an honest LOCK of an earlier iteration.
class LockKnown final : public Checker {
 public:
  LockKnown(const Roster& roster, const SealWatch* watch) : roster_(roster), watch_(watch) {}
  std::string_view name() const override { return "lock_known"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  base::Status Judge(const SealWatch::Said& said) const;
  Roster roster_;
  const SealWatch* watch_;
};

// "certificates": where an honest member locked a value, no other value has a quorum of VOTEs in
// that iteration or a later one. Two such values would be a latent fork, decided or not. (Two
// values with a quorum of ECHOs each, or of VOTEs below any lock, are allowed: colluders that
// equivocate can make them in any network, and nobody can have decided by either.)
class Certificates final : public Checker {
 public:
  Certificates(const Roster& roster, const SealWatch* watch) : roster_(roster), watch_(watch) {}
  std::string_view name() const override { return "certificates"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
  const SealWatch* watch_;
};

// "honest_names": an honest PROOF names no honest member as silent, hasty or unshown.
// (sim/search/distance_watch.h measures how near all names come to a removal, without a verdict.)
class HonestNames final : public Checker {
 public:
  HonestNames(const Roster& roster, const SealWatch* watch) : roster_(roster), watch_(watch) {}
  std::string_view name() const override { return "honest_names"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;

 private:
  Roster roster_;
  const SealWatch* watch_;
};

}  // namespace ostraka::sim

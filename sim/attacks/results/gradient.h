// Editors that play the attacks of aggregation/attacks/attacks.h: another vector in place of the
// own gradient.
//
// What the attacker does: it waits for the result of its own GradientSpec job and replaces the
// vector before the inner machine sees it. So parts, roots and proofs are consistent with the false
// vector, and only a recomputation can tell. Attacks on work take theirs from a trainer of the
// attacker's own; no job, and no other trainer, knows of it.
// Rule: robust aggregation, which bounds what such a vector can do, and validation.
// Cost to honest members: the bounded shift until a validator is drawn.
// Found by: a validator that recomputes the gradient (ban by verdict); impossible numbers (inf,
// nan) by evidence.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "aggregation/attacks/attacks.h"
#include "sim/adversary/adversary.h"
#include "sim/adversary/editor_options.h"

namespace ostraka::sim {

// The editor of `options.gradient`.
std::unique_ptr<Editor> MakeGradientAttack(const EditorOptions& options);

// An attack on vectors with its constant arguments.
struct VectorAttack {
  aggregation::Attack attack;
  base::TensorLayout layout;
  std::uint64_t seed = 0;  // the coven's
};

// Plays attacks that need only the own gradient.
class OwnGradientEditor final : public Editor {
 public:
  OwnGradientEditor(VectorAttack attack, std::uint64_t from_step)
      : attack_(std::move(attack)), from_step_(from_step) {}
  void OnInput(EditorTurn& turn, protocol::Input input) override;

 private:
  VectorAttack attack_;
  std::uint64_t from_step_;
  aggregation::AttackState state_;
};

// Plays omniscient attacks. Roles and batch seeds are public, so the editor computes the gradient
// of every honest worker of the step itself (jobs of its own), and all colluders send one vector.
// It is honest in a step in which it has no honest gradient. Attacks on the rule get the run's own
// rule: the mean, or CenteredClip of every part with the tau of the step.
class OmniscientEditor final : public Editor {
 public:
  OmniscientEditor(VectorAttack attack, std::uint64_t from_step,
                   std::shared_ptr<const protocol::Manifest> manifest)
      : attack_(std::move(attack)), from_step_(from_step), manifest_(std::move(manifest)) {}
  void OnInput(EditorTurn& turn, protocol::Input input) override;
  base::Digest Fingerprint() const override;

 private:
  struct Held {  // the own result, until the honest gradients are computed
    protocol::JobDone done;
    protocol::SharedVector own;
    std::uint64_t step = 0;
    protocol::SharedVector parameters;
    std::vector<protocol::PartRange> parts;
    double tau = 0;
    std::size_t colluders = 0;  // number of colluding workers in this step
    struct Spied {
      base::PeerId worker;
      protocol::SharedVector gradient;  // null: the job is still running
    };
    std::map<protocol::JobId, Spied> honest;
    std::size_t running = 0;
  };
  void Spy(EditorTurn& turn, const protocol::JobDone& done, const protocol::GradientSpec& job,
           const protocol::SharedVector& own);
  void OnSpied(EditorTurn& turn, const protocol::JobDone& done);
  void Release(EditorTurn& turn);

  VectorAttack attack_;
  std::uint64_t from_step_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  std::optional<Held> held_;
};

// Plays attacks on work. A call of `work` takes as long as the job before it, in the Step of the
// job's end: only the attacker waits for it. It is honest where both give one vector.
class OtherWorkEditor final : public Editor {
 public:
  // REQUIRES: `work` is not empty.
  OtherWorkEditor(protocol::GradientFunction work, std::uint64_t from_step)
      : work_(std::move(work)), from_step_(from_step) {}
  void OnInput(EditorTurn& turn, protocol::Input input) override;

 private:
  protocol::GradientFunction work_;
  std::uint64_t from_step_;
};

}  // namespace ostraka::sim

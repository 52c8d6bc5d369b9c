// The attacks of aggregation/attacks/attacks.h, as editors: another vector in place of the own
// gradient.
//
// They wait for the result of the own GradientSpec job and put the vector in its place before the
// machine inside sees it, so everything after (parts, roots, proofs) is consistent with the lie and
// only a recomputation can tell. Label flipping takes its vector from a trainer of the attacker's
// own, over flipped labels; no job, and no trainer of anybody else, knows of it.
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

// What an attack on vectors is called with, apart from what it is called on.
struct VectorAttack {
  aggregation::Attack attack;
  base::TensorLayout layout;
  std::uint64_t seed = 0;  // of the coven
};

// For attacks that need the own gradient alone.
class OwnGradientEditor final : public Editor {
 public:
  OwnGradientEditor(VectorAttack attack, std::uint64_t from_step)
      : attack_(std::move(attack)), from_step_(from_step) {}
  void OnInput(Turn& turn, protocol::Input input) override;

 private:
  VectorAttack attack_;
  std::uint64_t from_step_;
  aggregation::AttackState state_;
};

// Omniscient: roles and batch seeds are public, so it computes the gradient of every honest worker
// of the step itself (jobs of its own), and all colluders send the same vector. It stays honest
// where no honest gradient is to be had. Attacks on the rule are told the run's own: the mean, or
// CenteredClip of every part with the tau of the step.
class OmniscientEditor final : public Editor {
 public:
  OmniscientEditor(VectorAttack attack, std::uint64_t from_step,
                   std::shared_ptr<const protocol::Manifest> manifest)
      : attack_(std::move(attack)), from_step_(from_step), manifest_(std::move(manifest)) {}
  void OnInput(Turn& turn, protocol::Input input) override;
  base::Digest Fingerprint() const override;

 private:
  struct Held {  // the own result, until the honest gradients are there
    protocol::JobDone done;
    protocol::SharedVector own;
    std::uint64_t step = 0;
    protocol::SharedVector parameters;
    std::vector<protocol::PartRange> parts;
    double tau = 0;
    std::size_t colluders = 0;  // workers of this step
    struct Spied {
      base::PeerId worker;
      protocol::SharedVector gradient;  // null: still running
    };
    std::map<protocol::JobId, Spied> honest;
    std::size_t running = 0;
  };
  void Spy(Turn& turn, const protocol::JobDone& done, const protocol::GradientSpec& job,
           const protocol::SharedVector& own);
  void OnSpied(Turn& turn, const protocol::JobDone& done);
  void Release(Turn& turn);

  VectorAttack attack_;
  std::uint64_t from_step_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  std::optional<Held> held_;
};

// label_flip. A call of `gradients` takes as long as the job before it, in the Step of the job's
// end: nobody but the attacker waits for that.
class LabelFlipEditor final : public Editor {
 public:
  // REQUIRES: `gradients` is not empty.
  LabelFlipEditor(protocol::GradientFunction gradients, std::uint64_t from_step)
      : gradients_(std::move(gradients)), from_step_(from_step) {}
  void OnInput(Turn& turn, protocol::Input input) override;

 private:
  protocol::GradientFunction gradients_;
  std::uint64_t from_step_;
};

}  // namespace ostraka::sim

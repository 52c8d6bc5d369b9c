// Judges evidence files for a reader who may hold the run's model, data and parameters.
//
// Thread safety: one owner.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/status.h"
#include "node/config/training.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/trainer.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::cli {

class GradientJudge {
 public:
  // What a reader brings; all may be empty.
  struct Sources {
    std::string manifest;
    std::string anchor;  // a link, or a file or folder with one: has a manifest and perhaps a block
    // Parameters of the step, or a folder with parameters-<step>.safetensors for each.
    std::string state;
    std::string data;  // as of `ostraka node --data`
    bool allow_private_sources = false;
    std::string graph;  // as of `ostraka node --graph`
    std::vector<base::Bytes> handovers = {};
  };

  // Reads the manifest, and the link: its members are then those of the link's block and later, and
  // whom the manifest names counts for nothing. Model and data only if `state` is given: without
  // good ones gradients are not judged (data missing), and all else is. InvalidArgument: sources
  // that a run does not have, or that need one more; a link of another run. Errors of the manifest
  // and the link.
  static base::StatusOr<GradientJudge> Make(Sources sources);

  // Null without one.
  const protocol::Manifest* manifest() const { return manifest_ ? &*manifest_ : nullptr; }

  // Never fails: what is missing is in the finding.
  evidence::Finding Judge(const base::Bytes& file) const;

 private:
  GradientJudge() = default;
  base::Status ReadRun();
  base::StatusOr<std::unique_ptr<train::Trainer>> MakeTrainer() const;
  base::StatusOr<std::optional<base::Digest>> HonestRoot(
      const evidence::GradientClaim& claim) const;

  Sources sources_;
  std::optional<protocol::Manifest> manifest_;
  evidence::Views views_;                    // empty without a manifest
  std::unique_ptr<train::Trainer> trainer_;  // null without `state`, and if it cannot be made
  base::Status trouble_;                     // why it cannot be made
};

}  // namespace ostraka::cli

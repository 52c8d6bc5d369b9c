// The editors of attacks on the protocol, one file each; those on gradients are in gradient.h.
// Names, summaries and defaults are in registry.cpp.
//
// All are honest before `from_step`, and confess (Turn::Confess) each time that they are not.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "aggregation/attacks.h"
#include "sim/adversary.h"

namespace ostraka::sim {

struct EditorOptions {
  std::map<std::string, double> params;  // of attacks on the protocol: given, or else the default
  aggregation::Attack gradient;          // of attacks on gradients
  std::uint64_t from_step = 0;
  std::shared_ptr<const protocol::Manifest> manifest;
  std::shared_ptr<const crypto::SigningKey> key;
  base::TensorLayout layout;
  std::uint64_t coven_seed = 0;

  double Param(const std::string& name) const { return params.at(name); }
};

// AGG and RESULT carry an aggregate that is not CenteredClip's.
std::unique_ptr<Editor> MakeWrongAggregate(const EditorOptions& options);
// PROOF states numbers of its own parts that are not theirs.
std::unique_ptr<Editor> MakeFalseProof(const EditorOptions& options);
// As a validator it accuses, as a voter it convicts, whoever is honest.
std::unique_ptr<Editor> MakeFalseAccuse(const EditorOptions& options);
// One honest owner does not get its part.
std::unique_ptr<Editor> MakeSelectiveSend(const EditorOptions& options);
// Two COMMITs for one slot, both to everyone; or, with split = 1, one to each half.
std::unique_ptr<Editor> MakeEquivocate(const EditorOptions& options);
// REVEAL opens a coin that COMMIT did not commit to.
std::unique_ptr<Editor> MakeBadReveal(const EditorOptions& options);

}  // namespace ostraka::sim

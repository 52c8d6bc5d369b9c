// The arguments of an attack's factory. The factories are in sim/attacks, one header for each
// folder.
//
// Every editor is honest before `from_step`, and calls EditorTurn::Confess each time that it
// cheats.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aggregation/attacks/attacks.h"
#include "crypto/sign.h"
#include "node/base/tensor_layout.h"
#include "node/protocol/ground/machine.h"
#include "node/protocol/ground/manifest.h"
#include "sim/adversary/adversary.h"

namespace ostraka::sim {

struct EditorOptions {
  std::map<std::string, double> params;   // of attacks on the protocol, with defaults
  std::string text;                       // value of KnownAttack::text; empty: not given
  aggregation::Attack gradient;           // of attacks on gradients
  protocol::GradientFunction other_work;  // AdversaryOptions::other_work
  std::uint64_t from_step = 0;
  std::shared_ptr<const protocol::Manifest> manifest;
  std::shared_ptr<const crypto::SigningKey> key;
  base::TensorLayout layout;
  std::uint64_t coven_seed = 0;
  std::uint32_t colluders = 0;                                  // the coven's members
  std::function<std::unique_ptr<protocol::Machine>()> another;  // AdversaryOptions::another

  double Param(const std::string& name) const { return params.at(name); }
};

// Timer ids from here up are for editors; no machine uses them.
inline constexpr protocol::TimerId kFirstReservedTimer = protocol::TimerId{1} << 62;

}  // namespace ostraka::sim

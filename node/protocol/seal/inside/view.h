// All parts of one Seal, read-only: what the rules for requests (lacks.h) and the line for people
// (describe.h) may look at.
//
// Thread safety: none; the Seal owns the parts.
#pragma once

#include <set>

#include "node/protocol/seal/inside/decision.h"
#include "node/protocol/seal/inside/echoes.h"
#include "node/protocol/seal/inside/setup.h"
#include "node/protocol/seal/inside/slow_path.h"
#include "node/protocol/seal/inside/values.h"
#include "node/protocol/seal/seal_clock.h"
#include "node/protocol/seal/seal_gate.h"

namespace ostraka::protocol {

struct SealView {
  const SealSetup& setup;
  const SealValues& values;
  const SealEchoes& echoes;
  const SealGate& gate;
  const SealClock& clock;
  const SealSlowPath& slow_path;
  const SealDecision& decision;

  // This member may send messages of the slow path: it has echoed, or the gate is passed, or it was
  // too late to echo.
  bool HasVoice() const {
    return !setup.muted() && (echoes.sent_at() || gate.passed() || clock.iteration() > 0);
  }
};

// The values whose vectors are of use: of ECHOs, proposals, the own lock and the decision.
std::set<Digest> NamedValues(const SealView& seal);

}  // namespace ostraka::protocol

// The editors of attacks on the protocol, one file each; those on gradients are in gradient.h.
// Names, summaries and defaults are in registry.cpp.
//
// All are honest before `from_step`, and confess (Turn::Confess) each time that they are not.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aggregation/attacks/attacks.h"
#include "sim/adversary.h"

namespace ostraka::sim {

struct EditorOptions {
  std::map<std::string, double> params;  // of attacks on the protocol: given, or else the default
  std::string text;                      // of KnownAttack::text, as given; empty: not given
  aggregation::Attack gradient;          // of attacks on gradients
  std::uint64_t from_step = 0;
  std::shared_ptr<const protocol::Manifest> manifest;
  std::shared_ptr<const crypto::SigningKey> key;
  base::TensorLayout layout;
  std::uint64_t coven_seed = 0;
  std::uint32_t colluders = 0;                                  // the coven's members
  std::function<std::unique_ptr<protocol::Machine>()> another;  // AdversaryOptions::another

  double Param(const std::string& name) const { return params.at(name); }
};

// Timers of an editor's own have ids from here up; no machine uses them.
inline constexpr protocol::TimerId kFirstReservedTimer = protocol::TimerId{1} << 62;

// Lies in results of own jobs.
std::vector<std::unique_ptr<Editor>> MakeWrongAggregate(const EditorOptions& options);
std::unique_ptr<Editor> MakeNearTolerance(const EditorOptions& options);
std::unique_ptr<Editor> MakeFalseProof(const EditorOptions& options);
std::unique_ptr<Editor> MakeFalseSize(const EditorOptions& options);
std::unique_ptr<Editor> MakeVoidColumns(const EditorOptions& options);
std::unique_ptr<Editor> MakeFalseAccuse(const EditorOptions& options);
std::unique_ptr<Editor> MakeCoverUp(const EditorOptions& options);
std::unique_ptr<Editor> MakeFalseComplaint(const EditorOptions& options);
std::unique_ptr<Editor> MakeLeaveAfter(const EditorOptions& options);
std::unique_ptr<Editor> MakeUnwatched(const EditorOptions& options);
std::unique_ptr<Editor> MakeSybil(const EditorOptions& options);
// Other messages than the machine's.
std::unique_ptr<Editor> MakeEquivocate(const EditorOptions& options);
std::unique_ptr<Editor> MakeTwoFaced(const EditorOptions& options);
std::unique_ptr<Editor> MakeImpersonate(const EditorOptions& options);
std::unique_ptr<Editor> MakeBadReveal(const EditorOptions& options);
std::unique_ptr<Editor> MakeLyingEcho(const EditorOptions& options);
std::unique_ptr<Editor> MakeDoublePropose(const EditorOptions& options);
std::unique_ptr<Editor> MakeStaleLock(const EditorOptions& options);
std::unique_ptr<Editor> MakeStatePoison(const EditorOptions& options);
std::unique_ptr<Editor> MakeFlood(const EditorOptions& options);
// All of these at once, each an editor around the ones before it.
std::vector<std::unique_ptr<Editor>> MakeFrameVictim(const EditorOptions& options);
// Messages that do not come, or late, or not to all.
std::unique_ptr<Editor> MakeSelectiveBitmap(const EditorOptions& options);
std::unique_ptr<Editor> MakeSelectiveSend(const EditorOptions& options);
std::unique_ptr<Editor> MakeSpoiltPart(const EditorOptions& options);
std::unique_ptr<Editor> MakeSilent(const EditorOptions& options);
std::unique_ptr<Editor> MakeEclipse(const EditorOptions& options);
std::unique_ptr<Editor> MakeAbortCoin(const EditorOptions& options);
std::unique_ptr<Editor> MakeWithholdEcho(const EditorOptions& options);
std::unique_ptr<Editor> MakeWithholdResult(const EditorOptions& options);
std::unique_ptr<Editor> MakeLate(const EditorOptions& options);
// Scripts of deviations (scripted_attacks.cpp).
std::unique_ptr<Editor> MakeSplitEcho(const EditorOptions& options);
std::unique_ptr<Editor> MakeFork(const EditorOptions& options);
std::unique_ptr<Editor> MakeSplitGenesis(const EditorOptions& options);
std::unique_ptr<Editor> MakeHoldBack(const EditorOptions& options);
std::unique_ptr<Editor> MakeFree(const EditorOptions& options);
std::unique_ptr<Editor> MakeDawdle(const EditorOptions& options);
std::unique_ptr<Editor> MakeSealTrick(const EditorOptions& options);
std::vector<std::unique_ptr<Editor>> MakeFreeRide(const EditorOptions& options);

}  // namespace ostraka::sim

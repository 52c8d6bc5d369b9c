// Steps with open cases, and votes about them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "node/protocol/rules/cases.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {

inline constexpr std::uint64_t kStep = 20;
inline constexpr std::uint64_t kAccusedStep = 16;
inline constexpr std::uint64_t kOpenedStep = 18;
inline const std::vector<wire::Covering> kCovering = {{1, scene::PeerNumber(1)},
                                                      {3, scene::PeerNumber(3)}};

inline Case CaseOf(std::uint32_t accuser, std::uint32_t target) {
  return scene::GradientCase(accuser, target, kAccusedStep, kOpenedStep);
}

inline Case CaseOf(wire::CaseKind kind, std::uint32_t accuser, std::uint32_t target,
                   std::uint32_t column) {
  Case open = CaseOf(accuser, target);
  open.id.kind = kind;
  open.id.column = column;
  return open;
}

inline scene::HonestStep StepWith(std::vector<Case> cases, std::vector<Assignment> drawn = {},
                                  std::uint32_t n = 8) {
  return scene::MakeHonestStep(
      {.n = n, .step = kStep, .drawn = std::move(drawn), .cases = std::move(cases)});
}

inline void Vote(scene::HonestStep& step, std::uint32_t voter, const Case& about,
                 wire::Verdict verdict) {
  step.ProofOf(scene::PeerNumber(voter)).votes.push_back({about.id, verdict});
}

}  // namespace ostraka::protocol

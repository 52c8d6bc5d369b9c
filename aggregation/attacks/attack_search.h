// Searches the greatest damage along a line, for the optimising attacks (opt_*).
//
// The damage of t is |rule(honest rows and m copies of line.At(t)) - mean of the honest rows|. As a
// function of t it jumps wherever the rule's selection changes, so hill climbing finds little of it
// (ByzFL's line search reaches 27 % to 90 % of the result of a dense grid). Instead this search
// samples both sides of the line, at lengths in geometric progression over five decades and evenly.
// Around the best few samples it samples again between their neighbours, several times. It uses no
// climbing and no randomness, and about 400 calls of the rule.
//
// Internal to aggregation, except for tests. Thread safety: pure function of a pure victim.
#pragma once

#include "aggregation/attacks/attack_lines.h"
#include "aggregation/attacks/attacks.h"

namespace ostraka::aggregation {

struct Found {
  double t = 0;
  double damage = 0;
  std::vector<float> vector;  // line.At(t)
};

// Ties go to the t that was tried first. Returns the victim's error if it refuses the rows.
// REQUIRES: byzantine_count > 0; line.low <= 0 <= line.high, both finite.
base::StatusOr<Found> MostDamaging(const Line& line, const Rows& honest,
                                   std::size_t byzantine_count, const Victim& victim);

}  // namespace ostraka::aggregation

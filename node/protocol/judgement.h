// The block of a step: every removal, case and threshold as a deterministic function of sealed data
// alone (protocol.md 5 and 6). No local observation enters here: what one peer saw and others did
// not must never decide.
//
// Order within a block: bans by key, then drops by key; then accusations open cases.
//
// Thread safety: pure functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/protocol/columns.h"
#include "node/protocol/manifest.h"

namespace ostraka::protocol {

using wire::Case;

// Blocks that an open case may take before it ends without a majority: the accuser is dropped.
inline constexpr std::uint64_t kCaseBlocks = 8;

// Faults that the seals themselves prove: who did what, one line each.
using SealedFaults = std::map<PeerId, std::string>;

struct Judged {
  Digest decision;    // of seal C
  Digest randomness;  // r^t
  std::vector<ColumnFate> fates;
  SealedFaults faults;  // equivocations, false reveals, numbers out of range, inline evidence
};

// Numbers that no honest peer can have stated, in any sealed PROOF (protocol.md 4).
void FindImpossibleNumbers(const SealedStep& sealed, SealedFaults& faults);

// tau of the next step: the manifest's, or tau_multiple x the (lower) median of the sealed norms in
// applied columns; `current` if there is none. With tau_multiple <= 1 the feedback from a displaced
// aggregate to tau dies out for any b of 2b + 1 (docs/decisions/0005-tau.md).
double NextTau(const SealedStep& sealed, const Block& view, const Manifest& manifest,
               const std::vector<ColumnFate>& fates);

Block JudgeStep(const SealedStep& sealed, const Block& view, const Manifest& manifest,
                const Judged& judged);

}  // namespace ostraka::protocol

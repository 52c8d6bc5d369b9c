// Two peers in one run, an honest one and a cheater. The tests, the vectors and the fuzzer's corpus
// of evidence consist of messages that they sign.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "crypto/sign.h"
#include "node/wire/block.h"
#include "node/wire/codec.h"
#include "node/wire/messages.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::evidence {

const crypto::SigningKey& HonestKey();
const crypto::SigningKey& CheaterKey();

// The signer, the step, and the number of coins.
struct Turn {
  const crypto::SigningKey* key = nullptr;
  std::uint32_t incarnation = 0;
  std::uint64_t step = 0;
  std::uint32_t coin_count = 1;  // >= 1
};

// An honest COMMIT; the coins are a function of the key and the step.
Bytes CommitFrame(const Turn& turn);
Bytes RevealFrame(const Turn& turn, std::uint32_t draw);  // REQUIRES: draw < turn.coin_count

// `type` with an arbitrary body, in the phase where it is sent.
Bytes FrameWithBody(const Turn& turn, wire::MessageType type, Bytes body, std::uint32_t draw = 0);
// The body of a frame, for damaging it and signing it again.
wire::Commit CommitOf(const Turn& turn);
wire::Reveal RevealOf(const Turn& turn, std::uint32_t draw);

// A block that bans the cheater, the COMMITs of kJudges members that build on it, and the run whose
// members they and the cheater are.
inline constexpr std::uint8_t kJudges = 4;
wire::Block BanningBlock();
std::vector<base::SharedBytes> CommitsBuildingOn(const wire::Block& block);
KnownRun RunOfJudges(std::size_t faults);
// COMMITs of the members of these numbers (SampleKey) that build on it, in that order.
std::vector<base::SharedBytes> CommitsOf(const std::vector<std::uint8_t>& members,
                                         const wire::Block& block);
// PROOFs in which those members vote `verdict` in a case in which the cheater accuses an honest
// peer; the last one a step after the others.
std::vector<base::SharedBytes> ProofsVoting(wire::Verdict verdict);

// A block of kJudges members and the cheater, all of whom work in the next step, and the cheater's
// COMMIT that builds on it with these roots.
wire::Block BlockBeforeGradient();
Bytes GradientCommitFrame(std::optional<Digest> gradient, std::optional<Digest> parameters);
// The file of that COMMIT. REQUIRES: it names both.
Bytes GradientFile(const Digest& gradient, const Digest& parameters);

// Every kind of finding as a file, by the name of its vector: proven_*, not_proven_*, malformed_*,
// missing_data_*.
struct NamedFile {
  std::string name;
  Outcome expected;
  Bytes bytes;
};
std::vector<NamedFile> AllFiles();
// The text that GoogleTest prints.
void PrintTo(const NamedFile& file, std::ostream* out);

}  // namespace ostraka::evidence

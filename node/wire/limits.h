// Limits on the content of messages. Decoders check them before they allocate.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ostraka::wire {

inline constexpr std::uint32_t kMaxBatches = 255;  // that a worker averages in one gradient
inline constexpr std::size_t kMaxPeers = 256;
// That were ever of a run: its members, and those that a block keeps a standing of.
inline constexpr std::size_t kMaxKeys = 4 * kMaxPeers;
inline constexpr std::size_t kMaxArrivals = 16;  // in one PROOF
// At once: all that keep a seat may be on their way back, and newcomers beside them.
inline constexpr std::size_t kMaxCandidates = kMaxPeers + kMaxArrivals;
inline constexpr std::size_t kMaxModerators = 16;
inline constexpr std::uint32_t kMaxInviteUses = 256;
inline constexpr std::size_t kMaxUsedInvites = kMaxKeys;  // that have not ended
// Of all these together. Each counts against a quota, and a manifest's quotas let in no more.
inline constexpr std::size_t kMaxInviteUsers = kMaxKeys;
inline constexpr std::size_t kMaxParts = kMaxPeers;
inline constexpr std::size_t kMaxFrameBytes = 256 * 1024;  // one control message
// A frame within a FORWARD, which is a control message itself.
inline constexpr std::size_t kMaxForwardedBytes = kMaxFrameBytes - 1024;
// The body of a PROOF. Attack: a PROOF too long to be carried, shown to one member that only dials,
// which then cannot show it to another one and is named for it.
inline constexpr std::size_t kMaxProofBodyBytes = kMaxForwardedBytes - 1024;
// Any signed body except PROOF's. Two frames with such bodies fit in one piece of inline evidence.
// Attack: otherwise a peer could equivocate in messages too large for the proof to travel.
inline constexpr std::size_t kMaxSmallBodyBytes = 2 * 1024;
inline constexpr std::size_t kMaxCoins = kMaxPeers;  // in one COMMIT
inline constexpr std::size_t kMaxMerklePath = 32;
inline constexpr std::size_t kMaxTensorRank = 8;
inline constexpr std::size_t kMaxCases = 2 * kMaxPeers;  // open at once; further cases wait
inline constexpr std::size_t kMaxVotes = kMaxCases;
inline constexpr std::size_t kMaxInlineEvidence = 8;
inline constexpr std::size_t kMaxEvidenceBytes = 16 * 1024;  // one piece, inline
// Open at once; the oldest are discarded first. A peer in more disputes than the run bore faults is
// dropped. So while fewer than half of kMaxPeers are newcomers (node/protocol/rules/disputes.h) the
// limit is never reached, and no attacker can push out another's disputes.
inline constexpr std::size_t kMaxDisputes = kMaxPeers * kMaxPeers / 4;
inline constexpr std::size_t kMaxHeldBytes = 2 * kMaxDisputes / 8;
inline constexpr std::size_t kMaxPullDigests = 64;
inline constexpr std::uint32_t kMaxIterations = 1 << 20;  // of a seal's slow path
inline constexpr std::size_t kStateChunkBytes = 256 * 1024;
inline constexpr std::size_t kMaxBitmapBytes = 2 * kMaxPeers / 8;  // two entries per member
inline constexpr std::size_t kMaxVectorEntries = 2 * kMaxPeers;    // of one seal
inline constexpr std::size_t kMaxReasonBytes = 256;                // the reason of a removal
inline constexpr std::size_t kMaxBlockBytes = 16 * 1024 * 1024;    // most of it open cases
inline constexpr std::size_t kMaxEvidenceFrames = kMaxPeers;
inline constexpr std::size_t kMaxEvidenceAttachments = 2 * kMaxPeers;
inline constexpr std::size_t kMaxEvidenceFileBytes = 1024 * 1024;  // without attachments
// Words that a Cap'n Proto reader may visit, as a multiple of the frame's size: the limit against
// overlapping pointers.
inline constexpr std::size_t kTraversalFactor = 4;
inline constexpr std::size_t kNestingLimit = 16;

}  // namespace ostraka::wire

#include "proofs/evidence/judges.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "node/wire/codec.h"

namespace ostraka::evidence::internal {
namespace {

bool IsMember(const KnownRun& run, const PeerId& peer) {
  return std::binary_search(run.members.begin(), run.members.end(), peer);
}

}  // namespace

base::StatusOr<std::vector<Bytes>> JudgesOf(const std::vector<base::SharedBytes>& frames,
                                            const KnownRun& run) {
  std::map<PeerId, base::SharedBytes> by_sender;
  for (const base::SharedBytes& frame : frames) {
    ASSIGN_OR_RETURN(const wire::SignedEnvelope opened, wire::Open(frame));
    if (IsMember(run, opened.envelope.sender)) by_sender.emplace(opened.envelope.sender, frame);
  }
  std::vector<Bytes> judges;
  for (const auto& [sender, frame] : by_sender) {
    if (judges.size() <= run.faults) judges.push_back(*frame);
  }
  return judges;
}

Objections CheckSigners(const Frames& frames, const KnownRun& run) {
  const bool members = std::all_of(frames.begin(), frames.end(), [&](const auto& frame) {
    return IsMember(run, frame.envelope.sender);
  });
  if (!members) return NotProven("not only members signed it");
  if (frames.size() == run.faults + 1) return std::nullopt;
  return NotProven(std::to_string(frames.size()) + " members signed it; as " +
                   std::to_string(run.faults) + " can be at fault, it must be " +
                   std::to_string(run.faults + 1));
}

Objections CheckOrder(const Frames& frames) {
  const auto not_ascending = [](const wire::SignedEnvelope& a, const wire::SignedEnvelope& b) {
    return !(a.envelope.sender < b.envelope.sender);
  };
  if (std::adjacent_find(frames.begin(), frames.end(), not_ascending) != frames.end()) {
    return Malformed("the frames must be in the order of their senders, one each");
  }
  return std::nullopt;
}

Objections CheckBuilding(const Frames& frames, const Digest& run_id, const wire::Block& block) {
  // The number of the step after it would wrap.
  if (block.step == std::numeric_limits<std::uint64_t>::max()) {
    return NotProven("no step follows the block");
  }
  const wire::Slot next{run_id, 0, block.step + 1, wire::Phase::kA, wire::MessageType::kCommit,
                        0,      0};
  const Digest digest = wire::BlockDigest(block);
  for (const wire::SignedEnvelope& frame : frames) {
    if (frame.envelope.slot != next || frame.envelope.entry != digest) {
      return NotProven("a frame is no commit that builds on the block");
    }
  }
  return CheckOrder(frames);
}

}  // namespace ostraka::evidence::internal

#include "proofs/evidence/handover.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "crypto/sign.h"
#include "node/base/planted.h"
#include "node/wire/codec.h"
#include "node/wire/evidence_codec.h"
#include "proofs/evidence/judges.h"

namespace ostraka::evidence {
namespace {

using internal::Frames;

struct Opened {
  wire::Block block;
  Frames frames;
  // Verified at most once: anybody may add files to a folder.
  mutable std::optional<bool> is_signed = std::nullopt;
};

base::StatusOr<Opened> OpenHandover(ByteView bytes) {
  ASSIGN_OR_RETURN(const wire::Handover handover, wire::DecodeHandover(bytes));
  Opened opened;
  ASSIGN_OR_RETURN(opened.block, wire::DecodeBlock(handover.block));
  for (const Bytes& frame : handover.frames) {
    ASSIGN_OR_RETURN(wire::SignedEnvelope message,
                     wire::Open(std::make_shared<const Bytes>(frame)));
    opened.frames.push_back(std::move(message));
  }
  return opened;
}

bool IsSigned(const Opened& opened) {
  if (opened.is_signed) return *opened.is_signed;
  crypto::PlainVerifier verifier;
  opened.is_signed =
      base::Planted(base::Bug::kSignatureSkipped) ||
      std::all_of(opened.frames.begin(), opened.frames.end(), [&](const auto& message) {
        return verifier.Verify(message.envelope.sender, message.digest, message.signature);
      });
  return *opened.is_signed;
}

base::Status Refused(const std::string& reason) {
  return base::FailedPrecondition("the handover does not lead on from here: " + reason);
}

// Of one block many members make a handover.
bool IsKnown(const Views& views, const wire::Block& block) {
  const KnownRun led_to = ViewAfter(views.front(), block);
  return std::any_of(views.begin(), views.end(), [&](const KnownRun& view) {
    return view.since == led_to.since && view.faults == led_to.faults &&
           view.members == led_to.members;
  });
}

base::StatusOr<KnownRun> FollowOpened(const KnownRun& view, const Opened& opened) {
  if (opened.block.genesis || opened.block.step < view.since) {
    return Refused("its block is not younger");
  }
  if (const auto strangers = internal::CheckSigners(opened.frames, view)) {
    return Refused(strangers->reason);
  }
  if (const auto others = internal::CheckBuilding(opened.frames, view.run_id, opened.block)) {
    return Refused(others->reason);
  }
  if (!IsSigned(opened)) return Refused("a signature is not its sender's");
  return ViewAfter(view, opened.block);
}

}  // namespace

KnownRun ViewAfter(const KnownRun& run, const wire::Block& block) {
  KnownRun view = run;
  view.members = block.members;
  view.faults = std::max(block.thresholds.t_s, block.thresholds.t_a);
  view.since = block.genesis ? 0 : block.step + 1;
  return view;
}

base::StatusOr<Bytes> MakeHandover(const KnownRun& view, const wire::Block& block,
                                   const std::vector<base::SharedBytes>& commit_frames) {
  wire::Handover handover;
  handover.block = wire::EncodeBlock(block);
  ASSIGN_OR_RETURN(handover.frames, internal::JudgesOf(commit_frames, view));
  Bytes bytes = wire::EncodeHandover(handover);
  const auto next = Follow(view, bytes);
  if (!next.ok()) return base::InvalidArgument(base::MessageOf(next.status()));
  return bytes;
}

base::Status CheckHandover(ByteView handover) { return OpenHandover(handover).status(); }

base::StatusOr<KnownRun> Follow(const KnownRun& view, ByteView handover) {
  ASSIGN_OR_RETURN(const Opened opened, OpenHandover(handover));
  return FollowOpened(view, opened);
}

base::StatusOr<Views> FollowAll(const KnownRun& genesis, const std::vector<Bytes>& handovers) {
  std::vector<Opened> in_order;
  for (const Bytes& bytes : std::set<Bytes>(handovers.begin(), handovers.end())) {
    ASSIGN_OR_RETURN(Opened opened, OpenHandover(bytes));
    in_order.push_back(std::move(opened));
  }
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const Opened& a, const Opened& b) { return a.block.step < b.block.step; });
  Views views = {genesis};
  for (const Opened& opened : in_order) {
    if (IsKnown(views, opened.block)) continue;
    // The newest first: it is most often the one that knows the signers.
    for (std::size_t i = views.size(); i-- > 0;) {
      auto next = FollowOpened(views[i], opened);
      if (!next.ok()) continue;
      views.push_back(*std::move(next));
      break;
    }
  }
  return views;
}

}  // namespace ostraka::evidence

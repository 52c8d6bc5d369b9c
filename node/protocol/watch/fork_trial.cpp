#include "node/protocol/watch/fork_trial.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {
namespace {

using base::ByteView;
using base::PeerId;
using base::SharedBytes;
using wire::MessageType;

constexpr std::size_t kNamedInLine = 8;

// The evidence that two messages of one member make; an error if they make none. Each Make function
// verifies its file, so any pair may be tried; hopeless pairs are left out.
base::StatusOr<base::Bytes> ProofOf(const wire::SignedEnvelope& a, const wire::SignedEnvelope& b) {
  const wire::Slot& first = a.envelope.slot;
  const wire::Slot& second = b.envelope.slot;
  if (first == second) return evidence::MakeEquivocation(*a.frame, *b.frame);
  if (first.type == MessageType::kLock && second.type == MessageType::kVote) {
    return evidence::MakeBrokenLock(*a.frame, *b.frame);
  }
  if (second.type == MessageType::kStatus &&
      (first.type == MessageType::kLock || first.type == MessageType::kEcho)) {
    return evidence::MakeFalseStatus(*a.frame, *b.frame);
  }
  return base::NotFound("no kind of evidence is about these two");
}

std::optional<Culprit> CulpritOf(const wire::SignedEnvelope& a, const wire::SignedEnvelope& b) {
  for (const auto& [first, second] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
    auto file = ProofOf(*first, *second);
    if (!file.ok()) continue;
    std::string reason = evidence::Verify(*file).reason;
    return Culprit{*std::move(file), std::move(reason)};
  }
  return std::nullopt;
}

}  // namespace

ForkTrial::ForkTrial(Fork fork, const PeerId& self) : fork_(std::move(fork)), self_(self) {
  for (const auto* frames : {&fork_.ours, &fork_.theirs, &fork_.others}) {
    for (const SharedBytes& frame : *frames) {
      const auto message = wire::Open(frame);
      if (message.ok() && IsNews(*message)) Hear(*message);
    }
  }
}

bool ForkTrial::IsNews(const wire::SignedEnvelope& message) const {
  const wire::Envelope& envelope = message.envelope;
  return envelope.slot.type >= MessageType::kEcho && envelope.slot.type <= MessageType::kLock &&
         SealKeyOf(envelope.slot) == fork_.seal && envelope.entry == fork_.parent &&
         fork_.unmuted.contains(envelope.sender) && !messages_.Holds(message);
}

const Culprit* ForkTrial::Hear(const wire::SignedEnvelope& message) {
  if (!messages_.Add(message)) return nullptr;
  const Culprit* culprit = Judge(message);
  if (culprit != nullptr) CheckInvariants();
  return culprit;
}

void ForkTrial::CheckInvariants() const {
  messages_.CheckInvariants();
  OSTRAKA_CHECK(!culprits_.contains(self_));
  for (const auto& [member, culprit] : culprits_) OSTRAKA_CHECK(fork_.unmuted.contains(member));
}

const Culprit* ForkTrial::Judge(const wire::SignedEnvelope& message) {
  const PeerId& signer = message.envelope.sender;
  if (signer == self_ || culprits_.contains(signer)) return nullptr;
  for (const SharedBytes& frame : messages_.FramesOf(signer)) {
    if (*frame == *message.frame) continue;
    auto culprit = CulpritOf(*wire::Open(frame), message);
    if (culprit) return &culprits_.emplace(signer, *std::move(culprit)).first->second;
  }
  return nullptr;
}

std::vector<SharedBytes> ForkTrial::Frames() const {
  std::vector<SharedBytes> frames = fork_.ours;
  frames.insert(frames.end(), fork_.theirs.begin(), fork_.theirs.end());
  const auto of_proofs = static_cast<std::ptrdiff_t>(frames.size());
  for (SharedBytes& frame : messages_.Frames()) {
    const bool shown = std::any_of(frames.begin(), frames.begin() + of_proofs,
                                   [&](const SharedBytes& proof) { return *proof == *frame; });
    if (!shown) frames.push_back(std::move(frame));
  }
  return frames;
}

std::string ForkTrial::Line() const {
  std::string line = "the run has split: seal " + std::string(wire::PhaseName(fork_.seal.phase)) +
                     " of step " + std::to_string(fork_.seal.step) +
                     " was decided twice, so more members cheat, or were cut off, than the mode "
                     "bears; ";
  if (culprits_.empty()) {
    line +=
        "nobody is named, as no member's words that came here contradict each other (members "
        "of the other side may hold some that do)";
  } else {
    line += "proven guilty by their own signatures: ";
    std::size_t named = 0;
    for (const auto& [peer, culprit] : culprits_) {
      if (++named > kNamedInLine) break;
      line += (named > 1 ? ", " : "") + peer.Short() + " (" + culprit.reason + ")";
    }
    if (culprits_.size() > kNamedInLine) {
      line += " and " + std::to_string(culprits_.size() - kNamedInLine) + " more";
    }
    line += "; `ostraka evidence export` shows it to others, `ostraka run recover` leaves them out";
  }
  return line + "; this node signs nothing more";
}

void Culprit::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, file, reason); }

void ForkTrial::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, fork_, messages_, culprits_);
}

}  // namespace ostraka::protocol

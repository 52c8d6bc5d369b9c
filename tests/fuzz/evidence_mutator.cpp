// Evidence files whose frames are changed and validly signed again: by the cheater, and by two of
// the four judges, which lie. The honest peer and the other judges sign nothing new.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "node/wire/block.h"
#include "node/wire/codec.h"
#include "node/wire/evidence_codec.h"
#include "tests/fuzz/resign.h"
#include "tests/unit/evidence/scene.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::fuzz {
namespace {

using base::Bytes;
using evidence::EvidenceKind;
using wire::EvidenceFile;

// The keys of the liars.
const crypto::SigningKey& AnyLiar(const base::PeerId& wanted, Choices& choices) {
  static const std::array<crypto::SigningKey, 3> kLiars = {wire::SampleKey(3), wire::SampleKey(12),
                                                           wire::SampleKey(13)};
  for (const crypto::SigningKey& key : kLiars) {
    if (key.id() == wanted) return key;
  }
  return kLiars[choices.OneIn(4) ? choices.Below(kLiars.size()) : 0];
}

std::optional<wire::SignedEnvelope> Opened(const Bytes& frame) {
  auto opened = wire::Open(std::make_shared<const Bytes>(frame));
  if (!opened.ok()) return std::nullopt;
  return *std::move(opened);
}

void MutateFrame(EvidenceFile& file, Choices& choices) {
  if (file.frames.empty()) return;
  Bytes& frame = file.frames[choices.Below(file.frames.size())];
  auto opened = Opened(frame);
  if (!opened) return;
  MutateEnvelope(opened->envelope, choices);
  const crypto::SigningKey& key = AnyLiar(opened->envelope.sender, choices);
  frame = SignedAgain(std::move(opened->envelope), key);
}

// Another block, on which the lying judges build.
void MutateBlock(EvidenceFile& file, Choices& choices) {
  auto block = wire::DecodeBlock(file.block);
  if (!block.ok()) return;
  if (choices.Below(2) == 0 && !block->removals.empty()) {
    wire::Removal& removal = block->removals[choices.Below(block->removals.size())];
    removal.peer = choices.OneIn(2) ? evidence::HonestKey().id() : evidence::CheaterKey().id();
    removal.kind = static_cast<wire::RemovalKind>(choices.Below(wire::kRemovalKindCount));
  } else {
    block->tau += 1;
  }
  file.block = wire::EncodeBlock(*block);
  for (Bytes& frame : file.frames) {
    auto opened = Opened(frame);
    if (!opened) continue;
    const crypto::SigningKey& key = AnyLiar(opened->envelope.sender, choices);
    if (key.id() != opened->envelope.sender) continue;
    opened->envelope.entry = wire::BlockDigest(*block);
    frame = SignedAgain(std::move(opened->envelope), key);
  }
}

void MutateClaim(EvidenceFile& file, Choices& choices) {
  switch (choices.Below(5)) {
    case 0:
      file.kind = static_cast<EvidenceKind>(choices.Below(wire::kEvidenceKindCount));
      return;
    case 1:
      file.accused = choices.OneIn(2) ? evidence::HonestKey().id() : evidence::CheaterKey().id();
      return;
    case 2:
      if (!file.frames.empty()) file.frames.pop_back();
      return;
    case 3:
      if (!file.frames.empty()) {
        const Bytes again = file.frames[choices.Below(file.frames.size())];
        file.frames.push_back(again);
      }
      return;
    default:
      file.slot.step += choices.Below(3) - 1;
      return;
  }
}

// Makes the claim match the frames, as a maker of files would.
void Fit(EvidenceFile& file) {
  if (!evidence::IsOwnWord(file.kind) || file.frames.empty()) return;
  const auto offence = Opened(file.frames.back());
  if (!offence) return;
  file.slot = offence->envelope.slot;
  file.accused = offence->envelope.sender;
  if (file.kind != EvidenceKind::kEquivocation || file.frames.size() != 2) return;
  const auto other = Opened(file.frames.front());
  if (other && offence->digest < other->digest) std::swap(file.frames[0], file.frames[1]);
}

}  // namespace

Bytes Resigned(base::ByteView input, Choices& choices) {
  if (choices.OneIn(4)) return {};
  auto file = wire::DecodeEvidence(input);
  if (!file.ok()) return {};
  switch (choices.Below(8)) {
    case 0:
      MutateClaim(*file, choices);
      break;
    case 1:
      MutateBlock(*file, choices);
      break;
    default:
      MutateFrame(*file, choices);
      if (choices.Below(4) != 0) Fit(*file);
  }
  return wire::EncodeEvidence(*file);
}

}  // namespace ostraka::fuzz

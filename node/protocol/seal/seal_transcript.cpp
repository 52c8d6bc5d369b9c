#include "node/protocol/seal/seal_transcript.h"

#include <algorithm>
#include <tuple>

#include "node/base/check.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {
namespace {

std::uint32_t ReachOf(const wire::SignedEnvelope& message) {
  const auto* vote = message.As<wire::SealVote>();
  const std::uint32_t iteration = message.envelope.slot.iteration;
  return vote == nullptr || vote->rank >= iteration ? 0 : iteration - vote->rank;
}

}  // namespace

bool SealTranscript::Add(const wire::SignedEnvelope& message) {
  const wire::Slot& slot = message.envelope.slot;
  Messages& messages = shelves_[{message.envelope.sender, slot.type}];
  const Place place{slot.iteration, message.digest};
  if (messages.contains(place) || CountOf(messages, slot.iteration) >= 2) return false;
  messages.emplace(place, Kept{message.frame, ReachOf(message)});
  bytes_ += message.frame->size();
  slow_ |= slot.type != wire::MessageType::kEcho;
  if (messages.size() <= kMessagesOfOne) return true;
  const auto least = LeastOf(messages);
  const bool kept = least->first != place;
  bytes_ -= least->second.frame->size();
  messages.erase(least);
  OSTRAKA_CHECK(messages.size() <= kMessagesOfOne);
  return kept;
}

bool SealTranscript::Holds(const wire::SignedEnvelope& message) const {
  const wire::Slot& slot = message.envelope.slot;
  const auto shelf = shelves_.find({message.envelope.sender, slot.type});
  return shelf != shelves_.end() && shelf->second.contains({slot.iteration, message.digest});
}

std::size_t SealTranscript::CountOf(const Messages& messages, std::uint32_t iteration) {
  return static_cast<std::size_t>(
      std::count_if(messages.begin(), messages.end(),
                    [&](const auto& kept) { return kept.first.iteration == iteration; }));
}

// The message to drop. Two messages of one slot are proof by themselves and are dropped last;
// otherwise the shortest reach is dropped first, then the lowest iteration.
SealTranscript::Messages::iterator SealTranscript::LeastOf(Messages& messages) {
  const auto worth = [&](const auto& kept) {
    return std::make_tuple(CountOf(messages, kept.first.iteration), kept.second.reach,
                           kept.first.iteration);
  };
  return std::min_element(messages.begin(), messages.end(),
                          [&](const auto& a, const auto& b) { return worth(a) < worth(b); });
}

void SealTranscript::CheckInvariants() const {
  std::size_t bytes = 0;
  for (const auto& [shelf, messages] : shelves_) {
    OSTRAKA_CHECK(messages.size() <= kMessagesOfOne);
    for (const auto& [place, kept] : messages) {
      OSTRAKA_CHECK(CountOf(messages, place.iteration) <= 2);
      bytes += kept.frame->size();
    }
  }
  OSTRAKA_CHECK(bytes == bytes_);
}

std::vector<base::SharedBytes> SealTranscript::Frames() const {
  std::vector<base::SharedBytes> frames;
  for (const auto& [shelf, messages] : shelves_) {
    for (const auto& [place, kept] : messages) frames.push_back(kept.frame);
  }
  return frames;
}

std::vector<base::SharedBytes> SealTranscript::FramesOf(const base::PeerId& signer) const {
  std::vector<base::SharedBytes> frames;
  for (auto it = shelves_.lower_bound({signer, wire::MessageType::kBoot});
       it != shelves_.end() && it->first.signer == signer; ++it) {
    for (const auto& [place, kept] : it->second) frames.push_back(kept.frame);
  }
  return frames;
}

void SealTranscript::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, shelves_, bytes_, slow_);
}

}  // namespace ostraka::protocol

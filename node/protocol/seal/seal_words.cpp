#include "node/protocol/seal/seal_words.h"

#include <algorithm>
#include <tuple>

#include "node/base/check.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {
namespace {

std::uint32_t ReachOf(const wire::Envelope& envelope) {
  if (envelope.slot.type != wire::MessageType::kVote) return 0;
  const auto vote = wire::DecodeSealVote(envelope.body);
  if (!vote.ok() || vote->rank >= envelope.slot.iteration) return 0;
  return envelope.slot.iteration - vote->rank;
}

}  // namespace

bool SealWords::Add(const wire::SignedEnvelope& message) {
  const wire::Slot& slot = message.envelope.slot;
  Words& words = shelves_[{message.envelope.sender, slot.type}];
  const Place place{slot.iteration, message.digest};
  if (words.contains(place) || CountOf(words, slot.iteration) >= 2) return false;
  words.emplace(place, Word{message.frame, ReachOf(message.envelope)});
  bytes_ += message.frame->size();
  slow_ |= slot.type != wire::MessageType::kEcho;
  if (words.size() <= kWordsOfOne) return true;
  const auto least = LeastOf(words);
  const bool kept = least->first != place;
  bytes_ -= least->second.frame->size();
  words.erase(least);
  return kept;
}

bool SealWords::Holds(const wire::SignedEnvelope& message) const {
  const wire::Slot& slot = message.envelope.slot;
  const auto shelf = shelves_.find({message.envelope.sender, slot.type});
  return shelf != shelves_.end() && shelf->second.contains({slot.iteration, message.digest});
}

std::size_t SealWords::CountOf(const Words& words, std::uint32_t iteration) {
  return static_cast<std::size_t>(std::count_if(words.begin(), words.end(), [&](const auto& word) {
    return word.first.iteration == iteration;
  }));
}

// The message to drop. Two messages of one slot are proof by themselves and are dropped last;
// otherwise the shortest reach is dropped first, then the lowest iteration.
SealWords::Words::iterator SealWords::LeastOf(Words& words) {
  const auto worth = [&](const auto& word) {
    return std::make_tuple(CountOf(words, word.first.iteration), word.second.reach,
                           word.first.iteration);
  };
  return std::min_element(words.begin(), words.end(),
                          [&](const auto& a, const auto& b) { return worth(a) < worth(b); });
}

void SealWords::CheckInvariants() const {
  std::size_t bytes = 0;
  for (const auto& [shelf, words] : shelves_) {
    OSTRAKA_CHECK(words.size() <= kWordsOfOne);
    for (const auto& [place, word] : words) {
      OSTRAKA_CHECK(CountOf(words, place.iteration) <= 2);
      bytes += word.frame->size();
    }
  }
  OSTRAKA_CHECK(bytes == bytes_);
}

std::vector<base::SharedBytes> SealWords::Frames() const {
  std::vector<base::SharedBytes> frames;
  for (const auto& [shelf, words] : shelves_) {
    for (const auto& [place, word] : words) frames.push_back(word.frame);
  }
  return frames;
}

std::vector<base::SharedBytes> SealWords::FramesOf(const base::PeerId& signer) const {
  std::vector<base::SharedBytes> frames;
  for (auto it = shelves_.lower_bound({signer, wire::MessageType::kBoot});
       it != shelves_.end() && it->first.signer == signer; ++it) {
    for (const auto& [place, word] : it->second) frames.push_back(word.frame);
  }
  return frames;
}

}  // namespace ostraka::protocol

#include "node/protocol/seal/inside/values.h"

#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {

using State = SealEntry::State;

SealValues::SealValues(std::size_t entries, const SealMessages* messages)
    : entries_(entries), messages_(messages) {}

SealVector SealValues::HeldNow() const {
  SealVector held;
  held.reserve(entries_);
  for (std::size_t i = 0; i < entries_; ++i) held.push_back(messages_->EntryNow(i));
  return held;
}

std::optional<SealVector> SealValues::Parse(const wire::Vector& vector) const {
  if (vector.entries.size() != entries_) return std::nullopt;
  return VectorOf(vector);
}

bool SealValues::Add(const Digest& value, SealVector vector) {
  OSTRAKA_CHECK(vector.size() == entries_);
  return known_.emplace(value, std::move(vector)).second;
}

const SealVector* SealValues::Find(const Digest& value) const {
  const auto found = known_.find(value);
  return found == known_.end() ? nullptr : &found->second;
}

bool SealValues::HoldsAll(const SealVector& vector) const {
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (vector[i].state == State::kPresent && !messages_->Holds(i, vector[i].digest)) return false;
  }
  return true;
}

void SealValues::ForgetAllBut(const std::set<Digest>& values) {
  std::erase_if(known_, [&](const auto& known) { return !values.contains(known.first); });
}

void SealValues::CheckInvariants() const {
  for (const auto& [value, vector] : known_) {
    OSTRAKA_CHECK(vector.size() == entries_);
    OSTRAKA_CHECK(HashOf(vector) == value);
  }
}

void SealValues::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, known_); }

}  // namespace ostraka::protocol

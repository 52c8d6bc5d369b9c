#include "node/protocol/seal/inside/certificates.h"

#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {
namespace {

using wire::MessageType;

const Signers kNobody;

void Append(const Signers& signers, std::vector<SealFrame>& frames) {
  for (const auto& [sender, frame] : signers) frames.push_back({sender, frame});
}

}  // namespace

SealCertificates::SealCertificates(std::size_t quorum) : quorum_(quorum) {
  OSTRAKA_CHECK(quorum_ > 0);
}

void SealCertificates::Add(std::uint32_t iteration, const PeerId& sender, const Digest& value,
                           base::SharedBytes frame, bool wanted) {
  const bool kept = wanted || IsNeeded(iteration, value);
  ballots_[iteration].Add(sender, value, std::move(frame), kept);
}

// A further ECHO is also kept for the leading value: with it the fast path may still decide.
void SealCertificates::AddEcho(const PeerId& sender, const Digest& value, base::SharedBytes frame,
                               bool wanted) {
  Add(0, sender, value, std::move(frame), wanted || value == LeadingEcho());
}

void SealCertificates::AddVote(std::uint32_t iteration, const PeerId& sender, const Digest& value,
                               base::SharedBytes frame, bool wanted) {
  Add(iteration, sender, value, std::move(frame), wanted);
}

bool SealCertificates::AddLock(std::uint32_t iteration, const PeerId& sender, const Digest& value,
                               base::SharedBytes frame) {
  return locks_.Add(sender, iteration, value, std::move(frame));
}

bool SealCertificates::IsNeeded(std::uint32_t iteration, const Digest& value) const {
  const SealLock lock{iteration + 1, value};
  if (lock == lock_ || claims_.contains(lock)) return true;
  return iteration > 0 && !locks_.For(iteration, value).empty();
}

void SealCertificates::Raise(const SealLock& lock) {
  if (lock.rank > lock_.rank) lock_ = lock;
}

void SealCertificates::Hold(const SealLock& lock) {
  OSTRAKA_CHECK(IsCertified(lock));
  lock_ = lock;
}

const Signers& SealCertificates::SignersOf(const SealLock& lock) const {
  const auto ballots = ballots_.find(lock.rank - 1);
  return ballots == ballots_.end() ? kNobody : ballots->second.For(lock.value);
}

bool SealCertificates::IsCertified(const SealLock& lock) const {
  return SignersOf(lock).size() >= quorum_;
}

SealLock SealCertificates::HighestCertified() const {
  for (auto it = ballots_.rbegin(); it != ballots_.rend(); ++it) {
    for (const auto& [value, signers] : it->second.by_value()) {
      if (signers.size() >= quorum_) return {it->first + 1, value};
    }
  }
  return {};
}

Digest SealCertificates::LeadingEcho() const {
  const auto echoes = ballots_.find(0);
  return echoes == ballots_.end() ? Digest{} : echoes->second.Leading();
}

// Equal ECHOs of all unmuted members, never of a quorum alone. Attack: with Q of them the model
// checker finds a fork (docs/seal.md, 2). And of Q at least: all of fewer may hold no honest one.
std::optional<SealCertificates::Decision> SealCertificates::Decided(std::size_t unmuted) const {
  const auto echoes = ballots_.find(0);
  if (echoes != ballots_.end()) {
    for (const auto& [value, signers] : echoes->second.by_value()) {
      if (signers.size() == unmuted && unmuted >= quorum_) return Decision{value, signers};
    }
  }
  for (const auto& [group, signers] : locks_.groups()) {
    if (signers.size() >= quorum_) return Decision{group.value, signers};
  }
  return std::nullopt;
}

void SealCertificates::Forget(std::uint32_t current) {
  claims_.clear();
  // The votes that certify the own lock stay: others may ask for them.
  std::erase_if(ballots_, [&](const auto& entry) {
    return entry.first > 0 && entry.first + 1 < current && entry.first + 1 != lock_.rank;
  });
  if (lock_.rank > 1 && lock_.rank < current) ballots_[lock_.rank - 1].ForgetAllBut(lock_.value);
}

std::vector<SealFrame> SealCertificates::Frames(MessageType type) const {
  std::vector<SealFrame> frames;
  if (type == MessageType::kLock) {
    for (const auto& [group, signers] : locks_.groups()) Append(signers, frames);
    return frames;
  }
  for (const auto& [iteration, ballots] : ballots_) {
    if ((iteration == 0) != (type == MessageType::kEcho)) continue;
    for (const auto& [value, signers] : ballots.by_value()) Append(signers, frames);
  }
  return frames;
}

void SealCertificates::CheckInvariants() const {
  for (const auto& [iteration, ballots] : ballots_) ballots.CheckInvariants();
  locks_.CheckInvariants();
}

}  // namespace ostraka::protocol

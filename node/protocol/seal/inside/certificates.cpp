#include "node/protocol/seal/inside/certificates.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/seal/inside/window.h"

namespace ostraka::protocol {
namespace {

using wire::MessageType;

void Append(const Signers& signers, std::vector<SealFrame>& frames) {
  for (const auto& [sender, frame] : signers) frames.push_back({sender, frame});
}

// The first ballots of this iteration are kept. (0: ECHOs.)
bool KeepsFirsts(std::uint32_t iteration, std::uint32_t current) {
  return iteration == 0 || InWindow(iteration, current);
}

}  // namespace

SealCertificates::SealCertificates(std::size_t quorum) : quorum_(quorum) {
  OSTRAKA_CHECK(quorum_ > 0);
}

void SealCertificates::AddEcho(const PeerId& sender, const Digest& value, base::SharedBytes frame) {
  const Digest led = LeadingEcho();
  ballots_[0].Add(sender, value, std::move(frame), IsNeeded(0, value));
  if (LeadingEcho() != led) DropUnneeded(0, 0);
}

void SealCertificates::AddVote(std::uint32_t iteration, const PeerId& sender, const Digest& value,
                               base::SharedBytes frame) {
  OSTRAKA_CHECK(iteration > 0);
  ballots_[iteration].Add(sender, value, std::move(frame), IsNeeded(iteration, value));
}

bool SealCertificates::AddLock(std::uint32_t iteration, const PeerId& sender, const Digest& value,
                               base::SharedBytes frame, std::uint32_t current) {
  const Locks::Added added = locks_.Add(sender, iteration, value, std::move(frame));
  if (added.emptied) DropUnneeded(added.emptied->iteration, current);
  return added.is_new;
}

void SealCertificates::Name(const SealLock& lock, std::uint32_t last) {
  std::uint32_t& through = named_[lock];
  through = std::max(through, last);
}

bool SealCertificates::IsNeeded(std::uint32_t iteration, const Digest& value) const {
  const SealLock lock{iteration + 1, value};
  if (lock == lock_ || named_.contains(lock)) return true;
  return iteration == 0 ? value == LeadingEcho() : !locks_.For(iteration, value).empty();
}

void SealCertificates::Raise(const SealLock& lock, std::uint32_t current) {
  if (lock.rank > lock_.rank) SetLock(lock, current);
}

void SealCertificates::LockOn(const SealLock& lock, std::uint32_t current) {
  OSTRAKA_CHECK(IsCertified(lock));
  SetLock(lock, current);
}

void SealCertificates::SetLock(const SealLock& lock, std::uint32_t current) {
  OSTRAKA_CHECK(lock.rank >= lock_.rank);  // C2
  const SealLock before = std::exchange(lock_, lock);
  if (before.rank > 0) DropUnneeded(before.rank - 1, current);
}

const Signers& SealCertificates::SignersOf(const SealLock& lock) const {
  if (lock.rank == 0) return kNobody;
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

// The ballots that certify the own lock stay: others may ask for them.
void SealCertificates::Forget(std::uint32_t current) {
  std::erase_if(named_, [&](const auto& name) { return name.second < current; });
  for (auto it = ballots_.begin(); it != ballots_.end();) {
    const std::uint32_t iteration = (it++)->first;
    DropUnneeded(iteration, current);
  }
}

void SealCertificates::DropUnneeded(std::uint32_t iteration, std::uint32_t current) {
  const auto found = ballots_.find(iteration);
  if (found == ballots_.end()) return;
  const auto needed = [&](const Digest& value) { return IsNeeded(iteration, value); };
  found->second.Drop(needed, KeepsFirsts(iteration, current));
  if (found->second.empty()) ballots_.erase(found);
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

void SealCertificates::CheckInvariants(std::uint32_t current) const {
  for (const auto& [iteration, ballots] : ballots_) {
    ballots.CheckInvariants();
    for (const auto& [value, signers] : ballots.by_value()) {
      if (IsNeeded(iteration, value)) continue;
      OSTRAKA_CHECK(KeepsFirsts(iteration, current));
      for (const auto& [sender, frame] : signers) {
        OSTRAKA_CHECK(ballots.firsts().at(sender) == value);
      }
    }
  }
  locks_.CheckInvariants();
}

void SealCertificates::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, ballots_, locks_, lock_, named_);
}

}  // namespace ostraka::protocol

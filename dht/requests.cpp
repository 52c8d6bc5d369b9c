#include "dht/requests.h"

#include <algorithm>

#include "crypto/hash_into.h"
#include "node/base/check.h"

namespace ostraka::dht {

void Request::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, to, node, query, purpose, operation, lookup, mark, tested);
}

void Requests::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, waiting_, slow_, lost_);
}

bool Requests::Add(base::Time now, const Nonce& nonce, Request request) {
  if (waiting_.size() >= kMost || waiting_.contains(nonce)) return false;
  waiting_.emplace(nonce, std::move(request));
  slow_.emplace_back(now + kSlow, nonce);
  lost_.emplace_back(now + kLost, nonce);
  return true;
}

const Request* Requests::Find(const Nonce& nonce, const Endpoint& from) const {
  const auto at = waiting_.find(nonce);
  return at == waiting_.end() || at->second.to != from ? nullptr : &at->second;
}

Request Requests::Take(const Nonce& nonce) {
  const auto at = waiting_.find(nonce);
  OSTRAKA_CHECK(at != waiting_.end());
  Request request = std::move(at->second);
  waiting_.erase(at);
  DropAnswered();
  return request;
}

bool Requests::IsAsked(const Contact& contact) const {
  return std::any_of(waiting_.begin(), waiting_.end(), [&contact](const auto& entry) {
    return entry.second.node && entry.second.node->contact == contact;
  });
}

std::vector<std::pair<Requests::Fate, Request>> Requests::Expire(base::Time now) {
  std::vector<std::pair<Fate, Request>> expired;
  for (; !slow_.empty() && slow_.front().first <= now; slow_.pop_front()) {
    const auto at = waiting_.find(slow_.front().second);
    if (at != waiting_.end()) expired.emplace_back(Fate::kSlow, at->second);
  }
  for (; !lost_.empty() && lost_.front().first <= now; lost_.pop_front()) {
    const auto at = waiting_.find(lost_.front().second);
    if (at == waiting_.end()) continue;
    expired.emplace_back(Fate::kLost, std::move(at->second));
    waiting_.erase(at);
  }
  DropAnswered();
  return expired;
}

// Entries of answered queries at the front would only wake the machine for nothing.
void Requests::DropAnswered() {
  for (Due* due : {&slow_, &lost_}) {
    while (!due->empty() && !waiting_.contains(due->front().second)) due->pop_front();
  }
}

std::optional<base::Time> Requests::next_expiry() const {
  if (slow_.empty() && lost_.empty()) return std::nullopt;
  if (slow_.empty()) return lost_.front().first;
  if (lost_.empty()) return slow_.front().first;
  return std::min(slow_.front().first, lost_.front().first);
}

void Requests::CheckInvariants() const {
  OSTRAKA_CHECK(waiting_.size() <= kMost);
  OSTRAKA_CHECK(waiting_.empty() || !lost_.empty());
  OSTRAKA_CHECK(std::is_sorted(lost_.begin(), lost_.end(),
                               [](const auto& a, const auto& b) { return a.first < b.first; }));
  for (const auto& [nonce, request] : waiting_) OSTRAKA_CHECK(IsUsable(request.to));
}

}  // namespace ostraka::dht

#include "node/runtime/admission.h"

#include <iterator>
#include <utility>

#include "node/base/check.h"

namespace ostraka::runtime {
namespace {

constexpr double kMinute = 60;

// At the start of a run all members may dial at once, each twice.
double HandshakeBurst(const TransportLimits& limits, std::size_t members) {
  return static_cast<double>(limits.half_open + 2 * members);
}

}  // namespace

Admission::Admission(const TransportLimits& limits, std::size_t members,
                     std::set<std::string> known)
    : limits_(limits),
      known_(std::move(known)),
      handshakes_(static_cast<double>(limits.handshakes_per_second),
                  HandshakeBurst(limits, members)) {}

base::Status Admission::Admit(base::Time now, const std::string& address, bool is_loopback) {
  if (!is_loopback) {
    const auto open = half_open_.find(address);
    if (open != half_open_.end() && open->second >= limits_.half_open_per_address) {
      return base::Unavailable("came while " + std::to_string(open->second) +
                               " connections from its address were half-open");
    }
    const auto patience = patience_.find(address);
    if (patience != patience_.end() && !patience->second.Ready(now)) {
      return base::Unavailable("came again from an address that was refused more than " +
                               std::to_string(limits_.refusals_per_address) + " times a minute");
    }
  }
  if (is_known(address, is_loopback)) return base::OkStatus();
  if (!handshakes_.Ready(now)) {
    return base::Unavailable("came while more than " +
                             std::to_string(limits_.handshakes_per_second) +
                             " strangers a second did");
  }
  handshakes_.Take(1);
  return base::OkStatus();
}

void Admission::Enter(const std::string& address, bool is_loopback) {
  ++half_open_[address];
  if (!is_known(address, is_loopback)) ++strangers_;
}

void Admission::Leave(const std::string& address, bool is_loopback) {
  const auto open = half_open_.find(address);
  OSTRAKA_CHECK(open != half_open_.end());
  if (--open->second == 0) half_open_.erase(open);
  if (!is_known(address, is_loopback)) --strangers_;
}

void Admission::OnRefused(base::Time now, const std::string& address, bool is_loopback) {
  if (is_loopback) return;
  if (patience_.size() >= kMaxAddresses) {
    for (auto entry = patience_.begin(); entry != patience_.end();) {
      entry = entry->second.Full(now) ? patience_.erase(entry) : std::next(entry);
    }
    if (patience_.size() >= kMaxAddresses && !patience_.contains(address)) return;
  }
  const auto allowed = static_cast<double>(limits_.refusals_per_address);
  patience_.try_emplace(address, allowed / kMinute, allowed).first->second.Take(1);
}

}  // namespace ostraka::runtime

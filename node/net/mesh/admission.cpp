#include "node/net/mesh/admission.h"

#include <iterator>
#include <utility>

#include "node/base/check.h"

namespace ostraka::net {
namespace {

constexpr double kMinute = 60;

// At the start of a run all members may dial at once, each twice, and all from one network.
double Burst(std::size_t places, std::size_t members) {
  return static_cast<double>(places + 2 * members);
}

}  // namespace

// --- AddressBuckets ------------------------------------------------------------------------------

bool AddressBuckets::Ready(base::Time now, const std::string& name) {
  const auto bucket = buckets_.find(name);
  return bucket == buckets_.end() || bucket->second.Ready(now);
}

void AddressBuckets::Take(base::Time now, const std::string& name) {
  if (buckets_.size() >= kMaxAddresses) {
    for (auto entry = buckets_.begin(); entry != buckets_.end();) {
      entry = entry->second.Full(now) ? buckets_.erase(entry) : std::next(entry);
    }
    if (buckets_.size() >= kMaxAddresses && !buckets_.contains(name)) return;
  }
  buckets_.try_emplace(name, per_second_, capacity_).first->second.Take(1);
  OSTRAKA_CHECK(buckets_.size() <= kMaxAddresses);  // B1
}

void AddressBuckets::GiveBack(const std::string& name) {
  const auto bucket = buckets_.find(name);
  if (bucket != buckets_.end()) bucket->second.Take(-1);
}

void AddressBuckets::SetCapacity(double capacity) {
  capacity_ = capacity;
  for (auto& [name, bucket] : buckets_) bucket.SetCapacity(capacity);
}

// --- Admission -----------------------------------------------------------------------------------

Admission::Admission(const AdmissionLimits& limits, std::size_t members)
    : limits_(limits),
      askers_(static_cast<double>(limits.handshakes_per_second), Burst(limits.half_open, members)),
      unnamed_(static_cast<double>(limits.unnamed_per_second),
               static_cast<double>(limits.half_open)),
      of_prefix_(static_cast<double>(limits.handshakes_per_prefix),
                 Burst(limits.half_open_per_address, members)),
      patience_(static_cast<double>(limits.refusals_per_address) / kMinute,
                static_cast<double>(limits.refusals_per_address)) {}

void Admission::SetMembers(std::size_t members) {
  askers_.SetCapacity(Burst(limits_.half_open, members));
  of_prefix_.SetCapacity(Burst(limits_.half_open_per_address, members));
}

base::Status Admission::Admit(base::Time now, const std::string& address, bool is_loopback) {
  if (is_loopback) return base::OkStatus();
  const auto open = open_.find(address);
  if (open != open_.end() && open->second >= limits_.half_open_per_address) {
    return base::Unavailable("came while " + std::to_string(open->second) +
                             " connections from its address were half-open");
  }
  if (!patience_.Ready(now, address)) {
    return base::Unavailable("came again from an address that was refused more than " +
                             std::to_string(limits_.refusals_per_address) + " times a minute");
  }
  return base::OkStatus();
}

Standing Admission::StandingOf(bool is_vouched, bool is_loopback, bool names_run) {
  if (!is_loopback && is_vouched) return Standing::kKnown;
  return names_run ? Standing::kAsker : Standing::kUnnamed;
}

base::Status Admission::Charge(base::Time now, const std::string& prefix, bool is_loopback,
                               Standing standing) {
  if (standing == Standing::kKnown) return base::OkStatus();
  if (standing == Standing::kUnnamed) {
    if (!unnamed_.Ready(now)) {
      return base::Unavailable("came while more than " +
                               std::to_string(limits_.unnamed_per_second) +
                               " a second did that did not name this run");
    }
    unnamed_.Take(1);
    return base::OkStatus();
  }
  if (!is_loopback && !of_prefix_.Ready(now, prefix)) {
    return base::Unavailable("came while more than " +
                             std::to_string(limits_.handshakes_per_prefix) +
                             " strangers a second did from " + prefix);
  }
  if (!askers_.Ready(now)) {
    return base::Unavailable("came while more than " +
                             std::to_string(limits_.handshakes_per_second) +
                             " strangers a second did");
  }
  askers_.Take(1);
  if (!is_loopback) of_prefix_.Take(now, prefix);
  return base::OkStatus();
}

void Admission::GiveBack(const std::string& prefix, bool is_loopback, Standing standing) {
  if (standing == Standing::kUnnamed) unnamed_.Take(-1);
  if (standing != Standing::kAsker) return;
  askers_.Take(-1);
  if (!is_loopback) of_prefix_.GiveBack(prefix);
}

bool Admission::is_full(Standing standing) const {
  return standing != Standing::kKnown &&
         handshakes_[static_cast<std::size_t>(standing)] >= limits_.half_open;
}

void Admission::Enter(const std::string& address) {
  ++open_[address];
  ++all_open_;
}

void Admission::Leave(const std::string& address) {
  const auto open = open_.find(address);
  OSTRAKA_CHECK(open != open_.end() && all_open_ > 0);  // A1
  --all_open_;
  if (--open->second == 0) open_.erase(open);
}

void Admission::End(Standing standing) {
  std::size_t& count = handshakes_[static_cast<std::size_t>(standing)];
  OSTRAKA_CHECK(count > 0);  // A1
  --count;
}

void Admission::OnRefused(base::Time now, const std::string& address, bool is_loopback) {
  if (!is_loopback) patience_.Take(now, address);
}

}  // namespace ostraka::net

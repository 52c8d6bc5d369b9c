// Decides which incoming connections to admit, before their identity is proven: by source address,
// and by the run that they name.
//
// A connection costs almost nothing until TLS begins (lobby.h). Before that only two counts per
// address matter: its open connections and its recent refusals. A TLS handshake costs a signature.
// One of three queues pays for it:
//   known    from an address that the run vouches for (address_book.h): only the limits per address
//            hold
//   asker    named this run (client_hello.h): one rate per network and one in total
//   unnamed  anybody else: one small rate in total
//
// Attack: a flood that does not know the run id takes nothing from a member behind NAT or a DNS
// name. A flood that knows it takes at most the share of its networks. A connection that then
// proves a member's key gets its charge back and no longer counts as a stranger. All nodes of a
// machine share the loopback address, so only the total limits hold there.
//
// Promises:
//   A1  Counts of open connections and of handshakes are never negative, and a zero count is not
//       stored.
//   A2  A handshake that was charged and refunded leaves the rates as they were.
//   A3  At most AddressBuckets::kMaxAddresses names are remembered of each kind.
//
// May not know: members, keys, sockets, clocks.
//
// Memory: two times kMaxAddresses buckets, and one count for each address with an open connection.
//
// Thread safety: none; one owner. Reads no clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/net/records/token_bucket.h"

namespace ostraka::net {

// Limits on incoming connections that are not a link.
struct AdmissionLimits {
  // An address is one IPv4 address, or the upper 64 bits of an IPv6 address. The limits per address
  // do not hold for loopback. A connection from an address in `members` is not counted as a
  // stranger, only against its address.
  std::size_t waiting = 256;   // in the lobby, in all; the oldest is closed for a new one
  std::size_t half_open = 64;  // in a handshake: of strangers that named this run, and of strangers
                               // that did not; one older than half_open_grace is closed for a new
                               // one
  base::Duration half_open_grace = base::Seconds(2);
  std::size_t half_open_per_address = 16;
  std::size_t half_open_per_member = 4;  // after TLS has proven the member's key
  std::size_t non_members = 8;           // after TLS has proven a key that is no member's
  // Handshake rates after a burst, for strangers that named this run: in total, and from one
  // network (AddressPrefix; not loopback). Proving a member's key refunds the charge.
  std::uint64_t handshakes_per_second = 50;
  std::uint64_t handshakes_per_prefix = 10;
  std::uint64_t unnamed_per_second = 10;    // handshakes of strangers that named no run, or another
  std::uint64_t refusals_per_address = 32;  // per minute; above it connections are closed unread
  std::int64_t stranger_notices = 20;       // burst of log lines that strangers cause; then one per
                                            // second
};

// The queue that pays for a connection's handshake.
enum class Standing : std::uint8_t { kKnown, kAsker, kUnnamed };
inline constexpr std::size_t kStandings = 3;

// Token buckets by name; remembers a bounded number.
//
// Promises: B1  at most kMaxAddresses buckets exist. B2  a bucket is dropped only when it is full.
// Attack: an attacker with more addresses than that is not counted by address for the excess; the
// total rates still hold.
class AddressBuckets {
 public:
  AddressBuckets(double per_second, double capacity)
      : per_second_(per_second), capacity_(capacity) {}

  // True if `name` has no debt.
  bool Ready(base::Time now, const std::string& name);
  // No-op for a new name while kMaxAddresses other buckets are not full.
  void Take(base::Time now, const std::string& name);
  void GiveBack(const std::string& name);
  // Of all buckets (TokenBucket::SetCapacity).
  void SetCapacity(double capacity);

  // Names beyond this number are not counted.
  static constexpr std::size_t kMaxAddresses = 4096;

 private:
  const double per_second_;
  double capacity_;
  std::map<std::string, TokenBucket> buckets_;
};

class Admission {
 public:
  Admission(const AdmissionLimits& limits, std::size_t members);

  // The number of members has changed, and with it the bursts that must be expected.
  void SetMembers(std::size_t members);

  // Judges a new connection from `address`, an AddressGroup. Unavailable if it must be refused now,
  // with a reason phrased about the other side.
  base::Status Admit(base::Time now, const std::string& address, bool is_loopback);
  // `is_vouched`: the run vouches for the address.
  static Standing StandingOf(bool is_vouched, bool is_loopback, bool names_run);
  // Charges a handshake from `prefix`, an AddressPrefix, if the rate allows it.
  base::Status Charge(base::Time now, const std::string& prefix, bool is_loopback,
                      Standing standing);
  // Refunds a charge after the connection has proven a member's key.
  void GiveBack(const std::string& prefix, bool is_loopback, Standing standing);
  // True if a handshake of this standing must end before another may begin.
  bool is_full(Standing standing) const;

  // An admitted connection is open (Enter), and became a link or closed (Leave). REQUIRES: called
  // in pairs.
  void Enter(const std::string& address);
  void Leave(const std::string& address);
  // A handshake began (Begin), and ended (End). REQUIRES: called in pairs.
  void Begin(Standing standing) { ++handshakes_[static_cast<std::size_t>(standing)]; }
  void End(Standing standing);
  // A connection from `address` was refused for what it sent or failed to send.
  void OnRefused(base::Time now, const std::string& address, bool is_loopback);

  // Connections between Enter and Leave, and handshakes by standing between Begin and End.
  std::size_t open() const { return all_open_; }
  const std::array<std::size_t, kStandings>& handshakes() const { return handshakes_; }

 private:
  const AdmissionLimits limits_;
  TokenBucket askers_;
  TokenBucket unnamed_;
  AddressBuckets of_prefix_;                          // askers, by AddressPrefix
  AddressBuckets patience_;                           // refusals, by address
  std::array<std::size_t, kStandings> handshakes_{};  // in progress, by Standing
  std::map<std::string, std::size_t> open_;           // by address; only nonzero counts
  std::size_t all_open_ = 0;                          // the sum
};

}  // namespace ostraka::net

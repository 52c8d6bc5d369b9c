// What a mesh counts, and what it says to people: all of its lines have their words here.
//
// Promises:
//   Y1  Every refused connection is counted once, by kind, and `refused` is the sum of the kinds.
//   Y2  links_up is the number of links between LinkUp and LinkDown.
//   Y3  Lines that strangers cause are rate-limited (notices.h); lines about members are not.
//
// May not know: sockets, members, decisions.
//
// Memory: the members that said that they have another link with this key.
//
// What an attacker can do here: cause lines, at most one a second after a burst, with text that
// connections have made printable. Two members together can have this node say once that another
// one seems to run with its key.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/net/mesh/notices.h"
#include "node/net/mesh/transport.h"
#include "node/net/records/closing.h"

namespace ostraka::net {

class Tally {
 public:
  // `sink` may be null.
  Tally(std::function<void(NoticeLevel, const std::string&)> sink, std::int64_t stranger_burst)
      : notices_(std::move(sink), stranger_burst) {}

  // --- counts ---
  void CountAccepted() { ++counters_.accepted; }
  void CountDialed() { ++counters_.dialed; }
  void CountRefusal(Refusal refusal);
  void CountBytes(const Traffic& added);
  // Without the values of by_peer and of the connections that are open.
  const TransportCounters& counters() const { return counters_; }

  // --- counts and lines; `name`: the connection, "id at host:port" or "host:port" ---
  void LinkUp(const std::string& name);
  void LinkDown(const base::PeerId& peer, const std::string& name, const Closing& closing);
  void DialFailed(const std::string& name, const Closing& closing, bool is_news);
  // A member that proved its key is of another run, protocol or mode; it tries again for hours.
  void MemberOfAnother(const std::string& name, const Closing& closing, bool is_news);
  // A connection ended that was no link and no dial of ours.
  void StrangerLeft(base::Time now, const std::string& name, const Closing& closing);
  void AcceptFailed(base::Time now, const std::string& reason);
  void MayLackMessages(const std::string& member);
  void RateTooLow(std::uint64_t bytes_per_second, std::uint64_t least, std::size_t members);

 private:
  void LostToTwin(const base::PeerId& peer);

  Notices notices_;
  TransportCounters counters_;
  // Members whose link ended since they have another with this key, and how often that was.
  std::set<base::PeerId> have_a_twin_;
  std::uint64_t links_lost_to_twins_ = 0;
};

// Adds the bytes of `added` to `sum`.
void AddTraffic(Traffic& sum, const Traffic& added);
// Why a rate cap is too low for honest members.
std::string RateReason(std::uint64_t bytes_per_second, std::uint64_t least, std::size_t members);

}  // namespace ostraka::net

// Which members this node asks to dial it back, and what they found: for people alone.
//
// A member whose link came in has reached this node by that, and is not asked. Of the others
// kWanted are asked, those first whose address prefix none of the results has, and each again
// kAgain later.
//
// Promises:
//   S1  A member is asked once in kAgain, and only over a link that this node dialed. Together with
//       the results that are younger than kAgain, at most kWanted questions are open.
//   S2  An answer counts once, for the port that was asked about, within kPatience.
//   S3  A result is kept while its link came in, and kKept after that or after the answer.
//
// May not know: sockets, clocks.
// Memory: an entry and a result for each member that was linked in the last kKept.
// What an attacker can do here: a member lies about what it found. That is shown with its name, and
// one liar alone causes no advice (DialBackAdvice).
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dht/wire/endpoint.h"
#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/net/mesh/transport.h"
#include "node/net/reach/dial_back_status.h"
#include "node/net/records/dial_back.h"

namespace ostraka::net {

class Sounding {
 public:
  static constexpr std::size_t kWanted = 4;
  static constexpr base::Duration kAgain = base::Seconds(20 * 60);
  static constexpr base::Duration kPatience = base::Seconds(15);
  static constexpr base::Duration kKept = base::Seconds(3600);

  // The link to `peer` is up and leads to `path`, or is down (nullopt).
  void OnLink(base::Time now, const base::PeerId& peer, const std::optional<LinkPath>& path);
  // It is no member any more.
  void Forget(const base::PeerId& peer);

  // Whom to ask now about `port`; each counts as asked.
  std::vector<base::PeerId> Due(base::Time now, std::uint16_t port);
  // False: nobody asked for it.
  bool OnAnswer(base::Time now, const base::PeerId& peer, const DialBackAnswer& answer);

  // By peer.
  std::vector<DialedBack> Results(base::Time now) const;
  // S1 and S3.
  void CheckInvariants() const;

 private:
  struct Member {
    std::optional<LinkPath> path;     // nullopt: its link is down
    base::Time due;                   // not asked before
    std::optional<base::Time> asked;  // the question that is open
    std::uint16_t port = 0;           // of that question
  };
  struct Result {
    DialedBack found;
    base::Time at;
  };
  void Sweep(base::Time now);
  bool IsKept(const base::PeerId& peer, const Result& result, base::Time now) const;
  bool CameIn(const base::PeerId& peer) const;
  // How many results younger than kAgain and open questions there are, by prefix.
  std::map<std::string, std::size_t> Covered(base::Time now) const;

  std::map<base::PeerId, Member> members_;  // linked, or asked in the last kAgain
  std::map<base::PeerId, Result> results_;
};

}  // namespace ostraka::net

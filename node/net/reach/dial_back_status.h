// What members found that dialed this node back. Values only, and the advice that follows.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dht/wire/endpoint.h"
#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/net/records/dial_back.h"

namespace ostraka::net {

struct DialedBack {
  base::PeerId peer;      // who dialed
  std::string from;       // its address prefix, or its name if it was dialed by name
  bool is_public = true;  // it sits on a public address
  dht::Endpoint where;    // what it says that it dialed; port 0: it is linked, and dialed for that
  DialOutcome outcome = DialOutcome::kReached;
  base::Duration age;
  bool operator==(const DialedBack&) const = default;
};

struct DialBackStatus {
  bool on = false;
  std::uint16_t port = 0;  // that others are asked to dial; 0: this node does not listen
  std::vector<DialedBack> results;
};

// At most `most` of the results, those of dials before those of links that came in.
std::vector<DialedBack> MostTelling(const DialBackStatus& status, std::size_t most);

// Whether the member dialed in vain.
bool IsInVain(DialOutcome outcome);

// One line for people if several members of different prefixes dialed this node in vain, and more
// than reached it; of those with public addresses if such members tried. Else empty, also if a link
// came in, and if the node declares that it only dials. Attack: one member says that it reached the
// node, so that nobody tells its owner of the closed port.
std::string DialBackAdvice(const DialBackStatus& status, bool only_dials);

// What to change if others cannot dial this node at `port`.
std::string DialBackRemedy(std::uint16_t port);

// "anna's id dialed 192.0.2.7:9000: the connection was refused".
std::string TextOf(const DialedBack& result);
// As in TextOf: "the connection was refused".
const char* DialOutcomeText(DialOutcome outcome);

}  // namespace ostraka::net

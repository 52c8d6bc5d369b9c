// One question to one address of the DHT: who is there?
//
// Thread safety: a free function; blocks.
#pragma once

#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/net/udp/pinger.h"

namespace ostraka::cli {

// Asks up to three times, a third of `patience` apart. Unavailable, in one line that names the
// address: no name server knows it, nothing answers by UDP (and whether TCP does), or what answers
// is no node of this network.
base::StatusOr<net::Pong> PingDht(const std::string& address, const base::Digest& network,
                                  base::Duration patience);

// Why none of `addresses` answers: one line that names each and how it failed, and says that UDP is
// blocked if TCP is answered where UDP is not. OK if one of them answers.
base::Status WhyNobodyAnswers(const std::vector<std::string>& addresses,
                              const base::Digest& network);

}  // namespace ostraka::cli

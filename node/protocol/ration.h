// How much a peer may ask for in a second: answers cost us more than questions cost it.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>

#include "node/base/ids.h"
#include "node/base/time.h"

namespace ostraka::protocol {

class Ration {
 public:
  static constexpr std::uint64_t kAnswersASecond = 2048;

  // `bulk_bytes_a_second`: of bulk data, for each peer.
  explicit Ration(std::uint64_t bulk_bytes_a_second) : bulk_bytes_(bulk_bytes_a_second) {}

  // True, and it is counted, if `peer` may have one more answer with so many bytes of bulk data. A
  // single answer larger than a second's ration passes when the second is fresh.
  bool Take(base::Time now, const base::PeerId& peer, std::uint64_t bulk_bytes = 0) {
    Used& used = used_[peer];
    if (now - used.since >= base::Seconds(1)) used = {now, 0, 0};
    const bool fresh = used.answers == 0;
    if (used.answers >= kAnswersASecond) return false;
    if (!fresh && used.bulk_bytes + bulk_bytes > bulk_bytes_) return false;
    ++used.answers;
    used.bulk_bytes += bulk_bytes;
    return true;
  }

 private:
  struct Used {
    base::Time since;
    std::uint64_t answers = 0;
    std::uint64_t bulk_bytes = 0;
  };
  std::uint64_t bulk_bytes_;
  std::map<base::PeerId, Used> used_;  // genesis members only: bounded
};

}  // namespace ostraka::protocol

#include "node/host/driver/stop_wait.h"

#include "node/base/check.h"

namespace ostraka::host {

void StopWait::Begin(base::Time now, const std::string& by, base::Duration at_most) {
  OSTRAKA_CHECK(!begun() && !by.empty());
  by_ = by;
  until_ = now + at_most;
  at_most_ = at_most;
}

std::optional<std::string> StopWait::GivenUp(base::Time now, std::size_t reachable,
                                             std::size_t quorum) {
  OSTRAKA_CHECK(begun());
  if (now >= until_) {
    return "the block did not come within " + std::to_string(at_most_.ns / base::Seconds(1).ns) +
           " s";
  }
  if (reachable >= quorum) {
    alone_since_.reset();
    return std::nullopt;
  }
  if (!alone_since_) alone_since_ = now;
  if (now - *alone_since_ < kAlone) return std::nullopt;
  return "only " + std::to_string(reachable) +
         " of the members can be reached, and no step ends "
         "with fewer than " +
         std::to_string(quorum);
}

}  // namespace ostraka::host

#include "node/host/report/door_report.h"

#include <algorithm>

#include "node/protocol/rules/coming.h"

namespace ostraka::host {

DoorReport DoorOf(const protocol::Manifest& manifest, const wire::Block& head,
                  const Vouchers& vouched) {
  DoorReport door;
  door.policy = manifest.join.policy;
  door.seats = protocol::SeatsIn(manifest);
  door.members = head.members.size();
  door.kept = protocol::SeatsTaken(head, head.step + 1) - door.members;
  door.bears = protocol::FaultBound(head.thresholds);
  for (const base::PeerId& peer : manifest.join.moderators) {
    const auto known =
        std::find_if(head.moderators.begin(), head.moderators.end(),
                     [&peer](const wire::Moderator& moderator) { return moderator.peer == peer; });
    const wire::Moderator has = known == head.moderators.end() ? wire::Moderator{} : *known;
    door.moderators.push_back({peer, has.admitted, manifest.join.quota, has.revoked});
  }
  for (const wire::Candidate& candidate : head.candidates) {
    DoorReport::Asking asking{candidate.peer, candidate.confirmed - candidate.since + 1,
                              manifest.probation};
    if (candidate.voucher) asking.moderator = candidate.voucher->moderator;
    door.asking.push_back(asking);
  }
  for (const base::PeerId& peer : head.members) {
    const auto moderator = vouched.find(peer);
    if (moderator != vouched.end()) door.vouched.insert(*moderator);
  }
  return door;
}

}  // namespace ostraka::host

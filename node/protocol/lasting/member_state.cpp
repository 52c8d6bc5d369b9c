#include "node/protocol/lasting/member_state.h"

#include <algorithm>

namespace ostraka::protocol {
namespace {

std::uint64_t GuestBytes(const base::TensorLayout& layout, std::uint64_t a_second) {
  const std::uint64_t most = Ration::BytesASecond(base::ElementCount(layout));
  return a_second == 0 ? most : std::min(most, a_second);
}

}  // namespace

MemberState::MemberState(Core& core, std::uint64_t guest_bytes_a_second)
    : ration(Ration::BytesASecond(base::ElementCount(core.layout)),
             GuestBytes(core.layout, guest_bytes_a_second)),
      server(core, ration),
      charges(core.self, core.manifest, core.journal),
      reports(core.self),
      duties(core.self, core.manifest, core.chain),
      duty_jobs(duties, core.jobs) {}

void MemberState::CheckInvariants(std::size_t keys) const {
  ration.CheckInvariants(keys);
  charges.CheckInvariants();
  duty_jobs.CheckInvariants();
  followers.CheckInvariants(keys);
  past_seals.CheckInvariants();
}

void MemberState::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, ration, charges, reports, duties, duty_jobs, followers, past_seals,
               fork_watch, pace);
}

}  // namespace ostraka::protocol

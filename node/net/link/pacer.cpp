#include "node/net/link/pacer.h"

#include <algorithm>
#include <utility>

#include "crypto/merkle.h"
#include "node/base/check.h"
#include "node/os/steady_clock.h"

namespace ostraka::net {
namespace {

// Allows a burst of an eighth of a second, but at least one chunk.
TokenBucket BucketOf(std::uint64_t bytes_per_second) {
  const auto rate = static_cast<double>(std::max<std::uint64_t>(bytes_per_second, 1));
  return {rate, std::max(rate / 8, static_cast<double>(crypto::kChunkBytes))};
}

// A member or a guest whose record makes no debt asks again once that is written. [Guests had a
// turn after each announcement and each row of leaves, so two for each small part.]
constexpr base::Duration kMemberAsksAgain = base::Milliseconds(1);

}  // namespace

Pacer::Pacer(boost::asio::io_context& io, std::uint64_t bytes_per_second)
    : limited_(bytes_per_second > 0), bucket_(BucketOf(bytes_per_second)), timer_(io) {}

bool Pacer::MayGo(std::function<void()> turn, PacerLane lane) {
  if (!limited_) return true;
  OSTRAKA_CHECK(turn != nullptr);
  const base::Time now = os::SteadyNow();
  const bool first = empty();
  if (first && bucket_.Ready(now)) return true;
  LaneOf(lane).push_back(std::move(turn));
  if (first) timer_.Start(bucket_.Wait(now), [this] { Wake(); });
  return false;
}

void Pacer::Charge(std::uint64_t bytes) {
  if (limited_) bucket_.Take(static_cast<double>(bytes));
}

Pacer::Waiting& Pacer::LaneOf(PacerLane lane) {
  if (lane == PacerLane::kMembers) return members_;
  return lane == PacerLane::kGuests ? guests_ : lent_;
}

Pacer::Waiting& Pacer::NextLane() {
  if (guests_.empty() && members_.empty()) return lent_;
  if (guests_.empty() || members_.empty()) {
    members_in_a_row_ = 0;
    return guests_.empty() ? members_ : guests_;
  }
  if (++members_in_a_row_ < kGuestsOneIn) return members_;
  members_in_a_row_ = 0;
  return guests_;
}

void Pacer::Wake() {
  OSTRAKA_CHECK(limited_ && !empty());  // P3
  // A caller that asks again within its turn queues behind those of its lane that wait already.
  std::size_t turns = members_.size() + guests_.size() + lent_.size();
  bool yields = false;
  bool member_had_one = false;
  bool guest_had_one = false;
  while (turns > 0 && bucket_.Ready(os::SteadyNow())) {
    yields = (member_had_one && members_.empty()) ||
             (guest_had_one && members_.empty() && guests_.empty());
    if (yields) break;
    --turns;
    Waiting& lane = NextLane();
    member_had_one |= &lane == &members_;
    guest_had_one |= &lane == &guests_;
    const std::function<void()> turn = std::move(lane.front());
    lane.pop_front();
    turn();
  }
  if (empty()) return;
  const base::Duration wait = bucket_.Wait(os::SteadyNow());
  timer_.Start(yields ? std::max(wait, kMemberAsksAgain) : wait, [this] { Wake(); });
}

}  // namespace ostraka::net

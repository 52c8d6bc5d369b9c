// Limits bulk data to a rate, over all connections together and fairly among them, those of guests
// (keys that are no members) behind those of members.
//
// Every byte is charged but only bulk waits: control overdraws the rate, and later bulk waits
// longer.
//
// Promises:
//   P1  In each of the three lanes turns are granted in the order of request, one bulk record each,
//       and none while the bucket is in debt.
//   P4  While members wait guests have one turn in kGuestsOneIn, and never fewer. Attack: ten
//       strangers of one public link had ten thirteenths of the line, and members' parts came too
//       late.
//   P5  What is lent (chunks of data) goes when neither members nor guests wait, and may starve.
//   P2  No turn is called within MayGo. A turn that asks again queues behind those that wait.
//   P3  While somebody waits a timer runs, so that every turn comes.
//
// May not know: connections, records, priorities.
//
// May be used for a rate of guests alone: then nobody waits in the other lanes.
//
// Memory: one callback for each turn asked for, at most two for each connection (pacer_turn.h).
//
// What an attacker can do here: take its share of the rate, as every connection does.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "node/net/records/token_bucket.h"
#include "node/os/timer.h"

namespace ostraka::net {

enum class PacerLane : std::uint8_t { kMembers, kGuests, kLent };

class Pacer {
 public:
  static constexpr int kGuestsOneIn = 8;

  // 0: no limit.
  Pacer(boost::asio::io_context& io, std::uint64_t bytes_per_second);

  // True: proceed now. False: `turn` is called once, when it is the caller's turn (P1, P4). `turn`
  // must tolerate that its owner is gone, and must Charge what it then sends.
  bool MayGo(std::function<void()> turn, PacerLane lane = PacerLane::kMembers);
  void Charge(std::uint64_t bytes);

 private:
  using Waiting = std::deque<std::function<void()>>;
  void Wake();
  bool empty() const { return members_.empty() && guests_.empty() && lent_.empty(); }
  // Whose turn is next. REQUIRES: !empty().
  Waiting& NextLane();
  Waiting& LaneOf(PacerLane lane);

  const bool limited_;
  TokenBucket bucket_;
  Waiting members_;
  Waiting guests_;
  Waiting lent_;
  int members_in_a_row_ = 0;  // turns of theirs while guests waited
  os::Timer timer_;
};

}  // namespace ostraka::net

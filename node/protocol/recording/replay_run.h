// Runs a recording through a new machine and compares what the machine asks for, call by call.
//
//   entries -> input -> machine -> hash of the actions == the entry's hash?
//
// Promises:
//   R1  A difference ends the run, and is told with the call that it is in.
//   R2  Any entries are safe: an input that breaks the contract of machine.h does not reach the
//       machine, and ends the run as InvalidArgument.
//
// Memory: the machine's, and the specs of jobs that have not come back.
//
// What an attacker can do here: with a forged recording, make a replay compute what the entries
// say, within the limits of their size.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/protocol/member/peer.h"
#include "node/wire/recording_codec.h"

namespace ostraka::protocol {

struct Replayed {
  std::uint64_t turns = 0;  // whose outputs are equal
  std::optional<std::uint64_t> first_step;
  std::optional<std::uint64_t> last_step;  // that the member completed
  std::uint64_t jobs_again = 0;            // that were computed again
  Time until;                              // of the last call, by the machine's clock
  std::optional<Halted> halted;
  // The calls after these rest on a message that the member had stored and not sent when the
  // recording ended, so their outputs are not known. None of them sent a signed message.
  bool ends_unsent = false;
  // The process ended within the last call, which returns here. (If it ends this process too, that
  // is the bug.)
  bool ended_within_call = false;
  std::optional<std::string> difference;  // one line
};

// Called after each call of the machine, and before one in which the recorded process ended.
// `line`: for people.
using SeeTurn = std::function<void(Time at, const std::string& line)>;

// `manifest`: that of `head`, read. InvalidArgument: the entries are no recording of a member of
// that run. REQUIRES: Validate(*manifest).ok().
base::StatusOr<Replayed> ReplayRecording(const wire::RecordingHead& head,
                                         std::shared_ptr<const Manifest> manifest,
                                         const std::vector<wire::RecordedCall>& calls,
                                         const SeeTurn& see);

}  // namespace ostraka::protocol

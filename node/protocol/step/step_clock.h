// Where the time of a step goes, for people: one lap after the other.
#pragma once

#include "node/protocol/mail/turn.h"

namespace ostraka::protocol {

struct StepClock {
  StepTimes times;
  Time mark;  // when the present lap began

  // Adds the present lap to one of `times`' figures, and begins the next.
  void Lap(std::int64_t& figure, Time now) {
    figure += (now - mark).ns;
    mark = now;
  }
};

}  // namespace ostraka::protocol

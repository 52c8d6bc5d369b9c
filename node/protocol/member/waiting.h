// Which messages a member waits for, and from which members: for people. A function of the parts of
// a member, which it reads and does not change.
#pragma once

#include <vector>

#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/genesis_seal.h"
#include "node/protocol/lasting/stage.h"
#include "node/protocol/member/ending.h"
#include "node/protocol/member/step_now.h"

namespace ostraka::protocol {

struct Awaited {
  PeerId sender;
  wire::MessageType type = wire::MessageType::kBoot;
};

struct WaitingView {
  const Core& core;
  Stage stage;
  const GenesisSeal& genesis;
  const Ending& ending;
  const StepNow& step;
};

std::vector<Awaited> AwaitedBy(const WaitingView& member);

}  // namespace ostraka::protocol

// Which messages a member waits for, and from which members: for people. A function of the parts of
// a member, which it reads and does not change.
#pragma once

#include <vector>

#include "node/protocol/member/ending.h"
#include "node/protocol/parts/genesis_seal.h"
#include "node/protocol/parts/stage.h"
#include "node/protocol/step/step.h"

namespace ostraka::protocol {

struct Awaited {
  PeerId sender;
  wire::MessageType type = wire::MessageType::kBoot;
};

struct WaitingView {
  Stage stage = Stage::kUnstarted;
  const Chain* chain;
  const Inbox* inbox;
  const GenesisSeal* genesis;
  const Ending* ending;
  const Step* step;  // null if there is none
};

std::vector<Awaited> AwaitedBy(const WaitingView& member);

}  // namespace ostraka::protocol

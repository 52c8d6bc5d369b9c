// Kinds of message that the member tells apart.
#pragma once

#include "node/wire/messages.h"

namespace ostraka::protocol {

// A message of the agreement itself: ECHO, the slow path, CLOSE.
constexpr bool IsSealMessage(wire::MessageType type) {
  return (type >= wire::MessageType::kEcho && type <= wire::MessageType::kLock) ||
         type == wire::MessageType::kClose;
}
constexpr bool CarriesBlob(wire::MessageType type) {
  return type == wire::MessageType::kPart || type == wire::MessageType::kResult;
}

}  // namespace ostraka::protocol

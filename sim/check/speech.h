// The messages that peers sign and send themselves, each once. A broadcast is one frame sent many
// times, and forwarded messages were heard from their signers before.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "node/wire/opener.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

class Speech {
 public:
  // Several objects may share an opener.
  Speech(const Roster& roster, std::shared_ptr<wire::Opener> opener)
      : ids_(roster.ids), last_frames_(roster.ids.size()), opener_(std::move(opener)) {}

  // Null if `action` is no Send, or its frame is the one that `peer` sent last, another member's
  // message, or a service, which is unsigned. An error if the frame does not open.
  base::StatusOr<wire::SharedMessage> Hear(std::uint32_t peer, const protocol::Action& action) {
    const auto* send = std::get_if<protocol::Send>(&action);
    if (send == nullptr || send->frame == last_frames_[peer]) return wire::SharedMessage();
    last_frames_[peer] = send->frame;
    ASSIGN_OR_RETURN(wire::SharedMessage opened, opener_->Open(send->frame));
    const wire::Envelope& envelope = opened->envelope;
    const bool own = envelope.sender == ids_[peer] && !wire::IsService(envelope.slot.type);
    return own ? std::move(opened) : wire::SharedMessage();
  }

 private:
  std::vector<base::PeerId> ids_;
  std::vector<base::SharedBytes> last_frames_;  // by peer
  std::shared_ptr<wire::Opener> opener_;
};

}  // namespace ostraka::sim

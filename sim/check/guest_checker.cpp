#include "sim/check/guest_checker.h"

#include <algorithm>
#include <string>
#include <variant>

#include "node/protocol/mail/ration.h"
#include "sim/check/queue_checker.h"

namespace ostraka::sim {

// Each moderator's guests have a burst of a second beside what the window brings, and a last answer
// that is longer than what is left: there are two groups, those by invites and those by the list.
GuestBounds GuestBoundsOf(std::uint64_t dimension, std::uint64_t guest_bytes_a_second) {
  constexpr std::uint64_t kGroups = 2;
  const std::uint64_t most = protocol::Ration::BytesASecond(dimension);
  const std::uint64_t rate =
      guest_bytes_a_second == 0 ? most : std::min(most, guest_bytes_a_second);
  const std::uint64_t longest = 2 * sizeof(float) * dimension + (64 << 10);
  return {2 * protocol::Ration::kAnswersASecond + protocol::Ration::kOddMessagesASecond,
          2 * rate + kGroups * longest};
}

base::Status GuestAnswers::OnAction(std::uint32_t peer, const protocol::Action& action) {
  if (const auto* done = Observed<protocol::StepDone>(action)) {
    came_.insert(done->block->members.begin(), done->block->members.end());
    peers_[peer].height = HeightOf(*done->block);
  }
  const auto* send = std::get_if<protocol::Send>(&action);
  if (send == nullptr || send->carried_for) return base::OkStatus();
  const auto to = roster_.IndexOf(send->to);
  if (!to || !roster_.Comes(*to) || came_.contains(send->to)) return base::OkStatus();
  const auto opened = opener_->Open(send->frame);
  if (!opened.ok()) return base::OkStatus();
  const wire::Envelope& envelope = (*opened)->envelope;
  const bool answer = wire::IsService(envelope.slot.type) || envelope.sender != roster_.ids[peer];
  if (!answer) return base::OkStatus();
  Given& given = peers_[peer];
  const auto end = ends_.find(send->to);
  const bool ended = end != ends_.end() && given.height >= end->second;
  if (ended && envelope.slot.type == wire::MessageType::kChunk) {
    return base::FailedPrecondition(Named(roster_, peer) + " sends the model to " +
                                    Named(roster_, *to) + ", whose invite ended with step " +
                                    std::to_string(end->second));
  }
  if (now_ - given.since >= kAnswerWindow) given = {now_, 0, 0, given.height};
  ++given.answers;
  given.bytes += send->frame->size() + (send->blob ? send->blob->size() : 0);
  if (given.answers <= bounds_.answers && given.bytes <= bounds_.bytes) return base::OkStatus();
  return base::FailedPrecondition(
      Named(roster_, peer) + " gave keys that are no members " + std::to_string(given.answers) +
      " answers of " + std::to_string(given.bytes) +
      " bytes in less than a second, more than the " + std::to_string(bounds_.answers) + " and " +
      std::to_string(bounds_.bytes) + " that all together may have");
}

}  // namespace ostraka::sim

#include "node/protocol/mail/post.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "node/base/check.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/mail/voice.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

void Post::OnLink(const PeerId& peer, bool up) {
  if (up) {
    linked_.insert(peer);
  } else {
    linked_.erase(peer);
  }
}

std::vector<PeerId> Post::CarriersFor(const PeerId& to) const {
  std::vector<PeerId> carriers;
  if (IsLinked(to) || !(OnlyDials(*head_, self_) || OnlyDials(*head_, to))) return carriers;
  for (const PeerId& carrier : CarriersOf(*head_, self_, to)) {
    if (carriers.size() == CarriersNeeded(*head_)) break;
    if (IsLinked(carrier)) carriers.push_back(carrier);
  }
  return carriers;
}

base::SharedBytes Post::Wrapped(const wire::Forward& forward) const {
  wire::Slot slot = ServiceSlot(0, Phase::kA, MessageType::kForward);
  slot.run_id = run_id_;
  return wire::EncodeService({slot, Digest{}, self_, wire::Encode(forward)});
}

void Post::Route(Outbox& out, std::size_t first) const {
  OSTRAKA_CHECK(head_ != nullptr && first <= out.actions().size());
  if (!carries_ || head_->reach.empty()) return;
  std::vector<Action> carried;
  const auto replaced = [&](const Action& action) {
    const auto* send = std::get_if<Send>(&action);
    if (send == nullptr) return false;
    const std::vector<PeerId> carriers = CarriersFor(send->to);
    if (carriers.empty() || !MayBeCarried(*send) || !IsOurs(send->frame)) return false;
    const base::SharedBytes wrapped = Wrapped({self_, send->to, *send->frame});
    for (const PeerId& carrier : carriers) carried.emplace_back(Send{carrier, wrapped, nullptr});
    return true;
  };
  auto& actions = out.actions();
  const auto begin = actions.begin() + static_cast<std::ptrdiff_t>(first);
  actions.erase(std::remove_if(begin, actions.end(), replaced), actions.end());
  actions.insert(actions.begin() + static_cast<std::ptrdiff_t>(first), carried.begin(),
                 carried.end());
}

bool Post::MayBeCarried(const Send& send) {
  if (send.blob != nullptr || send.frame == nullptr) return false;
  return send.frame->size() <= wire::kMaxForwardedBytes;
}

std::optional<Send> Post::ByWayOf(const PeerId& carrier, const Send& send) const {
  if (!MayBeCarried(send)) return std::nullopt;
  return Send{carrier, Wrapped({self_, send.to, *send.frame}), nullptr};
}

std::uint64_t Post::CarriedFor() const {
  return std::max<std::size_t>(1, head_->members.size() + head_->standings.size());
}

bool Post::IsOurs(const base::SharedBytes& frame) const {
  const auto opened = wire::Open(frame);
  return opened.ok() && opened->envelope.sender == self_;
}

std::optional<Post::PassedOn> Post::PassOn(const PeerId& link, const wire::Forward& forward) const {
  if (!carries_ || forward.from != link || forward.to == self_ || forward.to == link)
    return std::nullopt;
  // The sender may be a block ahead, in which the other one declared that it only dials.
  if (!OnlyDials(*head_, link) && !OnlyDials(*head_, forward.to)) return std::nullopt;
  if (!IsLinked(forward.to)) return std::nullopt;
  const auto opened = wire::Open(std::make_shared<const base::Bytes>(forward.frame));
  if (!opened.ok()) return std::nullopt;
  const MessageType type = opened->envelope.slot.type;
  const bool own = opened->envelope.sender == link;
  if (type == MessageType::kForward || (!own && wire::IsService(type))) return std::nullopt;  // P4
  return PassedOn{Send{forward.to, Wrapped(forward), nullptr, link}, !own || wire::IsService(type)};
}

bool Post::IsForSelf(const PeerId& link, const wire::Forward& forward) const {
  return carries_ && IsMember(head_->members, link) && forward.to == self_ &&
         forward.from != self_ && forward.from != link && !IsLinked(forward.from);
}

std::vector<Send> Post::Introduce(const PeerId& peer) const {
  std::vector<Send> sends;
  if (!carries_ || !IsMember(head_->members, self_)) return sends;  // P6
  if (OnlyDials(*head_, self_) || !OnlyDials(*head_, peer)) return sends;
  for (const PeerId& other : linked_) {
    if (other == peer || !OnlyDials(*head_, other)) continue;
    sends.push_back({peer, Wrapped({other, peer, {}}), nullptr});
    sends.push_back({other, Wrapped({peer, other, {}}), nullptr});
  }
  return sends;
}

void Post::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, head_, linked_); }

}  // namespace ostraka::protocol

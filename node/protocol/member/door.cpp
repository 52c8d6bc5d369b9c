#include "node/protocol/member/door.h"

#include <optional>

#include "node/base/planted.h"
#include "node/protocol/ground/invite.h"
#include "node/protocol/rules/invite_book.h"
#include "node/protocol/rules/standing.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

// Of others nothing is kept, decoded or answered. Attack: an open run takes a link from anybody.
bool Door::MayBeHeard(const PeerId& from) const {
  return IsKey(components_.chain.head(), from) || components_.followers.IsGuest(from);
}

// The manifest names it, or its credential is good. Not whether there is a seat: it follows then,
// and sees by itself why it does not get in.
bool Door::IsVouched(const PeerId& sender, const wire::Rejoin& rejoin) {
  const Manifest& manifest = *components_.manifest;
  if (!rejoin.credential) return IsAllowed(manifest, sender);
  return manifest.join.policy == JoinPolicy::kInvite &&
         IsModerator(manifest, rejoin.credential->invite.moderator) &&
         components_.check.VerifiedCredential(manifest.run_id, *rejoin.credential, sender, sender);
}

void Door::OnRejoin(const wire::SignedEnvelope& message, const PeerId& from) {
  const PeerId& sender = message.envelope.sender;
  const std::uint64_t asked_in = message.envelope.slot.step;
  const Block& head = components_.chain.head();
  const Time now = components_.turn.now();
  if (!components_.stage.in_step() && !components_.stage.is(Stage::kFollow)) return;
  if (sender != from || IsMember(head.members, sender)) return;
  if (components_.followers.HasRejoin(sender, asked_in)) return;
  const Standing* standing = StandingOf(head.standings, sender);
  if (standing != nullptr && standing->banned) return;
  const bool stranger = standing == nullptr;
  const bool guest = components_.followers.IsGuest(sender);
  if (stranger && !guest && !components_.ration.TakeStranger(now, sender)) return;
  if (!components_.check.VerifiedOdd(message, from))
    return;  // one of the next step is new each time
  const auto* rejoin = message.As<wire::Rejoin>();
  if (rejoin == nullptr) {
    // Of a member and its carrier nobody here knows which one spoilt it.
    if (components_.ration.carries()) return;
    return components_.voice.Suspect(
        from, "service", "sent a malformed request or answer: " + message.WhyUnreadable());
  }
  const std::uint64_t step = HeightOf(head);
  Followers::Request request{asked_in, message.envelope.entry, std::nullopt};
  // What a member that may return shows is not looked at. Attack: its seat ends while its REJOIN is
  // held, and a voucher that nobody verified lets it in.
  if (!MayReturn(head, sender, step)) {
    if (!IsVouched(sender, *rejoin)) return;
    if (rejoin->credential) {
      request.voucher = VoucherOf(components_.manifest->run_id, rejoin->credential->invite);
    }
  }
  std::optional<InviteBook> book;  // a copy of up to 1,024 entries, only where places are short
  const auto refuses = [&](const Voucher& voucher) {
    if (!book) book.emplace(head, step);
    return book->LastingRefusalOf(voucher, *components_.manifest, step).has_value();
  };
  if (stranger && !guest && request.voucher && IsRefusedForGood(*request.voucher)) {
    // It sees by the head why it may not come in (Follower::RefusalByNewest), and need not follow.
    const GuestShare share = components_.followers.ShareBy(sender, request.voucher);
    return components_.server.ShowHeadAsGuest(sender, share);
  }
  if (stranger && !components_.followers.Welcome(sender, request.voucher, now, refuses)) return;
  components_.followers.OnRejoin(sender, request, now, step);
  if (stranger) AskHowFar(sender, request);
}

bool Door::IsRefusedForGood(const Voucher& voucher) const {
  if (base::Planted(base::Bug::kGuestsAreForEver)) return false;
  const Block& head = components_.chain.head();
  const std::uint64_t step = HeightOf(head);
  return InviteBook(head, step).LastingRefusalOf(voucher, *components_.manifest, step).has_value();
}

// How far a stranger is (Followers, F6), as soon as its REJOIN can be confirmed. It may have the
// block earlier than this member.
void Door::AskHowFar(const PeerId& peer, const Followers::Request& request) {
  if (request.block.is_zero() || request.asked_in == 0) return;
  const Time now = components_.turn.now();
  if (!components_.followers.AsksHowFar(peer, request.block, now, components_.chain.delta()))
    return;
  components_.voice.Ask(peer, ServiceSlot(request.asked_in - 1, Phase::kC, MessageType::kPull),
                        {.kind = wire::PullKind::kBlock, .index = 1});
}

}  // namespace ostraka::protocol

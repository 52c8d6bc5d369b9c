#include "sim/premises/premise_checkers.h"

#include <algorithm>
#include <cstdio>

#include "node/wire/bitmap.h"
#include "node/wire/codec.h"

namespace ostraka::sim {
namespace {

using wire::MessageType;
using wire::Phase;

std::string NameOf(const SealName& seal) {
  if (seal.height == 0) return "the genesis seal";
  return "seal " + std::string(wire::PhaseName(static_cast<Phase>(seal.phase))) + " of step " +
         std::to_string(seal.height - 1);
}

// Text such as "1.25 Delta".
std::string InDeltas(base::Duration time, base::Duration delta) {
  char buffer[32];
  std::snprintf(
      buffer, sizeof(buffer), "%.2f Delta",
      static_cast<double>(time.ns) / static_cast<double>(std::max<std::int64_t>(delta.ns, 1)));
  return buffer;
}

bool IsA(const SealName& seal) { return seal.phase == static_cast<std::uint8_t>(Phase::kA); }
bool IsGenesis(const SealName& seal) { return seal.height == 0; }

// The earliest time at which some member can have had a quorum of CLOSEs: the honest ones that
// exist, and those of all Byzantine members. Nullopt: not yet, or the protocol has no CLOSE.
std::optional<base::Time> GateOf(const SealStory& story, const Roster& roster) {
  if (story.closed.empty()) return std::nullopt;
  std::vector<base::Time> times;
  for (const auto& [peer, at] : story.closed) times.push_back(at);
  std::sort(times.begin(), times.end());
  const auto faulty =
      static_cast<std::size_t>(std::count(roster.byzantine.begin(), roster.byzantine.end(), true));
  const std::size_t honest = story.quorum > faulty ? story.quorum - faulty : 1;
  if (times.size() < honest) return std::nullopt;
  return times[honest - 1];
}

}  // namespace

// Judges each action of a step with all messages of that step known.
base::Status EchoSkew::OnAction(std::uint32_t peer, const protocol::Action& action) {
  if (!std::holds_alternative<protocol::Send>(action)) return base::OkStatus();
  for (const SealWatch::Said& said : watch_->said()) {
    const bool echo = said.message->envelope.slot.type == MessageType::kEcho;
    if (!echo || said.peer != peer || IsGenesis(said.seal)) continue;
    const SealStory& story = *watch_->StoryOf(said.seal);
    const base::Duration skew = SealStory::Spread(story.echoed);
    // A newcomer may open seal A late (OpeningSkew), and its deadline is later by as much.
    const base::Duration late = IsA(said.seal) ? SealStory::Spread(story.opened) : base::Duration{};
    if (skew <= story.delta + late) continue;
    const auto gate = GateOf(story, roster_);
    if (gate && watch_->now() - *gate <= story.delta) continue;
    // Before any member can have passed the gate, the gate itself handles a late ECHO.
    if (!gate && !story.closed.empty()) continue;
    return base::FailedPrecondition(Named(roster_, peer) + " echoes in " + NameOf(said.seal) + " " +
                                    InDeltas(skew, story.delta) + " after the first honest ECHO");
  }
  return base::OkStatus();
}

base::Status OpeningSkew::OnAction(std::uint32_t peer, const protocol::Action& action) {
  if (!Observed<protocol::StepStarted>(action) && !Observed<protocol::Sealed>(action)) {
    return base::OkStatus();
  }
  for (const auto& [seal, story] : watch_->stories()) {
    const auto own = story.opened.find(peer);
    if (own == story.opened.end() || own->second != watch_->now()) continue;
    const base::Duration skew = SealStory::Spread(story.opened);
    const base::Duration most = IsA(seal) ? part_timeout_ * 2 + story.delta * 2 : story.delta;
    if (skew <= most) continue;
    return base::FailedPrecondition(Named(roster_, peer) + " opens " + NameOf(seal) + " " +
                                    InDeltas(skew, story.delta) + " after the first honest member");
  }
  return base::OkStatus();
}

base::Status BeginsTogether::OnAction(std::uint32_t peer, const protocol::Action& action) {
  if (!Observed<protocol::StepStarted>(action)) return base::OkStatus();
  const base::Duration skew = SealStory::Spread(watch_->begun());
  if (skew <= deadline_) return base::OkStatus();
  return base::FailedPrecondition(Named(roster_, peer) + " begins step 0 " +
                                  std::to_string(skew.seconds()) +
                                  " s after the first honest member");
}

base::Status BeginsTogether::AtEnd() {
  if (watch_->begun().empty() || watch_->now() - watch_->begun().begin()->second <= deadline_) {
    return base::OkStatus();
  }
  for (std::uint32_t i = 0; i < roster_.ids.size(); ++i) {
    if (!roster_.IsHonest(i) || roster_.Comes(i) || watch_->begun().contains(i)) continue;
    return base::FailedPrecondition(Named(roster_, i) + " never begins step 0");
  }
  return base::OkStatus();
}

base::Status LockKnown::OnAction(std::uint32_t peer, const protocol::Action& action) {
  if (!std::holds_alternative<protocol::Send>(action)) return base::OkStatus();
  for (const SealWatch::Said& said : watch_->said()) {
    if (said.peer == peer) RETURN_IF_ERROR(Judge(said));
  }
  return base::OkStatus();
}

base::Status LockKnown::Judge(const SealWatch::Said& said) const {
  const wire::Envelope& envelope = said.message->envelope;
  const std::uint32_t k = envelope.slot.iteration;
  for (const auto& [earlier, value] : watch_->StoryOf(said.seal)->locks) {
    if (earlier >= k) continue;
    if (envelope.slot.type == MessageType::kStatus) {
      const auto status = wire::Decode<wire::SealStatus>(envelope.body);
      if (!status.ok() || status->rank >= earlier + 1) continue;
      return base::FailedPrecondition(Named(roster_, said.peer) + " begins iteration " +
                                      std::to_string(k) + " of " + NameOf(said.seal) +
                                      " without the certificate of an honest LOCK of iteration " +
                                      std::to_string(earlier));
    }
    if (envelope.slot.type == MessageType::kVote) {
      const auto vote = wire::Decode<wire::SealVote>(envelope.body);
      if (!vote.ok() || vote->value == value) continue;
      return base::FailedPrecondition(Named(roster_, said.peer) + " votes in iteration " +
                                      std::to_string(k) + " of " + NameOf(said.seal) +
                                      " above an honest LOCK of another value, of iteration " +
                                      std::to_string(earlier));
    }
  }
  return base::OkStatus();
}

base::Status Certificates::OnAction(std::uint32_t, const protocol::Action& action) {
  if (!std::holds_alternative<protocol::Send>(action)) return base::OkStatus();
  for (const SealWatch::Said& said : watch_->said()) {
    const SealStory& story = *watch_->StoryOf(said.seal);
    for (const auto& [locked_in, value] : story.locks) {
      for (const auto& [ballot, signers] : story.ballots) {
        if (ballot.first < locked_in || ballot.second == value) continue;
        if (signers.size() < story.quorum) continue;
        return base::FailedPrecondition(
            "in " + NameOf(said.seal) + " an honest member locked a value in iteration " +
            std::to_string(locked_in) + ", and another has a quorum of VOTEs in iteration " +
            std::to_string(ballot.first));
      }
    }
  }
  return base::OkStatus();
}

base::Status HonestNames::OnAction(std::uint32_t peer, const protocol::Action& action) {
  if (!std::holds_alternative<protocol::Send>(action)) return base::OkStatus();
  for (const SealWatch::Said& said : watch_->said()) {
    if (said.message->envelope.slot.type != MessageType::kProof || said.peer != peer) continue;
    const auto* proof = said.message->As<wire::Proof>();
    if (proof == nullptr) continue;
    const auto& members = watch_->ViewOf(said.message->envelope.slot.step).members;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto named = roster_.IndexOf(members[i]);
      if (!named || !roster_.IsHonest(*named)) continue;
      for (const auto& [names, what] :
           {std::pair{&wire::Proof::silent, "did not come"},
            std::pair{&wire::Proof::hasty, "lacked what it had to wait for"},
            std::pair{&wire::Proof::unshown, "was not shown"}}) {
        if (!wire::HasBit((*proof).*names, i)) continue;
        return base::FailedPrecondition(Named(roster_, peer) + " says in step " +
                                        std::to_string(said.message->envelope.slot.step) +
                                        " that the ECHO of honest " + Named(roster_, *named) + " " +
                                        what);
      }
    }
  }
  return base::OkStatus();
}

}  // namespace ostraka::sim

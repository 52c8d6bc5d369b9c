#include "sim/premises/seal_watch.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "node/wire/codec.h"

namespace ostraka::sim {
namespace {

using wire::MessageType;
using wire::Phase;

constexpr std::uint64_t kRememberedSteps = 2;

// By name, because older protocols have no CLOSE.
bool IsClose(MessageType type) { return std::string_view(wire::MessageTypeName(type)) == "close"; }

}  // namespace

base::Duration SealStory::Spread(const std::map<std::uint32_t, base::Time>& times) {
  if (times.empty()) return {};
  const auto [first, last] = std::minmax_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return last->second - first->second;
}

std::size_t SealStory::Certified(bool by_echoes, bool by_votes) const {
  std::set<base::Digest> values;
  for (const auto& [ballot, signers] : ballots) {
    const bool counts = ballot.first == 0 ? by_echoes : by_votes;
    if (counts && signers.size() >= quorum) values.insert(ballot.second);
  }
  return values.size();
}

std::size_t SealStory::LockedValues() const {
  std::set<base::Digest> values;
  for (const auto& [iteration, value] : locks) values.insert(value);
  return values.size();
}

StepView GenesisView(const SimOptions& options, const Roster& roster) {
  const std::uint32_t t_a = protocol::GenesisAsynchronousFaults(options.mode, options.peers);
  const auto thresholds = protocol::ThresholdsFor(options.mode, options.peers, t_a);
  std::vector<base::PeerId> members(roster.ids.begin(), roster.ids.begin() + options.peers);
  return {std::move(members), options.peers - thresholds.t_s, protocol::FaultBound(thresholds),
          protocol::Manifest{}.delta};
}

SealWatch::SealWatch(const Roster& roster, StepView genesis, std::shared_ptr<wire::Opener> opener)
    : roster_(roster), views_{{0, std::move(genesis)}}, speech_(roster, std::move(opener)) {}

const StepView& SealWatch::ViewOf(std::uint64_t step) const {
  const auto later = views_.upper_bound(step);
  return later == views_.begin() ? later->second : std::prev(later)->second;
}

const SealStory* SealWatch::StoryOf(const SealName& seal) const {
  const auto place = stories_.find(seal);
  return place == stories_.end() ? nullptr : &place->second;
}

SealStory& SealWatch::At(const SealName& seal) {
  const auto [place, is_new] = stories_.try_emplace(seal);
  if (is_new) {
    const StepView& view = ViewOf(seal.height == 0 ? 0 : seal.height - 1);
    place->second.delta = view.delta;
    place->second.quorum = view.quorum;
  }
  return place->second;
}

void SealWatch::OnStep(const StepRecord& record) {
  now_ = record.now;
  said_.clear();
  const bool honest = roster_.IsHonest(record.peer);
  for (const protocol::Action& action : record.actions) {
    if (const auto* observe = std::get_if<protocol::Observe>(&action); observe && honest) {
      OnObserved(record.peer, *observe);
    }
    const auto heard = speech_.Hear(record.peer, action);
    if (heard.ok() && *heard) OnWord(record.peer, *heard);
  }
}

void SealWatch::OnObserved(std::uint32_t peer, const protocol::Observe& observe) {
  const auto open = [&](const SealName& seal) { At(seal).opened.try_emplace(peer, now_); };
  if (const auto* done = std::get_if<protocol::StepDone>(&observe.what)) {
    const wire::Block& block = *done->block;
    const std::uint64_t next = HeightOf(block);
    if (next <= views_.rbegin()->first) return;
    views_[next] = {block.members, block.thresholds.quorum(),
                    protocol::FaultBound(block.thresholds),
                    base::Microseconds(static_cast<std::int64_t>(block.delta_us))};
    // The oldest remembered seals, of height `next` - kRememberedSteps, are of the step before it.
    while (views_.begin()->first + 1 + kRememberedSteps < next) views_.erase(views_.begin());
    std::erase_if(stories_,
                  [&](const auto& entry) { return entry.first.height + kRememberedSteps < next; });
  } else if (const auto* started = std::get_if<protocol::StepStarted>(&observe.what)) {
    if (started->step == 0) begun_.try_emplace(peer, now_);
    open({started->step + 1, static_cast<std::uint8_t>(Phase::kA), 0});
  } else if (const auto* sealed = std::get_if<protocol::Sealed>(&observe.what)) {
    if (sealed->phase == static_cast<std::uint8_t>(Phase::kA)) {
      open({sealed->step + 1, static_cast<std::uint8_t>(Phase::kB), 0});
    } else if (sealed->phase == static_cast<std::uint8_t>(Phase::kB)) {
      // Another draw of seal B, or seal C: the one that gets messages is the real one.
      open({sealed->step + 1, static_cast<std::uint8_t>(Phase::kB), sealed->draw + 1});
      open({sealed->step + 1, static_cast<std::uint8_t>(Phase::kC), 0});
    }
  }
}

void SealWatch::OnWord(std::uint32_t peer, const wire::SharedMessage& message) {
  const wire::Envelope& envelope = message->envelope;
  const wire::Slot& slot = envelope.slot;
  const SealName name = SealOf(slot);
  const std::uint64_t newest = views_.rbegin()->first;
  if (slot.type == MessageType::kRejoin || name.height > newest + kRememberedSteps) return;
  // One that comes back says again what it said, and whose bits its bitmaps are is forgotten.
  if (name.height + kRememberedSteps < newest) return;
  said_.push_back({peer, name, message});
  SealStory& story = At(name);
  const bool honest = roster_.IsHonest(peer);
  if (IsClose(slot.type) && honest) story.closed.try_emplace(peer, now_);
  if (slot.type == MessageType::kEcho) {
    const auto echo = wire::Decode<wire::Echo>(envelope.body);
    if (honest) story.echoed.try_emplace(peer, now_);
    if (echo.ok()) story.ballots[{0, echo->vector}].insert(peer);
  } else if (slot.type == MessageType::kVote) {
    const auto vote = wire::Decode<wire::SealVote>(envelope.body);
    if (vote.ok()) story.ballots[{slot.iteration, vote->value}].insert(peer);
  } else if (slot.type == MessageType::kStatus && honest) {
    story.reached[peer] = slot.iteration;
    const auto status = wire::Decode<wire::SealStatus>(envelope.body);
    if (status.ok()) story.ranks[peer] = status->rank;
  } else if (slot.type == MessageType::kLock && honest) {
    const auto lock = wire::Decode<wire::Lock>(envelope.body);
    if (lock.ok()) story.locks.try_emplace(slot.iteration, lock->value);
  }
}

}  // namespace ostraka::sim

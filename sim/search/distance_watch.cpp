#include "sim/search/distance_watch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>

#include "node/protocol/ground/manifest.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"

namespace ostraka::sim {
namespace {

using wire::MessageType;
using wire::Phase;

double InDeltas(base::Duration time, base::Duration delta) {
  return static_cast<double>(time.ns) / static_cast<double>(std::max<std::int64_t>(delta.ns, 1));
}

// 0, then one more for each doubling from `least` on. Values of one grade count as equal in a
// search.
unsigned Grade(double value, double least) {
  if (!(value >= least)) return 0;
  return static_cast<unsigned>(
      std::bit_width(static_cast<std::uint64_t>(std::min(value / least, 1e15))));
}

std::string Joined(std::string_view name, std::initializer_list<std::uint64_t> numbers) {
  std::string mark(name);
  for (const std::uint64_t number : numbers) mark += ' ' + std::to_string(number);
  return mark;
}

template <typename Values>
std::pair<std::uint32_t, std::uint32_t> LeastAndMost(const Values& values) {
  const auto [least, most] =
      std::minmax_element(values.begin(), values.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
  if (least == values.end()) return {0, 0};
  return {least->second, most->second};
}

}  // namespace

void DistanceWatch::OnStep(const StepRecord& record) {
  for (const SealWatch::Said& said : watch_->said()) OnWord(said);
  if (!roster_.IsHonest(record.peer)) return;
  for (const protocol::Action& action : record.actions) OnObserved(action);
}

void DistanceWatch::OnWord(const SealWatch::Said& said) {
  const MessageType type = said.message->envelope.slot.type;
  if (type == MessageType::kProof) OnProof(said);
  const SealStory& story = *watch_->StoryOf(said.seal);
  if (type == MessageType::kEcho || type == MessageType::kVote || type == MessageType::kLock) {
    distances_.certified = std::max(distances_.certified, story.CertifiedValues());
    distances_.voted = std::max(distances_.voted, story.VotedValues());
    distances_.locked = std::max(distances_.locked, story.LockedValues());
    places_.insert(
        Joined("ballots",
               {said.seal.phase, story.EchoedValues(), story.VotedValues(), story.LockedValues(),
                Grade(InDeltas(SealStory::Spread(story.echoed), story.delta), 1)}));
  }
  if (!roster_.IsHonest(said.peer)) return;
  if (type == MessageType::kEcho && said.seal.height > 0) OnEcho(said);
  if (type == MessageType::kStatus) MarkPlace(said);
}

void DistanceWatch::OnEcho(const SealWatch::Said& said) {
  const SealStory& story = *watch_->StoryOf(said.seal);
  distances_.echo_skew =
      std::max(distances_.echo_skew, InDeltas(SealStory::Spread(story.echoed), story.delta));
  const auto* echo = said.message->As<wire::Echo>();
  if (echo == nullptr) return;
  // In A and C the COMMITs and PROOFs come first. In B a member that need not reveal counts here
  // too, alike in all runs.
  if (said.seal.phase == static_cast<std::uint8_t>(Phase::kB)) return;
  const auto& members = watch_->ViewOf(said.message->envelope.slot.step).members;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto member = roster_.IndexOf(members[i]);
    const bool honest = member && roster_.IsHonest(*member);
    if (!honest || wire::HasBit(echo->present, i)) continue;
    ++distances_.left_out;
    return;
  }
}

void DistanceWatch::OnProof(const SealWatch::Said& said) {
  const auto* proof = said.message->As<wire::Proof>();
  if (proof == nullptr) return;
  const std::uint64_t step = said.message->envelope.slot.step;
  const StepView& view = watch_->ViewOf(step);
  for (std::size_t i = 0; i < view.members.size(); ++i) {
    const auto named = roster_.IndexOf(view.members[i]);
    if (!named || !roster_.IsHonest(*named) || !wire::HasBit(proof->silent, i)) continue;
    std::set<std::uint32_t>& by = named_[step][view.members[i]];
    by.insert(said.peer);
    const double names =
        static_cast<double>(by.size()) / static_cast<double>(std::max<std::size_t>(view.bound, 1));
    distances_.names = std::max(distances_.names, names);
  }
  while (named_.size() > 2) named_.erase(named_.begin());
}

void DistanceWatch::OnObserved(const protocol::Action& action) {
  if (Observed<protocol::StepStarted>(action) || Observed<protocol::Sealed>(action)) {
    for (const auto& [seal, story] : watch_->stories()) {
      distances_.opening_skew =
          std::max(distances_.opening_skew, InDeltas(SealStory::Spread(story.opened), story.delta));
    }
  }
  const auto* done = Observed<protocol::StepDone>(action);
  if (!done || HeightOf(*done->block) <= height_) return;
  height_ = HeightOf(*done->block);
  distances_.seconds = std::max(distances_.seconds, (watch_->now() - height_at_).seconds());
  height_at_ = watch_->now();
}

void DistanceWatch::MarkPlace(const SealWatch::Said& said) {
  const SealStory& story = *watch_->StoryOf(said.seal);
  const auto [first, last] = LeastAndMost(story.reached);
  const auto [low, high] = LeastAndMost(story.ranks);
  distances_.iterations_apart = std::max(distances_.iterations_apart, last - first);
  constexpr std::uint32_t kMost = 6;
  places_.insert(Joined(
      "at", {said.seal.phase, std::min(first, kMost), std::min(last, kMost), std::min(low, kMost),
             std::min(high, kMost), story.CertifiedValues(), story.locks.size()}));
}

std::set<std::string> DistanceWatch::Marks() const {
  std::set<std::string> marks = places_;
  // In quarters of Delta, the longest delay.
  marks.insert(Joined("echoes", {Grade(distances_.echo_skew, 0.25)}));
  marks.insert(Joined("openings", {Grade(distances_.opening_skew, 0.25)}));
  marks.insert(Joined("apart", {distances_.iterations_apart}));
  marks.insert(Joined("certified", {distances_.certified}));
  marks.insert(Joined("names", {static_cast<std::uint64_t>(distances_.names * 8)}));
  marks.insert(Joined("seconds", {Grade(distances_.seconds, 1)}));
  marks.insert(Joined("left out", {Grade(static_cast<double>(distances_.left_out), 1)}));
  marks.insert(Joined("skew and names", {Grade(distances_.echo_skew, 0.25),
                                         static_cast<std::uint64_t>(distances_.names * 4)}));
  marks.insert(Joined("skew and certified", {Grade(distances_.echo_skew, 0.25),
                                             distances_.certified, distances_.iterations_apart}));
  return marks;
}

}  // namespace ostraka::sim

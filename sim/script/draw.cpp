#include "sim/script/draw.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace ostraka::sim {
namespace {

using Do = Deviation::Do;
using To = Deviation::To;
using wire::MessageType;
using wire::Phase;

bool OneIn(base::Rng& rng, std::uint64_t n) { return rng.Below(n) == 0; }

template <typename T, std::size_t kCount>
T AnyOf(base::Rng& rng, const T (&choices)[kCount]) {
  return choices[rng.Below(kCount)];
}

// Every type of signed message but REJOIN: a member that has left comes back too late for a script.
MessageType DrawType(base::Rng& rng) {
  for (;;) {
    const auto type = static_cast<MessageType>(rng.Below(wire::kMessageTypeCount));
    if (!wire::IsService(type) && type != MessageType::kRejoin) return type;
  }
}

bool HasIteration(MessageType type) {
  return type == MessageType::kStatus || type == MessageType::kPropose ||
         type == MessageType::kVote || type == MessageType::kLock;
}

Phase DrawPhaseOf(base::Rng& rng, MessageType type) {
  switch (type) {
    case MessageType::kBoot:
      return Phase::kGenesis;
    case MessageType::kCommit:
    case MessageType::kPart:
    case MessageType::kAggregate:
    case MessageType::kResult:
      return Phase::kA;
    case MessageType::kReveal:
      return Phase::kB;
    case MessageType::kProof:
      return Phase::kC;
    default:
      return static_cast<Phase>(rng.Below(wire::kPhaseCount));
  }
}

// Mostly messages of a seal's slow path, since the two halves can diverge there.
Happening DrawHappening(base::Rng rng) {
  constexpr MessageType kAwaited[] = {MessageType::kEcho,   MessageType::kEcho,
                                      MessageType::kStatus, MessageType::kStatus,
                                      MessageType::kVote,   MessageType::kLock};
  // Offsets of a single message, and of the steps and iterations of the slow path with their
  // neighbours.
  constexpr std::int32_t kOffsets[] = {0, 8, 16, 32, 40};
  Happening event;
  const std::uint64_t kind = rng.Below(10);
  if (kind == 0) event.kind = Happening::Kind::kBegin;
  if (kind == 1) event.kind = Happening::Kind::kDeadline;
  if (kind == 2) event.kind = Happening::Kind::kNext;
  event.offset = OneIn(rng, 2) ? 0 : AnyOf(rng, kOffsets);
  event.offset += static_cast<std::int32_t>(rng.Between(-1, 1));
  if (event.kind == Happening::Kind::kDeadline) {
    event.offset = static_cast<std::int32_t>(rng.Between(-2, 1));
    return event;
  }
  if (event.kind == Happening::Kind::kBegin) return event;
  event.side = static_cast<Happening::Side>(rng.Below(4));
  if (event.kind == Happening::Kind::kNext) return event;
  event.type = OneIn(rng, 4) ? DrawType(rng) : AnyOf(rng, kAwaited);
  if (HasIteration(event.type)) event.iteration = static_cast<std::uint32_t>(rng.Below(4));
  if (OneIn(rng, 3)) event.which = Happening::Which::kLast;
  if (OneIn(rng, 5)) event.which = Happening::Which::kShort;
  return event;
}

void DrawDeed(base::Rng rng, Deviation& one) {
  constexpr Do kDeeds[] = {Do::kDrop,  Do::kDrop,  Do::kDrop,      Do::kFriends, Do::kHold,
                           Do::kHold,  Do::kHold,  Do::kSwap,      Do::kSwap,    Do::kUnreadable,
                           Do::kOlder, Do::kLater, Do::kUnreadable};
  constexpr Do kContents[] = {Do::kZeroRoot, Do::kWrongRoot, Do::kFullBitmap, Do::kCommitsRoot,
                              Do::kScale};
  constexpr double kScales[] = {-1, 0, 1.5, 10, 1e3, 1e8, 1e30};
  one.what = AnyOf(rng, kDeeds);
  const bool may_lie = !one.type || *one.type == MessageType::kAggregate;
  if (may_lie && OneIn(rng, 6)) one.what = AnyOf(rng, kContents);
  one.until = DrawHappening(rng.Fork("until"));
  one.scale = AnyOf(rng, kScales);
  if (one.what != Do::kHold) one.until = {};
  if (one.what != Do::kScale) one.scale = 1;
}

void DrawWord(base::Rng rng, const Stage& stage, Deviation& one) {
  one.type.reset();
  one.phase.reset();
  one.iteration.reset();
  one.step.reset();
  if (!OneIn(rng, 8)) one.type = DrawType(rng);
  if (one.type && !OneIn(rng, 4)) one.phase = DrawPhaseOf(rng, *one.type);
  if (!one.type && !OneIn(rng, 4)) one.phase = static_cast<Phase>(rng.Below(wire::kPhaseCount));
  if (one.type && HasIteration(*one.type) && OneIn(rng, 2)) {
    one.iteration = static_cast<std::uint32_t>(1 + rng.Below(3));
  }
  if (OneIn(rng, 4)) one.step = stage.first_step + rng.Below(3);
}

void DrawReceivers(base::Rng rng, const Stage& stage, Deviation& one) {
  constexpr To kReceivers[] = {To::kAll,        To::kAll,        To::kFirstHalf, To::kFirstHalf,
                               To::kSecondHalf, To::kSecondHalf, To::kOne,       To::kAllButOne};
  one.to = AnyOf(rng, kReceivers);
  const auto target = static_cast<std::uint32_t>(rng.Below(std::max(stage.honest, 1U)));
  one.target = one.to == To::kOne || one.to == To::kAllButOne ? target : 0;
}

void DrawAuthor(base::Rng rng, const Stage& stage, Deviation& one) {
  one.who.reset();
  if (!OneIn(rng, 2)) return;
  // Mostly the first, so that several deviations meet in one step.
  const std::uint64_t any = rng.Below(std::max(stage.colluders, 1U));
  one.who = OneIn(rng, 3) ? static_cast<std::uint32_t>(any) : 0U;
}

Deviation DrawDeviation(const base::Rng& rng, const Stage& stage) {
  Deviation one;
  DrawWord(rng.Fork("word"), stage, one);
  DrawAuthor(rng.Fork("author"), stage, one);
  DrawReceivers(rng.Fork("receivers"), stage, one);
  DrawDeed(rng.Fork("deed"), one);
  return one;
}

Script::Mode DrawMode(base::Rng& rng) { return static_cast<Script::Mode>(rng.Below(3)); }

std::uint64_t DrawSplit(base::Rng& rng, const Stage& stage) {
  const std::uint32_t bits = std::min(stage.honest, 63U);
  return rng.Below(std::uint64_t{1} << bits);
}

void MutateDeviation(base::Rng rng, const Stage& stage, Deviation& one) {
  switch (rng.Below(5)) {
    case 0:
      return DrawWord(rng.Fork("word"), stage, one);
    case 1:
      return DrawAuthor(rng.Fork("author"), stage, one);
    case 2:
      return DrawReceivers(rng.Fork("receivers"), stage, one);
    case 3:
      return DrawDeed(rng.Fork("deed"), one);
    default:
      if (one.what != Do::kHold) return DrawDeed(rng.Fork("deed"), one);
      one.until = DrawHappening(rng.Fork("until"));
  }
}

void MutateOnce(base::Rng rng, const Stage& stage, Script& script) {
  std::vector<Deviation>& all = script.deviations;
  const std::uint64_t what = rng.Below(12);
  if (what == 0) {
    script.second_half = DrawSplit(rng, stage);
  } else if (what == 1) {
    script.mode = DrawMode(rng);
  } else if (what <= 5 && all.size() < kMostDeviations) {
    // The new one may also go first: the first deviation that matches a message decides.
    const auto place = all.begin() + static_cast<std::ptrdiff_t>(rng.Below(all.size() + 1));
    all.insert(place, DrawDeviation(rng.Fork("deviation"), stage));
  } else if (what == 6 && all.size() > 1) {
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(rng.Below(all.size())));
  } else if (what == 7 && all.size() > 1) {
    std::swap(all[rng.Below(all.size())], all[rng.Below(all.size())]);
  } else if (!all.empty()) {
    Deviation& one = all[rng.Below(all.size())];
    MutateDeviation(rng.Fork("change"), stage, one);
  }
}

}  // namespace

Script DrawScript(const base::Rng& rng, const Stage& stage) {
  base::Rng head = rng.Fork("head");
  Script script;
  script.mode = DrawMode(head);
  script.second_half = DrawSplit(head, stage);
  const std::uint64_t count = 1 + head.Below(kMostDeviations);
  for (std::uint64_t i = 0; i < count; ++i) {
    script.deviations.push_back(DrawDeviation(rng.Fork("deviation", i), stage));
  }
  return script;
}

Script Mutate(Script script, base::Rng rng, const Stage& stage) {
  const std::uint64_t changes = 1 + rng.Below(3);
  for (std::uint64_t i = 0; i < changes; ++i) MutateOnce(rng.Fork("once", i), stage, script);
  return script;
}

}  // namespace ostraka::sim

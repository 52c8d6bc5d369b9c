// Scripts of deviations: what colluders do instead of what the protocol asks, as data.
//
// A script is a split of the honest members in two halves, how the colluders work on it, and a list
// of deviations. Each deviation says which words (signed messages) it is about, whose, to whom, and
// what happens to them; the first that fits a word decides. Everything else is honest. So an attack
// is one line of text, can be drawn, mutated and shrunk word by word, and leaving one deviation out
// changes nothing in the others. The editor that plays scripts is sim/adversary/scripted.cpp.
//
//   h2=1c,deaf;echo@a*0>h1:unreadable;aggregate@a*0>h2:hold(echo.h1+31)
//
//   script    = "h2=" MASK "," ("solo" | "twins" | "deaf") { ";" deviation }
//   deviation = TYPE "@" PHASE [".s" STEP] [".i" ITERATION] ["*" WHO] ">" TO ":" DO
//   TYPE      = "any" or a message's name; PHASE = "any", "genesis", "a", "b" or "c"
//   WHO       = a colluder by its place among them by key; left out: all
//   TO        = "all", "h1", "h2", "one" K or "not" K (the honest member K by key, all but it)
//   DO        = drop, friends, swap, unreadable, older, later, zero_root, wrong_root, full_bitmap,
//               commits_root, hold(EVENT), scale(X)
//   EVENT     = NAME [".h1" | ".h2" | ".friends"] [".i" ITERATION] [".last" | ".short"] [OFFSET]
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base/status.h"
#include "node/wire/messages.h"

namespace ostraka::sim {

// Something that honest members (or friends) do in the seal of a held word, as the colluder sees
// it.
struct Happening {
  enum class Kind : std::uint8_t {
    kWord,      // a word of `type` (and `iteration`, if not 0) by members of `side` arrives
    kBegin,     // the seal begins for this colluder
    kDeadline,  // its deadline, counted from there
    kNext,      // a word of `side` arrives that belongs to a later seal
  };
  enum class Side : std::uint8_t { kAny, kFirst, kSecond, kFriends };
  // Which of these words: the first, the last member's, or the one by which only the colluders'
  // own are missing to a quorum.
  enum class Which : std::uint8_t { kFirst, kLast, kShort };
  Kind kind = Kind::kWord;
  wire::MessageType type = wire::MessageType::kEcho;
  Side side = Side::kAny;
  std::uint32_t iteration = 0;
  Which which = Which::kFirst;
  // In Delta / 4, the longest delay of an honest message. What would be before the event is at it,
  // but for a deadline, which is known before.
  std::int32_t offset = 0;

  bool operator==(const Happening&) const = default;
};

struct Deviation {
  enum class To : std::uint8_t { kAll, kFirstHalf, kSecondHalf, kOne, kAllButOne };
  enum class Do : std::uint8_t {
    kDrop,
    kFriends,      // friends get it, honest members do not
    kHold,         // until `until`
    kSwap,         // the other twin's word instead
    kUnreadable,   // signed, with a body that no decoder reads
    kOlder,        // signed for the step (or iteration) before
    kLater,        // for the one after
    kZeroRoot,     // AGG: no result; the sum of its column cannot be had
    kWrongRoot,    // AGG, RESULT: a root that is not the result's
    kFullBitmap,   // AGG: all members' parts are in, it says
    kCommitsRoot,  // AGG: a root over other COMMITs
    kScale,        // AGG, RESULT: the aggregate times `scale`
  };
  std::optional<wire::MessageType> type;
  std::optional<wire::Phase> phase;
  std::optional<std::uint64_t> step;
  std::optional<std::uint32_t> iteration;
  std::optional<std::uint32_t> who;
  To to = To::kAll;
  std::uint32_t target = 0;  // kOne, kAllButOne: an honest member's place, counted round
  Do what = Do::kDrop;
  Happening until;
  double scale = 1;

  bool operator==(const Deviation&) const = default;
};

// True for what is done to the AGG before it is signed, alike for everybody.
bool IsContent(Deviation::Do what);
// True for the words of SEAL itself: ECHO and all that follows it. Entries of a seal are not.
bool IsSealWord(wire::MessageType type);

struct Script {
  enum class Mode : std::uint8_t {
    kSolo,   // one honest machine each
    kTwins,  // two with one key, one for each half; both hear everything
    kDeaf,   // each hears the seal words of its half only
  };
  std::uint64_t second_half = 0;  // bit k: honest member k by key
  Mode mode = Mode::kSolo;
  std::vector<Deviation> deviations;

  bool operator==(const Script&) const = default;
};

// A word that a colluder is about to give to somebody.
struct Word {
  wire::Slot slot;
  std::uint32_t author = 0;         // place among the colluders
  std::optional<std::uint32_t> to;  // place among the honest; nullopt: a friend
  std::uint8_t half = 0;            // of the receiver: 0 first, 1 second
  bool genesis_counts = true;       // a deviation of "any" phase is about genesis too
};
// The first deviation about it; null: it is said as it is. `honest`: how many there are.
const Deviation* Find(const Script& script, const Word& word, std::uint32_t honest);

// The first that changes what an AGG says (IsContent); null: it is true.
const Deviation* FindContent(const Script& script, const wire::Slot& slot, std::uint32_t author);

// One word without white space. Equal for equal scripts, and for no others.
std::string FormatScript(const Script& script);
// The inverse. InvalidArgument that names what is wrong.
base::StatusOr<Script> ParseScript(std::string_view text);

}  // namespace ostraka::sim

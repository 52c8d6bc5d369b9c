// Scripts of deviations: the behaviour of colluders where it departs from the protocol, as data.
//
// A script has a split of the honest members into two halves, a mode of the colluders and a list of
// deviations. A deviation selects signed messages by type, sender and receiver and says what
// happens to them; the first deviation that matches a message decides. All else is honest. So an
// attack is one line of text that can be drawn, mutated and shrunk field by field, and removing one
// deviation changes no other. The editor that plays scripts is sim/adversary/scripted.cpp.
//
//   h2=1c,deaf;echo@a*0>h1:unreadable;aggregate@a*0>h2:hold(echo.h1+31)
//
//   script = "h2=" MASK "," ("solo" | "twins" | "deaf") { ";" deviation } deviation = TYPE "@"
//   PHASE [".s" STEP] [".i" ITERATION] ["*" WHO] ">" TO ":" DO TYPE = "any" or a message's name;
//   PHASE = "any", "genesis", "a", "b" or "c" WHO = a colluder, by its index in the order of keys;
//   absent: all TO = "all", "h1", "h2", "one" K or "not" K (the K-th honest member by key; all but
//   it) DO = drop, friends, swap, unreadable, older, later, zero_root, wrong_root, full_bitmap,
//   commits_root, hold(EVENT), scale(X) EVENT = NAME [".h1" | ".h2" | ".friends"] [".i" ITERATION]
//   [".last" | ".short"] [OFFSET]
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

// An event in the seal of a held message, as the colluder sees it.
struct Happening {
  enum class Kind : std::uint8_t {
    kWord,      // a message of `type` (and `iteration`, if not 0) by members of `side` arrives
    kBegin,     // the seal begins for this colluder
    kDeadline,  // the seal's deadline, counted from its beginning
    kNext,      // a message of `side` arrives that belongs to a later seal
  };
  enum class Side : std::uint8_t { kAny, kFirst, kSecond, kFriends };
  // Which of these messages: the first, that of the last member, or the one after which the
  // colluders' own complete a quorum.
  enum class Which : std::uint8_t { kFirst, kLast, kShort };
  Kind kind = Kind::kWord;
  wire::MessageType type = wire::MessageType::kEcho;
  Side side = Side::kAny;
  std::uint32_t iteration = 0;
  Which which = Which::kFirst;
  // In units of Delta / 4, the longest delay of an honest message. A negative offset counts as 0,
  // except for a deadline, which is known in advance.
  std::int32_t offset = 0;

  bool operator==(const Happening&) const = default;
};

struct Deviation {
  enum class To : std::uint8_t { kAll, kFirstHalf, kSecondHalf, kOne, kAllButOne };
  enum class Do : std::uint8_t {
    kDrop,
    kFriends,      // only friends get it
    kHold,         // until `until`
    kSwap,         // the other twin's message instead
    kUnreadable,   // signed, with a body that no decoder reads
    kOlder,        // signed for the step (or iteration) before
    kLater,        // for the one after
    kZeroRoot,     // AGG: no result, so the column has no sum
    kWrongRoot,    // AGG, RESULT: a root that is not the result's
    kFullBitmap,   // AGG: claims that all members' parts arrived
    kCommitsRoot,  // AGG: a root over other COMMITs
    kScale,        // AGG, RESULT: the aggregate times `scale`
  };
  std::optional<wire::MessageType> type;
  std::optional<wire::Phase> phase;
  std::optional<std::uint64_t> step;
  std::optional<std::uint32_t> iteration;
  std::optional<std::uint32_t> who;
  To to = To::kAll;
  std::uint32_t target = 0;  // kOne, kAllButOne: index of an honest member, modulo their number
  Do what = Do::kDrop;
  Happening until;
  double scale = 1;

  bool operator==(const Deviation&) const = default;
};

// True for deviations that change the AGG before it is signed, alike for all receivers.
bool IsContent(Deviation::Do what);
// True for the messages of SEAL itself: ECHO and all that follow it, but not the messages that a
// seal decides on.
bool IsSealWord(wire::MessageType type);

struct Script {
  enum class Mode : std::uint8_t {
    kSolo,   // one honest machine each
    kTwins,  // two with one key, one for each half; both get every message
    kDeaf,   // as kTwins, but each gets the seal messages of its half only
  };
  std::uint64_t second_half = 0;  // bit k: honest member k by key
  Mode mode = Mode::kSolo;
  std::vector<Deviation> deviations;

  bool operator==(const Script&) const = default;
};

// A message that a colluder is about to send.
struct Word {
  wire::Slot slot;
  std::uint32_t author = 0;         // index among the colluders
  std::optional<std::uint32_t> to;  // index among the honest; nullopt: a friend
  std::uint8_t half = 0;            // of the receiver: 0 first, 1 second
  bool genesis_counts = true;       // a deviation of "any" phase matches genesis too
};
// Returns the first deviation that matches, or null: the message is sent unchanged. `honest`: the
// number of honest members.
const Deviation* Find(const Script& script, const Word& word, std::uint32_t honest);

// Returns the first that changes the content of an AGG (IsContent), or null: the AGG is correct.
const Deviation* FindContent(const Script& script, const wire::Slot& slot, std::uint32_t author);

// Text without white space, equal for equal scripts only.
std::string FormatScript(const Script& script);
// The inverse of FormatScript. InvalidArgument names the error.
base::StatusOr<Script> ParseScript(std::string_view text);

}  // namespace ostraka::sim

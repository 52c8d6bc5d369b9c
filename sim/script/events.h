// The events that a script's holds wait for: what one colluder has seen of the honest members and
// of its friends.
//
// Memory: the seals of the newest few steps; for each, one time for each member and kind of
// message.
//
// Thread safety: none; one owner.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "sim/script/script.h"

namespace ostraka::sim {

// The seal that a message belongs to; ordered as a run reaches them.
struct SealName {
  std::uint64_t height = 0;  // 0: genesis; else the step + 1
  std::uint8_t phase = 0;    // wire::Phase
  std::uint32_t draw = 0;

  auto operator<=>(const SealName&) const = default;
};
SealName SealOf(const wire::Slot& slot);

// The sizes of the sides, and the number of honest messages that the colluders' own complete to a
// quorum.
struct Sides {
  std::size_t first = 0;
  std::size_t second = 0;
  std::size_t friends = 0;
  std::size_t short_of_quorum = 1;
};

class EventLog {
 public:
  // Records a message of `author`; later copies have no effect. REQUIRES: `side` is not kAny.
  void NoteWord(const wire::Slot& slot, const base::PeerId& author, Happening::Side side,
                base::Time now);
  void NoteBegin(const SealName& seal, base::Time now);
  void NoteDeadline(const SealName& seal, base::Time at);

  // When the event of `seal` is due, offset included; nullopt if it has not happened yet. `d` is
  // the unit of offsets.
  std::optional<base::Time> DueAt(const Happening& event, const SealName& seal, const Sides& sides,
                                  base::Duration d) const;

 private:
  struct Kind {
    wire::MessageType type;
    std::uint32_t iteration;
    Happening::Side side;
    auto operator<=>(const Kind&) const = default;
  };
  struct Heard {
    std::set<base::PeerId> authors;
    std::vector<base::Time> at;  // of each author's first message, in order
  };
  struct Seal {
    std::optional<base::Time> begun;
    std::optional<base::Time> deadline;
    std::map<Kind, Heard> words;
    std::array<std::optional<base::Time>, 4> first_word;  // by side
  };
  std::vector<base::Time> TimesOf(const Seal& seal, const Happening& event) const;
  std::optional<base::Time> BaseOf(const Happening& event, const SealName& name,
                                   const Sides& sides) const;
  std::optional<base::Time> NextAfter(const SealName& name, Happening::Side side) const;

  std::map<SealName, Seal> seals_;
};

}  // namespace ostraka::sim

// The open requests of a member that is away: of whom each was asked, how long it waits, and who is
// asked next (catch_up.h decides what is asked).
//
// Promises:
//   R1  Each request is open at one member at a time, and moves on to the next of its own round
//       when it was answered falsely, when its wait is over, when its member went on to the next
//       piece or result (members answer in the order in which they are asked), or when its member
//       is none of those any more that may be asked.
//   R2  A wait begins anew when its member sends another piece or result, or another block for a
//       request for blocks: it is at work. So it is when it sends one that another member sent
//       before it, once for each. [Three liars on fast lines sent the pieces that honest members
//       were asked for. These were asked for more at once, were late with it, and were shunned.]
//   R3  A member that answered falsely, or let a wait pass that counts against it, is asked for
//       nothing for kShunned times `patience`, as long as there are others. [Where `patience` is
//       longer than some steps, one silent member kept a newcomer from ever being at the head.] A
//       true answer that comes late ends that: its member is slow, and waits are as long (Usual).
//   R4  A first request for a piece or result goes to the member that has the fewest to send. [Six
//       at a time to one donor were asked faster than it sent.] One for blocks or for the leaves of
//       a state goes to the member whose answer came last, as it is known to answer. All others go
//       around.
//   R5  A request is handed over when it has waited four times as long as the last answer took, an
//       eighth of `patience` at least, and twice as long each time. The member that had it is
//       blamed only if the rest of its wait passes, too. [Where a step was shorter than `patience`,
//       one silent member kept a newcomer from ever being at the head.]
//   R6  Of kHandOvers, each hand-over takes one, and each answer in bulk brings an eighth back, up
//       to all. Attack: a liar answers at once, so that all others seem late, and each of them is
//       asked for what is on its way.
//
// May not know: what an answer must be, links, clocks.
//
// Memory: one entry for each open request, each shunned member, and each answer that a member has
// yet to send, for as long as it was waited for, or is shunned for it.
//
// What an attacker can do here: answer slowly, in vain or not at all, which moves a request on.
// Once no piece is left to ask for, what it holds back goes to members that are done.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/protocol/ground/hash_into.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

class Requests {
 public:
  struct Key {
    wire::PullKind kind = wire::PullKind::kHead;
    std::uint64_t step = 0;
    std::uint64_t index = 0;
    auto operator<=>(const Key&) const = default;
    // A piece of a state or a result: a member sends one after the other, each for a while.
    bool IsBulk() const {
      return kind == wire::PullKind::kResult || (kind == wire::PullKind::kState && index > 0);
    }
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, kind, step, index); }
  };
  struct Wait {
    base::Duration patience;
    bool blames = true;  // a member that lets it pass is shunned
    // However much comes meanwhile. Attack: a liar sends a block now and then, and keeps all the
    // others from being asked.
    std::optional<base::Duration> at_most = std::nullopt;
  };

  explicit Requests(base::Duration patience) : patience_(patience) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- asking ---
  // A round of calls of Ask begins: wake() is of this round. `others` may be asked in it.
  void Begin(base::Time now, const std::vector<base::PeerId>& others);
  // The member to ask now; nullopt while an answer is waited for, and if there are no `others`,
  // which are those that may be asked.
  std::optional<base::PeerId> Ask(base::Time now, const std::vector<base::PeerId>& others,
                                  const Key& key, const Wait& wait);
  // The same for an open request for a piece or result that takes longer than others did (R5), or
  // has waited for `at_most`: it goes to a member that has nothing to send. Call it after Ask, with
  // the same `wait`.
  std::optional<base::PeerId> HandOver(base::Time now, const std::vector<base::PeerId>& others,
                                       const Key& key, const Wait& wait, base::Duration at_most);
  // Whether the open request `key` waits on.
  bool Waits(base::Time now, const std::vector<base::PeerId>& others, const Key& key,
             const Wait& wait) {
    return Waits(now, others, open_.at(key), wait);
  }
  // Those of `others` that are not shunned; all, if all are.
  std::vector<base::PeerId> Willing(base::Time now, const std::vector<base::PeerId>& others);
  // When the next wait ends.
  std::optional<base::Time> wake() const { return wake_; }

  // --- answers ---
  // A true answer to `key` came from `from`, whether it was the one that was asked or not.
  void OnAnswer(const Key& key, const base::PeerId& from);
  // A block that was lacking came from `from`: a part of the answer to a request for blocks.
  void OnPartOfAnswer(const base::PeerId& from);
  // How long a member takes for an answer in bulk, as far as it shows: it falls at once and rises
  // step by step. Attack: a liar that takes its time has all the others waited for as long.
  base::Duration Usual() const { return usual_; }
  // Of `from` came what is here already.
  void OnAnswerAgain(const Key& key, const base::PeerId& from);
  // A false one. True if it is the first of `from`, which was asked: any other one's changes
  // nothing. [It closed the request once, and each false piece had the next member send it again.]
  bool OnFalseAnswer(const Key& key, const base::PeerId& from);

  // --- the open ones ---
  void CloseIf(const std::function<bool(const Key&)>& over);
  bool IsOpen(const Key& key) const { return open_.contains(key); }
  std::optional<Key> OpenOf(wire::PullKind kind) const;  // the first
  std::size_t CountOf(wire::PullKind kind) const;
  std::size_t size() const { return open_.size(); }
  // The request stays with its member under another key. REQUIRES: `from` is open, `to` is not.
  void Rename(const Key& from, const Key& to);

 private:
  struct Owed {  // an answer that another member gave, or was asked for, meanwhile
    Key key;
    base::PeerId by;
    std::uint64_t order = 0;                                 // as Open's
    base::Time heard;                                        // likewise
    base::Duration wait;                                     // from then on
    enum class Then : std::uint8_t { kForgotten, kBlamed };  // if it does not come meanwhile
    Then then = Then::kForgotten;
    bool at_work = false;                                    // likewise
    std::optional<base::Time> shunned_until = std::nullopt;  // for it: it is late
    base::Time end() const { return shunned_until.value_or(heard + wait); }
    void HashInto(crypto::Hasher& hasher) const {
      crypto::Feed(hasher, key, by, order, heard, wait, then, at_work, shunned_until);
    }
  };
  struct Open {
    base::Time asked;
    base::Time heard;  // when its wait began anew
    base::Duration patience;
    std::size_t turn = 0;     // picks the member of those willing
    std::uint64_t order = 0;  // of the times that anybody was asked for anything
    base::PeerId to;
    std::size_t handed_over = 0;  // so many times
    bool refuted = false;
    bool passed_over = false;  // its member sent a later piece
    bool at_work = false;      // its member sent something for it or before it since the last Ask
    void HashInto(crypto::Hasher& hasher) const {
      crypto::Feed(hasher, asked, heard, patience, turn, order, to, handed_over, refuted,
                   passed_over, at_work);
    }
  };
  bool Waits(base::Time now, const std::vector<base::PeerId>& others, Open& open, const Wait& wait);
  base::Duration HandOverAfter(const Open& open, base::Duration at_most) const;
  void Blame(base::Time now, Owed owed);
  std::size_t FirstTurn(const Key& key, const std::vector<base::PeerId>& willing);
  std::size_t TurnOfLeastAsked(const std::vector<base::PeerId>& willing) const;
  std::size_t BulkLeftTo(const base::PeerId& member) const;
  void OnWork(const base::PeerId& member, std::optional<std::uint64_t> order);
  std::optional<std::uint64_t> TakeOwed(const Key& key, const base::PeerId& from);
  void WakeAt(base::Time time);
  static constexpr std::int64_t kShunned = 16;
  static constexpr std::size_t kHandOvers = 16;
  static constexpr std::size_t kAnswersAHandOver = 8;

  const base::Duration patience_;
  std::map<Key, Open> open_;
  std::vector<Owed> owed_;
  std::size_t turn_ = 0;  // of the next new request
  std::uint64_t order_ = 0;
  std::optional<base::PeerId> last_;                              // sent what came last
  std::map<base::PeerId, base::Time> shunned_;                    // until then
  std::size_t hand_overs_left_ = kHandOvers * kAnswersAHandOver;  // in answers
  bool all_are_busy_ = false;                                     // in this round
  base::Duration usual_;
  std::optional<base::Time> answered_;  // when what came since Begin was begun
  std::optional<base::Time> wake_;
};

}  // namespace ostraka::protocol

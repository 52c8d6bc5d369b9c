// What one member measures of how late the others' words come in the seals of a step. What it
// finds is stated in PROOF::late_ms; what follows from that: node/protocol/rules/lateness.h.
//
// A word is due one *grace* after what it waits for, and no later than the seal's own deadline:
//   seal A  COMMIT, PART   the opening + grace
//           AGG            that + grace
//   seal B  REVEAL         the opening + 3/2 Delta: it takes no work, and openings lie within a
//   Delta seal C  RESULT         the opening + grace
//           PROOF          the later of the opening and the last RESULT here, + grace
//   grace = max(4 q, patience) + 3 Delta
// q is how long the quickest took, measured here and never stated by anybody:
//   seal A  until COMMITs of `quorum` members were held, and parts from more than half of the
//           workers (so only who owns a column knows, and judges PARTs and AGGs)
//   seal C  RESULTs: until all but `fault_bound` of them were held; PROOFs: of `quorum` members,
//           from when the last RESULT was here
// What an attacker can do: be quick, which lowers q to what the second-fastest honest member needs
// and no further; or be slow, which moves no bar, as honest members alone are enough for each q
// [with q until *AGGs* of a quorum were held, a part kept back from all owners moved the bar
// itself; seals wait for whoever is slowest, so only the first words of a phase measure anything].
// A PROOF that waits for RESULTs is due after them: who owes these pays. An owner names the worker
// that it waited for, and is excused by that one's figure (lateness.h) [with AGGs due a grace after
// the last COMMIT that was counted twice: friends of a late worker had its lateness for free].
//
// Late is what comes until the own ECHO; or until the decision, if the seal was slow: what some had
// and others had not when they echoed made it so [a REVEAL shown to one member just before the
// deadline made each seal B slow, and was in time]. But not an AGG: its owner may have waited for a
// part, and what excuses it does not grow with the seal (lateness.h).
//
// A watcher whose own machine stood still knows nothing of the others: see OnTimer.
//
// Thread safety: none; one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "node/base/time.h"

namespace ostraka::protocol {

enum class DueWord : std::uint8_t {
  kCommit,
  kPart,          // for the own column
  kDisputedPart,  // that goes to all
  kAggregate,
  kReveal,
  kResult,
  kProof,
};
inline constexpr std::size_t kDueWords = 7;

// How late one member was, in ms. AGGs are apart, since an owner may have waited for a part, while
// no member is excused for its own words [with one figure for both, three workers that were late
// and named each other as owners excused each other].
struct LateFigures {
  std::uint64_t own = 0;        // COMMIT, PART, RESULT and PROOF
  std::uint64_t aggregate = 0;  // its AGG, beyond that
  auto operator<=>(const LateFigures&) const = default;
};

class LateWatch {
 public:
  struct Options {
    base::Time opened;
    base::Duration delta;
    base::Duration patience;
    base::Duration deadline;  // of the seal, from the opening
    std::size_t members = 0;
    std::size_t quorum = 0;
    std::size_t fault_bound = 0;
    bool owns_column = false;  // seal A: PARTs are expected here
  };
  // Of a word: its kind, and the index of what it is (a member, a column or a dispute).
  struct Word {
    DueWord kind = DueWord::kCommit;
    std::size_t index = 0;
    auto operator<=>(const Word&) const = default;
  };

  explicit LateWatch(const Options& options) : options_(options) {}

  // `author` owes the word. All are named before the first Held.
  void Expect(const Word& word, std::size_t author);
  // Words that have not come.
  const std::set<Word>& lacking() const { return lacking_; }
  // The word is here. REQUIRES: it is lacking; `now` never goes back.
  void Held(const Word& word, base::Time now);
  // RESULTs are waited for no longer: PROOFs are due from now.
  void EndResults(base::Time now);

  // When who waits for a COMMIT, AGG or PROOF begins to ask all others for it: a Delta before the
  // bar. Nullopt: none lacks, or no bar is known yet.
  std::optional<base::Time> AskFrom() const;
  // What to ask for: COMMITs, AGGs and PROOFs whose bar is no more than a Delta away.
  std::set<Word> Overdue(base::Time now) const;
  // A timer that was set for `set_for` fires. More than a Delta late, and this machine stood still:
  // nobody is late for it in this seal.
  void OnTimer(base::Time set_for, base::Time now);
  // The own ECHO is said: what comes later keeps nobody waiting here. Idempotent.
  void Stop(base::Time now);

  // The seal is decided; slow: not by equal ECHOs. REQUIRES: stopped.
  void Decided(base::Time now, bool slow);

  // By author: how long after its bar what came latest of a kind came, at most until Stop or, in a
  // slow seal, until it was decided. None of zero.
  // REQUIRES: stopped.
  std::map<std::size_t, LateFigures> Late() const;
  // Of the PARTs for the own column: whose came last, if its owner had to wait for it more than
  // half a grace; one that never came before any other. Nullopt: nobody's.
  std::optional<std::size_t> Slowest() const;

 private:
  std::optional<base::Duration> Quickest() const;
  std::optional<base::Time> FirstBar() const;
  std::optional<base::Time> LastBar() const;
  std::optional<base::Time> BarOf(DueWord kind) const;
  base::Duration Grace(base::Duration quickest) const;
  base::Time Capped(base::Time bar) const;
  // Words of one kind.
  struct Tally {
    std::size_t expected = 0;
    std::vector<base::Time> arrivals;  // in the order in which they came
  };
  const Tally& TallyOf(DueWord kind) const { return tallies_[static_cast<std::size_t>(kind)]; }
  Tally& TallyOf(DueWord kind) { return tallies_[static_cast<std::size_t>(kind)]; }

  Options options_;
  std::map<Word, std::size_t> authors_;
  std::set<Word> lacking_;
  std::map<Word, base::Time> held_;
  std::array<Tally, kDueWords> tallies_;  // of authors_ and held_, which need no walk for them
  std::optional<base::Time> results_ended_;
  std::optional<base::Time> stopped_;
  std::optional<base::Time> slowly_decided_;
  bool stood_still_ = false;
};

}  // namespace ostraka::protocol

#include "sim/attacks/registry.h"

#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "aggregation/attacks/attacks.h"
#include "aggregation/shared/byzfl_names.h"
#include "node/base/check.h"
#include "node/base/suggest.h"
#include "sim/adversary/adversary.h"
#include "sim/adversary/editor_options.h"
#include "sim/adversary/routed.h"
#include "sim/attacks/frame_victim.h"
#include "sim/attacks/messages/factories.h"
#include "sim/attacks/messages/guest_factories.h"
#include "sim/attacks/results/factories.h"
#include "sim/attacks/results/gradient.h"
#include "sim/script/script.h"

namespace ostraka::sim {
namespace {

using Outcome = KnownAttack::Outcome;

using Editors = std::vector<std::unique_ptr<Editor>>;

// More steps or messages than a run has.
constexpr double kMany = 1e6;

// An integer from 0 up. The attack's summary says what its values mean.
aggregation::ParameterInfo Count(const char* name, const char* usual, double most) {
  return {.name = name,
          .type = aggregation::ValueType::kInteger,
          .default_kind = aggregation::Default::kValue,
          .default_text = usual,
          .high = most};
}
aggregation::ParameterInfo CountFromOne(const char* name, const char* usual, double most) {
  aggregation::ParameterInfo info = Count(name, usual, most);
  info.low = 1;
  return info;
}
aggregation::ParameterInfo Switch(const char* name) { return Count(name, "0", 1); }
aggregation::ParameterInfo Real(const char* name, const char* usual, double most) {
  return {.name = name,
          .default_kind = aggregation::Default::kValue,
          .default_text = usual,
          .high = most};
}
aggregation::ParameterInfo AnySize(const char* name, const char* usual) {
  aggregation::ParameterInfo info = Real(name, usual, std::numeric_limits<double>::infinity());
  info.low = -info.high;
  return info;
}

struct Entry {
  KnownAttack attack;
  std::function<std::unique_ptr<Editor>(const EditorOptions&)> make;
  // Instead of `make`, for attacks of several editors: each wraps the ones before it.
  std::function<Editors(const EditorOptions&)> make_several = {};
};

Entry GradientEntry(const aggregation::AttackInfo& info) {
  return {{std::string(info.name),
           std::string(info.summary),
           {},
           info.malformed ? Outcome::kRemoved : Outcome::kRemovedInTime,
           info.malformed ? "banned by evidence: its own numbers are impossible"
                          : "banned by verdict: a validator recomputes the gradient",
           {},
           {},
           {},
           &info},
          MakeGradientAttack};
}

std::vector<Entry> LiesAboutWork() {
  return {
      {{"wrong_aggregate",
        "as an aggregator, shifts every coordinate by scale x root mean square, times ramp each "
        "step; one = 1: a single coordinate; cover = 1: colluders hide it by false sums and sizes, "
        "2: by equally shifted parts",
        {AnySize("scale", "1"), Switch("one"), Real("ramp", "1", 1e6), Count("cover", "0", 2)},
        Outcome::kRemoved,
        "dropped: the size or the sum check fails and it names no worker that lied (cover: banned "
        "by verdict)",
        {{"cover", Outcome::kRemovedInTime}},
        {{"scale", {"1e4", "1e8", "1e30"}},
         {"one", {"1"}},
         {"ramp", {"2"}},
         {"cover", {"1", "2"}}}},
       {},
       MakeWrongAggregate},
      {{"near_tolerance",
        "as an aggregator, shifts the aggregate to `times` the limit of the sum check; how = 1: "
        "one "
        "coordinate, always the same; 2: each coordinate against its own value",
        {AnySize("times", "3"), Count("how", "0", 2)},
        Outcome::kRemoved,
        "as wrong_aggregate; up to the limit it is only contained: the error is no larger than "
        "rounding may make",
        {},
        {{"times", {"1.5", "20"}}, {"how", {"1", "2"}}},
        {},
        nullptr,
        {{"times", 1}}},
       MakeNearTolerance},
      {{"false_proof",
        "turns the signs of its own projections",
        {},
        Outcome::kRemoved,
        "banned by verdict: an honest aggregator names it and shows its part"},
       MakeFalseProof},
      {{"false_size",
        "states scale x the true size of its own parts to honest aggregators",
        {AnySize("scale", "0.5")},
        Outcome::kRemoved,
        "as false_proof; in void columns a validator finds it",
        {},
        {{"scale", {"1e-6", "1e6"}}}},
       MakeFalseSize},
      {{"void_columns",
        "as an aggregator, makes its own column void: kind 0: no aggregate, 1: a wrong root, 2: "
        "without its own part, 3: it claims to miss its own result; content = 1: only results that "
        "it dislikes",
        {Count("kind", "0", 3), Switch("content")},
        Outcome::kRemoved,
        "dropped at the third void column",
        {{"content", Outcome::kRemovedInTime}},
        {{"kind", {"1", "2", "3"}}, {"content", {"1"}}}},
       MakeVoidColumns},
      {{"spoilt_result",
        "as an aggregator, sends an aggregate that no encoder makes: its first scale (raw: value) "
        "is 2^120; how = 1: infinite; 2: it is a byte too short",
        {Count("how", "0", 2)},
        Outcome::kContained,
        "its column is void, and it is dropped (raw, how = 0: as wrong_aggregate)",
        {{"how", Outcome::kRemoved}},
        {{"how", {"1", "2"}}}},
       MakeSpoiltResult},
      {{"other_steps",
        "makes one local step fewer than it owes; how = 1: twice the rate; 2: unclipped; 3: from "
        "the parameters of the step before; 4: on other batches; 5: on one batch fewer than it "
        "said",
        {Count("how", "0", 5)},
        Outcome::kContained,
        "banned by verdict: a validator makes the steps again (0 to 2 without local steps, 5 "
        "without counts: honest)",
        {},
        {{"how", {"1", "2", "3", "4", "5"}}}},
       MakeOtherSteps},
      {{"false_accuse",
        "as a validator accuses and as a voter convicts honest members; victim = 1: only one of "
        "them",
        {Switch("victim")},
        Outcome::kRemovedInTime,  // false votes are not punished; it must be drawn to accuse
        "banned by verdict: most members find the accused innocent"},
       MakeFalseAccuse},
      {{"cover_up",
        "shifts an aggregate, and a colluder's false numbers hide it; show = 0: withholds the "
        "colluder's part later; one = 1: one colluder hides it for all",
        {AnySize("scale", "1"), Count("show", "1", 1), Switch("one")},
        Outcome::kRemovedInTime,
        "the colluder is banned by verdict, and the aggregator for covering it (show = 0: dropped)",
        {},
        {{"show", {"0"}}, {"one", {"1"}}}},
       MakeCoverUp},
      {{"false_complaint",
        "claims of an honest member: kind 0: its part never came, 1: its numbers are false, 2: its "
        "aggregate never came",
        {Count("kind", "0", 2)},
        Outcome::kRemoved,
        "0 and 2: dropped at the second time, since others held it; 1: banned by verdict",
        {},
        {{"kind", {"1", "2"}}}},
       MakeFalseComplaint},
      {{"selective_bitmap",
        "as an aggregator, leaves out all honest parts",
        {},
        Outcome::kRemoved,
        "its column is void; dropped: in dispute with more members than the fault bound"},
       MakeSelectiveBitmap},
  };
}

// False gradients by colluders that avoid validators.
std::vector<Entry> CautiousGradients() {
  return {
      {{"unwatched",
        "a false gradient, by as many colluders as keep the chance that a validator sees one at "
        "`risk`; abort = 1: withholds a coin that would have one validated",
        {AnySize("scale", "10"), Real("risk", "0.25", 1), Switch("abort")},
        Outcome::kRemovedInTime,
        "banned by verdict: targets are drawn after the PROOFs are sealed; abort: each coin costs "
        "a member",
        {},
        {{"risk", {"0.1", "1"}}, {"abort", {"1"}}}},
       MakeUnwatched},
      {{"pause",
        "a false gradient in each step, but none while an accusation has more validators drawn "
        "(runs with an alarm)",
        {AnySize("scale", "10")},
        Outcome::kRemovedInTime,
        "banned by verdict: validators are drawn without an alarm too"},
       MakePause},
      {{"leave_after",
        "a false gradient, then silence as soon as an honest validator is drawn for it; steps = k: "
        "after k steps; back = 1: asks to rejoin; name = 1: in place of silence names somebody",
        {AnySize("scale", "10"), Count("steps", "0", kMany), Switch("back"), Switch("name")},
        Outcome::kRemovedInTime,
        "dropped, and banned by verdict as well: its sealed messages are judged without it",
        {},
        {{"steps", {"1", "3"}}, {"back", {"1"}}, {"name", {"1"}}}},
       MakeLeaveAfter},
      {{"sybil",
        "one of the colluders computes its gradient, and all sign that",
        {},
        Outcome::kRemovedInTime,
        "banned by verdict, except the colluder that computes: the gradients do not follow from "
        "the others' batches"},
       MakeSybil},
  };
}

std::vector<Entry> LiesInMessages() {
  return {
      {{"equivocate",
        "two COMMITs for one slot, both to all; split = 1: one to each half; one = 1: the second "
        "only to one honest member, after seal A",
        {Switch("split"), Switch("one")},
        Outcome::kRemoved,
        "banned by evidence in the step that shows it",
        {},
        {{"split", {"1"}}, {"one", {"1"}}}},
       MakeEquivocate},
      {{"two_faced",
        "two honest machines with one key, one for each half of the members; apart = 1: with equal "
        "coins, and the second gets only its half's messages",
        {Switch("apart")},
        Outcome::kRemoved,
        "banned by evidence: two messages for one slot (apart: if a member gets both; most are "
        "equal)",
        {{"apart", Outcome::kContained}},
        {{"apart", {"1"}}}},
       MakeTwoFaced},
      {{"impersonate",
        "sends a copy of each message in an honest member's name",
        {},
        Outcome::kContained,
        "the signature is invalid: members discard the copy, and blame nobody for it"},
       MakeImpersonate},
      {{"bad_reveal",
        "reveals a coin that it did not commit to",
        {},
        Outcome::kRemoved,
        "banned by evidence in the same step"},
       MakeBadReveal},
      {{"lying_echo",
        "echoes a vector that nobody holds",
        {},
        Outcome::kRemoved,
        "dropped: its ECHO came without messages that it had to wait for"},
       MakeLyingEcho},
      {{"double_propose",
        "forces the slow path and, as its leader, proposes two values",
        {},
        Outcome::kRemoved,
        "dropped for its ECHO, or banned by evidence if it leads before: two PROPOSEs for one "
        "slot"},
       MakeDoublePropose},
      {{"stale_lock",
        "makes honest members lock without deciding and, as the next leader, proposes against "
        "their locks",
        {},
        Outcome::kRemoved,
        "dropped for the ECHO that forces the slow path; no honest member votes against its lock"},
       MakeStaleLock},
  };
}

std::vector<Entry> AbusesOfServices() {
  return {
      {{"state_poison",
        "answers requests for blocks, results or a state with other bytes; cut = 1: one byte too "
        "few",
        {Switch("cut")},
        Outcome::kContained,
        "each piece is checked against sealed hashes, and requested from another member",
        {},
        {{"cut", {"1"}}}},
       MakeStatePoison},
      {{"flood",
        "sends every honest member requests for everything and useless messages, `rate` a second, "
        "at most `most` in a step (0: no limit)",
        {Real("rate", "100", kMany), Count("most", "60", kMany)},
        Outcome::kContained,
        "requests are rationed for each link, so it uses up only its own ration"},
       MakeFlood},
  };
}

// Of profile exact/1; in another profile nobody notices a wrong bit, and COMMITs name no
// parameters.
std::vector<Entry> WrongBits() {
  return {
      {{"claim_root",
        "names other parameters in its COMMITs than the run has",
        {},
        Outcome::kContained,
        "exact/1: dropped at once, from the second time on for 1000 steps; its parts are left out"},
       MakeClaimRoot},
      {{"corrupt_state",
        "one bit of its parameters is wrong after the first step",
        {},
        Outcome::kContained,
        "exact/1: dropped in the next step, not banned, and back with the run's parameters"},
       MakeCorruptState},
      {{"slip",
        "bit `bit` of one number of its gradient is wrong in `steps` steps, one in `every`; where "
        "= 1: of a part after it was sent; 2: its check of the numbers of others is wrong",
        {Count("bit", "0", 31), Count("steps", "1", kMany), Count("every", "1", kMany),
         Count("where", "0", 2)},
        Outcome::kContained,
        "exact/1: a first fault suspends for 1000 steps, a second one bans (1 and 2: bans at once "
        "in other profiles)",
        {},
        {{"steps", {"2", "1000"}}, {"every", {"2", "6"}}, {"where", {"1", "2"}}}},
       MakeSlip},
  };
}

std::vector<Entry> Conspiracies() {
  return {
      {{"frame_victim",
        "all colluders make every accusation against one honest member, by turns; rule = 1..9: one "
        "kind",
        {Count("rule", "0", 9)},
        Outcome::kContained,
        "the victim stays: no rule acts on the testimony of t_s members or fewer; a colluder that "
        "a rule exposes is removed by it",
        {},
        {{"rule", {"1", "2", "3", "4", "5", "6", "7", "8", "9"}}}},
       {},
       MakeFrameVictim},
  };
}

std::vector<Entry> Silences() {
  return {
      {{"eclipse",
        "no colluder sends anything to one honest member",
        {},
        Outcome::kContained,
        "the others forward the messages that it lacks"},
       MakeEclipse},
      {{"selective_send",
        "withholds its part from one honest owner; stubborn = 1: from all; rotate = 1: from "
        "another owner each step",
        {Switch("stubborn"), Switch("rotate")},
        Outcome::kContained,
        "once in dispute its part goes to all, which forward it (stubborn, rotate: dropped)",
        {{"stubborn", Outcome::kRemoved}, {"rotate", Outcome::kRemoved}},
        {{"stubborn", {"1"}}, {"rotate", {"1"}}}},
       MakeSelectiveSend},
      {{"spoilt_part",
        "sends an honest owner a part of NaN that matches its COMMIT, and states the true numbers; "
        "short = 1: one number too few",
        {Switch("short")},
        Outcome::kRemoved,
        "dropped at the second time: nobody held a part that its owner could accept",
        {},
        {{"short", {"1"}}}},
       MakeSpoiltPart},
      {{"silent",
        "sends nothing at all; phase = 1, 2, 3: nothing in seal A, B, C",
        {Count("phase", "0", 3)},
        Outcome::kRemoved,
        "dropped: sealed absent",
        {},
        {{"phase", {"1", "2", "3"}}}},
       MakeSilent},
      {{"abort_coin",
        "withholds its coin after it saw the others'; one colluder a draw, or (together = 1) all "
        "in one draw",
        {Switch("together")},
        Outcome::kRemoved,
        "dropped at REVEAL, barred for 1000 steps; the next coin decides",
        {},
        {{"together", {"1"}}}},
       MakeAbortCoin},
      {{"withhold_echo",
        "its ECHOs reach nobody; half = 1: every second member does not get them",
        {Switch("half")},
        Outcome::kRemoved,
        "dropped: more members miss its ECHO than the fault bound (half: others forward it)",
        {{"half", Outcome::kContained}},
        {{"half", {"1"}}}},
       MakeWithholdEcho},
      {{"withhold_result",
        "as an aggregator, withholds the aggregate from an honest member; all = 1: from all",
        {Switch("all")},
        Outcome::kContained,
        "a member that lacks it asks the others (all: dropped, more miss it than the fault bound)",
        {{"all", Outcome::kRemoved}},
        {{"all", {"1"}}}},
       MakeWithholdResult},
      {{"late",
        "sends everything `deltas` Delta late; victim = 1: only to one honest member",
        {Real("deltas", "1.1", 1000), Switch("victim")},
        Outcome::kContained,
        "costs only time, up to 2 Delta; beyond that it is sealed absent and dropped",
        {},
        {{"deltas", {"0.5", "3.1"}}, {"victim", {"1"}}}},
       MakeLate},
      {{"dawdle",
        "sends one kind of message just before members stop waiting for it: what = 0 AGG and "
        "PROOF, 1 PROOF, 2 the part for one honest owner, 3 all parts, 4 its result, 5 its result "
        "to half; until: the share of the waiting time; turns = 1: one colluder a step",
        {Count("what", "0", 5), Real("until", "0.95", 1), Switch("turns")},
        Outcome::kRemovedInTime,
        "dropped: honest members waited for it more than two deadlines in total",
        {},
        {{"what", {"1", "2", "3", "4", "5"}}, {"turns", {"1"}}}},
       MakeDawdle},
  };
}

// Attacks that reviewers found who had not written the rules, by number; their files describe them.
std::vector<Entry> FoundByReading() {
  return {
      {{"seal_trick",
        "messages that count for one member only, copies that nobody can accept, shifted "
        "deadlines: idea = 1..9 (sim/attacks/messages/seal_tricks.cpp)",
        {Count("idea", "1", 9)},
        Outcome::kContained,
        "no honest member is removed; a colluder that is proven or named is",
        {},
        {{"idea", {"2", "3", "4", "5", "6", "7", "8", "9"}}}},
       MakeSealTrick},
      {{"free_ride",
        "delays, frames and traffic that no rule charged once: kind = 1..9 "
        "(sim/attacks/messages/free_ride.cpp); times in Delta",
        {Count("kind", "1", 9), Real("commit", "0", 1000), Real("agg", "0", 1000),
         Real("reveal", "0", 1000), Real("result", "0", 1000), Real("proof", "0", 1000),
         Real("echo", "0", 1000), Count("all", "0", 16)},
        Outcome::kContained,
        "no honest member is removed; a colluder that exceeds the stated bounds is",
        {},
        {{"kind", {"2", "3", "4", "5", "6", "8", "9"}}}},
       {},
       MakeFreeRide},
  };
}

std::vector<Entry> Scripts() {
  return {
      {{"split_echo",
        "sends an unreadable ECHO to `early` honest members (0: as few as it takes), and its AGG "
        "to nobody",
        {Count("early", "0", kMany)},
        Outcome::kContained,
        "the sender of the unreadable ECHO is banned by evidence; the other colluders broke no "
        "rule"},
       MakeSplitEcho},
      {{"fork",
        "as split_echo; the other half gets the AGG `after` Delta / 4 later, when the first half "
        "is an iteration ahead; the colluders vote and lock with both halves",
        {Count("after", "30", 1000)},
        Outcome::kContained,
        "each half learns of the other's quorum; two messages for one slot are evidence",
        {},
        {{"after", {"29", "31", "32"}}}},
       MakeFork},
      {{"split_genesis",
        "sends its genesis ECHO to as few honest members as make a quorum with the colluders, and "
        "then nothing more to the others",
        {},
        Outcome::kContained,
        "a member that begins forwards all ECHOs, so every member begins"},
       MakeSplitGenesis},
      {{"hold_back",
        "sends its AGG and its PROOF `before` Delta / 4 before the deadline of their seals",
        {Count("before", "2", 1000)},
        Outcome::kContained,
        "on time, so nothing is missing; it costs only time"},
       MakeHoldBack},
      {{"free",
        "plays a script (docs/simulation.md); without one, a drawn script; carry: the mode of "
        "forward for what it carries",
        {Count("carry", "0", 4), Real("deltas", "1", 40)},
        Outcome::kContained,
        "no honest member is removed and no two honest members decide differently",
        {},
        {{"carry", {"1", "2", "3", "4"}}},
        "script"},
       {},
       MakeFreeCarrier},
      {{"forward",
        "what it carries between members that only dial: mode = 1 drops, 2 delays by `deltas` "
        "Delta, 3 gives to some only, 4 replays; 5 floods them by way of honest members",
        {Count("mode", "1", 5), Real("deltas", "1", 40)},
        Outcome::kContained,
        "no honest member is removed: one of F + 1 carriers is honest",
        {},
        {{"mode", {"2", "3", "4"}}, {"deltas", {"0.3", "12"}}}},
       MakeForward},
      {{"flag_flip",
        "declares in each step the opposite of what the run says of it: that it can be dialed, or "
        "only dials",
        {},
        Outcome::kContained,
        "no honest member is removed: each change counts from the next step on"},
       MakeFlagFlip},
  };
}

// Of those that come, go, or are away.
std::vector<Entry> OfGuests() {
  std::vector<Entry> entries = {
      {{"leave_reroll",
        "says that it leaves, in one step of `every`, to have columns owned by others, and comes "
        "back as soon as it is gone",
        {CountFromOne("every", "4", kMany)},
        Outcome::kContained,
        "who stays keeps its place in the order of owners; the second departure in 1000 steps "
        "bars",
        {},
        {{"every", {"1", "12"}}}},
       MakeComeAndGo},
      {{"join_churn",
        "comes in and leaves as fast as the rules let it",
        {},
        Outcome::kContained,
        "comers and leavers hold no role; the second departure in 1000 steps bars"},
       MakeComeAndGo},
      {{"rotate_keys",
        "intruders take turns, more keys than their invite has uses: each leaves as soon as it is "
        "in, and asks again `away` blocks later, when its seat is lost, and after the next "
        "departure "
        "at once; their invite ends with step `until` (0: never)",
        {CountFromOne("uses", "2", kMany), CountFromOne("away", "1002", kMany),
         Count("until", "0", kMany)},
        Outcome::kContained,
        "the keys that used the invite up come in by it again, and no others; between two of these "
        "returns lie 1000 steps"},
       MakeComeAndGo},
      {{"far_newcomer",
        "an intruder whose line takes `deltas` Delta more each way; moves = 1: only once it is a "
        "member",
        {Real("deltas", "0.6", 40), Switch("moves")},
        Outcome::kContained,
        "near, it is a member like others; else nobody confirms it, or its lateness drops it",
        {},
        {{"deltas", {"0.2", "3"}}, {"moves", {"1"}}}},
       MakeFarNewcomer},
      {{"guest_flood",
        "an intruder that never comes in: follows, and asks each member `rate` questions a second "
        "(0: it only follows); bulk = 1: only for bulk data",
        {Real("rate", "40", 10'000), Switch("bulk")},
        Outcome::kContained,
        "all keys that are no members share one ration, and their bulk leaves after that of "
        "members",
        {},
        {{"rate", {"0", "100"}}, {"bulk", {"1"}}}},
       MakeGuestFlood},
      {{"gone_donor",
        "answers who fetches a state with the first `pieces` pieces, and then never again (0: "
        "nobody, ever); removed = 1: then it says nothing to anybody",
        {Count("pieces", "1", kMany), Switch("removed")},
        Outcome::kContained,
        "who waits asks another member (removed: dropped, sealed absent)",
        {{"removed", Outcome::kRemovedInTime}},
        {{"removed", {"1"}}}},
       MakeGoneDonor},
      {{"stale_head",
        "shows who is away the head of one step for ever, and nothing newer",
        {},
        Outcome::kContained,
        "other members show what is newer"},
       MakeStaleHead},
      {{"long_range",
        "all colluders sign a false later history, and show it to who is away, also after they "
        "have left",
        {},
        Outcome::kContained,
        "a head is believed if more members of the block that one holds attest to it than can be "
        "at fault"},
       MakeLongRange},
      {{"false_past",
        "shows who is away a false block for each of the past that it is asked for, and signs that "
        "the newest is of that height",
        {},
        Outcome::kContained,
        "another member is asked; two histories are found only where more members than can be at "
        "fault have another block"},
       MakeFalsePast},
  };
  for (Entry& entry : entries) entry.attack.of_guests = true;
  return entries;
}

std::vector<Entry> MakeEntries() {
  std::vector<Entry> entries = {
      {{"none", "does nothing wrong", {}, Outcome::kContained, "nothing to remove"},
       [](const EditorOptions&) { return std::make_unique<Editor>(); }}};
  for (const aggregation::AttackInfo* info : aggregation::Attacks()) {
    // A machine could not pack a vector of another length into parts; spoilt_part sends one. "none"
    // is the first entry already.
    if (info->name != "wrong_length" && info->name != "none") {
      entries.push_back(GradientEntry(*info));
    }
  }
  for (const std::vector<Entry>& group :
       {LiesAboutWork(), CautiousGradients(), LiesInMessages(), AbusesOfServices(), WrongBits(),
        Conspiracies(), Silences(), FoundByReading(), Scripts(), OfGuests()}) {
    entries.insert(entries.end(), group.begin(), group.end());
  }
  return entries;
}

const std::vector<Entry>& Entries() {
  static const std::vector<Entry> kEntries = MakeEntries();
  return kEntries;
}

std::string Listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

base::StatusOr<const Entry*> FindEntry(std::string_view name) {
  std::vector<std::string> known;
  for (const Entry& entry : Entries()) {
    if (entry.attack.name == name) return &entry;
    known.push_back(entry.attack.name);
  }
  std::string hint = aggregation::ByzflHint(name);
  const std::string meant = base::ClosestName(name, known);
  if (hint.empty() && !meant.empty()) hint = "; did you mean '" + meant + "'?";
  return base::InvalidArgument("attack '" + std::string(name) + "' is not known" +
                               (hint.empty() ? ": use one of " + Listed(known) : hint));
}

// The value given for the attack's text parameter; empty if none is.
std::string TextIn(const KnownAttack& attack, const AttackParams& given) {
  const auto place = given.find(attack.text);
  return attack.text.empty() || place == given.end() ? "" : place->second;
}

// The parameters `given` and the defaults of the others, for an attack on the protocol.
base::StatusOr<std::map<std::string, double>> NumbersFrom(const KnownAttack& attack,
                                                          AttackParams given) {
  const std::string text = TextIn(attack, given);
  if (!text.empty()) RETURN_IF_ERROR(ParseScript(text).status());
  if (!attack.text.empty()) given.erase(attack.text);
  ASSIGN_OR_RETURN(const aggregation::Parameters values,
                   aggregation::ParseParameters("attack " + attack.name, attack.params,
                                                {given.begin(), given.end()}));
  std::map<std::string, double> params;
  for (const aggregation::ParameterInfo& info : attack.params) {
    params[std::string(info.name)] = info.type == aggregation::ValueType::kInteger
                                         ? static_cast<double>(values.Integer(info.name))
                                         : values.Real(info.name);
  }
  return params;
}

base::StatusOr<aggregation::Attack> GradientAttack(const KnownAttack& attack,
                                                   const AttackParams& given) {
  return aggregation::MakeAttack(attack.name, {given.begin(), given.end()});
}

}  // namespace

const std::vector<KnownAttack>& KnownAttacks() {
  static const std::vector<KnownAttack> kAttacks = [] {
    std::vector<KnownAttack> attacks;
    for (const Entry& entry : Entries()) attacks.push_back(entry.attack);
    return attacks;
  }();
  return kAttacks;
}

base::StatusOr<KnownAttack> FindAttack(std::string_view name) {
  ASSIGN_OR_RETURN(const Entry* entry, FindEntry(name));
  return entry->attack;
}

base::Status CheckParams(const KnownAttack& attack, const AttackParams& given) {
  return attack.gradient != nullptr ? GradientAttack(attack, given).status()
                                    : NumbersFrom(attack, given).status();
}

Outcome OutcomeOf(const KnownAttack& attack, const AttackParams& given) {
  const auto params = attack.gradient != nullptr ? base::StatusOr<std::map<std::string, double>>()
                                                 : NumbersFrom(attack, given);
  if (!params.ok()) return attack.outcome;
  for (const auto& [name, outcome] : attack.outcome_if) {
    if (params->at(name) != 0) return outcome;
  }
  for (const auto& [name, most] : attack.contained_up_to) {
    if (params->at(name) <= most) return Outcome::kContained;
  }
  return attack.outcome;
}

std::map<std::string, double> NumbersOf(const KnownAttack& attack, const AttackParams& given) {
  auto numbers = NumbersFrom(attack, given);
  OSTRAKA_CHECK(numbers.ok());
  return *std::move(numbers);
}

bool IsOnWork(std::string_view name) {
  const aggregation::AttackInfo* attack = aggregation::FindAttack(name);
  return attack != nullptr && attack->knowledge == aggregation::Knowledge::kWork;
}

bool FlipsReach(std::string_view name) { return name == "flag_flip"; }

bool StaysOutside(std::string_view name) { return name == "guest_flood"; }

bool TakesTurns(std::string_view name) { return name == "rotate_keys"; }

bool ComesAndGoes(std::string_view name) {
  return name == "leave_reroll" || name == "join_churn" || TakesTurns(name);
}

base::StatusOr<std::unique_ptr<protocol::Machine>> MakeAdversary(
    AdversaryOptions options, std::unique_ptr<protocol::Machine> inside) {
  ASSIGN_OR_RETURN(const Entry* entry, FindEntry(options.name));
  if (IsOnWork(options.name) && !options.other_work) {
    return base::FailedPrecondition("attack " + options.name + " needs a trainer of its own");
  }
  EditorOptions editor;
  if (entry->attack.gradient != nullptr) {
    ASSIGN_OR_RETURN(editor.gradient, GradientAttack(entry->attack, options.params));
  } else {
    ASSIGN_OR_RETURN(editor.params, NumbersFrom(entry->attack, options.params));
  }
  editor.from_step = options.attack_from_step;
  editor.manifest = std::move(options.manifest);
  editor.key = options.key;
  editor.layout = std::move(options.layout);
  editor.coven_seed = options.coven->seed();
  editor.colluders = static_cast<std::uint32_t>(options.coven->members().size());
  editor.text = TextIn(entry->attack, options.params);
  editor.another = std::move(options.another);
  editor.other_work = std::move(options.other_work);
  Editors editors;
  if (entry->make_several) {
    editors = entry->make_several(editor);
  } else {
    editors.push_back(entry->make(editor));
  }
  for (std::unique_ptr<Editor>& one : editors) {
    inside = std::make_unique<AdversarialMachine>(options.key->id(), std::move(inside),
                                                  std::move(one), options.coven);
  }
  if (options.routed_from == nullptr) return inside;
  protocol::Post post(options.key->id(), editor.manifest->run_id,
                      protocol::CountsReach(*editor.manifest));
  post.SetHead(std::move(options.routed_from));
  return std::make_unique<RoutedMachine>(std::move(inside), std::move(post));
}

}  // namespace ostraka::sim

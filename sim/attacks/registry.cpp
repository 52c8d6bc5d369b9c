#include "sim/attacks/registry.h"

#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "aggregation/attacks/attacks.h"
#include "sim/adversary/adversary.h"
#include "sim/adversary/editor_options.h"
#include "sim/attacks/frame_victim.h"
#include "sim/attacks/messages/factories.h"
#include "sim/attacks/results/factories.h"
#include "sim/attacks/results/gradient.h"
#include "sim/script/script.h"

namespace ostraka::sim {
namespace {

using Outcome = KnownAttack::Outcome;

using Editors = std::vector<std::unique_ptr<Editor>>;

// More steps or messages than a run has.
constexpr double kMany = 1e6;

// From 0 on; what they mean stands in the summary of their attack.
aggregation::ParameterInfo Count(const char* name, const char* usual, double most) {
  return {.name = name,
          .type = aggregation::ValueType::kInteger,
          .default_kind = aggregation::Default::kValue,
          .default_text = usual,
          .high = most};
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
  // In its place, for attacks of several editors: each is around the ones before it.
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
        "as an aggregator, shifts every coordinate by scale x root mean square, ramp times as far "
        "each step; one = 1: a single one; cover = 1: friends hide it by false sums and sizes, 2: "
        "by "
        "parts as far off",
        {AnySize("scale", "1"), Switch("one"), Real("ramp", "1", 1e6), Count("cover", "0", 2)},
        Outcome::kRemoved,
        "dropped: the size or the sum check failed and it names nobody who lied to it (cover: "
        "banned "
        "by verdict)",
        {{"cover", Outcome::kRemovedInTime}},
        {{"scale", {"1e4", "1e8", "1e30"}},
         {"one", {"1"}},
         {"ramp", {"2"}},
         {"cover", {"1", "2"}}}},
       {},
       MakeWrongAggregate},
      {{"near_tolerance",
        "as an aggregator, shifts it to `times` the limit of the sum check",
        {AnySize("times", "3")},
        Outcome::kRemoved,
        "as wrong_aggregate; below the limit nothing is lost that rounding does not lose too",
        {},
        {{"times", {"1.5", "20"}}}},
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
        "as false_proof; of void columns too, by a validator",
        {},
        {{"scale", {"1e-6", "1e6"}}}},
       MakeFalseSize},
      {{"void_columns",
        "as an aggregator, voids its column by its own word: kind 0: no aggregate, 1: a wrong "
        "root, "
        "2: it leaves out itself, 3: it misses its own; content = 1: only results that it dislikes",
        {Count("kind", "0", 3), Switch("content")},
        Outcome::kRemoved,
        "dropped at the third column",
        {{"content", Outcome::kRemovedInTime}},
        {{"kind", {"1", "2", "3"}}, {"content", {"1"}}}},
       MakeVoidColumns},
      {{"false_accuse",
        "accuses and convicts honest peers; victim = 1: one of them only",
        {Switch("victim")},
        Outcome::kRemovedInTime,  // false votes are not punished; it must be drawn to accuse
        "banned by verdict: most members find the accused innocent"},
       MakeFalseAccuse},
      {{"cover_up",
        "shifts an aggregate, and a friend's numbers hide it; show = 0: withholds that part later; "
        "one = 1: one friend hides it for all",
        {AnySize("scale", "1"), Count("show", "1", 1), Switch("one")},
        Outcome::kRemovedInTime,
        "the friend is banned by verdict, and the aggregator for covering it (show = 0: dropped)",
        {},
        {{"show", {"0"}}, {"one", {"1"}}}},
       MakeCoverUp},
      {{"false_complaint",
        "of an honest member: kind 0: no part came, 1: its numbers are false, 2: no aggregate came",
        {Count("kind", "0", 2)},
        Outcome::kRemoved,
        "0 and 2: dropped at the second time, as others held it; 1: banned by verdict",
        {},
        {{"kind", {"1", "2"}}}},
       MakeFalseComplaint},
      {{"selective_bitmap",
        "as an aggregator, leaves out all honest parts",
        {},
        Outcome::kRemoved,
        "its column is void; dropped: in dispute with more members than can be at fault"},
       MakeSelectiveBitmap},
  };
}

// Other gradients, sent by who minds who is watching.
std::vector<Entry> CautiousGradients() {
  return {
      {{"unwatched",
        "another gradient, by as many as the odds of being watched allow (risk); abort = 1: a "
        "coin that would have one watched is kept",
        {AnySize("scale", "10"), Real("risk", "0.25", 1), Switch("abort")},
        Outcome::kRemovedInTime,
        "banned by verdict: who is watched is drawn after it is sealed; abort: each coin costs one",
        {},
        {{"risk", {"0.1", "1"}}, {"abort", {"1"}}}},
       MakeUnwatched},
      {{"leave_after",
        "another gradient, and silence as soon as an honest validator is drawn for it; steps = k: "
        "after k steps; back = 1: asks to come back",
        {AnySize("scale", "10"), Count("steps", "0", kMany), Switch("back")},
        Outcome::kRemovedInTime,
        "who leaves is dropped, and banned by verdict all the same: what it had sealed is judged",
        {},
        {{"steps", {"1", "3"}}, {"back", {"1"}}}},
       MakeLeaveAfter},
      {{"sybil",
        "one of the colluders computes its gradient, and all sign that",
        {},
        Outcome::kRemovedInTime,
        "banned by verdict, but for the one that computes: the others' does not follow from their "
        "batches"},
       MakeSybil},
  };
}

std::vector<Entry> LiesInMessages() {
  return {
      {{"equivocate",
        "two COMMITs for one slot, both to all; split = 1: one to each half; one = 1: the second "
        "to "
        "one honest member, after seal A",
        {Switch("split"), Switch("one")},
        Outcome::kRemoved,
        "banned by evidence in the step that shows it",
        {},
        {{"split", {"1"}}, {"one", {"1"}}}},
       MakeEquivocate},
      {{"two_faced",
        "two honest machines with its key, one for each half of the members; apart = 1: with the "
        "same coins, and the second hears its half only",
        {Switch("apart")},
        Outcome::kRemoved,
        "banned by evidence: two words for one slot (apart: if a member gets both; most are the "
        "same)",
        {{"apart", Outcome::kContained}},
        {{"apart", {"1"}}}},
       MakeTwoFaced},
      {{"impersonate",
        "beside all that it signs, the same in an honest member's name",
        {},
        Outcome::kContained,
        "the signature is not the victim's: nobody takes it in, and nobody is blamed for a frame"},
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
        "dropped: it echoed without what it had to wait for"},
       MakeLyingEcho},
      {{"double_propose",
        "forces the slow path and, as its leader, proposes two values",
        {},
        Outcome::kRemoved,
        "dropped for its ECHO, or banned by evidence if it leads first: two PROPOSEs of one slot"},
       MakeDoublePropose},
      {{"stale_lock",
        "has honest members lock and not decide and, as the next leader, proposes past their locks",
        {},
        Outcome::kRemoved,
        "dropped for the ECHO that forces the slow path; nobody votes past a lock"},
       MakeStaleLock},
  };
}

std::vector<Entry> AbusesOfServices() {
  return {
      {{"state_poison",
        "gives who asks for blocks, results or a state other bytes; cut = 1: a byte too few",
        {Switch("cut")},
        Outcome::kContained,
        "each piece is checked against what is sealed, and asked of another",
        {},
        {{"cut", {"1"}}}},
       MakeStatePoison},
      {{"flood",
        "asks each honest member for everything, and sends what is of no use, `rate` messages a "
        "second, no more than `most` in a step (0: any number)",
        {Real("rate", "100", kMany), Count("most", "60", kMany)},
        Outcome::kContained,
        "what it may cost them is rationed; what it would use up of another's is its own"},
       MakeFlood},
  };
}

std::vector<Entry> Conspiracies() {
  return {
      {{"frame_victim",
        "all say of one honest member whatever can be said, rules in turns; rule = 1..9: one rule",
        {Count("rule", "0", 9)},
        Outcome::kContained,
        "the victim stays: no rule takes the word of as many as can be at fault; who is found out "
        "by a rule is removed by it",
        {},
        {{"rule", {"1", "2", "3", "4", "5", "6", "7", "8", "9"}}}},
       {},
       MakeFrameVictim},
  };
}

std::vector<Entry> Silences() {
  return {
      {{"eclipse",
        "no colluder says anything to one honest member",
        {},
        Outcome::kContained,
        "the others pass on what it lacks"},
       MakeEclipse},
      {{"selective_send",
        "withholds its part from an honest owner; stubborn = 1: from all; rotate = 1: from another "
        "owner each step",
        {Switch("stubborn"), Switch("rotate")},
        Outcome::kContained,
        "once in dispute its part goes to all, who pass it on (stubborn, rotate: dropped)",
        {{"stubborn", Outcome::kRemoved}, {"rotate", Outcome::kRemoved}},
        {{"stubborn", {"1"}}, {"rotate", {"1"}}}},
       MakeSelectiveSend},
      {{"spoilt_part",
        "sends an honest owner a part of NaN, under its COMMIT and with the true numbers; short = "
        "1: one number short",
        {Switch("short")},
        Outcome::kRemoved,
        "dropped at the second time: nobody held a part that its owner could take",
        {},
        {{"short", {"1"}}}},
       MakeSpoiltPart},
      {{"silent",
        "says nothing at all; phase = 1, 2, 3: nothing in seal A, B, C",
        {Count("phase", "0", 3)},
        Outcome::kRemoved,
        "dropped: sealed absent",
        {},
        {{"phase", {"1", "2", "3"}}}},
       MakeSilent},
      {{"abort_coin",
        "sees the others' coins and does not show its own; one draw each, or (together = 1) one",
        {Switch("together")},
        Outcome::kRemoved,
        "dropped at REVEAL, barred for 1000 steps; the next coin decides",
        {},
        {{"together", {"1"}}}},
       MakeAbortCoin},
      {{"withhold_echo",
        "its echoes reach nobody; half = 1: every second member does not get them",
        {Switch("half")},
        Outcome::kRemoved,
        "dropped: more members miss its echo than can be at fault (half: others pass it on)",
        {{"half", Outcome::kContained}},
        {{"half", {"1"}}}},
       MakeWithholdEcho},
      {{"withhold_result",
        "as an aggregator, withholds the aggregate from an honest member; all = 1: from all",
        {Switch("all")},
        Outcome::kContained,
        "whoever lacks it asks the others (all: dropped, more miss it than can be at fault)",
        {{"all", Outcome::kRemoved}},
        {{"all", {"1"}}}},
       MakeWithholdResult},
      {{"late",
        "sends everything some Deltas late; victim = 1: to one honest member only",
        {Real("deltas", "1.1", 1000), Switch("victim")},
        Outcome::kContained,
        "costs time only, up to 2 Delta; from there on it is sealed absent and dropped",
        {},
        {{"deltas", {"0.5", "3.1"}}, {"victim", {"1"}}}},
       MakeLate},
      {{"dawdle",
        "sends one kind of word just before nobody waits for it any more: what = 0 AGG and PROOF, "
        "1 PROOF, 2 the part for one honest owner, 3 all parts, 4 its result, 5 its result to "
        "half; until: the share of that time; turns = 1: one colluder a step",
        {Count("what", "0", 5), Real("until", "0.95", 1), Switch("turns")},
        Outcome::kRemovedInTime,
        "dropped: it let the others wait for more than two deadlines in all",
        {},
        {{"what", {"1", "2", "3", "4", "5"}}, {"turns", {"1"}}}},
       MakeDawdle},
  };
}

// What engineers who had not built the rules found in them, by number; each is told in its file.
std::vector<Entry> FoundByReading() {
  return {
      {{"seal_trick",
        "words that count for one member only, and copies that nobody can take: idea = 1..9 "
        "(sim/attacks/messages/seal_tricks.cpp)",
        {Count("idea", "1", 9)},
        Outcome::kContained,
        "nobody honest is removed; what can be proved or named costs its author its place",
        {},
        {{"idea", {"2", "3", "4", "5", "6", "7", "8", "9"}}}},
       MakeSealTrick},
      {{"free_ride",
        "waits, frames and traffic that no rule charged: kind = 1..9 "
        "(sim/attacks/messages/free_ride.cpp); times in Delta",
        {Count("kind", "1", 9), Real("commit", "0", 1000), Real("agg", "0", 1000),
         Real("reveal", "0", 1000), Real("result", "0", 1000), Real("proof", "0", 1000),
         Real("echo", "0", 1000), Count("all", "0", 16)},
        Outcome::kContained,
        "nobody honest is removed, and what is beyond the stated bounds costs a place",
        {},
        {{"kind", {"2", "3", "4", "5", "6", "8", "9"}}}},
       {},
       MakeFreeRide},
  };
}

std::vector<Entry> Scripts() {
  return {
      {{"split_echo",
        "shows an unreadable ECHO to some honest members (early; 0: as few as it takes), and its "
        "AGG to nobody",
        {Count("early", "0", kMany)},
        Outcome::kContained,
        "who shows the unreadable ECHO is banned by evidence; the others did nothing wrong"},
       MakeSplitEcho},
      {{"fork",
        "as split_echo; the other half gets the AGG `after` Delta / 4 later, when the first is an "
        "iteration ahead, and the colluders vote and lock with both",
        {Count("after", "30", 1000)},
        Outcome::kContained,
        "no half has a quorum that the other does not know of; two words for a slot: evidence",
        {},
        {{"after", {"29", "31", "32"}}}},
       MakeFork},
      {{"split_genesis",
        "shows its genesis ECHO to as few honest members as make a quorum with the colluders, and "
        "says nothing to the others from then on",
        {},
        Outcome::kContained,
        "who begins passes on all ECHOs, so everybody does"},
       MakeSplitGenesis},
      {{"hold_back",
        "sends its AGG and its PROOF `before` Delta / 4 before the deadline of their seals",
        {Count("before", "2", 1000)},
        Outcome::kContained,
        "in time, so nothing of it is missing: what it costs is time"},
       MakeHoldBack},
      {{"free",
        "whatever a script says (docs/simulation.md); without one it is drawn",
        {},
        Outcome::kContained,
        "whatever it is, nobody honest is removed and no two honest members decide differently",
        {},
        {},
        "script"},
       MakeFree},
  };
}

std::vector<Entry> MakeEntries() {
  std::vector<Entry> entries = {
      {{"none", "does nothing wrong", {}, Outcome::kContained, "nothing to remove"},
       [](const EditorOptions&) { return std::make_unique<Editor>(); }}};
  for (const aggregation::AttackInfo* info : aggregation::Attacks()) {
    // A vector of another length is none that a machine could pack into parts; spoilt_part sends
    // one. "none" stands there already.
    if (info->name != "wrong_length" && info->name != "none") {
      entries.push_back(GradientEntry(*info));
    }
  }
  for (const std::vector<Entry>& group :
       {LiesAboutWork(), CautiousGradients(), LiesInMessages(), AbusesOfServices(), Conspiracies(),
        Silences(), FoundByReading(), Scripts()}) {
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
  return base::InvalidArgument("attack '" + std::string(name) + "' is not known: use one of " +
                               Listed(known));
}

// What is given for the parameter that is text; empty if nothing is.
std::string TextIn(const KnownAttack& attack, const AttackParams& given) {
  const auto place = given.find(attack.text);
  return attack.text.empty() || place == given.end() ? "" : place->second;
}

// `given`, and the defaults of the others, for an attack on the protocol.
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
  return attack.outcome;
}

bool FlipsLabels(std::string_view name) {
  const aggregation::AttackInfo* attack = aggregation::FindAttack(name);
  return attack != nullptr && attack->knowledge == aggregation::Knowledge::kLabels;
}

base::StatusOr<std::unique_ptr<protocol::Machine>> MakeAdversary(
    AdversaryOptions options, std::unique_ptr<protocol::Machine> inside) {
  ASSIGN_OR_RETURN(const Entry* entry, FindEntry(options.name));
  if (FlipsLabels(options.name) && !options.flipped_gradients) {
    return base::FailedPrecondition("attack " + options.name +
                                    " needs a trainer over flipped labels");
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
  editor.flipped_gradients = std::move(options.flipped_gradients);
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
  return inside;
}

}  // namespace ostraka::sim

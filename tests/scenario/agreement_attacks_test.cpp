// Attacks on agreement and on the waits of seals, in a timely network and with no more faults than
// the mode bears: no honest member is removed, no two honest members decide differently, and every
// honest member reaches the end. (The checkers watch all of it in every step.)
#include <gtest/gtest.h>

#include <string>

#include "sim/attacks/registry.h"
#include "sim/run/cluster.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::agreement_attacks_test {
namespace {

SimOptions Attack(const std::string& attack, std::uint32_t peers, std::uint32_t byzantine) {
  SimOptions options;
  options.attack = attack;
  options.peers = peers;
  options.byzantine = byzantine;
  options.steps = 12;
  options.dimension = 64;
  return options;
}

// Some scripts wait for a moment that not every seed brings.
void ExpectHarmless(SimOptions options, std::uint64_t seeds) {
  if (options.peers > 8 && !InSoak()) return;
  std::uint64_t misdeeds = 0;
  for (options.seed = 1; options.seed <= (InSoak() ? seeds : (seeds + 1) / 2); ++options.seed) {
    misdeeds += RunWithoutHarm(options).misdeeds;
  }
  EXPECT_GT(misdeeds, 0U) << "nobody attacked";
}

// One attacker is enough, if its own evidence ends the wait of some members and not of others.
TEST(AgreementAttack, UnreadableEchoForSomeMembersRemovesNoHonestMember) {
  ExpectHarmless(Attack("split_echo", 8, 1), 6);
  ExpectHarmless(Attack("split_echo", 8, 3), 6);
  ExpectHarmless(Attack("split_echo", 16, 7), 2);
}

// Two groups an iteration apart, each a quorum with the colluders. [At c9c7fb4 half of the seeds
// gave two decisions, depending on the leaders of those iterations.]
TEST(AgreementAttack, TwoHalvesOneIterationApartDecideOneValue) {
  ExpectHarmless(Attack("fork", 8, 3), 8);
  SimOptions quicker = Attack("fork", 8, 3);
  quicker.delay_max = base::Milliseconds(20);
  ExpectHarmless(quicker, 4);
  for (const char* after : FirstOf({"29", "31", "32"})) {
    SimOptions options = Attack("fork", 8, 3);
    options.attack_params["after"] = after;
    ExpectHarmless(options, 4);
  }
}

// A member that begins alone would seal the others absent before they have sent anything.
TEST(AgreementAttack, GenesisEchoHiddenFromSomeRemovesNoHonestMember) {
  ExpectHarmless(Attack("split_genesis", 8, 3), 4);
  ExpectHarmless(Attack("split_genesis", 16, 7), 2);
}

// --- what `ostraka sim search` found (docs/measurements/search-diary.md) -------------------------

void ExpectHarmless(const std::string& replay) { RunWithoutHarm(Replayed(replay)); }

// No COMMIT of the colluders can be read, and some members know it while they wait for them.
TEST(FoundScript, UnreadableCommitsRemoveNoHonestMember) {
  ExpectHarmless(
      "seed=14376185018149091106 peers=6 byzantine=2 attack=free attack_from_step=1 "
      "await_removal=0 premises=0 steps=6 dimension=28 batch_size=4 delay_max_ns=10000000 "
      "jitter_ns=3000000 attack.script=h2=b,deaf;any@genesis>all:full_bitmap;"
      "propose@b.i1>h1:unreadable;proof@c>h2:friends;echo@b.s3>one2:unreadable;"
      "propose@b.s3>all:hold(reveal.h1.short+17);commit@a.s2>all:unreadable;"
      "vote@b.i3>h1:hold(deadline+1);echo@any.s1*0>all:hold(propose.h2.i1.last-1) "
      "time_limit_ns=900000000000");
}

// Half of the members decide the last seal. They are then cut off from the others for so long that
// they would have left, had they not waited for the links.
TEST(FoundScript, RunFinishesAfterACutInTheLastSeal) {
  ExpectHarmless(
      "seed=1 peers=8 byzantine=1 attack=free attack_from_step=1 steps=6 dimension=1000 "
      "batch_size=32 delay_min_ns=5000000 delay_max_ns=50000000 jitter_ns=5000000 cut=halves "
      "cut_at_ns=2900000000 cut_for_ns=30000000000 "
      "attack.script=h2=78,solo;echo@c.s5>h2:drop;any@a.s6>all:drop");
}

// As split_genesis, with COMMITs for the step before instead of none.
TEST(FoundScript, GenesisEchoForOneHalfRemovesNoHonestMember) {
  ExpectHarmless(
      "seed=4745039814216033966 peers=8 byzantine=3 attack=free attack_from_step=0 "
      "await_removal=0 premises=0 steps=6 dimension=32 batch_size=4 delay_min_ns=0 jitter_ns=0 "
      "time_limit_ns=900000000000 attack.script=h2=5,solo;echo@genesis>h2:friends;"
      "propose@c.i2>not1:swap;commit@a.s2*2>h1:hold(begin);commit@a>h2:older;"
      "echo@a.s1*0>h1:hold(echo+8)");
}
TEST(FoundScript, GenesisEchoForAllButOneLeavesNoMemberBehind) {
  ExpectHarmless(
      "seed=3218814211822612807 peers=6 byzantine=1 attack=free attack_from_step=1 "
      "await_removal=0 premises=0 steps=6 dimension=28 batch_size=4 delay_max_ns=55000000 "
      "jitter_ns=4000000 time_limit_ns=900000000000 attack.script=h2=f,deaf;"
      "echo@genesis*0>not1:drop;commit@a>all:drop;vote@any*0>h1:unreadable;"
      "result@any>not1:older;commit@a.s3*0>h1:hold(status.h2.i1.short+1);lock@c>all:drop;"
      "part@any>all:older;aggregate@any*0>h1:older");
}

// A member that settles a seal forgets the members that its block removes. Two that had not settled
// it yet lacked a PROOF of these, which the decision names, and the other three are no quorum of
// five.
TEST(FoundScript, DecidedMessageIsForwardedEvenIfItsSenderIsRemoved) {
  ExpectHarmless(
      "seed=599576389392917328 peers=8 byzantine=3 attack=free attack_from_step=0 "
      "await_removal=0 premises=0 steps=6 dimension=32 batch_size=4 delay_min_ns=0 jitter_ns=0 "
      "time_limit_ns=900000000000 attack.script=h2=9,deaf;status@b*2>not4:later");
}

// A liar and an honest member echoed vectors that named one message, and only the liar was asked
// for it.
TEST(FoundScript, MessageShownByALiarAndAnotherIsRequestedFromBoth) {
  ExpectHarmless(
      "seed=2688513148127268823 peers=7 byzantine=2 attack=free attack_from_step=1 "
      "await_removal=0 premises=0 steps=6 dimension=30 batch_size=4 delay_min_ns=0 "
      "jitter_ns=4000000 time_limit_ns=900000000000 "
      "attack.script=h2=1d,twins;aggregate@a>h2:unreadable");
}

// The first of two COMMITs named another history, and the owner waited for the second until the
// part timer fired.
TEST(FoundScript, TwoCommitsOfTwoHistoriesDelayNobody) {
  ExpectHarmless("seed=66 peers=4 byzantine=1 attack=free steps=7 dimension=508 batch_size=31");
}

// A colluder signed a second version, on another history, and the owner took the member whose
// first version it then lacked for late.
TEST(FoundScript, RivalVersionOfAnotherHistoryMakesNobodyLate) {
  ExpectHarmless("seed=6 peers=8 byzantine=3 attack=free steps=25");
  ExpectHarmless("seed=80 peers=8 byzantine=3 attack=free steps=25");
  ExpectHarmless("seed=6 peers=8 byzantine=3 nat=3 attack=free attack.carry=2 steps=25");
}

}  // namespace
}  // namespace ostraka::sim::agreement_attacks_test

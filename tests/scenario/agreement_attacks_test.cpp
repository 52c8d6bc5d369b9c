// Attacks on agreement and on what seals wait for, in a timely network and with no more faults than
// the mode bears: nobody honest is removed, no two honest members decide differently, and every
// honest member comes to the end. (The checkers watch all of it in every step.)
#include <gtest/gtest.h>

#include <string>

#include "sim/attacks/registry.h"
#include "sim/run/cluster.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim {
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
  std::uint64_t misdeeds = 0;
  for (options.seed = 1; options.seed <= seeds; ++options.seed) {
    misdeeds += RunWithoutHarm(options).misdeeds;
  }
  EXPECT_GT(misdeeds, 0U) << "nobody attacked";
}

// One cheat is enough, if its own proof ends the wait of some and not of others.
TEST(AgreementAttack, UnreadableEchoForSomeMembersRemovesNoHonestMember) {
  ExpectHarmless(Attack("split_echo", 8, 1), 6);
  ExpectHarmless(Attack("split_echo", 8, 3), 6);
  ExpectHarmless(Attack("split_echo", 16, 7), 2);
}

// Two groups an iteration apart, each a quorum with the colluders: at c9c7fb4 two decisions in half
// of the seeds, by which of its members led those iterations.
TEST(AgreementAttack, TwoHalvesOneIterationApartDecideOneValue) {
  ExpectHarmless(Attack("fork", 8, 3), 8);
  SimOptions quicker = Attack("fork", 8, 3);
  quicker.delay_max = base::Milliseconds(20);
  ExpectHarmless(quicker, 4);
  for (const char* after : {"29", "31", "32"}) {
    SimOptions options = Attack("fork", 8, 3);
    options.attack_params["after"] = after;
    ExpectHarmless(options, 4);
  }
}

// Who begins alone seals the others absent before they have said a word.
TEST(AgreementAttack, GenesisEchoHiddenFromSomeRemovesNoHonestMember) {
  ExpectHarmless(Attack("split_genesis", 8, 3), 4);
  ExpectHarmless(Attack("split_genesis", 16, 7), 2);
}

// --- what `ostraka sim search` found (docs/simulation.md) ----------------------------------------

void ExpectHarmless(const std::string& replay) { RunWithoutHarm(Replayed(replay)); }

// All colluders' COMMITs cannot be read, which is known to some when they wait for them.
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

// Half of the members decide the last seal, and are cut off from the others until they would have
// left, had they not waited for the links.
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

// Who settles a seal forgets whom its block removes; two that had not settled it yet lacked a PROOF
// of these, which the decision names, and the three others are no quorum of five.
TEST(FoundScript, DecidedMessageIsForwardedEvenIfItsSenderIsRemoved) {
  ExpectHarmless(
      "seed=599576389392917328 peers=8 byzantine=3 attack=free attack_from_step=0 "
      "await_removal=0 premises=0 steps=6 dimension=32 batch_size=4 delay_min_ns=0 jitter_ns=0 "
      "time_limit_ns=900000000000 attack.script=h2=9,deaf;status@b*2>not4:later");
}

// A liar and an honest member echoed vectors that named one message; the liar alone was asked for
// it.
TEST(FoundScript, MessageShownByALiarAndAnotherIsRequestedFromBoth) {
  ExpectHarmless(
      "seed=2688513148127268823 peers=7 byzantine=2 attack=free attack_from_step=1 "
      "await_removal=0 premises=0 steps=6 dimension=30 batch_size=4 delay_min_ns=0 "
      "jitter_ns=4000000 time_limit_ns=900000000000 "
      "attack.script=h2=1d,twins;aggregate@a>h2:unreadable");
}

// The first of two COMMITs named another history, and its owner waited for the second until the
// part timer.
TEST(FoundScript, TwoCommitsOfTwoHistoriesDelayNobody) {
  ExpectHarmless("seed=66 peers=4 byzantine=1 attack=free steps=7 dimension=508 batch_size=31");
}

}  // namespace
}  // namespace ostraka::sim

/* SEAL's steps under skew (docs/seal.md 4; node/protocol/seal/seal_clock.cpp). Honest members enter a step up to
 * SKEW ticks apart, a message takes 0..1 tick, a step lasts LENGTH ticks (Delta is one tick, a step two).
 * Claim: what an honest member sends when its step begins arrives before this step ends at any honest member, so a
 * step counts as a round that all honest members share. This is what seal.pml assumes.
 * Negative control: SKEW=2. */
#ifndef SKEW
#define SKEW 1
#endif
#ifndef LENGTH
#define LENGTH 2
#endif
#define N 3
#define STEPS 4
byte enter[N]; byte from, to, step, delay, sent, arrives, ends;
init {
  for (from : 0 .. N-1) {
    do :: enter[from] < SKEW -> enter[from]++ :: break od
  }
  for (step : 0 .. STEPS-1) {
    for (from : 0 .. N-1) {
      for (to : 0 .. N-1) {
        if :: delay = 0 :: delay = 1 fi;
        sent = enter[from] + step * LENGTH;
        arrives = sent + delay;
        ends = enter[to] + (step + 1) * LENGTH;
        assert(arrives <= ends)
      }
    }
  }
}

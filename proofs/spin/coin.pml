/* The coin of a step (docs/protocol/step.md; node/protocol/step/own_coins.h, node/protocol/rules/step_reading.cpp): n = 3, one Byzantine member, 1-bit coins,
 * DRAWS draws. COMMITs are fixed by seal A, REVEALs of a draw by seal B. A member that does not open its COMMIT is
 * left out, and all others reveal the next draw. The Byzantine member reveals last and may commit to two things or abort.
 * Claims: the two honest members mix one coin; it consists of committed coins; draws <= aborts + 1.
 * Negative controls: NOSEALA (each member uses the COMMIT that reached it), NOSEALB (each member uses the REVEAL
 * that reached it), NODRAW (an abort costs no draw: the received coins are mixed, so the last sender chooses). */
#define DRAWS 3
bit honest0[DRAWS]; bit honest1[DRAWS]; bit evil[DRAWS];     /* committed */
bit seen_commit[2]; bit other[DRAWS];                         /* member 0 and 1 may hold different COMMITs */
bit r[2]; bool done[2]; bool in_; bool reveals; byte d, m, aborts, draws; bit shown, want;
bool opens[2];
init {
  atomic {
    d = 0;
    do :: d < DRAWS ->
          if :: honest0[d] = 0 :: honest0[d] = 1 fi; if :: honest1[d] = 0 :: honest1[d] = 1 fi;
          if :: evil[d] = 0 :: evil[d] = 1 fi; other[d] = 1 - evil[d];
          d++
       :: d >= DRAWS -> break od;
#ifdef NOSEALA
    if :: seen_commit[1] = 1 :: skip fi;            /* its COMMITs to members 0 and 1 differ */
#endif
    in_ = true; d = 0; draws = 0
  };
  do
  :: d < DRAWS && !(done[0] && done[1]) ->
     atomic {
       draws++;
       /* rushing: it knows honest0[d], honest1[d] by now. It reveals its coin, a false one, or nothing. */
       reveals = false;
       if :: in_ -> if :: reveals = true; if :: shown = 0 :: shown = 1 fi :: aborts++ fi :: else fi;
       m = 0;
       do :: m < 2 ->
             if :: seen_commit[m] -> opens[m] = (reveals && shown == other[d])
                :: else -> opens[m] = (reveals && shown == evil[d]) fi;
#ifdef NOSEALB
             if :: opens[m] -> if :: opens[m] = false :: skip fi :: else fi;   /* it reached only some */
#endif
             m++
          :: m >= 2 -> break od;
#ifdef NODRAW
       r[0] = honest0[d] ^ honest1[d]; if :: opens[0] -> r[0] = r[0] ^ evil[d] :: else fi;
       r[1] = r[0]; done[0] = true; done[1] = true;
       if :: in_ && !reveals -> in_ = false :: else fi;
#else
       m = 0;
       do :: m < 2 ->
             if :: !done[m] && (!in_ || opens[m]) ->
                   r[m] = honest0[d] ^ honest1[d];
                   if :: in_ && seen_commit[m] -> r[m] = r[m] ^ other[d]
                      :: in_ && !seen_commit[m] -> r[m] = r[m] ^ evil[d]
                      :: else fi;
                   done[m] = true
                :: else fi;
             m++
          :: m >= 2 -> break od;
       if :: in_ && !(opens[0] && opens[1]) ->
             if :: reveals -> aborts++ :: else fi;
             in_ = false
          :: else fi;
#endif
       assert(done[0] == done[1]);
       assert(!done[0] || r[0] == r[1]);
       /* the result includes every committed coin of the valid draw whose owner was not left out */
       want = honest0[d] ^ honest1[d]; if :: in_ -> want = want ^ evil[d] :: else fi;
#ifdef NODRAW
       assert(!done[0] || aborts == 0 || draws > 1);
#endif
       assert(!done[0] || r[0] == want);
       m = 0
     };
     d++
  :: else -> break
  od;
  assert(done[0] && done[1]);
  assert(draws <= aborts + 1)
}

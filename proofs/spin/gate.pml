/* SEAL when honest members end their wait at different times (docs/seal.md 2-3; node/protocol/seal/). Honest
 * members form NG groups; members of a group act equally. F colluders show any of their frames to any group at any
 * time, or never. They lead every iteration, and send each group any valid proposal or none. A tick is Delta/4; a
 * message between groups takes 0 or 1 tick. Group 0 echoes at once; the adversary chooses when each other group echoes,
 * within S ticks. Values: 1 is what group 0 echoes, 2 has one message more, 3 is a leader's merge of everything.
 * The gate: a member sends CLOSE FAST ticks after its own ECHO, or with it; GQ CLOSEs open the gate. A member that passes forwards
 * these frames to all, echoes what it holds if it still waits, and sends STATUS(1) W0 ticks later.
 * Claims. Agreement: deciding frames (Q LOCKs of one iteration, or equal ECHOs of all) never exist for two values. The
 * claim is about frames and not about deciders, so it covers members that restarted or only observe.
 * Order: every passing has an honest CLOSE; at STATUS(1) each group holds the ECHO of each group that sent one.
 * With HL=g, the leader of iteration K is an honest member of group g: BOUND ticks after the last ECHO every group holds
 * LOCKs of all honest members for one value.
 * JITTER=j: each timer fires up to j ticks late; with WORDS only the timers of VOTE and LOCK do. VOTE and LOCK are not
 * sent when more than SLACK late, and the schedule does not shift.
 * LATE=x: a group that waits when the gate's frames reach it may not have opened the seal; it opens at most x ticks
 * later, echoes nothing, and its STATUS supports no value. Its clock counts from its opening.
 * Controls: TODAY (no gate) with S=6, NOFORWARD, W0=1, F=4 with S1=2, LATE=6, LATEECHO (a late opener echoes) with W0=2,
 * GQ=3, LATEWORDS (late messages are sent).
 * AGREEMENT omits the other claims, so that a control shows a fork.
 * Omitted: members that decide continue here as if they had not, which does not restrict the others; absent members; an
 * untimely network (quorums alone suffice there: seal.pml, smt/thresholds); pulls of messages and vectors. A member that
 * restarts within a seal, or opens later than LATE=4, counts among the F: it may then have sent anything. */
#ifndef NG
#define NG 2
#endif
#ifndef S0
#define S0 2
#endif
#ifndef S1
#define S1 3
#endif
#ifndef S2
#define S2 0
#endif
#ifndef F
#define F 3
#endif
#ifndef TS
#define TS 3
#endif
#ifndef TA
#define TA 1
#endif
#ifndef Q
#define Q 5            /* n - TS */
#endif
#ifndef GQ
#define GQ Q
#endif
#ifndef K
#define K 2
#endif
#ifndef S
#define S 12
#endif
#define L 8            /* a step: 2 Delta */
#define FAST 8         /* from the own ECHO to CLOSE, or to the slow path of TODAY: 2 Delta */
#define GATHER (L - 6)     /* STATUS goes on for L - 3/2 Delta once Q are seen */
#ifndef W0
#define W0 6           /* from the gate to STATUS(1): 3/2 Delta */
#endif
#ifndef JITTER
#define JITTER 0
#endif
#ifndef WORDS
#define WORDS false
#endif
#define SLACK 2        /* Delta/2 */
#ifndef LATEWORDS
#define LATEWORDS false
#endif
#ifndef LATE
#define LATE 0
#endif
#ifndef BOUND
#define BOUND 41
#endif
#define SZ(g) ((g) == 0 -> S0 : ((g) == 1 -> S1 : S2))
#define X(g,h) ((g)*NG+(h))
#define Y(g,k) ((g)*(K+1)+(k))
#define Z(g,h,k) (X(g,h)*(K+1)+(k))
#define COLLUDERS_HELP(c) ((c) > 0 && (c) + F >= Q)
#define WAIT 0         /* no ECHO yet */
#define REST 1         /* the fast path */
#define CLOSED 2       /* sends nothing until others send */
#define UNOPENED 3     /* the gate is passed, the seal not opened */
#define GATED 4
#define STATUS 5
#define PROPOSE 6
#define VOTE 7
#define LOCK 8
byte stage[NG]; byte it[NG]; byte cnt[NG]; byte lr[NG]; byte lv[NG];
byte vt[NG*(K+1)];         /* what a group voted in k; k = 0: what it echoed */
byte av[NG*NG*(K+1)];      /* a VOTE or ECHO of h at g: 1 on its way, 2 there */
byte sp[NG*(K+1)];         /* proposals seen, as bits */
byte lk[NG*(K+1)]; byte al[NG*NG*(K+1)];  /* a LOCK of h at g: 2 there, 4: its certificate, asked for, too */
bool s0[NG*(K+1)];         /* said STATUS of rank 0 */
byte gth[NG];              /* STATUS: 0 too few are seen, else ticks to go, plus one */
#ifndef TODAY
bool cl[NG]; byte cs[NG*NG];  /* CLOSE, and where it is */
byte gt[NG];               /* the gate's frames, forwarded: 1 on their way, 2 there */
#endif
#if JITTER > 0
byte lt[NG];               /* ticks since the timer should have fired */
#define LATENESS(a) lt[a]
#else
#define LATENESS(a) 0
#endif
#if LATE > 0
byte ul[NG];               /* ticks until it must have opened, plus one */
#endif
#ifdef HL
byte pr, pv, pa[NG]; bool proposed; byte clk;
#endif
byte left = S; bool over;
byte g, h, k, u, c, c2, i, x, y, w, e, m, ord, best, bv, act;

#define EACH(var, what) var = 0; do :: var < NG -> what; var++ :: else -> break od; var = 0

/* c: honest votes of b for val that a has; all of them */
inline votes_seen(a, b, val) {
  d_step { c = 0; EACH(x, if :: vt[Y(x,b)] == val && (x == a || av[Z(a,x,b)] == 2) -> c = c + SZ(x) :: else fi) }
}
inline votes_all(b, val) {
  d_step { c = 0; EACH(x, if :: vt[Y(x,b)] == val -> c = c + SZ(x) :: else fi) }
}
/* with the proposal passed on; b = 0: ECHO */
inline say_vote(a, b, val) {
  vt[Y(a,b)] = val; if :: b > 0 -> sp[Y(a,b)] = sp[Y(a,b)] | (1 << val) :: else fi;
  EACH(y, if :: y != a -> if :: av[Z(y,a,b)] = 1
                             :: av[Z(y,a,b)] = 2; if :: b > 0 -> sp[Y(y,b)] = sp[Y(y,b)] | (1 << val) :: else fi
                          fi
             :: else fi)
}
inline echo(a) {
  stage[a] = REST;
#ifdef TODAY
  cnt[a] = FAST;
#else
  if :: cnt[a] = FAST :: cnt[a] = 0 fi;   /* 0: the ECHO lacks a message */
#endif
  if :: w = 1 :: a > 0 -> w = 2 fi;
  say_vote(a, 0, w); w = 0
}
/* the highest lock for which a holds a certificate, then any that the colluders show to a. Certificates of iteration m give
 * rank m + 1. */
inline adopt(a, b) {
  d_step {
    best = lr[a]; bv = lv[a]; m = 0;
    do :: m < b ->
          e = 1;
          do :: e <= 3 ->
                c = 0; EACH(x, if :: vt[Y(x,m)] == e && (x == a || av[Z(a,x,m)] == 2) -> c = c + SZ(x) :: else fi);
                if :: c >= Q && m + 1 > best -> best = m + 1; bv = e :: else fi;
                if :: m > 0 -> EACH(x, if :: x != a && lk[Y(x,m)] == e && al[Z(a,x,m)] == 4 && m + 1 > best -> best = m + 1; bv = e :: else fi)
                   :: else fi;
                e++
             :: else -> break od;
          m++
       :: else -> break od;
    lr[a] = best; lv[a] = bv; m = 0; e = 0; best = 0; bv = 0
  };
  m = 0;
  do :: m < b ->
        e = 1;
        do :: e <= 3 ->
              votes_all(m, e);
              if :: COLLUDERS_HELP(c) && m + 1 > lr[a] -> if :: lr[a] = m + 1; lv[a] = e :: skip fi :: else fi; e++
           :: else -> break od;
        m++
     :: else -> break od;
  m = 0; e = 0
}
inline next(a, st, ticks) {
  stage[a] = st; cnt[a] = ticks - LATENESS(a);
#if JITTER > 0
  lt[a] = 0
#endif
}
inline status(a) {
  gth[a] = 0; next(a, STATUS, L);
  adopt(a, it[a]);
#if !defined(TODAY) && !defined(AGREEMENT)
  if :: it[a] == 1 && F <= TS -> EACH(x, assert(x == a || vt[Y(x,0)] == 0 || av[Z(a,x,0)] == 2)) :: else fi;
#endif
  if :: lr[a] == 0 -> s0[Y(a,it[a])] = 1 :: else fi
}
#ifdef TODAY
#define JOINS(a) (stage[a] >= STATUS || stage[a] == CLOSED || stage[a] == REST)
#else
#define JOINS(a) (stage[a] >= STATUS || stage[a] == CLOSED)
inline begin_gated(a) { it[a] = 1; gth[a] = 0; stage[a] = GATED; cnt[a] = W0 }
inline pass(a) {
#ifndef AGREEMENT
  if :: F <= TS -> c = 0; EACH(x, if :: cl[x] -> c = 1 :: else fi); assert(c) :: else fi;
#endif
#ifndef NOFORWARD
  EACH(y, if :: it[y] == 0 && stage[y] != UNOPENED && gt[y] == 0 && y != a -> if :: gt[y] = 1 :: gt[y] = 2 fi :: else fi);
#endif
  gt[a] = 2;
  if
  :: stage[a] == WAIT -> echo(a); begin_gated(a)
  :: stage[a] != WAIT -> begin_gated(a)
#if LATE > 0
  :: stage[a] == WAIT ->
     ul[a] = LATE + 1; stage[a] = UNOPENED
#endif
  fi
}
inline gate(a) {
  if :: it[a] == 0 && stage[a] != UNOPENED ->
        d_step { c = 0; EACH(x, if :: cl[x] && (x == a || cs[X(a,x)] == 2) -> c = c + SZ(x) :: else fi) };
        if :: c >= GQ || gt[a] == 2 -> pass(a)
           :: else -> if :: c + F >= GQ -> if :: pass(a) :: skip fi :: else fi
        fi
     :: else fi
}
inline say_close(a) {
  cl[a] = 1; stage[a] = CLOSED;
  EACH(y, if :: y != a -> if :: cs[X(y,a)] = 1 :: cs[X(y,a)] = 2 fi :: else fi)
}
#endif
/* c2: number of statuses without a lock that can be shown, with at most lim for each value except val. A status that
 * names no value counts and supports none. */
inline shown(b, val, lim) {
  d_step {
    c2 = F; e = 0;
    do :: e <= 3 ->
          c = 0; EACH(x, if :: s0[Y(x,b)] && vt[Y(x,0)] == e -> c = c + SZ(x) :: else fi);
          if :: c > lim && e != val && e > 0 -> c2 = c2 + lim :: else -> c2 = c2 + c fi; e++
       :: else -> break od;
    e = 0; c = 0
  }
}
/* act: may a proposal of u without a lock be shown to a? */
inline unlocked(a, u_) {
  d_step { act = 0; w = 0; EACH(x, if :: s0[Y(x,k)] && vt[Y(x,0)] == u_ -> w = w + SZ(x) :: else fi) };
  shown(k, u_, Q - TA - 1);
  if :: w + F >= Q - TA && c2 >= Q -> act = 1 :: else fi;
  shown(k, 0, Q - TA - 1);
  if :: c2 >= Q && (vt[Y(a,0)] == u_ || vt[Y(a,0)] == 0 || u_ == 3 || (vt[Y(a,0)] == 1 && u_ == 2)) -> act = 1 :: else fi;
  w = 0; c2 = 0
}
inline do_vote(a) {
  k = it[a]; u = 0; act = 0;
#ifdef HL
  if :: k == K ->
        if :: pa[a] == 2 && ((pr > 0 && pr >= lr[a]) || (pr == 0 && lr[a] == 0)) -> u = pv; act = 1 :: else fi
     :: else -> if :: skip :: u = 1 :: u = 2 :: u = 3 fi
  fi;
#else
  if :: skip :: u = 1 :: u = 2 :: u = 3 fi;
#endif
  if :: u > 0 && act == 0 && (sp[Y(a,k)] & (255 - (1 << u))) == 0 ->
        d_step {                 /* a certified lock not below mine */
          m = 0;
          do :: m < k ->
                c = 0; EACH(x, if :: vt[Y(x,m)] == u -> c = c + SZ(x) :: else fi);
                if :: COLLUDERS_HELP(c) && m + 1 >= lr[a] -> act = 1 :: else fi; m++
             :: else -> break od;
          m = 0; c = 0
        };
        if :: act == 0 && lr[a] == 0 -> unlocked(a, u) :: else fi
     :: else fi;
  if :: act -> say_vote(a, k, u) :: else fi;
  k = 0; u = 0; act = 0
}
inline do_lock(a) {
  k = it[a]; u = 0;
  if :: sp[Y(a,k)] == 2 -> u = 1 :: sp[Y(a,k)] == 4 -> u = 2 :: sp[Y(a,k)] == 8 -> u = 3 :: else fi;
  if :: u > 0 -> votes_seen(a, k, u);
        if :: COLLUDERS_HELP(c) ->
              if :: lk[Y(a,k)] = u; lr[a] = k + 1; lv[a] = u;
                    EACH(y, if :: y != a -> if :: al[Z(y,a,k)] = 1 :: al[Z(y,a,k)] = 2 fi :: else fi)
#ifdef HL
                 :: k < K || c < Q -> skip
#else
                 :: skip
#endif
              fi
           :: else fi
     :: else fi;
  k = 0; u = 0; c = 0
}
#ifdef HL
/* The highest lock that a STATUS names, or a higher one that the colluders show; else a value that is forced or a merge. */
inline do_propose(a) {
  k = K; pr = 0; pv = 0;
  EACH(x, if :: it[x] == K && stage[x] >= STATUS && lr[x] > pr -> pr = lr[x]; pv = lv[x] :: else fi);
  m = 0;
  do :: m < K ->
        u = 1;
        do :: u <= 3 ->
              votes_all(m, u);
              if :: COLLUDERS_HELP(c) && m + 1 > pr -> if :: pr = m + 1; pv = u :: skip fi :: else fi; u++
           :: else -> break od;
        m++
     :: else -> break od;
  m = 0; u = 0;
  if :: pr == 0 ->
        if :: pv = 1 :: pv = 2 :: pv = 3 fi;
        unlocked(a, pv);
        if :: pv < 3 -> shown(K, 0, Q - TA - 1);      /* an honest leader merges everything; one value only if forced */
              d_step { w = 0; EACH(x, if :: s0[Y(x,K)] && vt[Y(x,0)] == pv -> w = w + SZ(x) :: else fi) };
              if :: w + F < Q - TA -> pv = 3 :: else fi; w = 0; c2 = 0
           :: else fi;
        if :: pv == 3 -> shown(K, 0, Q - TA - 1);     /* all STATUSes force one value: then it is proposed */
              if :: c2 < Q -> if :: vt[Y(0,0)] > 0 -> pv = vt[Y(0,0)] :: else -> pv = vt[Y(1,0)] fi :: else fi; c2 = 0
           :: else fi
     :: else fi;
  proposed = true; sp[Y(a,K)] = 1 << pv; act = 0;
  EACH(y, if :: y == a -> pa[y] = 2 :: y != a -> pa[y] = 1 :: y != a -> pa[y] = 2; sp[Y(y,K)] = 1 << pv fi)
}
#endif
/* Q members are seen in this iteration or a later one */
inline gather(a) {
  if :: gth[a] == 0 ->
        d_step { c = SZ(a); EACH(x, if :: x != a && it[x] >= it[a] && stage[x] >= STATUS -> c = c + SZ(x) :: else fi) };
        if :: c >= Q -> gth[a] = GATHER + 1 :: c < Q && c + F >= Q -> if :: gth[a] = GATHER + 1 :: skip fi :: else fi
     :: else fi
}
/* more groups ahead than can be faulty, so one of them is honest */
inline join(a) {
  if :: JOINS(a) ->
     if :: it[a] < K ->
           d_step { c = 0; EACH(x, if :: x != a && it[x] > it[a] && stage[x] >= STATUS -> c = c + SZ(x) :: else fi) };
           e = (TS > TA -> TS : TA);
           if :: c > 0 && c + F > e ->
                 if :: it[a] = it[a] + 1; status(a) :: c <= e fi
              :: else fi;
           e = 0
        :: else fi
  :: else fi
}
inline fire(a) {
  if
  :: stage[a] == REST ->
#ifdef TODAY
     it[a] = 1; status(a)
#else
     say_close(a); gate(a)
#endif
  :: stage[a] == GATED -> status(a)
  :: stage[a] == STATUS -> gather(a);
     if :: gth[a] == 1 ->
           next(a, PROPOSE, L);
#ifdef HL
           if :: a == HL && it[a] == K -> do_propose(a) :: else fi
#endif
        :: else fi
  :: stage[a] == PROPOSE ->
     if :: (LATENESS(a) <= SLACK || LATEWORDS) -> do_vote(a) :: else fi;
     next(a, VOTE, L)
  :: stage[a] == VOTE ->
     if :: (LATENESS(a) <= SLACK || LATEWORDS) -> do_lock(a) :: else fi;
     next(a, LOCK, L)
  :: stage[a] == LOCK -> if :: it[a] < K -> it[a] = it[a] + 1; status(a) :: else -> stage[a] = CLOSED fi
  fi
}
inline events(a) {
  if :: stage[a] == WAIT ->
        if :: left == 0 -> echo(a) :: left > 0 -> if :: echo(a) :: skip fi fi
     :: else fi;
#if LATE > 0
  if :: ul[a] > 0 ->
        if :: ul[a] = 0;
#ifdef LATEECHO
              echo(a);
#endif
              begin_gated(a)
           :: ul[a] > 1 -> skip
        fi
     :: else fi;
#endif
#ifdef TODAY
  join(a);
#else
  gate(a);
  if :: it[a] >= 1 && stage[a] != GATED -> join(a) :: else fi;
#endif
  if :: (stage[a] == REST || stage[a] >= GATED) && cnt[a] == 0 ->
#if JITTER > 0
        if :: fire(a) :: lt[a] < JITTER && (!WORDS || stage[a] == PROPOSE || stage[a] == VOTE) -> lt[a] = lt[a] + 1 fi
#else
        fire(a)
#endif
     :: else -> if :: stage[a] == STATUS -> gather(a) :: else fi
  fi
}
inline deliver() {
  i = 0;
  do :: i < NG*NG*(K+1) ->
        if :: av[i] == 1 -> av[i] = 2; k = i % (K+1); h = (i / (K+1)) % NG; g = i / (NG*(K+1));
              if :: k > 0 -> sp[Y(g,k)] = sp[Y(g,k)] | (1 << vt[Y(h,k)]) :: else fi
           :: else fi;
        if :: al[i] > 0 && al[i] < 4 -> al[i] = al[i] + 1 :: else fi; i++
     :: else -> break od;
#ifndef TODAY
  i = 0; do :: i < NG*NG -> if :: cs[i] == 1 -> cs[i] = 2 :: else fi; i++ :: else -> break od;
  EACH(i, if :: gt[i] == 1 -> gt[i] = 2 :: else fi);
#endif
#ifdef HL
  EACH(i, if :: pa[i] == 1 -> pa[i] = 2; sp[Y(i,K)] = sp[Y(i,K)] | (1 << pv) :: else fi);
#endif
  i = 0; g = 0; h = 0; k = 0
}
/* Clears variables that are no longer read, so that equal futures are equal states. */
inline forget() {
  EACH(g, k = 1;
          do :: k <= K -> if :: k < it[g] || (k == it[g] && (stage[g] == LOCK || stage[g] == CLOSED)) -> sp[Y(g,k)] = 0 :: else fi; k++
             :: else -> break od);
  k = 1;
  do :: k <= K ->
        c = 1; EACH(g, if :: it[g] < k || (it[g] == k && stage[g] < VOTE && stage[g] != CLOSED) -> c = 0 :: else fi);
        if :: c -> EACH(g, s0[Y(g,k)] = 0) :: else fi; k++
     :: else -> break od;
#ifndef TODAY
  c = 1; EACH(g, if :: it[g] == 0 -> c = 0 :: else fi);
  if :: c -> EACH(g, cl[g] = 1; gt[g] = 2); i = 0; do :: i < NG*NG -> cs[i] = 2; i++ :: else -> break od :: else fi;
#endif
  i = 0; k = 0; c = 0
}
/* w: the values for which deciding frames exist, as bits */
inline check() {
  w = 0; k = 1;
  do :: k <= K ->
        u = 1;
        do :: u <= 3 ->
              c = 0; EACH(x, if :: lk[Y(x,k)] == u -> c = c + SZ(x) :: else fi);
              if :: COLLUDERS_HELP(c) -> w = w | (1 << u) :: else fi; u++
           :: else -> break od;
        k++
     :: else -> break od;
  c = 1; EACH(x, if :: vt[Y(x,0)] == 0 || vt[Y(x,0)] != vt[Y(0,0)] -> c = 0 :: else fi);
  if :: c -> w = w | (1 << vt[Y(0,0)]) :: else fi;
  assert((w & (w - 1)) == 0);
  over = true;
  EACH(x, if :: !(stage[x] == CLOSED && it[x] >= K) -> over = false :: else fi);
#ifdef HL
  if :: clk == BOUND -> over = true;
        EACH(x, EACH(y, assert(lk[Y(y,K)] > 0 && lk[Y(y,K)] == lk[Y(0,K)] && (x == y || al[Z(x,y,K)] >= 2))))
     :: else fi;
#endif
  w = 0; k = 0; u = 0; c = 0
}
/* i: number of ticks that may pass at once, since no choice is open and no message is in transit */
inline idle() {
  i = 255;
  EACH(x, if :: stage[x] == WAIT || stage[x] == UNOPENED || it[x] != it[0] || (stage[x] == STATUS && gth[x] == 0) -> i = 0
             :: else -> if :: stage[x] != CLOSED && cnt[x] <= i -> i = (cnt[x] > 0 -> cnt[x] - 1 : 0) :: else fi;
                        if :: stage[x] == CLOSED && it[x] < K -> i = 0 :: else fi
          fi);
  k = 0;
  do :: k < NG*NG*(K+1) -> if :: av[k] == 1 || (al[k] > 0 && al[k] < 4) -> i = 0 :: else fi; k++ :: else -> break od;
#ifndef TODAY
  if :: it[0] == 0 -> i = 0 :: else fi;
#endif
#if LATE > 0
  EACH(x, if :: ul[x] > 0 -> i = 0 :: else fi);
#endif
#ifdef HL
  EACH(x, if :: pa[x] == 1 -> i = 0 :: else fi);
  if :: i > 200 || clk + i >= BOUND -> i = 0 :: else fi;
  clk = clk + i;
#endif
  if :: i == 255 -> i = 0 :: else fi;
  EACH(x, if :: cnt[x] > 0 && stage[x] != CLOSED -> cnt[x] = cnt[x] - i :: else fi;
          if :: gth[x] > i -> gth[x] = gth[x] - i :: gth[x] > 0 && gth[x] <= i -> gth[x] = 1 :: else fi);
  i = 0; k = 0
}
init {
  atomic { stage[0] = REST; cnt[0] = FAST; say_vote(0, 0, 1) };
  do
  :: over -> break
  :: !over ->
     atomic {
       d_step {
         idle(); deliver();
         EACH(i, if :: cnt[i] > 0 -> cnt[i] = cnt[i] - 1 :: else fi;
                 if :: gth[i] > 1 -> gth[i] = gth[i] - 1 :: else fi);
#if LATE > 0
         EACH(i, if :: ul[i] > 1 -> ul[i] = ul[i] - 1 :: else fi);
#endif
         if :: left > 0 -> left-- :: else fi;
         c = 0; EACH(i, if :: stage[i] == WAIT -> c = 1 :: else fi);
         if :: c == 0 -> left = 0 :: else fi;
#ifdef HL
         if :: c == 0 -> clk++ :: else fi;
#endif
         c = 0
       };
       /* in either order */
       if :: ord = 0 :: ord = 1 fi;
       i = 0;
       do :: i < NG -> if :: ord == 0 -> g = i :: else -> g = NG - 1 - i fi; events(g); i++ :: else -> break od;
       d_step { i = 0; g = 0; ord = 0; check(); forget() }
     }
  od
}

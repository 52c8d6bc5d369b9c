/* SEAL on one entry of the vector (docs/seal.md; node/protocol/seal/): absent, present or equivocated as
 * each honest member echoes it, then K iterations of the slow path. Signatures are abstract; rounds are justified
 * by skew.pml. Honest members are 0..H-1; a Byzantine member may send anything to any member; ASLEEP of them are absent.
 * Values: 1 present, 2 equivocated, 3 absent (as echoed), 4 a leader's merge.
 * Claims: no two honest members decide differently; if all echo one value no other is decided; an honest leader's
 * iteration decides. Negative controls: F=2 (one fault above the bound), FASTQ (a quorum decides fast), NOLOCK (votes
 * ignore locks). smt/thresholds covers a quorum that is too small by one: its fork needs an untimely network.
 * Abstraction of a merge: a voter accepts it unless it omits something that the voter echoed. An honest leader includes
 * everything it holds, so all voters accept its merge; a Byzantine leader chooses which voters accept. */
#ifndef N
#define N 3
#endif
#ifndef F
#define F 1
#endif
#ifndef TS
#define TS 1
#endif
#ifndef TA
#define TA 0
#endif
#ifndef K
#define K 2
#endif
#ifndef ASLEEP
#define ASLEEP 0
#endif
#define H (N-F)
#define B (F-ASLEEP)           /* Byzantine members that are not absent */
#define Q (N-TS)
#define MERGE 4
byte echo_[H]; byte lockr[H]; byte lockv[H]; byte dec[H]; byte vote[H]; bool com[H];
byte he[5]; byte hv[5]; byte cm[5];
bool cert[(K+1)*5];            /* cert[r*5+v]: Q echoes (r = 0) or Q votes of iteration r can be shown */
byte p, q, k, v, pv, pr, best, c, need_; bool honest_leader, conflict, ok;

inline decide(i, val) {
  dec[i] = val;
  q = 0; do :: q < H -> assert(dec[q] == 0 || dec[q] == val); q++ :: q >= H -> break od; q = 0
}
/* Among Q statuses without a lock, w of which say x: does x have the Q - TA supporters that force it? The honest
 * members without a lock that echoed x may all be chosen; Byzantine members add any statuses. */
inline may_force(x) {
  c = 0; p = 0; do :: p < H -> if :: lockr[p] == 0 && echo_[p] == x -> c++ :: else fi; p++ :: p >= H -> break od; p = 0;
  ok = (c + B >= Q - TA)
}
/* Can Q statuses be shown of which none forces? All honest without a lock are n0; at most Q-TA-1 of each value. */
inline may_merge() {
  need_ = B; v = 1;
  do :: v <= 3 ->
        c = 0; p = 0;
        do :: p < H -> if :: lockr[p] == 0 && echo_[p] == v -> c++ :: else fi; p++ :: p >= H -> break od; p = 0;
        if :: c > Q - TA - 1 -> need_ = need_ + Q - TA - 1 :: else -> need_ = need_ + c fi;
        v++
     :: v > 3 -> break od; v = 0;
  ok = (need_ >= Q)
}
init {
  atomic {
    p = 0; do :: p < H -> if :: echo_[p] = 1 :: echo_[p] = 2 :: echo_[p] = 3 fi; he[echo_[p]]++; p++ :: p >= H -> break od;
    v = 1; do :: v <= 3 -> cert[v] = (he[v] > 0 && he[v] + B >= Q); v++ :: v > 3 -> break od;
    /* fast path and rank-0 lock: honest echoes reach all, Byzantine ones reach any subset */
    p = 0;
    do :: p < H ->
          v = echo_[p];
#ifdef FASTQ
          if :: cert[v] -> if :: decide(p, v) :: skip fi :: else fi;
#else
          if :: he[v] == H -> if :: decide(p, v) :: B > 0 fi :: else fi;
#endif
          if :: he[v] >= Q -> lockr[p] = 1; lockv[p] = v
             :: he[v] < Q && cert[v] -> if :: lockr[p] = 1; lockv[p] = v :: skip fi
             :: else fi;
          p++
       :: p >= H -> break od;
    p = 0; v = 0
  };
  k = 1;
  do
  :: k <= K ->
     atomic {
       p = 0; do :: p < H -> vote[p] = 0; com[p] = false; p++ :: p >= H -> break od; p = 0;
       hv[1] = 0; hv[2] = 0; hv[3] = 0; hv[4] = 0; cm[1] = 0; cm[2] = 0; cm[3] = 0; cm[4] = 0;
       if :: honest_leader = true :: B > 0 -> honest_leader = false fi;
       if
       :: honest_leader ->
          /* the highest lock of the honest, or one that a Byzantine member shows */
          best = 0; pv = 0;
          p = 0; do :: p < H -> if :: lockr[p] > best -> best = lockr[p]; pv = lockv[p] :: else fi; p++ :: p >= H -> break od; p = 0;
          pr = best;
          if :: B > 0 ->
                if :: skip
                   :: pr = best; do :: pr < k -> pr++ :: break od; v = 1; do :: v < MERGE -> v++ :: break od;
                      if :: pr > 0 && pr >= best && cert[(pr-1)*5+v] -> pv = v :: else -> pr = best fi
                fi
             :: else fi;
          v = 0;
          if :: pr == 0 ->
                may_force(1); if :: ok -> pv = 1 :: else -> may_force(2);
                if :: ok -> pv = 2 :: else -> may_force(3); if :: ok -> pv = 3 :: else -> pv = MERGE fi fi fi
             :: else fi;
          p = 0;
          do :: p < H ->
#ifdef NOLOCK
                vote[p] = pv; hv[pv]++;
#else
                if :: pr >= lockr[p] -> vote[p] = pv; hv[pv]++ :: else fi;
#endif
                p++
             :: p >= H -> break od; p = 0
       :: else ->
          /* any valid proposal, possibly a different one or none to each honest member */
          p = 0;
          do :: p < H ->
                v = 1; do :: v < MERGE -> v++ :: break od;
                pv = v;
                if :: skip
                   :: pr = 1; do :: pr < k -> pr++ :: break od;
#ifdef NOLOCK
                      if :: cert[(pr-1)*5+pv] -> vote[p] = pv; hv[pv]++ :: else fi
#else
                      if :: cert[(pr-1)*5+pv] && pr >= lockr[p] -> vote[p] = pv; hv[pv]++ :: else fi
#endif
                   :: lockr[p] == 0 ->
                      if :: pv == MERGE -> q = p; may_merge(); p = q; q = 0 :: pv < MERGE -> q = p; may_force(pv); p = q; q = 0 fi;
                      if :: ok -> vote[p] = pv; hv[pv]++ :: else fi
                fi;
                p++
             :: p >= H -> break od; p = 0
       fi;
       v = 1; do :: v <= MERGE -> cert[k*5+v] = (hv[v] > 0 && hv[v] + B >= Q); v++ :: v > MERGE -> break od;
       /* voters forward the proposal, so two voted values show two proposals to everybody */
       conflict = ((hv[1] > 0) + (hv[2] > 0) + (hv[3] > 0) + (hv[4] > 0)) > 1;
       v = 0; pv = 0; pr = 0; best = 0; c = 0; need_ = 0; ok = false
     };
     atomic {
       p = 0;
       do :: p < H ->
             v = 1;
             do :: v <= MERGE ->
                   if :: !conflict && !com[p] && hv[v] >= Q -> com[p] = true; cm[v]++; lockr[p] = k+1; lockv[p] = v
                      :: !conflict && !com[p] && hv[v] < Q && cert[k*5+v] ->
                         if :: com[p] = true; cm[v]++; lockr[p] = k+1; lockv[p] = v :: skip fi
                      :: else fi;
                   v++
                :: v > MERGE -> break od;
             p++
          :: p >= H -> break od; p = 0; v = 0;
       /* LOCKs reach all before the next iteration, and so do the votes they rest on */
       p = 0;
       do :: p < H ->
             v = 1;
             do :: v <= MERGE ->
                   if :: cm[v] > 0 && lockr[p] < k+1 -> lockr[p] = k+1; lockv[p] = v
                      :: cm[v] == 0 && cert[k*5+v] && lockr[p] < k+1 -> if :: lockr[p] = k+1; lockv[p] = v :: skip fi
                      :: else fi;
                   v++
                :: v > MERGE -> break od;
             p++
          :: p >= H -> break od; p = 0; v = 0;
       p = 0;
       do :: p < H ->
             v = 1;
             do :: v <= MERGE ->
                   if :: cm[v] >= Q -> decide(p, v)
                      :: cm[v] > 0 && cm[v] < Q && cm[v] + B >= Q -> if :: decide(p, v) :: skip fi
                      :: else fi;
                   v++
                :: v > MERGE -> break od;
             p++
          :: p >= H -> break od; p = 0; v = 0;
       if :: honest_leader && F <= TS -> p = 0; do :: p < H -> assert(dec[p] != 0); p++ :: p >= H -> break od :: else fi;
       v = 1;
       do :: v <= 3 ->
             if :: he[v] == H -> p = 0; do :: p < H -> assert(dec[p] == 0 || dec[p] == v); p++ :: p >= H -> break od
                :: else fi;
             v++
          :: v > 3 -> break od;
       p = 0; v = 0; honest_leader = false; conflict = false
     };
     k++
  :: k > K -> break
  od
}

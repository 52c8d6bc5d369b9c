/* May a member send its PROOF with its ECHO of seal B, before B is decided (decisions/0009)? n = 3, member 2 is
 * Byzantine, 1-bit coins, at most two draws. Member 2 chooses, after it saw the others' PROOFs, whether each honest
 * member gets its REVEAL of draw 0 in time and whether that is good or bad; it may sign both. An honest member that
 * holds a full set of good REVEALs when it echoes mixes them and signs its PROOF for that coin. Seal B then decides any
 * entry whose message exists (more than SEAL allows). Unless it is a good REVEAL, all reveal draw 1 without member 2.
 * Claims: an honest member signs one PROOF per slot; each member has one that counts in seal C, or it would be
 * dropped; a PROOF that counts was made for the decided coin.
 * Here the slot of a PROOF names its draw. Negative controls: ONESLOT (it does not, as in the code: the signer
 * never signs a slot twice, so a member that sent a PROOF too early can send no other), ONESLOT NOENTRY (nor does a
 * PROOF name its parent: one for a void coin counts), EARLY (a member that lacks a REVEAL at its deadline mixes the
 * received ones). */
#define ABSENT 0
#define GOOD 1
#define BAD 2
#define EQUIVOCATED 3
#define NONE 9
/* The decision that a PROOF builds on: all REVEALs of draw 0, those but member 2's, or those of draw 1. */
#define FULL 0
#define SHORT 1
#define SECOND 2
bit first0, first1, evil, second0, second1;   /* coins: of draw 0, and of draw 1 */
byte came[2];                                 /* its REVEAL, as each honest member holds it when it echoes */
byte said[4];                                 /* by member * 2 + slot: coin + 2 * base decision of its PROOF */
byte decided, draw, want, m, slot;
bool good_exists, bad_exists;

#ifdef ONESLOT
#define SLOT(d) 0
#else
#define SLOT(d) d
#endif

/* A signed slot is never signed again (node/protocol/lasting/signer.h). */
inline sign(who, d, coin, stand) {
  slot = who * 2 + SLOT(d);
  if
  :: said[slot] == NONE -> said[slot] = (coin) + 2 * (stand)
  :: else -> skip
  fi
}

init {
  atomic {
    if :: first0 = 0 :: first0 = 1 fi; if :: first1 = 0 :: first1 = 1 fi; if :: evil = 0 :: evil = 1 fi;
    if :: second0 = 0 :: second0 = 1 fi; if :: second1 = 0 :: second1 = 1 fi;
    m = 0; do :: m < 4 -> said[m] = NONE; m++ :: m >= 4 -> break od;
    m = 0
  };
  do
  :: m < 2 ->
     atomic {
       if
       :: came[m] = ABSENT
       :: came[m] = GOOD; good_exists = true
       :: came[m] = BAD; bad_exists = true
       fi;
       if
       :: came[m] == GOOD -> sign(m, 0, first0 ^ first1 ^ evil, FULL)
#ifdef EARLY
       :: came[m] != GOOD -> sign(m, 0, first0 ^ first1, SHORT)
#else
       :: else -> skip
#endif
       fi;
       m++
     }
  :: else -> break
  od;
  atomic {
    if
    :: decided = ABSENT
    :: good_exists -> decided = GOOD
    :: bad_exists -> decided = BAD
    :: good_exists && bad_exists -> decided = EQUIVOCATED
    fi;
    if
    :: decided == GOOD -> draw = 0; want = (first0 ^ first1 ^ evil) + 2 * FULL
    :: else -> draw = 1; want = (second0 ^ second1) + 2 * SECOND
    fi;
    m = 0
  };
  do
  :: m < 2 ->
     atomic {
       sign(m, draw, want % 2, want / 2);
#ifndef NOENTRY
       assert(said[slot] / 2 == want / 2);          /* else it counts as absent */
#endif
       assert(said[slot] == want);
       m++
     }
  :: else -> break
  od
}

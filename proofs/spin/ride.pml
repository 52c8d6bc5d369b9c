/* May a member say its PROOF with its ECHO of seal B, before B is decided (decisions/0009)? n = 3, member 2 is
 * Byzantine, 1-bit coins, at most two draws. Its REVEAL of draw 0 comes to each honest member in time or not, good or
 * bad, as it likes and after it saw the others' PROOFs; both may be signed. Who holds a full set of good REVEALs when
 * it echoes mixes them and signs its PROOF for that coin. Seal B then decides any entry whose message exists
 * (that is more than SEAL allows); anything but a good one has all reveal draw 1, where member 2 is left out.
 * Claims: an honest member signs one PROOF a slot; each has one that counts in seal C, or it would be dropped; what
 * counts is made for the coin that was decided.
 * Here the slot of a PROOF names its draw. Negative controls: ONESLOT (it does not, as it is built: the signer never
 * signs a slot twice, so who spoke too early has nothing to say), ONESLOT NOENTRY (nor does a PROOF name the
 * decision that it stands on: one for a void coin counts), EARLY (who lacks a REVEAL at its deadline mixes what came). */
#define ABSENT 0
#define GOOD 1
#define BAD 2
#define EQUIVOCATED 3
#define NONE 9
/* The decision that a PROOF stands on: all REVEALs of draw 0, those but member 2's, or those of draw 1. */
#define FULL 0
#define SHORT 1
#define SECOND 2
bit first0, first1, evil, second0, second1;   /* coins: of draw 0, and of draw 1 */
byte came[2];                                 /* its REVEAL, as each honest member holds it when it echoes */
byte said[4];                                 /* by member * 2 + slot: coin + 2 stand of its PROOF */
byte decided, draw, want, m, slot;
bool good_exists, bad_exists;

#ifdef ONESLOT
#define SLOT(d) 0
#else
#define SLOT(d) d
#endif

/* What was said in a slot stays said (node/protocol/parts/signer.h). */
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

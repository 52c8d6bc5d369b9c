/* Ban agreement over two steps (docs/protocol/removals.md; node/protocol/lasting/charges.cpp, node/protocol/rules/judgement.cpp).
 * Honest members 0..H-1, the liar is member H. It signs two messages for one slot and shows the pair to any
 * member at any time. A member that holds the pair puts it into its next PROOF. Seal C gives all honest members one
 * vector: honest PROOFs are present (the network is timely); the liar's is absent or has any content, which may be a
 * false accusation of an honest member. The block bans every member that sealed evidence convicts.
 * Claims: after each step the bans of all honest members are equal; no honest member is banned; if an honest member
 * held the pair before its PROOF of step t, block t bans the liar: proof that one member holds reaches all.
 * Negative controls: LOCAL (a member bans by the evidence that it holds itself), GULLIBLE (an accusation needs no proof),
 * FORGET (a drop erases evidence that is not sealed yet). */
#define H 3
#define LIAR H
#define STEPS 2
bool holds[H]; bool said[H]; bool banned[H*4]; bool dropped, block_bans[4]; bool known;
byte i, j, t, accused;
init {
  t = 0;
  do
  :: t < STEPS ->
     atomic {
       i = 0; known = false;
       do :: i < H ->
             if :: holds[i] = true :: skip fi;      /* the liar shows it, or a relay passes it on */
             said[i] = holds[i];
             if :: said[i] -> known = true :: else fi;
             i++
          :: i >= H -> break od;
       j = 0; do :: j < 4 -> block_bans[j] = false; j++ :: j >= 4 -> break od;
       i = 0; do :: i < H -> if :: said[i] -> block_bans[LIAR] = true :: else fi; i++ :: i >= H -> break od;
       if                                          /* the liar's own PROOF: absent, empty, or a false file */
       :: dropped = true
       :: skip
       :: accused = 0; do :: accused < H - 1 -> accused++ :: break od;
#ifdef GULLIBLE
          block_bans[accused] = true
#else
          skip                                      /* Verify: no honest member signs the content of evidence */
#endif
       fi;
       i = 0;
       do :: i < H ->
             j = 0;
             do :: j < 4 ->
#ifdef LOCAL
                   if :: (j == LIAR && holds[i]) || (j < H && block_bans[j]) -> banned[i*4+j] = true :: else fi;
#else
                   if :: block_bans[j] -> banned[i*4+j] = true :: else fi;
#endif
                   j++
                :: j >= 4 -> break od;
             i++
          :: i >= H -> break od;
       if :: holds[0] = true :: skip fi;            /* too late for this PROOF */
       known = holds[0];
#ifdef FORGET
       if :: dropped -> i = 0; do :: i < H -> holds[i] = false; i++ :: i >= H -> break od :: else fi;
#endif
       assert(!known || holds[0] || banned[LIAR]);  /* unsealed evidence is kept for the next PROOF */
       i = 0; known = false;
       do :: i < H -> if :: said[i] -> known = true :: else fi; i++ :: i >= H -> break od
     };
     atomic {
       j = 0;
       do :: j < 4 ->
             assert(banned[j] == banned[4+j] && banned[j] == banned[8+j]);
             if :: j < H -> assert(!banned[j]) :: else fi;
             j++
          :: j >= 4 -> break od;
       if :: known -> assert(banned[LIAR]) :: else fi;
       i = 0; j = 0
     };
     t++
  :: t >= STEPS -> break
  od;
}

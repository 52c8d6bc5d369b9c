#!/usr/bin/env python3
"""Thresholds for all n at once (docs/protocol.md 1, docs/protocol/), by z3: each claim's negation has no model.

usage: thresholds.py        needs Debian's python3-z3
"""
import sys

import z3

n, t_s, t_a, f = z3.Ints("n t_s t_a f")
Q = n - t_s
BASE = [n > 0, t_a >= 0, t_s >= t_a, 2 * t_s + t_a < n]
bound = z3.If(t_s >= t_a, t_s, t_a)
b, senders, bad, k, dropped = z3.Ints("b senders bad k dropped")


def share(t, numerator, denominator, genesis_t_a, members):
    """t = min(floor(members x numerator / denominator), floor((members - 1 - t_a) / 2))."""
    by_share, by_quorum = z3.Int("by_share"), z3.Int("by_quorum")
    return [by_share * denominator <= members * numerator, (by_share + 1) * denominator > members * numerator,
            2 * by_quorum <= members - 1 - genesis_t_a, 2 * (by_quorum + 1) > members - 1 - genesis_t_a,
            t == z3.If(by_share < by_quorum, by_share, by_quorum)]


# claim, assumptions, conclusion that must follow; for a control: that must not follow
CLAIMS = [
    ("two quorums share more than t_a members: asynchronous safety", BASE, 2 * Q - n > t_a),
    ("a quorum has an honest member", BASE, Q > t_s),
    ("the honest alone are a quorum", BASE + [f >= 0, f <= t_s], n - f >= Q),
    ("supporters of a forced value include an honest one", BASE, Q - t_a > t_s),
    ("of a quorum at most one value is forced", BASE, 2 * (Q - t_a) > Q),
    ("more than the bound include an honest one", BASE + [f >= 0, f <= t_s], bound + 1 > f),
    ("more than the bound can be had from the honest", BASE + [f >= 0, f <= t_s], n - f >= bound + 1),
    ("a ban of a liar leaves the thresholds valid", BASE + [t_s > t_a], 2 * (t_s - 1) + t_a < n - 1),
    ("majority mode: t_s is always valid", [n >= 3, t_a == 1, *share(t_s, 1, 2, t_a, n)], 2 * t_s + t_a < n),
    ("t_s recomputed after a removal falls by one at most, and never rises",
     [n >= 4, t_a == 1, *share(t_s, 1, 2, t_a, n), 2 * k <= n - 1 - 1 - t_a, 2 * (k + 1) > n - 1 - 1 - t_a],
     z3.And(k <= t_s, k >= t_s - 1)),
    ("2b + 1 senders have an honest majority", [b >= 0, bad >= 0, bad <= b, senders >= 2 * b + 1],
     senders - bad > bad),
    ("absent members asleep up to t_s - t_a leave a quorum awake beside t_a faulty ones",
     BASE + [k >= 0, k <= t_s - t_a], n - k - t_a >= Q),
    ("a block that drops more than the bound cannot be timely", BASE + [f >= 0, f <= t_s, dropped > bound],
     dropped > f),
]
CONTROLS = [
    ("an honest member dropped keeps the thresholds valid", BASE, 2 * t_s + t_a < n - 1),
    ("a quorum less one still shares more than t_a", BASE, 2 * (Q - 1) - n > t_a),
    ("2b senders have an honest majority", [b >= 1, bad >= 0, bad <= b, senders >= 2 * b], senders - bad > bad),
    ("one more asleep leaves a quorum", BASE + [k >= 0, k <= t_s - t_a + 1], n - k - t_a >= Q),
]


def follows(assumptions, claim):
    solver = z3.Solver()
    solver.add(*assumptions, z3.Not(claim))
    answer = solver.check()
    if answer == z3.unknown:
        sys.exit("z3 gives up: " + solver.reason_unknown())
    return answer == z3.unsat


def main():
    wrong = 0
    for expected, claims in ((True, CLAIMS), (False, CONTROLS)):
        for name, assumptions, claim in claims:
            came = follows(assumptions, claim)
            wrong += came != expected
            print(f"{'ok' if came == expected else 'WRONG':5} {'holds' if came else 'FAILS'}  {name}")
            # Contradictory assumptions would imply any conclusion.
            if follows(assumptions, z3.BoolVal(False)):
                print("WRONG        no values satisfy the assumptions of the line above")
                wrong += 1
    print("all as expected" if not wrong else f"{wrong} came out wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

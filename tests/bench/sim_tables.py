#!/usr/bin/env python3
"""A table of docs/benchmarks.md or docs/measurements that the simulator measures: steps until the last attacker is gone.

usage: tests/bench/sim_tables.py BINARY [--attacks NAME,...] [--peers N] [--byzantine B] [--mode MODE]
                                 [--validators M] [--attack-from STEP] [--seeds N] [--steps N]

Prints Markdown and, on stderr, one line an attack. NAME may carry parameters: cover_up:one=1. Steps
are counted from the first misdeed of a run to the ban or drop of the last who made any, over the runs in
which all of them are gone at the end. With --attacks none,...: the loss when nobody cheats. A run
that a checker fails ends the program with exit code 1.
"""
import argparse

from measured import by_rule, measured

ATTACKS = "none,sign_flip,random_direction,label_flip,alie,ipm"


def sim(args, attack):
    """The runs of one attack, as a dict; `byzantine` is how many attackers a run has."""
    name, *params = attack.split(":")
    byzantine = 0 if name == "none" else args.byzantine
    options = ["--peers", args.peers, "--byzantine", byzantine, "--mode", args.mode, "--validators", args.validators,
               "--attack", name, "--attack-from", args.attack_from, "--steps", args.steps, "--seeds", f"1..{args.seeds}"]
    for param in params:
        options += ["--attack-param", param]
    result = measured(args.binary, "sim", *options, wrong="failures")
    return result | {"byzantine": byzantine}


def row(args, attack):
    result = sim(args, attack)
    steps = result["detection_steps"]
    byzantine, honest = (result["banned"][kind] + result["dropped"][kind] for kind in ("byzantine", "honest"))
    found = (f"{steps['mean']:.1f}", steps["p95"]) if byzantine else ("-", "-")
    cells = [attack.replace(":", " "), *found, f"{byzantine:,} of {result['byzantine'] * args.seeds:,}", honest,
             f"{result['loss']['mean']:.4f}", f"{result['loss']['worst']:.4f}",
             by_rule(result["occurred"]["rules"])]
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--attacks", default=ATTACKS, help="names, with commas between them")
    parser.add_argument("--peers", type=int, default=16)
    parser.add_argument("--byzantine", type=int, default=7)
    parser.add_argument("--mode", default="majority")
    parser.add_argument("--validators", type=int, default=1)
    parser.add_argument("--attack-from", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    print("| attack | steps to the last ban or drop: mean | p95 | bans and drops of attackers | of honest members | "
          "loss: mean | worst | by rule |")
    print("|---|---|---|---|---|---|---|---|")
    for attack in args.attacks.split(","):
        print(row(args, attack), flush=True)


if __name__ == "__main__":
    main()

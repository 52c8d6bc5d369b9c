#!/usr/bin/env python3
"""The table of docs/benchmarks.md that the simulator measures: steps until the last attacker is gone.

usage: tests/bench/sim_tables.py BINARY [--peers N] [--byzantine B] [--seeds N] [--steps N]

Prints a Markdown table and, on stderr, one line an attack. The loss of the same seeds with nobody
cheating stands in the first row. A run that a checker fails ends the program with exit code 1.
"""
import argparse

from measured import measured

ATTACKS = ["none", "sign_flip", "random_direction", "label_flip", "alie", "ipm"]


def sim(binary, *options):
    """One `ostraka sim --json` with these options, as a dict."""
    return measured(binary, "sim", *options, wrong="failures")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--peers", type=int, default=16)
    parser.add_argument("--byzantine", type=int, default=7)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    print("| attack | steps to the last ban: mean | p95 | attackers removed | honest removed | loss: mean | worst |")
    print("|---|---|---|---|---|---|---|")
    for attack in ATTACKS:
        byzantine = 0 if attack == "none" else args.byzantine
        result = sim(args.binary, "--peers", args.peers, "--byzantine", byzantine, "--attack", attack,
                     "--attack-from", 1, "--steps", args.steps, "--seeds", f"1..{args.seeds}")
        steps = result["detection_steps"]
        found = ("-", "-") if attack == "none" else (f"{steps['mean']:.1f}", steps["p95"])
        removed = result["removed"]
        print(f"| {attack} | {found[0]} | {found[1]} | {removed['byzantine']} of {byzantine * args.seeds} | "
              f"{removed['honest']} | {result['loss']['mean']:.4f} | {result['loss']['worst']:.4f} |", flush=True)


if __name__ == "__main__":
    main()

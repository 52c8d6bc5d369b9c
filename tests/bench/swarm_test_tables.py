#!/usr/bin/env python3
"""The tables of docs/measurements/swarm-testing.md, from what `ostraka sim --json` printed.

usage: ostraka sim merge RANGE.json... --json | tests/bench/swarm_test_tables.py

Prints Markdown: what was run, the faults, and by attack how often it occurred and which rules
removed those who made it.
"""
import json
import sys

from measured import by_rule


def main():
    result = json.load(sys.stdin)
    seeds, steps, slow = (result[key] for key in ("seeds", "steps", "slow_steps"))
    print(f"{seeds:,} seeds, {steps:,} steps, {result['events']:,} events; {slow:,} steps ({slow / steps:.1%}) took a slow "
          f"path; {result['run_twice']:,} seeds ran twice; {result['stood_still']} stood still; "
          f"{len(result['failures'])} failed a checker.\n")
    print("| fault | times |\n|---|---|")
    for name, count in result["occurred"]["faults"].items():
        print(f"| {name} | {count:,} |")
    print("\n| attack | runs | misdeeds | removals of those who made it, by rule |\n|---|---|---|---|")
    for name, counts in result["occurred"]["attacks"].items():
        print(f"| {name} | {counts['runs']:,} | {counts['misdeeds']:,} | {by_rule(counts['rules'])} |")


if __name__ == "__main__":
    main()

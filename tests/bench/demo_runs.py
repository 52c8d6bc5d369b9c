#!/usr/bin/env python3
"""How far `make demo`'s accuracy scatters, and how often it fails: the table of docs/benchmarks.md, "The demo's target".

usage: tests/bench/demo_runs.py BINARY --runs 200 --file RUNS.jsonl [OPTION OF ostraka swarm ...]

Every other run has the demo's own seed, 0: real nodes draw their coins anew, so it is another run each time; the
others have seeds of their own. A line of FILE is one run, so that what was interrupted goes on where it was. Exit
code 1 if any run failed.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path


def one(binary, seed, options):
    begin = time.monotonic()
    done = subprocess.run([binary, "swarm", "--json", "--seed", str(seed), *options],
                          capture_output=True, text=True)
    try:
        result = json.loads(done.stdout)
    except json.JSONDecodeError:
        result = {"problems": [done.stderr.strip() or f"exit {done.returncode}"], "metric": None}
    return {"seed": seed, "exit": done.returncode, "seconds": round(time.monotonic() - begin, 1),
            "value": result["metric"] and result["metric"]["value"], "problems": result["problems"]}


def table(runs):
    print("| seeds | runs | accuracy: mean | sd | min | max | failed | mean - 5 sd |")
    print("|---|---|---|---|---|---|---|---|")
    for name, chosen in (("0", [r for r in runs if r["seed"] == 0]),
                         ("others", [r for r in runs if r["seed"] != 0]), ("all", runs)):
        values = [r["value"] for r in chosen if r["value"] is not None]
        if len(values) < 2:
            continue
        mean, sd = statistics.mean(values), statistics.stdev(values)
        print(f"| {name} | {len(chosen)} | {mean:.4f} | {sd:.4f} | {min(values):.4f} | {max(values):.4f} | "
              f"{sum(r['exit'] != 0 for r in chosen)} | {mean - 5 * sd:.4f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--file", type=Path, required=True)
    args, options = parser.parse_known_args()
    runs = [json.loads(line) for line in args.file.read_text().splitlines()] if args.file.exists() else []
    while len(runs) < args.runs:
        index = len(runs)
        runs.append(one(args.binary, 0 if index % 2 == 0 else index, options))
        with args.file.open("a") as file:
            file.write(json.dumps(runs[-1]) + "\n")
        print(json.dumps(runs[-1]), file=sys.stderr, flush=True)
    table(runs)
    sys.exit(any(run["exit"] != 0 for run in runs))


if __name__ == "__main__":
    main()

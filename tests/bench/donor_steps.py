#!/usr/bin/env python3
"""What it costs the members of a run that a newcomer fetches a state from them (docs/measurements/coming-and-going.md).

usage: OSTRAKA=BINARY tests/bench/donor_steps.py [--nodes 8] [--hidden 33000] [--kib 256] [--before 30]

Real nodes on this machine; the newcomer's line to each of them brings so many KiB a second. Printed: the members' median step
before it comes, and while it fetches the state, by the times of the first member's events; and how long the fetch took.
"""
import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness  # noqa: E402
from hiccup import Watched  # noqa: E402
from slow_lines import SlowLines  # noqa: E402


def await_rows(folder, query):
    harness.wait_until(lambda: harness.ledger_rows(folder, query), query)
    return time.monotonic()


def median_step(steps, begin, end):
    times = [at for at, _ in steps if begin <= at <= end]
    durations = [after - before for before, after in zip(times, times[1:])]
    return statistics.median(durations), len(durations)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--hidden", type=int, default=33000)
    parser.add_argument("--kib", type=int, default=256)
    parser.add_argument("--before", type=int, default=30)
    options = parser.parse_args()
    harness.DEADLINE_S = 600
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        moderator = harness.expect_ok("key", "new", folder / "moderator.key", "--no-passphrase").strip()
        run = harness.Run(folder / "run", count=options.nodes, steps=10000, model="mlp",
                          options=["--hidden", options.hidden, "--moderator", moderator])
        lines = SlowLines(run)
        link = harness.expect_ok("invite", "new", "--manifest", run.manifest, "--key", folder / "moderator.key").strip()
        nodes = [Watched(run.start(i)) for i in range(options.nodes)]
        nodes[0].await_steps(options.before)
        lines.rate = options.kib * 1024
        asked = time.monotonic()
        newcomer = Watched(harness.Running("join", link, "--data-dir", folder / "newcomer", "--events"))
        first = await_rows(folder / "newcomer", "SELECT part FROM state_parts LIMIT 1")
        whole = await_rows(folder / "newcomer", "SELECT height FROM states LIMIT 1")
        size = harness.ledger_rows(folder / "newcomer", "SELECT size FROM states")[0][0]
        before, count_before = median_step(nodes[0].steps()[5:], 0, asked)
        during, count_during = median_step(nodes[0].steps(), first, whole)
        print(f"{options.nodes} nodes, a state of {size / 1e6:.1f} MB over lines of {options.kib} KiB/s: {whole - first:.2f} s")
        print(f"median step before: {before:.3f} s ({count_before}); while it is fetched: {during:.3f} s ({count_during}); {during / before:.2f} x")
        for node in [*nodes, newcomer]:
            node.running.process.kill()
            node.thread.join()
        lines.close()
        run.close()


if __name__ == "__main__":
    main()

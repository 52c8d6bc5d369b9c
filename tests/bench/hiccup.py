#!/usr/bin/env python3
"""What a hiccup of an honest node costs: the table of docs/operating.md, "Slow machines".

usage: OSTRAKA=BINARY tests/bench/hiccup.py [--seconds 1,5,30] [--runs 5] [--nodes 5] [--delta-ms 1000]
                                           [--part-floor-ms N]

Real nodes on this machine, with the manifest's default deadlines, or with an adaptive wait for parts that has come
down to its floor. One is stopped (SIGSTOP) in the middle of the run for
so long and goes on (SIGCONT). Printed: how long the others waited for their next step, how long after it went on it was
a member again (null: not within 60 steps), what of its allowance it was charged with at most, and what a block removed it for.
"""
import argparse
import json
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
import harness  # noqa: E402


class Watched:
    """A node whose events are read as they come, each with the time of its arrival."""

    def __init__(self, running):
        self.running, self.events = running, []
        running.deadline = time.monotonic() + 900
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        for name, line in self.running._lines():
            if name == "stdout":
                self.events.append((time.monotonic(), json.loads(line)))

    def steps(self):
        return [(at, event["step"]) for at, event in list(self.events) if event.get("event") == "step"]

    def await_steps(self, count):
        end = time.monotonic() + 600
        while len(self.steps()) < count and self.thread.is_alive() and time.monotonic() < end:
            time.sleep(0.05)


def status(folder):
    done = harness.run("status", folder, "--json")
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return {}


# A step takes a fiftieth from the wait for parts: so many take it from 10 s to below 2 s.
DESCENT = 85


def measure(seconds, nodes, delta_ms, steps, part_floor_ms):
    with tempfile.TemporaryDirectory() as folder:
        made = harness.Run(folder, count=nodes, steps=steps)
        made.replace("delta_ms = 250", f"delta_ms = {delta_ms}")
        if part_floor_ms:
            made.replace("adaptive = false", "adaptive = true")
            made.replace("part_floor_ms = 4000", f"part_floor_ms = {part_floor_ms}")
        watched = [Watched(made.start(i)) for i in range(nodes)]
        try:
            watched[0].await_steps(DESCENT if part_floor_ms else 30)
            began, before = time.monotonic(), len(watched[0].steps())
            watched[-1].running.signal(signal.SIGSTOP)
            time.sleep(seconds)
            watched[-1].running.signal(signal.SIGCONT)
            resumed, used, away, following, end = time.monotonic(), 0, 0, False, time.monotonic() + 420
            while time.monotonic() < end and len(watched[0].steps()) < before + 60:
                own = status(made.data_dir(nodes - 1))
                used = max(used, own.get("slow", {}).get("used_ms", 0))
                following = own.get("phase") in (None, "follow")
                away = time.monotonic() - resumed if following else away
                time.sleep(0.1)
            seen = watched[0].steps()
            gaps = [b[0] - a[0] for a, b in zip(seen, seen[1:]) if b[0] >= began]
            removals = status(made.data_dir(0)).get("removals", [])
            return {"seconds": seconds, "longest_step_s": round(max(gaps), 2),
                    "member_again_s": None if following else round(away, 2), "charged_ms": used,
                    "removals": [f"{one['kind']}: {one['reason']}" for one in removals]}
        finally:
            for one in watched:
                one.running.signal(signal.SIGKILL)
                one.thread.join()
                one.running.close()
            made.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", default="1,5,30")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=5)
    parser.add_argument("--delta-ms", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--part-floor-ms", type=int, default=0, help="adaptive; 0: not")
    args = parser.parse_args()
    for seconds in args.seconds.split(","):
        for _ in range(args.runs):
            print(json.dumps(measure(float(seconds), args.nodes, args.delta_ms, args.steps,
                                     args.part_floor_ms)), flush=True)


if __name__ == "__main__":
    main()

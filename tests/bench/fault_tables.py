#!/usr/bin/env python3
"""What faults cost a swarm of real nodes: the fault tables of docs/benchmarks.md and docs/measurements/faults.md.

usage: tests/bench/fault_tables.py BINARY [--steps N] [--fault NAME ...]

Eight nodes on loopback, the mlp on digits; from step `FROM` on one of them (or several, as for
`silent`) are faulty. Each row is as one honest node sees it: the median step before and after, the
longest step (the single cost of the fault), the number of seals on the slow path, the largest memory
of an honest node, and the outcome for the faulty members. If honest nodes do not finish, or end with
different states, the program ends with exit code 1, since failed runs are no measurement.
"""
import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PEERS = 8
FROM = 20     # the first step at fault
AWAY_S = 3.0  # from a kill to the next start


class Node:
    """One process; the lines of its stdout and stderr with the time at which they came."""

    def __init__(self, made, index, options=()):
        fd = made.sockets[index].fileno()
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [os.environ["OSTRAKA"], "node", made.manifest, "--key", made.key(index), "--data-dir",
             made.data_dir(index), "--listen-fd", str(fd), "--events", "--log-level", "info",
             "--evaluate-every", "0", "--checkpoint-every", "0", *map(str, options)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            pass_fds=(fd,), start_new_session=True)
        self.events, self.log = [], []
        self.moved = threading.Condition()
        self.readers = [threading.Thread(target=self.read, args=pair, daemon=True) for pair in
                        ((self.process.stdout, self.take_event), (self.process.stderr, self.take_log))]
        for reader in self.readers:
            reader.start()

    def read(self, file, take):
        for line in file:
            with self.moved:
                take(time.monotonic(), line)
                self.moved.notify_all()
        with self.moved:
            self.moved.notify_all()

    def take_event(self, now, line):
        self.events.append((now, json.loads(line)))

    def take_log(self, now, line):
        self.log.append((now, line))

    def steps(self):
        """When each step was complete, by its number."""
        return {event["step"]: now for now, event in self.events
                if event["event"] == "step" and not event["genesis"]}

    def wait_for_step(self, step):
        with self.moved:
            self.moved.wait_for(lambda: max(self.steps(), default=-1) >= step or
                                self.process.poll() is not None)

    def finish(self):
        code = self.process.wait()
        for reader in self.readers:
            reader.join()
        return code

    def kill(self):
        self.process.kill()
        self.finish()


def kill_and_restart(made, nodes):
    nodes[0].wait_for_step(FROM)
    victim = PEERS - 1
    nodes[victim].kill()
    time.sleep(AWAY_S)
    nodes[victim] = Node(made, victim)


def stop_and_continue(made, nodes):
    del made
    nodes[0].wait_for_step(FROM)
    nodes[PEERS - 1].process.send_signal(signal.SIGSTOP)
    time.sleep(AWAY_S)
    nodes[PEERS - 1].process.send_signal(signal.SIGCONT)


# name: (nodes at fault, their attack and its parameters or None, what is done to the last node meanwhile)
FAULTS = {
    "none": (0, None, None),
    "kill -9, back after 3 s": (0, None, kill_and_restart),
    "stopped for 3 s": (0, None, stop_and_continue),
    "silent": (1, "silent", None),
    "silent x 3": (3, "silent", None),
    "late": (1, "late", None),
    "withhold_echo": (1, "withhold_echo", None),
    "lying_echo": (1, "lying_echo", None),
    "equivocate": (1, "equivocate", None),
    "double_propose": (1, "double_propose", None),
    "abort_coin": (1, "abort_coin", None),
    "withhold_result": (1, "withhold_result", None),
    "wrong_aggregate": (1, "wrong_aggregate", None),
    "flood, 100 a second": (1, "flood most=0", None),
    "flood x 3, 10,000 a second": (3, "flood rate=10000 most=0", None),
}


def measure(harness, folder, name, steps):
    faulty, attack, meanwhile = FAULTS[name]
    made = harness.Run(folder / "run", count=PEERS, steps=steps, model="mlp",
                       options=["--part-timeout-ms", "2000"])
    liars = range(PEERS - faulty, PEERS)
    lie = []
    if attack:
        attack, *params = attack.split()
        lie = ["--attack", attack, "--attack-from", FROM]
        lie += [word for param in params for word in ("--attack-param", param)]
    lie += [word for i in liars for word in ("--colluders", made.ids[i])]
    nodes = [Node(made, i, lie if i in liars else ()) for i in range(PEERS)]
    try:
        if meanwhile:
            meanwhile(made, nodes)
        honest = [node for i, node in enumerate(nodes) if i not in liars]
        codes = [node.finish() for node in honest]
        reports = [node.events[-1][1] for node in honest]
        roots = {report.get("state_root") for report in reports}
        if any(codes) or len(roots) != 1:
            sys.exit(f"{name}: exits {codes}, {len(roots)} states\n" +
                     "".join(line for _, line in honest[0].log[-5:]))
    finally:
        for node in nodes:
            node.kill()
        made.close()
    peak = max(report["peak_rss_bytes"] for report in reports)
    return row(name, nodes, made.ids, set(liars) or ({PEERS - 1} if meanwhile else set()), peak)


def row(name, nodes, ids, at_fault, peak):
    seen = nodes[0]
    done = sorted(seen.steps().items())
    took = {step: (now - before) * 1e3 for (_, before), (step, now) in zip(done, done[1:])}
    before = [ms for step, ms in took.items() if 5 <= step < FROM]
    after = [ms for step, ms in took.items() if step >= FROM]
    slow = [line for _, line in seen.log if re.search(r"step \d+: .*iteration \d+", line)]
    removals = [event for _, event in seen.events if event["event"] == "removal"]
    honest = sum(event["peer"] not in {ids[i] for i in at_fault} for event in removals)
    fate = ", ".join(f"{event['kind']} at {event['step']}" for event in removals[:3]) or "nothing"
    back = [now - nodes[-1].began for now, line in nodes[-1].log if "a member again" in line]
    if back:
        fate += f"; a member again {back[0]:.1f} s after its start"
    return (f"| {name} | {statistics.median(before):.1f} | {statistics.median(after):.1f} | "
            f"{max(after):.0f} | {len(slow)} | {peak / 2**20:.0f} | {fate}{' ...' if len(removals) > 3 else ''} | "
            f"{honest} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--fault", action="append", choices=FAULTS)
    options = parser.parse_args()
    os.environ["OSTRAKA"] = str(options.binary.resolve())
    sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))
    import harness  # reads OSTRAKA

    print("| fault | median step before, ms | median step after, ms | longest step, ms | slow seals | "
          "peak MiB of an honest node | outcome for the faulty members | honest removed |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.fault or FAULTS:
        folder = Path(tempfile.mkdtemp(prefix="ostraka-bench-"))
        try:
            print(measure(harness, folder, name, options.steps), flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

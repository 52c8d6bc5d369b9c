"""Kill -9 at any moment, and what comes of it: no second signature, no lost ban, and a way back.

Short in ctest. The full form, 50 kills:  OSTRAKA_KILLS=50 OSTRAKA_KILL_RUNS=5 (docs/hacking.md).
"""
import json
import os
import random
import subprocess
import time

from harness import OSTRAKA, TestCase, expect_ok, main

SLOT_AUDIT = os.environ["SLOT_AUDIT"]
KILLS = int(os.environ.get("OSTRAKA_KILLS", "3"))
RUNS = int(os.environ.get("OSTRAKA_KILL_RUNS", "1"))
SEED = int(os.environ.get("OSTRAKA_KILL_SEED", "1"))
# A deadline for a run, not a pause: a busy machine is no failure.
RUN_DEADLINE_S = 300
STEPS_A_KILL = 130


class Nodes:
    """Nodes of one run, each with its output in files, for they die and start again."""

    def __init__(self, made, attacks):
        self.made, self.attacks, self.processes, self.files = made, attacks, {}, []
        for index in range(len(made.ids)):
            self.start(index)

    def path(self, index, what):
        return self.made.folder / f"{what}{index}"

    def start(self, index):
        fd = self.made.sockets[index].fileno()
        out, err = (open(self.path(index, name), "ab") for name in ("out", "err"))
        self.files += [out, err]
        options = ["--attack", self.attacks[index]] if index in self.attacks else []
        self.processes[index] = subprocess.Popen(
            [OSTRAKA, "node", self.made.manifest, "--key", self.made.key(index), "--data-dir",
             self.made.data_dir(index), "--listen-fd", str(fd), "--events", "--record-frames",
             self.path(index, "frames"), *options],
            stdout=out, stderr=err, stdin=subprocess.DEVNULL, pass_fds=(fd,),
            start_new_session=True)

    def kill(self, index):
        self.processes[index].kill()
        self.processes[index].wait()

    def events(self, index):
        for line in self.path(index, "out").read_bytes().split(b"\n"):
            try:
                yield json.loads(line)
            except ValueError:
                pass  # cut off by a kill

    def step(self, index):
        return max((event["step"] for event in self.events(index)
                    if event.get("event") == "step"), default=-1)

    def close(self):
        for process in self.processes.values():
            process.kill()
            process.wait()
        for file in self.files:
            file.close()


class KillTest(TestCase):
    def run_with_kills(self, kills, seed):
        rng = random.Random(seed)
        made = self.make_run(count=8, steps=100 + STEPS_A_KILL * kills, model="toy",
                             deadlines_ms=(3000, 60000))
        byzantine = {0: "sign_flip", 1: "sign_flip"}
        honest = [index for index in range(8) if index not in byzantine]
        nodes = Nodes(made, byzantine)
        self.addCleanup(nodes.close)
        deadline = time.monotonic() + RUN_DEADLINE_S
        killed = set()
        for k in range(kills):
            # At some moment while a certain step is on; and again from 0 to 2 s later.
            target = 5 + STEPS_A_KILL * k + rng.randrange(STEPS_A_KILL)
            while max(nodes.step(index) for index in honest) < target:
                self.assertLess(time.monotonic(), deadline, "the run stands still")
                time.sleep(0.02)
            time.sleep(rng.random() * 0.05)
            victim = rng.choice(honest)
            nodes.kill(victim)
            killed.add(victim)
            time.sleep(rng.random() * 2)
            nodes.start(victim)
        roots = set()
        for index in honest:
            process = nodes.processes[index]
            process.wait(timeout=max(1, deadline - time.monotonic()))
            report = list(nodes.events(index))[-1]
            self.assertEqual((index, process.returncode, report["event"]), (index, 0, "report"),
                             nodes.path(index, "err").read_text()[-2000:])
            roots.add(report["state_root"])
        self.assertEqual(len(roots), 1)
        audit = subprocess.run([SLOT_AUDIT, *(nodes.path(i, "frames") for i in honest)],
                               capture_output=True, text=True)
        self.assertEqual(audit.returncode, 0, audit.stdout + audit.stderr)
        print(f"seed {seed}: {kills} kills of {len(killed)} nodes; {audit.stdout.strip()}")
        # Every ledger knows both bans, also those of nodes that were away.
        for index in honest:
            ledger = json.loads(expect_ok("ledger", "show", made.data_dir(index), "--json"))
            gone = {row["peer"]: row["kind"] for block in ledger["blocks"]
                    for row in block["removals"]}
            for honest_index in honest:
                self.assertEqual(gone.get(made.ids[honest_index], "drop"), "drop")
            for cheat in byzantine:
                self.assertEqual(gone.get(made.ids[cheat]), "verdict")
        nodes.close()

    def test_kills_at_random_points(self):
        for r in range(RUNS):
            self.run_with_kills(KILLS // RUNS, SEED + r)


if __name__ == "__main__":
    main()

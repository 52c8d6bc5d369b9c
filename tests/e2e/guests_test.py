"""Ten guests of one link, on members with slow lines: whether they only follow or flood, no member loses its place."""
import json
import os
import signal
import threading
import time

import harness
from harness import Running
from join_case import JoinCase

GUESTS = 10
STEPS = 100
RUNS = int(os.environ.get("OSTRAKA_GUEST_RUNS", "1"))  # of each kind


class GuestsTest(JoinCase):
    def train_beside(self, rate, name):
        """Seconds a step of five members at 600 kB/s beside guests that ask `rate` questions a second."""
        self.folder = self.folder / name
        self.folder.mkdir()
        run = self.open_run(STEPS, "--hidden", 256, count=5, model="mlp")  # 19,210 parameters
        run.replace("\ndelta_ms = 250", "\ndelta_ms = 1000")
        link = self.invite(run, "--uses", GUESTS)
        nodes = self.start_all(run, "--bandwidth", "600K")
        guests = [self.running(Running("join", link, "--data-dir", self.folder / f"guest{i}", "--events",
                                       "--attack", "guest_flood", "--attack-param", f"rate={rate}"))
                  for i in range(GUESTS)]
        linked = [0] * GUESTS  # the most members that each guest was linked with
        for i in range(GUESTS):
            threading.Thread(target=self.watch, args=(guests[i], linked, i), daemon=True).start()
        began = time.monotonic()
        reports = self.await_end(nodes)
        took = (time.monotonic() - began) / STEPS
        for guest in guests:
            guest.signal(signal.SIGKILL)
        self.assertEqual(linked, [len(nodes)] * GUESTS)
        for report in reports:
            self.assertEqual((report["end"], report["member"], report["removals"]), ("finished", True, []), report)
        self.folder = self.folder.parent
        return took

    @staticmethod
    def watch(guest, linked, i):
        """Reads its events to their end, as a node stops whose events nobody reads."""
        for line in guest.process.stdout:
            linked[i] = max(linked[i], json.loads(line).get("up", 0))

    def test_guests_cost_no_member_its_place(self):
        for i in range(RUNS):
            follow = self.train_beside(0, f"follow{i}")
            flood = self.train_beside(100, f"flood{i}")
            print(f"{GUESTS} guests: {follow:.2f} s a step where they follow, {flood:.2f} where they flood", flush=True)


if __name__ == "__main__":
    harness.main()

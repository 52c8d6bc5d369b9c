"""Strangers that leave come back: in their seat, and later by the invite that they have used up."""
import re
import signal
import time

import harness
from harness import Running
from join_case import JoinCase

# Real steps take as long as the machine is busy.
PATIENCE_S = 900
LAST_LINE = re.compile(
    r"it may come back until step (\d+) \(in about [^)]+\), as its seat is kept; "
    r"then by its invite until the run ends, while a seat is free")


class ReturnTest(JoinCase):
    def await_step(self, run, step):
        """The run is at that step, by the ledger of its first node."""
        end = time.monotonic() + PATIENCE_S
        while True:
            rows = harness.ledger_rows(run.data_dir(0), "SELECT MAX(step) FROM blocks")
            if rows and rows[0][0] is not None and rows[0][0] >= step:
                return
            self.assertLess(time.monotonic(), end, f"step {step}")
            time.sleep(0.2)

    def train(self, where, *options):
        """Comes in, or comes back, by a link or a folder; for people."""
        node = self.running(Running("join", where, *options))
        node.deadline = time.monotonic() + PATIENCE_S
        node.wait_for("stderr", lambda line: "a member from step" in line)
        return node

    def leave(self, node):
        """Ctrl-C; its seat is kept until the step that its last line says."""
        node.signal(signal.SIGINT)
        self.assertEqual(node.finish(), 0, node.text["stderr"])
        lines = node.text["stderr"].splitlines()
        left = next(int(found.group(1)) for line in lines
                    if (found := re.search(r"left the run with the block of step (\d+)", line)))
        said = LAST_LINE.fullmatch(lines[-1])
        self.assertTrue(said, lines[-3:])
        self.assertEqual(int(said.group(1)), left + 1000)
        return left

    def test_who_left_politely_is_let_in_again_at_no_cost(self):
        run = self.open_run(1500, model="toy")
        links = [self.invite(run), self.invite(run)]
        nodes = self.start_all(run)
        for node in nodes:
            node.deadline += PATIENCE_S
        left = []
        for name, link in zip(("soon", "late"), links):
            left.append(self.leave(self.train(link, "--data-dir", self.folder / name)))
        # As in a new user's first hour: a laptop is closed for a hundred steps and some.
        self.await_step(run, left[0] + 120)
        soon = self.train(self.folder / "soon")
        self.read([soon])
        # Another one's seat has been given up, and its invite is used up.
        self.await_step(run, left[1] + 1001)
        key = ["--manifest", run.manifest, "--key", self.moderator, "--data-dir", run.data_dir(0)]
        listed = [line.split() for line in harness.expect_ok("invite", "list", *key).splitlines()]
        self.assertEqual([line[1:4] + line[5:] for line in listed[1:3]], [["1", "of", "1", "used", "up"]] * 2)
        late = self.train(self.folder / "late")
        self.read([late])
        self.assertEqual(harness.expect_ok("invite", "list", *key).splitlines()[3].split()[2:],
                         ["2", "of", "16", "used"])
        # Nobody else comes in by it.
        other = self.join(links[1], "other")
        other.deadline = time.monotonic() + PATIENCE_S
        self.assertEqual(other.finish(), 1, other.text["stderr"])
        self.assertIn("its invite is used up (1 of 1) by other keys", other.report()["reason"])
        for node in (soon, late):
            node.signal(signal.SIGTERM)
        for node in nodes:
            node.signal(signal.SIGTERM)
        for reader in self.readers:
            reader.join(PATIENCE_S)


if __name__ == "__main__":
    harness.main()

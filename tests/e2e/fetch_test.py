"""A newcomer fetches a state of many pieces over slow lines: killed in between it goes on, and who sends false ones is named."""
import re
import signal

import harness
from harness import Running
from join_case import JoinCase
from slow_lines import SlowLines

HIDDEN = 16000           # 1.2 million parameters: with their momentum a state of 9.6 MB, in forty pieces
LINE = 1024 * 1024       # bytes a second from each member to the newcomer
HALF = 20                # pieces


class FetchTest(JoinCase):
    def open_large_run(self, **options):
        run = self.open_run(1000, "--hidden", HIDDEN, "--batch-size", 512, model="mlp", **options)
        self.lines = SlowLines(run)
        self.addCleanup(self.lines.close)
        return run

    def await_root(self, node):
        """A state is fetched only if the run has sealed its root."""
        node.wait_for_event(event="step", step=20)

    def stop(self, nodes, newcomer):
        for node in [*nodes, newcomer]:
            node.signal(signal.SIGTERM)
        newcomer.finish()
        for reader in self.readers:
            reader.join(harness.DEADLINE_S)

    def rows(self, query):
        return harness.ledger_rows(self.folder / "newcomer", query)

    def pieces(self):
        """(height, number) of those that the ledger holds."""
        return self.rows("SELECT height, part FROM state_parts WHERE part > 0 ORDER BY part")

    def test_a_newcomer_that_is_killed_at_half_fetches_the_other_half_alone(self):
        run = self.open_large_run()
        link = self.invite(run)
        nodes = [self.running(run.start(i)) for i in range(len(run.ids))]
        self.await_root(nodes[0])
        self.readers = []
        self.read(nodes)
        self.lines.rate = LINE
        newcomer = self.join(link, "newcomer")
        harness.wait_until(lambda: len(self.pieces()) >= HALF, "half of the state is stored")
        newcomer.signal(signal.SIGKILL)
        newcomer.finish()
        kept = self.pieces()
        self.assertEqual(self.rows("SELECT height FROM states"), [])
        sent = self.lines.sent
        again = self.running(Running("join", self.folder / "newcomer"))
        line = again.wait_for("stderr", lambda line: "pieces of the state" in line)
        have, of, step = map(int, re.search(r"(\d+) of (\d+) pieces of the state of step (\d+)", line).groups())
        self.assertEqual(step, kept[0][0], "the same state, though there may be a newer one")
        self.assertGreaterEqual(have, len(kept))
        harness.wait_until(lambda: self.rows("SELECT height FROM states"), "the state is whole")
        self.assertEqual(self.pieces(), [])
        print(f"killed with {len(kept)} pieces of {of}; {sent / 1e6:.1f} MB had come, {(self.lines.sent - sent) / 1e6:.1f} MB afterwards")
        self.stop(nodes, again)

    def test_who_sends_false_pieces_is_named_and_the_state_comes_from_others(self):
        run = self.open_large_run(count=5)
        link = self.invite(run)
        nodes = [self.running(run.start(i, *(["--attack", "state_poison"] if i == 0 else []))) for i in range(5)]
        self.await_root(nodes[1])
        self.readers = []
        self.read(nodes)
        self.lines.rate = LINE
        newcomer = self.join(link, "newcomer")
        seen = newcomer.wait_for_event(event="suspicion", check="state")
        self.assertEqual(seen["peer"], run.ids[0])
        self.assertRegex(seen["reason"], r"sent a false part of the state of step \d+")
        newcomer.wait_for_event(event="step")
        self.stop(nodes, newcomer)


if __name__ == "__main__":
    harness.main()

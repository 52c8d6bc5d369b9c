"""Real nodes that average different numbers of batches: who gives less of its machine averages fewer, and all end alike."""
import json
import unittest

from harness import TestCase, expect_ok, run

GPT = ["--layers", 2, "--width", 64, "--heads", 4, "--context", 32, "--batch-size", 8]


class CountsTest(TestCase):
    def book(self):
        path = self.folder / "book.txt"
        path.write_text("the quick brown fox jumps over the lazy dog. " * 400)
        return f"text:{path}"

    def gpt_run(self, *options):
        data = self.book()
        made = self.make_run(count=4, steps=14, model="gpt", options=["--data", data, *GPT, *options])
        return made, data

    def test_who_gives_less_averages_fewer(self):
        # A gradient takes between 4 and 400 ms: then 1 % of the work's time holds none, and all of it two.
        made, data = self.gpt_run("--most-batches", 2, "--work-ms", 1000, "--inner-steps", 2)
        nodes = [self.running(made.start(i, "--data", data, *(["--cpu", "1%"] if i == 0 else []))) for i in range(4)]
        self.assertEqual([node.finish() for node in nodes], [0] * 4)
        reports = [node.report() for node in nodes]
        self.assertEqual({report["end"] for report in reports}, {"finished"})
        self.assertEqual(len({expect_ok("ledger", "show", made.data_dir(i)).splitlines()[-1] for i in range(4)}), 1)
        blocks = json.loads(expect_ok("ledger", "show", made.data_dir(1), "--json"))["blocks"]
        counts = {peer: [] for peer in made.ids}
        for block in blocks[3:]:
            listed = {each["peer"]: each["count"] for each in block.get("batches", [])}
            for peer in made.ids:
                counts[peer].append(listed.get(peer, 1))
        self.assertEqual(set(counts[made.ids[0]]), {1})
        for peer in made.ids[1:]:
            self.assertIn(2, counts[peer])

    def test_a_share_of_nothing_that_varies_is_refused(self):
        made, data = self.gpt_run()
        for share, said in (("50%", "in this run all average 1"), ("0", "--cpu must be 1% to 100%"), ("half", "--cpu must be 1% to 100%")):
            result = run("node", made.manifest, "--key", made.key(0), "--data", data, "--data-dir", made.data_dir(0), "--cpu", share)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assert_one_line(result.stderr, said)


if __name__ == "__main__":
    unittest.main()

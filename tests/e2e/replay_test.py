"""What nodes recorded is replayed elsewhere to equal outputs, and what is no recording is refused.

One run of real processes, each recorded: one lies and is banned, one is killed and comes back, one
leaves. The replay has neither keys nor data folders.
"""
import json
import os
import shutil
import signal
import stat
from pathlib import Path

import harness
from harness import TestCase, expect_ok, run

LIAR, KILLED, LEAVER = 1, 2, 3


class ReplayTest(TestCase):
    def recorded(self):
        made = self.make_run(count=7, steps=40)
        recordings = self.folder / "recordings"

        def start(index, *options):
            return self.running(made.start(index, "--record", recordings, *options))
        nodes = {i: start(i) for i in range(7) if i != LIAR}
        nodes[LIAR] = start(LIAR, "--attack", "sign_flip", "--attack-from", 3)
        nodes[KILLED].wait_for_event(event="step", step=2)
        nodes[KILLED].signal(signal.SIGKILL)
        nodes[KILLED].finish()
        nodes[KILLED] = start(KILLED)
        nodes[LEAVER].wait_for_event(event="step", step=6)
        nodes[LEAVER].signal(signal.SIGINT)
        for index, node in nodes.items():
            code = node.finish()
            self.assertEqual(code, 1 if index == LIAR else 0, node.text["stderr"])
        ends = {i: node.report()["end"] for i, node in nodes.items()}
        self.assertEqual(ends[LIAR], "banned")
        self.assertEqual(ends[LEAVER], "left")
        return made, recordings

    def test_a_kill_a_leave_and_a_ban(self):
        made, recordings = self.recorded()
        files = sorted(recordings.iterdir())
        self.assertEqual(len(files), 8)  # the killed one has two
        secrets = [Path(made.key(i)).read_bytes() for i in range(7)]
        seeds = [bytes.fromhex(word) for text in secrets for word in text.decode().split()
                 if len(word) == 64 and all(c in "0123456789abcdef" for c in word)]
        self.assertTrue(seeds)
        # Only the recordings are left where the replay runs.
        alone = self.folder / "elsewhere"
        shutil.copytree(recordings, alone)
        shutil.rmtree(made.folder)
        halts = []
        for file in files:
            self.assertEqual(stat.S_IMODE(os.stat(file).st_mode), 0o600)
            report = json.loads(expect_ok("replay", alone / file.name, "--json"))
            self.assertTrue(report["equal"])
            self.assertGreater(report["calls_equal"], 100)
            halts.append(report.get("halted", ""))
            content = file.read_bytes()
            for seed in seeds:
                public = bytes.fromhex(report["peer"])
                self.assertTrue(seed == public or seed not in content
                                or any(seed == bytes.fromhex(i) for i in made.ids))
        self.assertEqual(sum("banned" in text for text in halts), 1, halts)
        self.assertEqual(sum("left the run" in text for text in halts), 1, halts)
        self.assertEqual(sum(text == "" for text in halts), 1, halts)  # of the one that was killed
        finished = next(file for file, text in zip(files, halts)
                        if text and "banned" not in text and "left the run" not in text)
        report = json.loads(expect_ok("replay", alone / finished.name, "--json"))
        shown = expect_ok("replay", alone / finished.name, "--calls").splitlines()
        self.assertGreater(len(shown), report["calls_equal"])
        self.assertIn("all outputs are equal", shown[-1])
        self.garbage(alone / finished.name)

    def garbage(self, file):
        content = file.read_bytes()
        bad = self.folder / "bad.recording"

        def refused(data, *fragments):
            bad.write_bytes(data)
            self.refused(2, ["replay", bad], *fragments)
        refused(content[:-3], "is cut after", "copy it again", "--cut")
        self.assertIn("equal up to the last call", expect_ok("replay", "--cut", bad))
        self.assertTrue(json.loads(expect_ok("replay", "--cut", "--json", bad))["cut"])
        refused(content[:36], "is cut in its first entry")
        refused(b"", "is no recording", "--record")
        refused(b"ostraka recording 7 steps\n" + content[26:], "another version of ostraka")
        middle = len(content) // 2
        refused(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1:],
                "copy it again")  # damaged, or cut where the byte is of a length
        self.refused(3, ["replay", self.folder / "none"], "cannot read")
        # Without one call the machine asks for something else, or later for nothing.
        at = [len(b"ostraka recording 2 steps\n")]
        while at[-1] < len(content):
            at.append(at[-1] + 8 + int.from_bytes(content[at[-1]:at[-1] + 4], "little"))
        bad.write_bytes(content[:at[1]])
        self.refused(2, ["replay", bad], "holds no call")
        middle = len(at) // 2 | 1  # the head comes first, then two entries a call
        bad.write_bytes(content[:at[middle]] + content[at[middle + 2]:])
        differs = run("replay", bad)
        self.assertIn(differs.returncode, (1, 2), differs.stderr)
        self.assertIn("DIFFERS at call" if differs.returncode == 1 else "is damaged",
                      differs.stdout + differs.stderr)

    def test_what_cannot_be_recorded_is_refused_before_the_node_starts(self):
        made = self.make_run(count=4)
        self.refused(3, ["node", made.manifest, "--key", made.key(0), "--data-dir", made.data_dir(0),
                         "--record", "/dev/null/folder"], "cannot make /dev/null/folder")
        self.refused(2, ["node", made.manifest, "--key", made.key(0), "--data-dir", made.data_dir(0),
                         "--unprotected", "--record", self.folder], "cannot be recorded")

    def test_a_full_recording_ends_and_the_node_goes_on(self):
        made = self.make_run(count=4, steps=20)
        recordings = self.folder / "recordings"
        nodes = [self.running(made.start(i, "--record", recordings, "--record-steps", 5))
                 for i in range(4)]
        for node in nodes:
            self.assertEqual(node.finish(), 0, node.text["stderr"])
            self.assertIn("has reached its limit after 5 steps", node.text["stdout"] + node.text["stderr"])
        for file in recordings.iterdir():
            report = json.loads(expect_ok("replay", file, "--json"))
            self.assertTrue(report["equal"])
            self.assertEqual((report["first_step"], report["last_step"]), (0, 4), report)


if __name__ == "__main__":
    harness.main()

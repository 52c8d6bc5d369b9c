"""A disk that gives back other bytes than were written: its member sends none of them, ends and says so."""
import contextlib
import mmap
import threading

import harness
from harness import Running, TestCase, expect_ok, wait_until


def spoil(path):
    """Zeros, wherever the file has been written."""
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as bytes_of:
        bytes_of[:] = bytes(len(bytes_of))


class SpoiltDiskTest(TestCase):
    def test_no_newcomer_gets_what_a_disk_has_spoilt(self):
        moderator = self.folder / "moderator.key"
        ident = expect_ok("key", "new", moderator, "--no-passphrase").strip()
        made = self.make_run(count=5, steps=1000000, model="mlp", options=["--hidden", 4000, "--moderator", ident])
        link = expect_ok("invite", "new", "--manifest", made.manifest, "--key", moderator).strip()
        nodes = [self.running(made.start(index)) for index in range(5)]
        nodes[0].wait_for_event(event="step", step=30)
        harness.drain(nodes[0])
        ended = []

        def finish(node):
            with contextlib.suppress(OSError, ValueError):  # the test has closed its output
                node.finish()
                ended.append(node)
        for node in nodes[1:]:
            threading.Thread(target=finish, args=(node,), daemon=True).start()
        # The newcomer asks several members for results and states; only member 0's disk is sound.
        harness.drain(self.running(Running("join", link, "--data-dir", self.folder / "new", "--events")))

        def one_has_ended():
            for index in range(1, 5):
                spoil(made.data_dir(index) / "bulk")
            return ended
        wait_until(one_has_ended, "a member whose disk spoils what it sends ends")
        node = ended[0]
        index = nodes.index(node)
        self.assertEqual(node.process.returncode, 3, node.text["stderr"])
        self.assertIn(f"{made.data_dir(index)}/bulk: has other bytes than were written: check the disk's health",
                      node.report()["reason"])
        self.assertIsNone(nodes[0].process.poll())
        self.refused(2, ["node", made.manifest, "--key", made.key(index), "--data-dir", made.data_dir(index)],
                     f"node{index}/bulk: is damaged", "move the data folder away")


if __name__ == "__main__":
    harness.main()

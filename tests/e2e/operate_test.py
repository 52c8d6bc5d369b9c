"""Operators' settings: the log's place and size, and the limit on network use."""
import re
import signal

import harness
from harness import TestCase


class LogTest(TestCase):
    LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|info|warning|error) .+")

    def start(self, *options):
        """A node for people (without --events), alone."""
        self.made = self.make_run()
        fd = self.made.sockets[0].fileno()
        return self.running(harness.Running(
            "node", self.made.manifest, "--key", self.made.key(0), "--data-dir",
            self.made.data_dir(0), "--listen-fd", fd, *options, pass_fds=(fd,)))

    def stop(self, node):
        node.signal(signal.SIGINT)
        self.assertEqual(node.finish(), 1, node.text["stderr"])
        self.assertEqual(node.text["stdout"], "")
        return node.text["stderr"].splitlines()

    def test_by_default_to_stderr_without_details(self):
        node = self.start()
        node.wait_for("stderr", lambda line: line.startswith("listening on port"))
        lines = self.stop(node)
        self.assertRegex(lines[0], r"^run [0-9a-f]{16}: toy, \d+ steps, learning rate 1, 3 members, "
                                   r"bears 0 faulty$")
        self.assertEqual(lines[1], f"this node is {self.made.ids[0][:16]}, and keeps its data in "
                                   f"{self.made.data_dir(0)}")
        self.assertRegex(lines[2], r"listening on port \d+")
        self.assertRegex(lines[3], "interrupted: stopped by Ctrl-C")
        self.assertNotIn("\x1b", "".join(lines))
        self.assertNotIn("shutting down", "".join(lines))

    def test_levels(self):
        node = self.start("--log-level", "error")
        other = self.running(self.made.start(1))
        other.wait_for_event(event="links", up=1)
        lines = self.stop(node)
        self.assertRegex(lines[0], "interrupted: stopped by Ctrl-C")
        self.assertNotIn("listening", "".join(lines))
        self.assertNotIn("linked", lines[0].split("interrupted", 1)[0])
        self.refused(2, ["node", self.made.manifest, "--key", self.made.key(0), "--log-level",
                         "inof"], "--log-level 'inof'", "did you mean 'info'?")

    def test_to_a_file_that_is_rotated(self):
        log = self.folder / "logs/node.log"
        node = self.start("--log-level", "debug", "--log-file", log, "--log-max-bytes", "4K",
                          "--log-files", 2)
        lines = []
        # A member that comes and goes makes some lines each time.
        for _ in range(60):
            other = self.running(self.made.start(1))
            other.wait_for_event(event="links", up=1)
            other.signal(signal.SIGKILL)
            other.finish()
            if (log.parent / "node.2.log").exists():
                break
        stderr = self.stop(node)
        self.assertRegex(stderr[0], "interrupted: ")
        files = sorted(log.parent.iterdir())
        self.assertEqual([file.name for file in files], ["node.1.log", "node.2.log", "node.log"])
        for file in files:
            self.assertLessEqual(file.stat().st_size, 4096)
            lines += file.read_text().splitlines()
        for line in lines:
            self.assertRegex(line, self.LINE)
        self.assertIn("interrupted: ", log.read_text())
        self.refused(3, ["node", self.made.manifest, "--key", self.made.key(0), "--log-file",
                         "/proc/none/log"], "/proc/none/log")


class BandwidthTest(TestCase):
    CAP = 128 << 10

    def test_a_cap_holds(self):
        # 3 members exchange 1.6 MB each in 12 steps, which takes about a second without a cap.
        made = self.make_run(steps=12, options=["--hidden", 25000])
        nodes = [self.running(made.start(0, "--bandwidth", "128K"))]
        nodes += [self.running(made.start(i)) for i in (1, 2)]
        for node in nodes:
            self.assertEqual(node.finish(), 0, node.text["stderr"])
        report = nodes[0].report()
        self.assertGreater(report["payload_bytes_sent"], 8 * self.CAP)
        # A slow machine takes even longer; only a cap that does not hold can fail this.
        self.assertLess(report["payload_bytes_sent"], self.CAP * (report["seconds"] + 2))

    def test_a_cap_too_low_for_the_run_is_refused(self):
        made = self.make_run()
        node = ["node", made.manifest, "--key", made.key(0), "--data-dir", made.data_dir(0),
                "--listen", "127.0.0.1:0"]
        self.refused(2, [*node, "--bandwidth", "1K"], "second")
        self.refused(2, [*node, "--reachable", "perhaps"], "--reachable must be yes or no")
        self.refused(2, [*node, "--reachable", "no"], "lists no member that only dials")
        self.refused(2, [*node, "--bandwidth", "0"], "--bandwidth", "above 0")
        self.refused(2, [*node, "--bandwidth", "fast"], "--bandwidth 'fast'", "16M")


if __name__ == "__main__":
    harness.main()

"""A running run with a moderator, and keys from outside that ask to come in."""
import json
import threading

import harness
from harness import Running, TestCase


class JoinCase(TestCase):
    def open_run(self, steps, *options, count=4, model="softmax"):
        """Four members, and a moderator that is none of them."""
        self.moderator = self.folder / "moderator.key"
        moderator = harness.expect_ok("key", "new", self.moderator, "--no-passphrase").strip()
        run = self.make_run(count=count, steps=steps, model=model,
                            options=["--moderator", moderator, "--mode", "third", "--name", "open", *options])
        return run

    def invite(self, run, *options):
        made = harness.run("invite", "new", "--manifest", run.manifest, "--key", self.moderator, *options)
        self.assertEqual(made.returncode, 0, made.stderr)
        return made.stdout.strip()

    def start_all(self, run, *options):
        """Started, with the first step done; their events are read from then on."""
        nodes = [self.running(run.start(i, *options)) for i in range(len(run.ids))]
        nodes[0].wait_for_event(event="step")
        self.readers = []
        self.read(nodes)
        return nodes

    def read(self, nodes):
        """A node whose events nobody reads stops."""
        readers = [threading.Thread(target=node.finish, daemon=True) for node in nodes]
        self.readers += readers
        for reader in readers:
            reader.start()

    def join(self, link, name, *options):
        return self.running(Running("join", link, "--data-dir", self.folder / name, "--events", *options))

    def await_members(self, node, count):
        """The first block that it tells of with so many members."""
        def matches(line):
            event = json.loads(line)
            return event["event"] == "step" and event["members"] == count
        return json.loads(node.wait_for("stdout", matches))

    def await_membership(self, node, name):
        """Its number of members says nothing where one left before it came."""
        node.wait_for_event(event="started")
        key = harness.expect_ok("key", "show", self.folder / name / "node.key").strip()
        node.wait_for("stdout", lambda line: key in json.loads(line).get("came", []))

    def await_end(self, nodes):
        for reader in self.readers:
            reader.join(harness.DEADLINE_S)
        for node in nodes:
            self.assertEqual(node.process.returncode, 0, node.text["stderr"])
        reports = [node.report() for node in nodes]
        self.assertEqual(len({report["state_root"] for report in reports}), 1)
        return reports

    def finish_all(self, nodes, newcomers):
        self.read(newcomers)
        reports = self.await_end([*nodes, *newcomers])
        for report in reports:
            self.assertEqual(report["end"], "finished", report)
            self.assertTrue(report["member"], report)
            self.assertEqual(report["removals"], [], report)

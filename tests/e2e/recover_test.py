"""`ostraka run recover`: members are gone permanently, and the others continue in a new run."""
import json
import re

from harness import Running, TestCase, expect_ok, main

CHECKPOINTS = ("--checkpoint-every", "5", "--keep-checkpoints", "20", "--evaluate-every", "1")


class RecoverTest(TestCase):
    OPTIONS = ()  # of `run init`

    def setUp(self):
        super().setUp()
        self.made = self.make_run(count=4, steps=60, options=self.OPTIONS)
        nodes = [self.running(self.made.start(i, *CHECKPOINTS)) for i in range(4)]
        nodes[0].wait_for_event(event="step", step=12)
        for node in nodes:
            node.process.kill()
            node.finish()
        self.old = nodes[0]
        self.next = self.made.folder / "next.toml"

    def recover(self, *options):
        return json.loads(expect_ok(
            "run", "recover", self.made.manifest, self.made.data_dir(0), self.made.data_dir(1),
            "--out", self.next, "--without", self.made.ids[3], "--json", *options))

    def start_next(self, index, *options):
        fd = self.made.sockets[index].fileno()
        return self.running(Running(
            "node", self.next, "--key", self.made.key(index), "--data-dir",
            self.made.folder / f"next{index}", "--listen-fd", fd, "--events", *options,
            pass_fds=(fd,)))

    def test_three_of_four_continue_from_their_newest_common_state(self):
        plan = self.recover()
        self.assertIsNone(plan["parted_at"])
        self.assertEqual(plan["step"] % 5, 4)
        self.assertGreaterEqual(plan["step"], 9)
        self.assertEqual((plan["members"], plan["steps"]), (3, 60 - plan["step"] - 1))
        self.assertEqual([row["peer"] for row in plan["left_out"]], [self.made.ids[3]])
        shown = json.loads(expect_ok("run", "show", self.next, "--json"))
        self.assertEqual((shown["run_id"], shown["origin"]["step"]), (plan["run_id"], plan["step"]))
        self.misuse(plan)
        nodes = [self.start_next(i, "--origin", plan["origin"], "--evaluate-every", "1")
                 for i in range(3)]
        ends = []
        for node in nodes:
            self.assertEqual(node.finish(), 0, node.text["stderr"])
            ends.append(node.report())
        self.assertEqual(len({end["state_root"] for end in ends}), 1)
        self.assertEqual(ends[0]["steps"], plan["steps"])
        self.assertEqual(ends[0]["removals"], [])
        # The new run continues the old one: its first loss is about that of the old run at that step.
        before, after = self.losses(self.old), self.losses(nodes[0])
        self.assertLess(after[0], 1.5 * before[plan["step"]])
        self.assertLess(after[0], 0.5 * before[0])

    @staticmethod
    def losses(node):
        """By step, as far as the node reported it."""
        events = [json.loads(line) for line in node.text["stdout"].splitlines()]
        return {event["step"]: event["value"] for event in events
                if event["event"] == "evaluation"}

    def misuse(self, plan):
        fd = self.made.sockets[0].fileno()
        node = ["node", self.next, "--key", self.made.key(0), "--data-dir",
                self.made.folder / "misused", "--listen-fd", fd]
        self.refused(2, node, "goes on from the state after step", "--origin")
        older = re.sub(r"step-\d+", "step-4", plan["origin"])
        self.refused(2, [*node, "--origin", older], "is not the state after step")
        self.refused(2, ["node", self.made.manifest, "--key", self.made.key(0), "--data-dir",
                         self.made.folder / "misused", "--origin", plan["origin"]],
                     "begins with parameters of its own")
        recover = ["run", "recover", self.made.manifest, self.made.data_dir(0), "--out"]
        self.refused(2, [*recover, self.next], "exists", "--out")
        self.refused(2, [*recover, self.made.folder / "x.toml", "--without", "nobody"],
                     "--without 'nobody'")
        self.refused(2, ["run", "recover", self.next, self.made.data_dir(0), "--out",
                         self.made.folder / "x.toml"], "belongs to run")


if __name__ == "__main__":
    main()

"""The members' data folders were copied, and both copies train on: a newcomer that is shown both joins neither."""
import os
import shutil
import signal
import socket

import harness
from harness import Running
from join_case import JoinCase

STEPS = 5000
PARTED = 20  # about the step in which the folders were copied


class Copy:
    """The members of a run once more, as on other machines: with copied keys and folders, at other addresses."""

    def __init__(self, run, folder):
        self.run, self.folder = run, folder
        for i in range(len(run.ids)):
            shutil.copytree(run.data_dir(i), folder / str(i))
            shutil.copy(run.key(i), folder / f"{i}.key")
        self.sockets = [socket.create_server(("127.0.0.1", 0)) for _ in run.ids]

    def peers(self, indices=None):
        chosen = range(len(self.run.ids)) if indices is None else indices
        return [word for i in chosen
                for word in ("--peers", f"{self.run.ids[i]}@127.0.0.1:{self.sockets[i].getsockname()[1]}")]

    def start(self, index):
        fd = self.sockets[index].fileno()
        return Running("node", self.run.manifest, "--key", self.folder / f"{index}.key", "--data-dir",
                       self.folder / str(index), "--listen-fd", fd, "--events", *self.peers(),
                       pass_fds=(fd,), env={**os.environ, "HOME": str(self.folder)})

    def close(self):
        for listener in self.sockets:
            listener.close()


class TwoHistoriesTest(JoinCase):
    def setUp(self):
        super().setUp()
        self.readers, self.nodes = [], []
        self.run_ = self.open_run(STEPS)
        nodes = [self.running(self.run_.start(i)) for i in range(len(self.run_.ids))]
        self.read(nodes[1:])
        nodes[0].wait_for_event(event="step", step=PARTED)
        self.early = self.invite(self.run_, "--data-dir", self.run_.data_dir(0))
        for node in nodes:
            node.signal(signal.SIGTERM)
        nodes[0].finish()
        for reader in self.readers:
            reader.join(harness.DEADLINE_S)
        self.copy = Copy(self.run_, self.folder / "copy")
        self.addCleanup(self.copy.close)

    def tearDown(self):
        for node in self.nodes:
            node.signal(signal.SIGTERM)
        for reader in self.readers:
            reader.join(harness.DEADLINE_S)

    def await_step(self, nodes, step):
        self.nodes += nodes
        self.read(nodes[1:])
        nodes[0].wait_for_event(event="step", step=step)
        self.read(nodes[:1])

    def start_both(self):
        members = range(len(self.run_.ids))
        self.await_step([self.running(self.run_.start(i)) for i in members], PARTED + 40)
        self.await_step([self.running(self.copy.start(i)) for i in members], PARTED + 80)

    def expect_stop(self, newcomer):
        self.assertEqual(newcomer.finish(), 1, newcomer.text["stderr"])
        report = newcomer.report()
        self.assertEqual(report["end"], "forked", report)
        print(report["reason"])
        self.assertRegex(report["reason"], r"\Atwo histories of this run are signed, which differ from block \d+ on")
        self.assertIn("ask who gave you the link", report["reason"])
        return report

    def test_whose_link_is_of_one_does_not_join_the_other(self):
        self.start_both()
        link = self.invite(self.run_, "--data-dir", self.run_.data_dir(0))
        newcomer = self.join(link, "newcomer", *self.copy.peers())
        report = self.expect_stop(newcomer)
        self.assertIn("(which this node had taken for the run's)", report["reason"])
        again = self.running(Running("join", self.folder / "newcomer", "--events", *self.copy.peers()))
        self.expect_stop(again)

    def expect_member_to_stay(self, stop):
        """A member of one copy is ended by that signal, and then reaches the other copy's members alone."""
        self.start_both()
        newcomer = self.join(self.early, "newcomer")
        self.await_membership(newcomer, "newcomer")
        newcomer.signal(stop)
        newcomer.finish()
        again = self.running(Running("join", self.folder / "newcomer", "--events", *self.copy.peers()))
        self.expect_stop(again)

    def test_who_left_one_does_not_go_over_to_the_other(self):
        self.expect_member_to_stay(signal.SIGINT)

    def test_who_was_killed_in_a_step_of_one_does_not_go_over_to_the_other(self):
        self.expect_member_to_stay(signal.SIGKILL)

    def test_who_hears_of_both_joins_neither(self):
        self.start_both()
        newcomer = self.join(self.early, "newcomer", *self.copy.peers([2, 3]))
        report = self.expect_stop(newcomer)
        named = [member for member in self.run_.ids if member[:16] in report["reason"]]
        self.assertGreaterEqual(len(named), 2, report)


if __name__ == "__main__":
    harness.main()

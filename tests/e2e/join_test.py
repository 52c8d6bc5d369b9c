"""Keys from outside come into a running run by invites of its moderator, or are told why not."""
import base64
import hashlib
import json
import re
import signal
import time

import harness
from harness import Running
from join_case import JoinCase

# A newcomer is a member within so many seconds of its start, while the run takes steps.
SOON_S = 5


class JoinTest(JoinCase):
    def test_a_newcomer_becomes_a_member_and_all_end_with_one_state(self):
        run = self.open_run(150)
        link = self.invite(run)
        nodes = self.start_all(run)
        began = time.monotonic()
        newcomer = self.join(link, "newcomer")
        self.await_members(newcomer, 5)
        took = time.monotonic() - began
        print(f"a member {took:.2f} s after its start")
        self.assertLess(took, SOON_S)
        self.finish_all(nodes, [newcomer])
        shown = harness.expect_ok("key", "show", self.folder / "newcomer" / "node.key").strip()
        self.assertEqual(newcomer.report()["peer"], shown)

    @harness.in_soak
    def test_a_newcomer_that_is_killed_comes_back(self):
        run = self.open_run(180)
        link = self.invite(run)
        nodes = self.start_all(run)
        newcomer = self.join(link, "newcomer")
        self.await_members(newcomer, 5)
        newcomer.signal(signal.SIGKILL)
        newcomer.finish()
        folder = self.folder / "newcomer"
        again = self.running(Running("join", folder, "--events"))
        self.await_members(again, 5)
        self.read([again])
        self.await_end([*nodes, again])

    @harness.in_soak
    def test_two_newcomers_share_an_invite_and_a_third_is_told_that_it_is_used_up(self):
        run = self.open_run(200)
        link = self.invite(run, "--uses", 2)
        nodes = self.start_all(run)
        newcomers = [self.join(link, "first")]
        self.await_members(newcomers[0], 5)
        newcomers.append(self.join(link, "second"))
        self.await_members(newcomers[1], 6)
        self.read(newcomers)
        third = self.join(link, "third")
        self.assertEqual(third.finish(), 1, third.text["stderr"])
        self.assertEqual(third.report()["end"], "refused")
        self.assertIn("this key may not come in: ", third.report()["reason"])
        self.finish_all(nodes, [])
        self.await_end(newcomers)
        for node in nodes:
            self.assertNotIn(third.report()["peer"][:16], node.text["stderr"], "nobody waits for who was refused")

    def test_a_revoked_invite_lets_in_nobody_any_more(self):
        run = self.open_run(250)
        key = ["--manifest", run.manifest, "--key", self.moderator]
        link = self.invite(run, "--uses", 2)
        public = self.invite(run, "--uses", 5)
        nodes = self.start_all(run)
        first = self.join(link, "first")
        self.await_members(first, 5)
        self.read([first])
        listed = [line.split() for line in harness.expect_ok("invite", "list", *key, "--data-dir", run.data_dir(0)).splitlines()]
        self.assertEqual([line[1:] for line in listed[1:3]],
                         [["1", "of", "2", "250", "open"], ["0", "of", "5", "250", "open"]])
        self.assertEqual(listed[3][2:], ["1", "of", "16", "used"])
        # One by its id through the first node, the other by its link through a line that the second node's owner was given.
        harness.expect_ok("invite", "revoke", listed[1][0].upper(), *key, "--data-dir", run.data_dir(0))
        line = harness.expect_ok("invite", "revoke", public, *key).strip()
        harness.expect_ok("invite", "revoke", "--pass-on", line, *key[:2], "--data-dir", run.data_dir(1))
        states = lambda: [entry["state"] for entry in json.loads(
            harness.expect_ok("invite", "list", *key, "--data-dir", run.data_dir(0), "--json"))]
        harness.wait_until(lambda: states() == ["revoked", "revoked"], "both invites are revoked")
        again = harness.run("invite", "revoke", public, *key, "--data-dir", run.data_dir(0))
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("this invite is revoked already: it lets in nobody any more", again.stderr)
        for number, refused in enumerate([link, public]):
            late = self.join(refused, f"late{number}")
            self.assertEqual(late.finish(), 1, late.text["stderr"])
            self.assertEqual(late.report()["reason"],
                             "this key may not come in: its invite was revoked: ask a moderator for a new one")
        self.finish_all(nodes, [])
        self.await_end([first])

    def test_who_took_all_invites_back_makes_no_other(self):
        run = self.open_run(250)
        key = ["--manifest", run.manifest, "--key", self.moderator]
        nodes = self.start_all(run)
        harness.expect_ok("invite", "revoke", "--all", *key, "--data-dir", run.data_dir(0))
        again = lambda: harness.run("invite", "new", *key, "--data-dir", run.data_dir(0))
        harness.wait_until(lambda: again().returncode == 2, "a block has the revocation")
        self.assertIn("took all of its invites back for ever", again().stderr)
        nowhere = [self.folder / "nowhere", self.folder / "nor_here"]
        failed = harness.run("invite", "revoke", "--all", *key, *(word for name in nowhere for word in ("--data-dir", name)))
        self.assertEqual(failed.returncode, 3, failed.stderr)
        self.assertEqual(len(failed.stderr.strip().splitlines()), 1, failed.stderr)
        for name in nowhere:
            self.assertIn(str(name), failed.stderr)
        self.finish_all(nodes, [])

    def test_what_revoke_refuses(self):
        run = self.open_run(20)
        key = ["--manifest", run.manifest, "--key", self.moderator]
        link = self.invite(run)
        stranger = self.folder / "stranger.key"
        harness.expect_ok("key", "new", stranger, "--no-passphrase")
        line = harness.expect_ok("invite", "revoke", "--all", *key).strip()
        others = self.folder / "other"
        others.mkdir()
        own = harness.expect_ok("key", "new", others / "own.key", "--no-passphrase").strip()
        harness.expect_ok("run", "init", "--out", others / "run.toml", "--model", "softmax", "--moderator", own,
                          *(word for member in run.ids for word in ("--member", member)))
        of_another_run = harness.expect_ok("invite", "revoke", "--all", "--manifest", others / "run.toml",
                                           "--key", others / "own.key").strip()
        for words, why in [
                ([link, *key[:2]], "--key is needed"),
                (key, "say one thing to revoke"),
                ([link, "--all", *key], "say one thing to revoke"),
                (["abc", *key], "too short for an invite's id"),
                (["0123456789", *key], "no invite of this key and run begins with"),
                ([link, "--manifest", run.manifest, "--key", stranger], "is no moderator of this run"),
                (["ostraka:abc", *key], "the invite"),
                (["--pass-on", line, *key[:2]], "--pass-on needs --data-dir"),
                (["--pass-on", line[:-4], *key[:2], "--data-dir", self.folder], "it is no revocation"),
                (["--pass-on", of_another_run, *key[:2], "--data-dir", self.folder], "no moderator of run"),
                (["--pass-on", line, *key[:2], "--data-dir", self.folder], "ledger")]:
            refused = harness.run("invite", "revoke", *words)
            self.assertIn(refused.returncode, (2, 3), refused.stderr)
            self.assertIn(why, refused.stderr)
            self.assertEqual(len(refused.stderr.strip().splitlines()), 1, refused.stderr)

    @harness.in_soak
    def test_two_newcomers_that_listen_find_each_other_by_the_dht(self):
        run = self.open_run(250)
        link = self.invite(run, "--uses", 2)
        dht = ["--dht", "on", "--dht-network", "join-test"]
        nodes = self.start_all(run, *dht)
        first = self.join(link, "first", "--listen", "127.0.0.1:0", *dht)
        self.await_members(first, 5)
        second = self.join(link, "second", "--listen", "127.0.0.1:0", *dht)
        self.read([second])
        self.await_members(first, 6)
        first.wait_for_event(event="links", up=5, of=5)
        self.read([first])
        self.finish_all(nodes, [])
        self.await_end([first, second])

    @harness.in_soak
    def test_several_come_at_once_and_another_after_one_has_left(self):
        run = self.open_run(250)
        nodes = self.start_all(run)
        link = self.invite(run, "--uses", 3)
        newcomers = [self.join(link, f"newcomer{i}") for i in range(3)]
        for newcomer in newcomers:
            self.await_members(newcomer, 7)
        self.read(newcomers[1:])
        newcomers[0].signal(signal.SIGINT)
        newcomers[0].wait_for_event(event="halted", end="left")
        # Steps are shorter than a block takes to it, and half of the members cannot hear it.
        late = self.join(self.invite(run), "late")
        self.await_membership(late, "late")
        self.assertEqual(newcomers[0].finish(), 0, newcomers[0].text["stderr"])
        self.assertEqual(newcomers[0].report()["end"], "left")
        self.read([late])
        self.finish_all(nodes, [])
        self.await_end([*newcomers[1:], late])

    @harness.in_soak
    def test_an_invite_that_holds_a_later_block_begins_there(self):
        run = self.open_run(250)
        nodes = self.start_all(run)
        first = self.join(self.invite(run), "first")
        self.await_members(first, 5)
        file = self.folder / "invite.json"
        self.invite(run, "--data-dir", run.data_dir(0), "--file", file)
        shown = harness.expect_ok("invite", "show", file)
        self.assertGreater(int(re.search(r"begins at the block of step (\d+)", shown).group(1)), 0)
        # It names a member that came later, whose address may be given.
        later = harness.expect_ok("key", "show", self.folder / "first" / "node.key").strip() + "@127.0.0.1:9"
        second = self.join(file, "second", "--peers", later)
        self.await_members(second, 6)
        self.finish_all(nodes, [first, second])

    def test_who_finds_nobody_is_told_what_to_do(self):
        run = self.open_run(100)
        newcomer = self.running(Running("join", self.invite(run), "--data-dir", self.folder / "newcomer"))
        newcomer.wait_for("stderr", lambda line: "ask a moderator for a fresh invite" in line)
        newcomer.signal(signal.SIGTERM)
        self.assertEqual(newcomer.finish(), 0, newcomer.text["stderr"])

    def test_its_invite_may_be_gone_when_it_comes_back_from_a_pause(self):
        run = self.open_run(100)
        invite = self.folder / "invite"
        invite.write_text(self.invite(run))
        newcomer = self.join(invite, "newcomer")
        newcomer.wait_for_event(event="started")
        invite.unlink()
        harness.run("pause", self.folder / "newcomer")
        newcomer.wait_for_event(event="rests")
        self.assertEqual(harness.run("resume", self.folder / "newcomer").returncode, 0)
        newcomer.wait_for_event(event="goes_on")
        newcomer.wait_for_event(event="started")
        newcomer.signal(signal.SIGTERM)
        self.assertEqual(newcomer.finish(), 0, newcomer.text["stderr"])

    def test_an_invite_that_has_ended_is_told(self):
        run = self.open_run(150)
        ended = self.invite(run, "--until", 1)
        nodes = self.start_all(run)
        late = self.join(ended, "late")
        self.assertEqual(late.finish(), 1, late.text["stderr"])
        self.assertEqual(late.report()["end"], "refused")
        self.assertIn("this key may not come in: ", late.report()["reason"])
        self.finish_all(nodes, [])

    @harness.in_soak
    def test_an_allowed_key_needs_no_invite(self):
        key = self.folder / "friend.key"
        friend = harness.expect_ok("key", "new", key, "--no-passphrase").strip()
        run = self.open_run(200, "--allow", friend)
        nodes = self.start_all(run)
        newcomer = self.running(Running("node", run.manifest, "--key", key, "--data-dir", self.folder / "friend",
                                        "--events"))
        self.await_members(newcomer, 5)
        self.finish_all(nodes, [newcomer])


def text_of(invite):
    return json.dumps(invite, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()


def link_of(invite):
    return "ostraka:" + base64.urlsafe_b64encode(text_of(invite)).decode().rstrip("=")


class RefusalTest(JoinCase):
    """What is refused before any network is asked: one line each."""

    def setUp(self):
        super().setUp()
        self.run_ = self.open_run(10)
        self.link = self.invite(self.run_)
        self.key = self.folder / "mine.key"
        harness.expect_ok("key", "new", self.key, "--no-passphrase")

    def node(self, manifest, *options):
        return ["node", manifest, "--key", self.key, "--data-dir", self.folder / "data", *options]

    def test_altered_or_cut(self):
        invite = json.loads(base64.urlsafe_b64decode(self.link.removeprefix("ostraka:") + "=="))
        invite["uses"] = 16
        self.refused(2, ["join", link_of(invite)], "the invite is damaged")
        del invite["check"]
        invite["check"] = hashlib.blake2b(text_of(invite), digest_size=32, person=b"link/1").hexdigest()
        forged = link_of(invite)
        self.refused(2, ["join", forged], "not as its moderator signed it")
        self.refused(2, ["invite", "show", forged], "not as its moderator signed it")
        self.refused(2, ["join", self.link[:-9]], "the invite")
        self.refused(3, ["join", self.folder / "nothing"], "cannot read the invite")

    def test_closed_or_another_run(self):
        closed = harness.Run(self.folder / "closed", model="softmax")
        self.addCleanup(closed.close)
        self.refused(2, self.node(closed.manifest), "which is closed: ask for a manifest that lists it")
        self.refused(2, self.node(closed.manifest, "--invite", self.link), "the invite is for run")
        self.refused(2, self.node(self.run_.manifest), "needs an invite: ask a moderator for a link")
        self.refused(2, ["invite", "new", "--manifest", closed.manifest, "--key", self.moderator],
                     "takes no invites")

    def test_who_may_not_sign(self):
        self.refused(2, ["invite", "new", "--manifest", self.run_.manifest, "--key", self.key],
                     "is no moderator of this run")
        self.refused(2, ["invite", "new", "--manifest", self.run_.manifest, "--key", self.moderator, "--uses", 17],
                     "--uses must be from 1 to 16")
        self.refused(2, ["invite", "new", "--manifest", self.run_.manifest, "--key", self.moderator, "--until", 0],
                     "--until must be after step 0")

    def test_show_and_a_file(self):
        path = self.folder / "invite.json"
        self.assertEqual(self.invite(self.run_, "--file", path, "--uses", 3, "--until", 7), "")
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        shown = harness.expect_ok("invite", "show", path)
        self.assertIn("uses 3\n", shown)
        self.assertIn("until step 7 of 10\n", shown)
        secret = json.loads(path.read_text())["holder_seed"]
        self.assertNotIn(secret, shown)
        self.refused(2, ["invite", "new", "--manifest", self.run_.manifest, "--key", self.moderator, "--file", path],
                     "exists")
        listed = json.loads(harness.expect_ok("invite", "list", "--manifest", self.run_.manifest, "--key",
                                              self.moderator, "--json"))
        self.assertEqual([entry["uses"] for entry in listed], [1, 3], "what was not written is no invite")


if __name__ == "__main__":
    harness.main()

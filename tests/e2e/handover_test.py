"""When every member of the genesis has left, strangers still verify who was banned: the manifest and handovers suffice."""
import base64
import json
import re
import signal
import subprocess
import unittest
from pathlib import Path

import canonical_writer  # with the path of the verifier's modules
import harness
import messages
from join_case import JoinCase

VERIFIER = Path(__file__).resolve().parents[2] / "proofs" / "verifier" / "ostraka_evidence.py"
DEBIAN_PYTHON = "/usr/bin/python3"  # python3-nacl is for it
DHT = ["--dht", "on", "--dht-network", "handover-test"]


def content_of(link, block=True):
    """The fields of a link, its block as a dict."""
    content = json.loads(base64.urlsafe_b64decode(link.removeprefix("ostraka:") + "=="))
    if block:
        anchor = base64.urlsafe_b64decode(content["anchor"] + "==")
        content["anchor"] = canonical_writer.canonical.decode(messages.BLOCK, anchor)
    return content


def with_block(link, manifest=str, **changes):
    """The link with other fields of its block."""
    content = content_of(link)
    content["manifest"] = manifest(content["manifest"])
    block = canonical_writer.encode(messages.BLOCK, {**content["anchor"], **changes})
    content["anchor"] = base64.urlsafe_b64encode(block).rstrip(b"=").decode()
    del content["check"]
    content["format"] = "ostraka invite 1"
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "ostraka:" + base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def bad_addresses(text):
    """Links of format 1, which nothing but their fields vouches for, with addresses of another type or key."""
    content = json.loads(text)
    content["format"] = "ostraka invite 1"
    del content["check"]
    for key, address in (("0" * 64, float("nan")), ("0" * 64, 7), ("0" * 63, "1.2.3.4:5"), ("G" * 64, "1.2.3.4:5")):
        yield json.dumps({**content, "addresses": {key: address}}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class HandoverTest(JoinCase):
    def come(self, link, name, *options):
        """A newcomer that has become a member, and where it listens."""
        node = self.join(link, name, "--listen", "127.0.0.1:0", *DHT, *options)
        port = node.wait_for_event(event="started")["port"]
        key = self.folder / name / "node.key"
        peer = harness.expect_ok("key", "show", key).strip()
        node.wait_for("stdout", lambda line: peer in json.loads(line).get("came", []))
        self.read([node])
        return node, f"{peer}@127.0.0.1:{port}"

    def leave(self, nodes):
        for node in nodes:
            node.signal(signal.SIGINT)
        for node in nodes:
            node.process.wait(harness.DEADLINE_S)

    def export(self, *data_folders):
        out = self.folder / "evidence"
        for folder in data_folders:
            harness.expect_ok("evidence", "export", folder, out)
        return sorted(out.glob("*sealed_ban*.evidence"))

    def export_handovers_of(self, name):
        harness.expect_ok("evidence", "export", self.folder / name, self.folder / "of")
        (self.folder / "of" / "handovers").rename(self.folder / "by_link")

    def judge(self, *arguments):
        """(exit code, verdicts) of both verifiers, which agree."""
        words = list(map(str, arguments))
        first = harness.run("evidence", "verify", "--json", *words)
        second = subprocess.run([DEBIAN_PYTHON, VERIFIER, *words], check=False, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(second.returncode, first.returncode, first.stdout + second.stdout + second.stderr)
        return first.returncode, first.stdout + first.stderr

    def test_a_ban_after_the_last_genesis_member_has_left_is_proven_by_both_verifiers(self):
        friend = self.folder / "friend.key"
        allowed = harness.expect_ok("key", "new", friend, "--no-passphrase").strip()
        run = self.open_run(100_000, "--allow", allowed)
        founders = self.start_all(run, *DHT)
        link = self.invite(run, "--uses", 4)
        newcomers, addresses = zip(*[self.come(link, f"newcomer{i}") for i in range(4)])
        peers = [word for address in addresses for word in ("--peers", address)]
        late = self.invite(run, "--data-dir", run.data_dir(0), *peers)
        self.leave(founders)
        cheat = self.folder / "cheat.key"
        accused = harness.expect_ok("key", "new", cheat, "--no-passphrase").strip()
        liar = self.join(late, "cheat", "--key", cheat, "--attack", "sign_flip", "--colluders", accused)
        liar.finish()  # it ends when it is banned
        # Who is on the list comes in by a link to the run of today, which no moderator signs.
        fresh = harness.expect_ok("link", self.folder / "newcomer0", *peers).strip()
        back = self.join(fresh, "friend", "--key", friend)
        back.wait_for("stdout", lambda line: allowed in json.loads(line).get("came", []))
        newcomers[0].signal(signal.SIGTERM)
        newcomers[0].process.wait(harness.DEADLINE_S)
        # The first newcomer has seen all that came after it; what was before is proven by a founder's folder.
        files = self.export(run.data_dir(0), self.folder / "newcomer0")
        self.assertEqual(len(files), 1, files)
        code, said = self.judge("--manifest", run.manifest, *files)
        self.assertEqual(code, 0, said)
        self.assertIn(accused, said)
        (self.folder / "none").mkdir()
        code, said = self.judge("--manifest", run.manifest, "--handovers", self.folder / "none", *files)
        self.assertEqual(code, 1, said)
        self.assertIn("not only members signed", said)
        # A link from before the ban needs no founder's handovers; a link from after the ban does not judge it.
        self.export_handovers_of("newcomer0")
        by_link = self.folder / "by_link"
        (self.folder / "late.link").write_text(late + "\n")
        for anchor in (late, self.folder / "late.link", self.folder / "cheat"):
            code, said = self.judge("--anchor", anchor, "--handovers", by_link, *files)
            self.assertEqual(code, 0, said)
        code, said = self.judge("--anchor", late, "--manifest", run.manifest, "--handovers", by_link, *files)
        self.assertEqual(code, 0, said)
        code, said = self.judge("--anchor", fresh, "--handovers", by_link, *files)
        self.assertEqual(code, 1, said)
        self.other_links_prove_nothing(fresh, files)

    def other_links_prove_nothing(self, link, files):
        members = content_of(link)["anchor"]["members"]
        for changes, expected in (({}, 1), ({"decision": bytes(32)}, 2), ({"t_s": 0, "t_a": 0}, 2),
                                  ({"n": 200}, 2), ({"members": members[:64]}, 2), ({"genesis": 1}, 2),
                                  ({"step": 2**64 - 1}, 2)):
            code, said = self.judge("--anchor", with_block(link, **changes), *files)
            self.assertEqual(code, expected, (changes, said))
        text = json.dumps(content_of(link, block=False), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        given = self.folder / "given.link"
        given.write_text(text + "\n", newline="")
        plain = self.judge("--anchor", given, *files)
        for edited in (text + "\n\n", text + "\r\n", "\ufeff" + text):  # as editors of other systems leave it
            given.write_text(edited, newline="")
            self.assertEqual(self.judge("--anchor", given, *files), plain)
        for changed in (" " + text, text.replace(",", ", ", 1), text.replace("{", '{"a":0,', 1),
                        text.replace('"graph":""', '"graph":"","graph":""'), text.replace("invite 2", "invite 1"), text.replace("invite 2", "invite 3"),
                        text.replace('"check":"', '"check":"0'),
                        text.replace('"constants":""', '"constants":"A"'), text.replace('"graph":""', '"graph":7'),
                        text.replace('"graph":"",', ""), *bad_addresses(text), "[" * 200_000, "x" * (3 << 20), ""):
            given.write_text(changed, newline="")
            code, said = self.judge("--anchor", given, *files)
            self.assertEqual(code, 2, (changed[:60], said))
        for made in (link + "=", link[:-1], link.replace("ostraka:e", "ostraka:+", 1), "ostraka:" + "A" * (3 << 20)):
            given.write_text(made)
            code, said = self.judge("--anchor", given, *files)
            self.assertEqual(code, 2, (made[:60], said))
        lines = "\r\n".join(link[at:at + 76] for at in range(0, len(link), 76))
        for made in (f"\ufeff <{lines}>\r\n", f'"{link}"', lines):  # as mails and chats bring it
            given.write_text(made, newline="")
            for anchor in (given, made):
                self.assertEqual(self.judge("--anchor", anchor, *files), self.judge("--anchor", link, *files))
        # Of an earlier version of the protocol, and so of another run; with the same members.
        given.write_text(with_block(link, manifest=lambda text: re.sub(r"protocol_version = \d+", "protocol_version = 9", text)))
        code, said = self.judge("--anchor", given, *files)
        self.assertEqual(code, 1, said)


class MisuseTest(JoinCase):
    def test_what_is_no_handover_is_named(self):
        run = self.open_run(10)
        folder = self.folder / "handovers"
        folder.mkdir()
        (folder / "7-beef.handover").write_bytes(b"\0" * 40)
        (self.folder / "a.evidence").write_bytes(b"no evidence")
        ended = harness.run("evidence", "verify", "--manifest", run.manifest, self.folder / "a.evidence")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("passed over: " + str(folder / "7-beef.handover: "), ended.stderr)
        second = subprocess.run([DEBIAN_PYTHON, VERIFIER, "--manifest", run.manifest, self.folder / "a.evidence"],
                                check=False, capture_output=True, text=True, timeout=60)
        self.assertEqual(second.returncode, 2)
        self.assertIn("passed over: ", second.stderr)
        ended = harness.run("evidence", "verify", "--manifest", run.manifest, "--handovers", self.folder / "gone",
                            self.folder / "a.evidence")
        self.assertIn("gone", ended.stderr)

    def test_what_is_no_link_of_the_run_is_refused_in_one_line(self):
        run = self.open_run(10)
        link = self.invite(run)
        other = self.folder / "other.toml"
        other.write_text(run.manifest.read_text() + "# another run\n")
        (self.folder / "a.evidence").write_bytes(b"no evidence")
        (self.folder / "garbage").write_bytes(bytes(range(256)))
        for anchor, code, *words in ((link, 2, "the link is of another run"), (link[:-7], 2, "link"), ("ostraka:", 2, "link"),
                                     (self.folder / "garbage", 2), (self.folder / "none", None, "none")):
            given = ["--manifest", other, "--anchor", anchor, self.folder / "a.evidence"]
            first = harness.run("evidence", "verify", *given)
            second = subprocess.run([DEBIAN_PYTHON, VERIFIER, *map(str, given)], check=False, capture_output=True,
                                    text=True, timeout=60)
            for ended in (first, second):
                self.assertIn(ended.returncode, (2, 3) if code is None else (code,), ended.stderr)
                self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
                for word in words:
                    self.assertIn(word, ended.stderr)


if __name__ == "__main__":
    unittest.main()

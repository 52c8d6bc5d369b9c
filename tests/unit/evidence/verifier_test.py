"""proofs/verifier against the vectors that the node's own verifier is held to, and against damage."""
import collections
import random
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "proofs" / "verifier"))

import gradient  # noqa: E402
import ostraka_evidence  # noqa: E402

VERDICTS = ["proven", "not_proven", "malformed", "missing_data"]
MUTATIONS = 10_000  # of the files of each kind


def vectors():
    """(name, bytes) of every golden file."""
    for path in sorted((ROOT / "tests/vectors/evidence").glob("*.hex")):
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        yield path.stem, bytes.fromhex("".join(lines))


def judges(data):
    """A run whose members are the senders of a sealed_ban's frames, one of which may not be at fault."""
    file = ostraka_evidence.decode(ostraka_evidence.messages.EVIDENCE, data)
    senders = {ostraka_evidence.open_frame(frame).sender for frame in file["frames"]}
    return ostraka_evidence.Run(file["slot"]["run_id"], senders, len(senders) - 1)


def computing(data, root=bytes(32)):
    """A run for which every gradient has that root."""
    file = ostraka_evidence.decode(ostraka_evidence.messages.EVIDENCE, data)
    return ostraka_evidence.Run(file["slot"]["run_id"], set(), 0, lambda *claim: root)


def mutated(data, rng):
    """One to three edits: a bit, a byte, a cut, a copied stretch, words of zeros."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        if not data:
            break
        at, other, length = rng.randrange(len(data)), rng.randrange(len(data)), rng.randint(1, 64)
        edit = rng.randrange(5)
        if edit == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif edit == 1:
            data[at] = rng.randrange(256)
        elif edit == 2:
            del data[at:]
        elif edit == 3:
            data[at:at + length] = data[other:other + length]
        else:
            data[at:at] = bytes(8 * rng.randrange(4))
    return bytes(data)


def wire(name):
    lines = (ROOT / f"tests/vectors/wire/{name}.hex").read_text().splitlines()
    return bytes.fromhex("".join(line for line in lines if not line.startswith("#")))


class MessagesTest(unittest.TestCase):
    """The tables of messages.py, against the bytes that node/wire writes."""

    def test_bodies_and_blocks_are_read(self):
        for name in ("commit", "aggregate", "reveal", "proof", "echo", "status", "propose", "vote", "lock"):
            ostraka_evidence.decode(ostraka_evidence.messages.BODIES[name], wire(name))
        for name in ("block", "block_arrival", "block_part", "block_users", "block_exact", "block_leaving", "block_reach", "block_closes"):
            ostraka_evidence.decode(ostraka_evidence.messages.BLOCK, wire(name))

    def test_who_comes_in(self):
        proof = ostraka_evidence.decode(ostraka_evidence.messages.BODIES["proof"], wire("proof_arrival"))
        named, listed = proof["arrivals"]
        self.assertEqual((named["peer"][0], named["voucher"]["uses"], named["voucher"]["ends_step"]), (0x79, 3, 900))
        self.assertEqual((listed["peer"][0], listed["voucher"]), (0x7a, None))
        block = ostraka_evidence.decode(ostraka_evidence.messages.BLOCK, wire("block_arrival"))
        self.assertEqual([invite["used"] for invite in block["invites"]], [2, 1])
        self.assertEqual([moderator["admitted"] for moderator in block["moderators"]], [3])
        self.assertEqual((block["peak_t_s"], block["peak_step"]), (2, 41))
        self.assertEqual(block["standings"][-1]["came_step"], 30)
        users = ostraka_evidence.decode(ostraka_evidence.messages.BLOCK, wire("block_users"))
        self.assertEqual([invite["users"][::32] for invite in users["invites"]], [b"\x02\x07", b""])
        self.assertEqual((block["invites"][0]["users"], users["candidates"][0]["voucher"]["kind"]), (b"", 1))
        waits = ostraka_evidence.decode(ostraka_evidence.messages.BLOCK, wire("block_part"))
        self.assertEqual((block["part_us"], waits["part_us"]), (0, 4_000_000))


class RolesTest(unittest.TestCase):
    """As node/protocol/ground/roles.cpp assigns them."""

    def block(self, only_dial=(), drawn=(), works=(), joined=(), leaving=()):
        ids = [bytes([i]) * 32 for i in range(8)]
        return {"closing": 0, "members": b"".join(ids), "joined": b"".join(ids[i] for i in joined),
                "leaving": b"".join(ids[i] for i in leaving), "cases": [],
                "drawn": [{"validator": ids[i], "works": i in works} for i in drawn],
                "reach": [{"peer": ids[i], "only_dials": i in only_dial} for i in range(8)]}

    def roles(self, version=8, **options):
        workers, parts = gradient.workers_and_parts(self.block(**options), version)
        return [worker[0] for worker in workers], parts

    def test_a_gradient_is_cut_among_the_workers_that_can_be_dialed(self):
        self.assertEqual(self.roles(), (list(range(8)), 8))
        self.assertEqual(self.roles(drawn=(1,)), ([0, 2, 3, 4, 5, 6, 7], 7))
        self.assertEqual(self.roles(only_dial=(5, 6, 7)), (list(range(8)), 5))
        self.assertEqual(self.roles(only_dial=(5, 6, 7), drawn=(6, 0)), ([1, 2, 3, 4, 5, 7], 4))

    def test_a_validator_of_an_alarm_works_as_well(self):
        self.assertEqual(self.roles(drawn=(1, 2), works=(2,)), ([0, 2, 3, 4, 5, 6, 7], 7))
        self.assertEqual(self.roles(only_dial=(3, 4, 5, 6, 7), drawn=(0, 4), works=(0,)), ([0, 1, 2, 3, 5, 6, 7], 3))

    def test_three_owners_stay(self):
        self.assertEqual(self.roles(only_dial=(3, 4, 5, 6, 7), drawn=(0,)), (list(range(8)), 3))
        self.assertEqual(self.roles(only_dial=(3, 4, 5, 6, 7), drawn=(4,)), ([0, 1, 2, 3, 5, 6, 7], 3))
        self.assertEqual(self.roles(only_dial=(3, 4, 5, 6, 7), drawn=(0, 4)), ([0, 1, 2, 3, 5, 6, 7], 3))
        self.assertEqual(self.roles(only_dial=(2, 3, 4, 5, 6, 7)), ([], 0))

    def test_who_comes_or_goes_holds_no_role(self):
        self.assertEqual(self.roles(only_dial=(5, 6, 7), joined=(0, 6)), ([1, 2, 3, 4, 5, 7], 4))
        self.assertEqual(self.roles(only_dial=(5, 6, 7), leaving=(1,)), ([0, 2, 3, 4, 5, 6, 7], 4))
        self.assertEqual(self.roles(only_dial=(3, 4, 5, 6, 7), joined=(0,)), ([], 0))

    def test_who_has_just_joined_held_other_roles_in_earlier_versions(self):
        self.assertEqual(self.roles(version=7, only_dial=(5, 6, 7), joined=(0, 6)), (list(range(8)), 4))
        self.assertEqual(self.roles(version=6, joined=(0, 6)), (list(range(8)), 8))


class VectorTest(unittest.TestCase):
    def test_every_file_is_judged_as_its_name_says(self):
        seen = collections.Counter()
        for name, data in vectors():
            finding = ostraka_evidence.verify(data)
            self.assertTrue(name.startswith(finding.verdict), f"{name}: {finding}")
            self.assertTrue(finding.reason and "\n" not in finding.reason, name)
            seen[finding.verdict] += 1
        self.assertEqual(sorted(seen), sorted(VERDICTS))

    def test_a_sealed_ban_needs_more_members_than_the_fault_bound(self):
        data = dict(vectors())["missing_data_sealed_ban"]
        run = judges(data)
        self.assertEqual(ostraka_evidence.verify(data, run).verdict, "proven")
        few = run._replace(faults=len(run.members))
        self.assertEqual(ostraka_evidence.verify(data, few).verdict, "not_proven")
        spare = run._replace(faults=run.faults - 1)
        self.assertEqual(ostraka_evidence.verify(data, spare).verdict, "not_proven")
        stranger = spare._replace(members=set(sorted(run.members)[1:]))
        self.assertEqual(ostraka_evidence.verify(data, stranger).verdict, "not_proven")
        other = run._replace(run_id=bytes(32))
        self.assertEqual(ostraka_evidence.verify(data, other).verdict, "not_proven")

    def test_a_verdict_needs_more_voters_than_the_fault_bound(self):
        data = dict(vectors())["missing_data_verdict"]
        run = judges(data)
        self.assertEqual(ostraka_evidence.verify(data, run).verdict, "proven")
        for other in (run._replace(faults=run.faults + 1), run._replace(faults=run.faults - 1),
                      run._replace(members=set(sorted(run.members)[1:])), run._replace(run_id=bytes(32))):
            self.assertEqual(ostraka_evidence.verify(data, other).verdict, "not_proven")

    def test_votes_that_only_suspend_are_no_verdict(self):
        data = dict(vectors())["missing_data_verdict"]  # they find its accuser's claim false, in a gradient case
        run = judges(data)
        for suspending, verdict in (({"gradient"}, "not_proven"), ({"gradient", "numbers"}, "not_proven"),
                                    ({"numbers"}, "proven"), ((), "proven")):
            found = ostraka_evidence.verify(data, run._replace(suspending=frozenset(suspending)))
            self.assertEqual(found.verdict, verdict, suspending)
        vote = {"about": {"kind": 0, "target": b"t", "accuser": b"a"}, "verdict": 3}  # twice
        self.assertEqual(ostraka_evidence.banned(vote, run._replace(suspending=frozenset({"gradient"}))), b"t")

    def test_exact_runs_suspend_since_version_6(self):
        def suspending(version, profile="exact/1"):
            text = f'[run]\nmode = "majority"\nprotocol_version = {version}\ncompute_profile = "{profile}"\n' + "".join(
                f'[[members]]\nid = "{i:064x}"\n' for i in range(8))
            return ostraka_evidence.read_manifest(text.encode()).suspending

        self.assertEqual(suspending(5), frozenset())
        self.assertEqual(suspending(6), {"gradient"})
        self.assertEqual(suspending(7), {"gradient", "numbers"})
        self.assertEqual(suspending(7, "tolerant"), frozenset())

    def test_a_gradient_is_false_if_its_root_is_not_the_computed_one(self):
        data = dict(vectors())["missing_data_gradient"]
        file = ostraka_evidence.decode(ostraka_evidence.messages.EVIDENCE, data)
        commit = ostraka_evidence.body_of(ostraka_evidence.open_frame(file["frames"][0]))
        self.assertEqual(ostraka_evidence.verify(data, computing(data)).verdict, "proven")
        for run in (computing(data, commit["gradient_root"]), computing(data, None),
                    computing(data)._replace(run_id=bytes(32))):
            self.assertEqual(ostraka_evidence.verify(data, run).verdict, "not_proven")
        without = computing(data)._replace(honest_root=None)
        self.assertEqual(ostraka_evidence.verify(data, without).verdict, "missing_data")

    def test_no_mutation_proves_anything_and_none_crashes(self):
        of_judges = [dict(vectors())[name] for name in ("missing_data_sealed_ban", "missing_data_verdict")]
        files = [(data, None) for name, data in vectors() if name.startswith("proven_")]
        by_kind = collections.defaultdict(list)
        computed = dict(vectors())["missing_data_gradient"]
        files.append((computed, computing(computed)))
        for data, run in [*files, *((data, judges(data)) for data in of_judges)]:
            by_kind[ostraka_evidence.verify(data, run).kind].append((data, run))
        self.assertEqual(sorted(by_kind), sorted(ostraka_evidence.CHECKS))
        rng = random.Random(20240601)
        for kind, cases in by_kind.items():
            for i in range(MUTATIONS):
                data, run = cases[i % len(cases)]
                damaged = mutated(data, rng)
                if damaged != data:
                    finding = ostraka_evidence.verify(damaged, run)
                    self.assertNotEqual(finding.verdict, "proven", f"{kind}, mutation {i}: {damaged.hex()}")
                    self.assertIn(finding.verdict, VERDICTS)


if __name__ == "__main__":
    unittest.main()

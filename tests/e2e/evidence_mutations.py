#!/usr/bin/env python3
"""Damages evidence files of real swarms and asks both verifiers: neither may take a damaged file for a proof.

usage: OSTRAKA=build/dev/ostraka tests/e2e/evidence_mutations.py [--count N] [--attack NAME ...]

Runs a small real swarm under each protocol attack, verifies each evidence file that it leaves with both verifiers,
makes N mutations (10,000) for each attack and kind of file, and prints the tables of docs/evidence.md. Exit code 1
if a verifier took one for a proof, if the two disagreed, or if one crashed. The mutations follow from --seed and
the files; keys are drawn from the swarm's seed, but which messages a file holds depends on the run.
"""
import argparse
import collections
import functools
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

import nacl.signing

from canonical_writer import encode
from harness import expect_ok, run

import messages  # proofs/verifier, put into sys.path by canonical_writer
import ostraka_evidence
from canonical import decode

BATCH = 2000  # files a process of the first verifier judges
VERDICTS = ["proven", "not_proven", "malformed", "missing_data"]  # by exit code
ORDER_OF_ED25519 = 2**252 + 27742317777372353535851937790883648493
SIGNATURE = 64


# --- mutations of bytes ---------------------------------------------------------------------------
# Each takes (rng, data, others) and returns other bytes, or None if there is nothing to change.


def flip_bits(rng, data, others):
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def change_bytes(rng, data, others):
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return data


def cut(rng, data, others):
    return data[:rng.randrange(len(data))]


def cut_words(rng, data, others):
    return data[:rng.randrange(len(data) // 8) * 8]


def append(rng, data, others):
    return data + rng.choice([bytes(8 * rng.randint(1, 3)), rng.randbytes(rng.randint(1, 16))])


def insert_words(rng, data, others):
    at = rng.randrange(len(data) // 8) * 8
    data[at:at] = rng.choice([bytes(8), rng.randbytes(8)]) * rng.randint(1, 3)
    return data


def delete_words(rng, data, others):
    at = rng.randrange(len(data) // 8) * 8
    del data[at:at + 8 * rng.randint(1, 4)]
    return data


def swap_stretches(rng, data, others):
    size = 8 * rng.randint(1, 8)
    a, b = (rng.randrange(max(1, (len(data) - size) // 8)) * 8 for _ in range(2))
    data[a:a + size], data[b:b + size] = data[b:b + size], data[a:a + size]
    return data


def splice(rng, data, others):
    """The head of this file and the tail of another."""
    other = rng.choice(others)
    at = rng.randrange(len(data) // 8) * 8
    return data[:at] + (other[at:] if rng.randrange(2) else other[rng.randrange(len(other) // 8) * 8:])


def transplant(rng, data, others):
    """A stretch of another file, in its place."""
    other = rng.choice(others)
    at = rng.randrange(len(data) // 8) * 8
    size = 8 * rng.randint(1, 16)
    data[at:at + size] = other[at:at + size]
    return data


BLIND = [flip_bits, change_bytes, cut, cut_words, append, insert_words, delete_words, swap_stretches, splice, transplant]


# --- mutations of members; the file stays well formed ---------------------------------------------
# Each changes `file`, a dict, or returns False if there is nothing to change. `others` are dicts.


def duplicate_frame(rng, file, others):
    frames = file["frames"]
    frames.insert(rng.randrange(len(frames) + 1), rng.choice(frames))


def drop_frame(rng, file, others):
    del file["frames"][rng.randrange(len(file["frames"]))]


def reorder_frames(rng, file, others):
    if len(file["frames"]) < 2:
        return False
    rng.shuffle(file["frames"])


def replace_frame(rng, file, others):
    file["frames"][rng.randrange(len(file["frames"]))] = rng.choice(rng.choice(others)["frames"])


def add_frame(rng, file, others):
    file["frames"].insert(rng.randrange(len(file["frames"]) + 1), rng.choice(rng.choice(others)["frames"]))


def replace_judge(rng, file, others):
    """Another member's frame in the place where the order of senders wants it."""
    file["frames"][rng.randrange(len(file["frames"]))] = rng.choice(rng.choice(others)["frames"])
    file["frames"].sort(key=sender_of)


def add_stranger(rng, file, others):
    """A stranger signs the content of a frame; the new frame is added, or replaces the old one."""
    key = nacl.signing.SigningKey(rng.randbytes(32))
    frame = rng.choice(file["frames"])
    envelope = decode(messages.ENVELOPE, frame[SIGNATURE:])
    envelope["sender"] = bytes(key.verify_key)
    core = encode(messages.ENVELOPE, envelope)
    signed = key.sign(ostraka_evidence.hashed("envelope/1", core)).signature + core
    if rng.randrange(2):
        file["frames"].remove(frame)
    file["frames"].append(signed)
    file["frames"].sort(key=sender_of)


def accuse_another(rng, file, others):
    senders = [sender_of(frame) for other in others for frame in other["frames"]]
    file["accused"] = rng.choice(senders + [rng.choice(others)["accused"], rng.randbytes(32)])


def change_kind(rng, file, others):
    file["kind"] = rng.randrange(len(messages.KINDS))


def change_slot(rng, file, others):
    name = rng.choice(["incarnation", "step", "phase", "type", "draw", "iteration", "run_id"])
    if name == "run_id":
        file["slot"][name] = rng.randbytes(32)
    else:
        limit = {"phase": 4, "type": len(messages.TYPES)}.get(name, 1 << 32)
        file["slot"][name] = rng.choice([file["slot"][name] + 1, rng.randrange(limit)]) % limit


def take_slot(rng, file, others):
    file["slot"] = dict(rng.choice(others)["slot"])


def take_block(rng, file, others):
    file["block"] = rng.choice(others)["block"]


def change_block(rng, file, others):
    """Another removal, or the same for another reason, in a block that still decodes."""
    if not file["block"]:
        return False
    block = decode(messages.BLOCK, file["block"])
    removal = rng.choice(block["removals"])
    name = rng.choice(["peer", "kind", "step", "tau", "count"])
    if name == "tau":
        block["tau"] ^= 1 << rng.randrange(64)
    elif name == "peer":
        at = 32 * rng.randrange(len(block["members"]) // 32)
        removal["peer"] = block["members"][at:at + 32]
    elif name == "count":
        removal["count"] += 1
    else:
        removal[name] = (removal[name] + 1) % 4
    file["block"] = encode(messages.BLOCK, block)


def attach(rng, file, others):
    file["attachments"] = rng.randbytes(32 * rng.randint(1, 2))


def add_the_order(rng, file, others):
    """S + L in a signature: the same curve equation holds, and a lax verifier takes it."""
    at = rng.randrange(len(file["frames"]))
    frame = file["frames"][at]
    scalar = int.from_bytes(frame[32:64], "little") + ORDER_OF_ED25519
    file["frames"][at] = frame[:32] + scalar.to_bytes(32, "little") + frame[64:]


def change_signature(rng, file, others):
    at = rng.randrange(len(file["frames"]))
    frame = bytearray(file["frames"][at])
    if rng.randrange(2):
        frame[rng.randrange(SIGNATURE)] ^= 1 << rng.randrange(8)
    else:
        frame[:SIGNATURE] = rng.choice(rng.choice(others)["frames"])[:SIGNATURE]
    file["frames"][at] = bytes(frame)


def change_envelope(rng, file, others):
    """A field of a signed message, under the old signature."""
    at = rng.randrange(len(file["frames"]))
    frame = file["frames"][at]
    envelope = decode(messages.ENVELOPE, frame[SIGNATURE:])
    name = rng.choice(["entry", "sender", "body", "slot"])
    if name == "slot":
        change_slot(rng, envelope, others)
    elif name == "body":
        body = bytearray(envelope["body"] or b"\0")
        body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
        envelope["body"] = bytes(body)
    else:
        envelope[name] = rng.choice([rng.randbytes(32), file["accused"]])
    file["frames"][at] = frame[:SIGNATURE] + encode(messages.ENVELOPE, envelope)


MEMBERS = [duplicate_frame, drop_frame, reorder_frames, replace_frame, add_frame, replace_judge, add_stranger,
           accuse_another, change_kind, change_slot, take_slot, take_block, change_block, attach, add_the_order,
           change_signature, change_envelope]


@functools.lru_cache(maxsize=4096)
def sender_of(frame):
    return decode(messages.ENVELOPE, frame[SIGNATURE:])["sender"]


@functools.lru_cache(maxsize=256)
def opened(data):
    """The decoded members of a whole file; read-only."""
    return decode(messages.EVIDENCE, data)


def copied(file):
    return dict(file, slot=dict(file["slot"]), frames=list(file["frames"]))


def mutated(rng, data, others):
    """(name, bytes): one mutation of a file that differs from it; `others` are whole files of its swarm and of
    another, among them itself."""
    while True:
        change = rng.choice(BLIND + MEMBERS)
        if change in BLIND:
            damaged = bytes(change(rng, bytearray(data), others))
        else:
            file = copied(opened(data))
            if change(rng, file, [opened(other) for other in others]) is False:
                continue
            damaged = encode(messages.EVIDENCE, file)
        if damaged != data:
            return change.__name__, damaged


# --- judging --------------------------------------------------------------------------------------


def judged_by_the_node(folder, files, manifest):
    """Verdicts of `ostraka evidence verify` in one process; AssertionError if it crashed or its exit code is not
    that of the worst."""
    paths = []
    for index, data in enumerate(files):
        paths.append(folder / f"{index}.evidence")
        paths[-1].write_bytes(data)
    ended = run("evidence", "verify", "--json", "--manifest", manifest, *paths)
    if ended.stderr or ended.returncode not in range(len(VERDICTS)):
        raise AssertionError(f"exit code {ended.returncode}: {ended.stderr}")
    printed = json.loads(ended.stdout)
    verdicts = [finding["verdict"] for finding in printed.get("findings", [printed])]
    worst = max(map(VERDICTS.index, verdicts))
    if len(verdicts) != len(files) or ended.returncode != worst:
        raise AssertionError(f"exit code {ended.returncode} of {len(verdicts)} verdicts, the worst {worst}")
    return verdicts


# Counts of each verdict; and the mutants on which the verifiers disagreed or that one of them took for a proof, as
# (name of the mutation, verdicts, bytes).
Tally = collections.namedtuple("Tally", "verdicts disagreed proven")


def judge_mutants(folder, files, others, manifest, count, seed):
    """A Tally of `count` mutants of `files` in turn, before both verifiers. A mutant that is another whole file of the
    swarm is none."""
    rng = random.Random(seed)
    known_run = ostraka_evidence.read_manifest(manifest.read_bytes())
    tally = Tally(collections.Counter(), [], [])
    done = 0
    while done < count:
        mutants = []
        while len(mutants) < min(BATCH, count - done):
            name, damaged = mutated(rng, files[(done + len(mutants)) % len(files)], others)
            if damaged not in others:
                mutants.append((name, damaged))
        done += len(mutants)
        first = judged_by_the_node(folder, [damaged for _, damaged in mutants], manifest)
        for (name, damaged), verdict in zip(mutants, first):
            second = ostraka_evidence.verify(damaged, known_run).verdict
            tally.verdicts[verdict] += 1
            if verdict != second:
                tally.disagreed.append((name, (verdict, second), damaged))
            if "proven" in (verdict, second):
                tally.proven.append((name, (verdict, second), damaged))
    return tally


# --- the campaign ---------------------------------------------------------------------------------

TOY = ["--peers", 8, "--byzantine", 3, "--model", "toy", "--hidden", 64]
STEPS = 24
# Each seal takes the slow path, which lasts some Delta; or chance decides which member is watched.
STEPS_OF = {"stale_lock": 6, "lying_echo": 6, "unwatched": 60, "leave_after": 60}
# Every attack on the protocol (docs/simulation.md) and one on gradients, with the kinds of evidence that it leaves.
BAN = {"sealed_ban"}
TWO = {"equivocation", "sealed_ban"}
ATTACKS = {
    "sign_flip": BAN, "false_accuse": BAN, "false_proof": BAN, "cover_up": BAN, "cover_up show=0": BAN,
    "cover_up one=1": BAN, "unwatched": BAN, "leave_after": BAN, "false_complaint kind=1": BAN,
    "bad_reveal": {"false_reveal", "sealed_ban"}, "inf": {"impossible_numbers", "sealed_ban"}, "spoilt_part": set(),
    "state_poison": set(), "flood": set(), "eclipse": set(), "sybil": BAN,
    "equivocate": TWO, "equivocate split=1": TWO, "equivocate one=1": TWO, "double_propose": TWO, "two_faced": TWO,
    "frame_victim": set(), "wrong_aggregate": set(), "near_tolerance": set(), "selective_bitmap": set(), "false_complaint": set(),
    "false_complaint kind=2": set(), "impersonate": set(), "stale_lock": set(), "lying_echo": set(), "silent": set(),
    "abort_coin": set(), "withhold_echo": set(), "withhold_result": set(), "selective_send": set(),
    "selective_send stubborn=1": set(), "late": set()}
# And those that it may leave: which of its accusations is the first to be judged depends on time (docs/measurements/swarm-testing.md).
PERHAPS = {"frame_victim": BAN}
SWARM_DEADLINE_S = 1200  # a slow path takes seconds a seal
REPEATS = 500  # of one file, to time a verdict


def swarm_files(out, attack):
    """Runs the swarm; (its result, its files by kind)."""
    name, *params = attack.split()
    options = [option for param in params for option in ("--attack-param", param)]
    # Exit code 1 means that an attacker was not found in these few steps, which does not matter here.
    ended = run("swarm", *TOY, "--steps", STEPS_OF.get(name, STEPS), "--attack", name, *options, "--json",
                "--out", out, timeout=SWARM_DEADLINE_S)
    if ended.returncode not in (0, 1):
        raise AssertionError(f"{attack}: exit code {ended.returncode}: {ended.stderr}")
    by_kind = collections.defaultdict(list)
    folder = out / "evidence"
    for file in sorted(folder.glob("*.evidence")) if folder.exists() else []:
        data = file.read_bytes()
        by_kind[messages.KINDS[opened(data)["kind"]]].append(data)
    return json.loads(ended.stdout), dict(by_kind)


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def milliseconds_a_file(folder, data, manifest):
    """(first verifier, second): processor time of one verdict, the start of a process not counted."""
    file = folder / "timed.evidence"
    file.write_bytes(data)

    def first(times):
        begin = children_seconds()
        expect_ok("evidence", "verify", "--json", "--manifest", manifest, *[file] * times)
        return children_seconds() - begin

    known_run = ostraka_evidence.read_manifest(manifest.read_bytes())
    begin = time.process_time()
    for _ in range(REPEATS):
        ostraka_evidence.verify(data, known_run)
    second = time.process_time() - begin
    return 1e3 * (first(REPEATS + 1) - first(1)) / REPEATS, 1e3 * second / REPEATS


def sizes(files):
    low, high = min(map(len, files)), max(map(len, files))
    return f"{low}" if low == high else f"{low}-{high}"


class Campaign:
    def __init__(self, options):
        self.options = options
        self.verdicts = collections.defaultdict(collections.Counter)  # of mutants, by kind
        self.failed = False
        self.strangers = []  # whole files of the swarm before: of another run

    def complain(self, problem):
        self.failed = True
        print(problem, file=sys.stderr, flush=True)

    def attack(self, attack, base):
        out = base / attack.replace(" ", "-")
        result, by_kind = swarm_files(out, attack)
        if set(by_kind) - PERHAPS.get(attack, set()) != ATTACKS[attack]:
            self.complain(f"{attack}: left {sorted(by_kind)}")
        ended = collections.Counter(removal["kind"] for removal in result["removals"])
        how = ", ".join(f"{kind} {count}" for kind, count in sorted(ended.items())) or "contained"
        if not by_kind:
            print(f"| `{attack}` | {how} | none | | | | |", flush=True)
        whole = [data for files in by_kind.values() for data in files]
        for kind, files in sorted(by_kind.items()):
            self.judge(attack, how, kind, files, whole, out / "run.toml", base)
        self.strangers = whole or self.strangers

    def judge(self, attack, how, kind, files, whole, manifest, folder):
        if judged_by_the_node(folder, files, manifest) != ["proven"] * len(files):
            self.complain(f"{attack}: the first verifier refuses a {kind}")
        known_run = ostraka_evidence.read_manifest(manifest.read_bytes())
        if any(ostraka_evidence.verify(data, known_run).verdict != "proven" for data in files):
            self.complain(f"{attack}: the second verifier refuses a {kind}")
        if any(encode(messages.EVIDENCE, opened(data)) != data for data in files):
            self.complain(f"{attack}: a {kind} is not encoded as the second verifier's tables say")
        first, second = milliseconds_a_file(folder, max(files, key=len), manifest)
        tally = judge_mutants(folder, files, whole + self.strangers, manifest, self.options.count,
                              f"{self.options.seed} {attack} {kind}")
        self.verdicts[kind] += tally.verdicts
        for what, found in (("a proof", tally.proven), ("disputed", tally.disagreed)):
            for name, verdicts, data in found[:3]:
                self.complain(f"{attack}: {kind} after {name} is {what}: {verdicts}: {data.hex()}")
        print(f"| `{attack}` | {how} | {len(files)} {kind} | {sizes(files)} | {first:.2f} | {second:.2f} | "
              f"{sum(tally.verdicts.values()):,}: {len(tally.proven)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000, help="mutations for each attack and kind of file")
    parser.add_argument("--attack", action="append", choices=list(ATTACKS), help="only this one; may be repeated")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    campaign = Campaign(options)
    print("| attack | removed by | files | bytes | `ostraka`, ms | Python, ms | mutations: proofs among them |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="ostraka-mutations-") as folder:
        for attack in options.attack or ATTACKS:
            campaign.attack(attack, Path(folder))
    print("\n| kind | mutations | " + " | ".join(VERDICTS) + " |\n|---" * 1 + "|---" * (len(VERDICTS) + 1) + "|")
    for kind, verdicts in sorted(campaign.verdicts.items()):
        print(f"| {kind} | {sum(verdicts.values()):,} | " +
              " | ".join(f"{verdicts[verdict]:,}" for verdict in VERDICTS) + " |")
    return 1 if campaign.failed else 0


if __name__ == "__main__":
    sys.exit(main())

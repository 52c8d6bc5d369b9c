#!/usr/bin/env python3
"""A second verifier of ostraka's evidence, written from docs/evidence.md: no code of the node is used.

usage: ostraka_evidence.py [--manifest RUN.toml] [--anchor LINK] [--handovers FOLDER] [--state PARAMETERS [--data FILE] [--graph FILE]] FILE...

Prints one line a file. Exit code, of the worst file: 0 proven, 1 not proven, 2 malformed, 3 data missing (a
sealed_ban or verdict without the manifest of its run, a gradient without that and the parameters of its step, or a
folder of such). Needs Python 3.11 and PyNaCl (Debian: python3-nacl); for gradients NumPy (python3-numpy).
"""
import argparse
import collections
import math
import struct
import sys
import tomllib

import handovers
import links
import messages
from canonical import Refused, decode
from frames import Malformed, NotProven, commit_slot, in_order, need, open_frame, proof_slot, signed, type_of
from hashing import hashed, u64

# suspending: the kinds of cases in which votes other than `twice` only suspend. since: the members judge what was done
# in this step and later.
Run = collections.namedtuple("Run", "run_id members faults honest_root suspending since mode",
                             defaults=(None, frozenset(), 0, None))
Finding = collections.namedtuple("Finding", "verdict reason kind accused step", defaults=(None, None, None))


class NoManifest(Exception):
    where = None  # if not in the file that --manifest names


class MissingData(Exception):
    pass


def under_root(root, leaf, index, count, path):
    """Whether `leaf` is leaf `index` of the `count` leaves under `root`."""
    if index >= count:
        return False
    node, left = leaf, list(path)
    leaves = count
    while count > 1:
        if index % 2 == 1 or index + 1 < count:  # else the last node of an odd level moves up unchanged
            if not left:
                return False
            sibling = left.pop(0)
            pair = (node, sibling) if index % 2 == 0 else (sibling, node)
            node = hashed("merkle.node/1", *pair)
        count, index = (count + 1) // 2, index // 2
    return not left and hashed("merkle.root/1", u64(leaves), node) == root


def body_of(frame):
    """The body as a dict, or None if it does not decode."""
    try:
        return decode(messages.BODIES[type_of(frame.slot)], frame.body)
    except Refused:
        return None


def readable(frame, what):
    body = body_of(frame)
    if body is None:
        raise NotProven(f"the {what} cannot be read")
    return body


def is_double(bits):
    return struct.unpack("<d", u64(bits))[0]


# --- kinds --------------------------------------------------------------------------------------


def equivocation(file, frames, run):
    need(all(frame.slot == file["slot"] for frame in frames), "a message is of another slot")
    need(frames[0].digest != frames[1].digest, "both frames carry the same message")
    if frames[1].digest < frames[0].digest:
        raise Malformed("the frames must be in the order of their digests")
    return "signed two different messages for one slot"


def against_commit(file, frames, type_):
    need(type_of(file["slot"]) == type_ and frames[1].slot == file["slot"], f"the second message is not that {type_}")
    need(frames[0].slot == commit_slot(file["slot"]), "the first message is not the commit of the same step")
    return readable(frames[0], "commit")


def false_reveal(file, frames, run):
    commit = against_commit(file, frames, "reveal")
    reveal, slot = body_of(frames[1]), file["slot"]
    if reveal is not None:
        leaf = hashed("coin/1", file["accused"], u64(slot["step"]), u64(slot["draw"]), reveal["coin"], reveal["salt"])
        path = messages.ids_of(reveal["path"])
        need(not under_root(commit["coins_root"], leaf, slot["draw"], commit["coin_count"], path),
             "the revealed coin is the one that was committed to")
    return "revealed a coin that it had not committed to"


def unreadable(file, frames, run):
    need(frames[0].slot == file["slot"], "the message is of another slot")
    need(body_of(frames[0]) is None, "the body can be read")
    return "signed a message that nobody can read"


def false_part(file, frames, run):
    commit = against_commit(file, frames, "part")
    part, index = readable(frames[1], "part"), file["slot"]["iteration"]
    path = messages.ids_of(part["path"])
    if commit["gradient_root"]:
        for count in range(index + 1, messages.MAX_PEERS + 1):
            need(not under_root(commit["gradient_root"], part["root"], index, count, path),
                 "the part lies under its commit")
    return "sent a part that is not under its commit"


def impossible(column):
    size = is_double(column["size"])
    if not math.isfinite(size) or size < 0:
        return True
    if column["missing"]:
        return False
    norm = is_double(column["norm"])
    sums = [is_double(column[f"s{k}"]) for k in range(4)]
    if not math.isfinite(norm) or norm < 0:
        return True
    bound = norm * (1 + 2.0**-40)
    return any(not math.isfinite(s) or abs(s) > bound for s in sums)


def impossible_numbers(file, frames, run):
    need(type_of(file["slot"]) == "proof" and frames[0].slot == file["slot"], "the message is not that proof")
    proof = readable(frames[0], "proof")
    need(any(impossible(column) for column in proof["columns"]), "every column's numbers are possible")
    return "stated numbers that no gradient has"


def same_seal(a, b):
    return dict(a.slot, type=0, iteration=0) == dict(b.slot, type=0, iteration=0)


def broken_lock(file, frames, run):
    lock, vote = frames
    need(type_of(file["slot"]) == "vote" and vote.slot == file["slot"], "the second message is not that vote")
    need(type_of(lock.slot) == "lock" and same_seal(lock, vote) and lock.slot["iteration"] < vote.slot["iteration"],
         "the first message is not a lock of an earlier iteration of the same seal")
    readable(lock, "lock")
    need(readable(vote, "vote")["rank"] <= lock.slot["iteration"], "the vote respects the lock")
    return "voted against an earlier lock of its own"


def false_status(file, frames, run):
    word, status = frames
    need(type_of(file["slot"]) == "status" and status.slot == file["slot"], "the second message is not that status")
    need(same_seal(word, status) and word.entry == status.entry, "the messages are not of the same seal")
    said = readable(status, "status")
    if type_of(word.slot) == "echo":
        echoed = readable(word, "echo")["vector"]
        need(said["rank"] == 0, "the status states a lock, not an echo")
        need(said["value"] != echoed, "the status names what was echoed")
    else:
        need(type_of(word.slot) == "lock" and word.slot["iteration"] < status.slot["iteration"],
             "the first message is no echo, and no lock of an earlier iteration")
        readable(word, "lock")
        need(said["rank"] <= word.slot["iteration"], "the status respects the lock")
    return "denied in a status what it had echoed or locked"


def condemned(vote):
    """The peer that a vote condemns, or None."""
    case = vote["about"]
    if messages.VOTES[vote["verdict"]] in ("guilty", "twice"):
        return case["target"]
    if messages.VOTES[vote["verdict"]] == "innocent" and messages.CASES[case["kind"]] != "cover":
        return case["accuser"]
    return None


def banned(vote, run):
    """The peer that enough of such votes ban in the run, or None."""
    suspends = messages.CASES[vote["about"]["kind"]] in run.suspending
    return None if suspends and messages.VOTES[vote["verdict"]] != "twice" else condemned(vote)


def common_cases(file, frames, whom):
    """Cases in which each frame has a vote of which `whom` says the accused."""
    cases = None
    for frame in frames:
        against = [vote["about"] for vote in readable(frame, "proof")["votes"] if whom(vote) == file["accused"]]
        cases = against if cases is None else [case for case in cases if case in against]
    return cases


def verdict(file, frames, run):
    last = proof_slot(file["slot"], file["slot"]["step"])
    need(file["slot"] == last, "the file names no proof's slot")
    for frame in frames:
        need(frame.slot == proof_slot(last, frame.slot["step"]), "a frame is no proof of the run")
        need(frame.sender != file["accused"], "the accused is no judge")
    cases = common_cases(file, frames, condemned)
    need(max(frame.slot["step"] for frame in frames) == last["step"], "the file names another step than its last vote's")
    need(cases, "the proofs do not all vote against it in one case")
    in_order(frames)
    return "found guilty in one case by more members than can be at fault"


def sealed_ban(file, frames, run):
    block = decode(messages.BLOCK, file["block"])
    bans = any(removal["peer"] == file["accused"] and messages.REMOVAL_KINDS[removal["kind"]] in messages.BANS
               for removal in block["removals"])
    need(bans and not block["genesis"], "the block does not ban the accused")
    sealed = proof_slot(file["slot"], block["step"])
    need(file["slot"] == sealed, "the file names another slot than the block's seal c")
    handovers.check_building(frames, sealed["run_id"], block["step"], file["block"])
    return "banned by a block that more members than can be at fault built on"


def gradient(file, frames, run):
    commit, slot = frames[0], file["slot"]
    need(type_of(slot) == "commit" and commit.slot == slot, "the message is not that commit")
    block = decode(messages.BLOCK, file["block"])
    next_step = 0 if block["genesis"] else block["step"] + 1
    need(slot["step"] == next_step and commit.entry == hashed("block/1", file["block"]),
         "the commit does not build on the block")
    body = readable(commit, "commit")
    need(body["gradient_root"] and body["parameters_root"], "the commit names no gradient, or not at which parameters")
    return "signed a gradient that does not follow from its parameters and its batch"


def compute(file, frames, run):
    """Judges a file of kind gradient, of which all but the gradient holds."""
    if run is None or run.honest_root is None:
        raise MissingData("its gradient must be computed: that needs the run's manifest and the parameters of the step")
    need(file["slot"]["run_id"] == run.run_id, "the evidence is of another run than the manifest")
    commit = readable(frames[0], "commit")
    block = decode(messages.BLOCK, file["block"])
    honest = run.honest_root(file["accused"], file["slot"]["step"], block, commit["parameters_root"])
    need(honest is not None, "no gradient was due from the accused in that step")
    need(honest != commit["gradient_root"], "its gradient is the true one")


CHECKS = {"equivocation": (2, equivocation), "false_reveal": (2, false_reveal), "unreadable": (1, unreadable),
          "false_part": (2, false_part), "impossible_numbers": (1, impossible_numbers),
          "broken_lock": (2, broken_lock), "sealed_ban": (None, sealed_ban), "false_status": (2, false_status),
          "verdict": (None, verdict), "gradient": (1, gradient)}
OF_JUDGES = {"sealed_ban", "verdict"}  # kinds with frames of judges, not of the accused


def check_form(file, kind, due):
    if file["version"] != 1:
        raise Malformed("version: not supported")
    if file["attachments"]:
        raise Malformed("this kind has no attachments")
    if kind not in ("sealed_ban", "gradient") and file["block"]:
        raise Malformed("this kind has no block")
    if len(file["frames"]) != due if due else not file["frames"]:
        raise Malformed("wrong number of frames")


def check_frames(file, kind, check, run):
    frames = [open_frame(frame) for frame in file["frames"]]
    if kind not in OF_JUDGES:
        need(all(frame.sender == file["accused"] for frame in frames), "a message is not the accused's")
    type_ = type_of(file["slot"])
    need(messages.PHASES[file["slot"]["phase"]] != "genesis" and type_ not in {"rejoin"} | messages.SERVICES,
         "such messages are never evidence")
    reason = check(file, frames, run)
    need(all(signed(frame) for frame in frames), "a signature is not its sender's")
    return reason, frames


def check_judges(file, kind, frames, views):
    """Any view may judge what was done since; the objection of the first one is told."""
    problem = NotProven("no view of the run is as old as its judges")
    for view in reversed([view for view in views if view.since <= file["slot"]["step"]]):
        try:
            handovers.check_signers(frames, view)
            need(kind != "verdict" or common_cases(file, frames, lambda vote: banned(vote, view)),
                 "in this run such votes suspend, and ban only who is found guilty twice")
            return
        except NotProven as objection:
            problem = objection
    raise problem


def verify(data, run=None, views=()):
    """A Finding for any bytes. `run`: what a manifest says (read_manifest), or None; `views`: it and those that
    handovers lead to (handovers.follow_all)."""
    kind = accused = step = None
    try:
        if len(data) > messages.MAX_FILE:
            raise Malformed("too long")
        file = decode(messages.EVIDENCE, data)
        kind, accused = messages.KINDS[file["kind"]], file["accused"].hex()
        step = file["slot"]["step"]
        due, check = CHECKS[kind]
        check_form(file, kind, due)
        reason, frames = check_frames(file, kind, check, run)
        if kind == "gradient":
            compute(file, frames, run)
        if kind in OF_JUDGES:
            if run is None:
                return Finding("missing_data", "the run's manifest must say whose the signatures are", kind, accused,
                               step)
            need(file["slot"]["run_id"] == run.run_id, "the evidence is of another run than the manifest")
            check_judges(file, kind, frames, views or [run])
        return Finding("proven", reason, kind, accused, step)
    except (Refused, Malformed) as problem:
        return Finding("malformed", str(problem))
    except NotProven as problem:
        return Finding("not_proven", str(problem), kind, accused, step)
    except MissingData as problem:
        return Finding("missing_data", str(problem), kind, accused, step)


# The share of the members that t_s is of, and t_a at a genesis of n.
MODES = {"majority": ((1, 2), lambda n: 1), "balanced": ((2, 5), lambda n: n // 5),
         "third": ((1, 3), lambda n: (n - 1) // 3), "checked": ((1, 2), lambda n: 1)}
MOST_MANIFEST_BYTES = 1 << 20


def thresholds(mode, genesis, n):
    """(t_s, t_a) of n members, in a run that began with `genesis` (docs/protocol.md 1)."""
    share, t_a_of = MODES[mode]
    t_a = t_a_of(genesis)
    t_s = min(n * share[0] // share[1], max(0, (n - 1 - t_a) // 2))
    if mode == "checked":  # four validators can be spared
        t_s = max(0, min(t_s, (n - 5) // 2))
    return t_s, min(t_a, t_s)


def view_of_link(run, block):
    """The members of a link's block as judges. Raises Malformed: no block of the run as a node could have it."""
    n = block["n"]
    members = len(messages.ids_of(block["members"]))
    has_number = block["step"] == 0 if block["genesis"] else block["step"] < 2**64 - 1
    if not (has_number and any(block["decision"]) and members >= 3 and n == members
            and thresholds(run.mode, len(run.members), n) == (block["t_s"], block["t_a"])):
        raise Malformed("the link has a block that is none of its run")
    return handovers.view_after(run, block)


def read_manifest(text):
    """Members and faults of a run from its manifest file's bytes (docs/protocol.md 1). Raises NoManifest."""
    if len(text) > MOST_MANIFEST_BYTES:
        raise NoManifest("a manifest has at most 1 MiB")
    try:
        manifest = tomllib.loads(text.decode())
        members = {bytes.fromhex(member["id"]) for member in manifest["members"]}
        mode = str(manifest["run"]["mode"])
        suspending = suspending_in(manifest["run"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise NoManifest(f"not a manifest: {problem}") from None
    n = len(members)
    if mode not in MODES:
        raise NoManifest(f"unknown mode {mode!r}")
    t_s, t_a = thresholds(mode, n, n)
    return Run(hashed("manifest/1", text), members, max(t_s, t_a), suspending=suspending, mode=mode)


def suspending_in(run):
    """The kinds of cases whose loser a run only suspends by its first fault (docs/protocol/removals.md)."""
    version = run.get("protocol_version", 8)
    if run.get("compute_profile") != "exact/1" or version < 6:
        return frozenset()
    return frozenset({"gradient"} if version == 6 else {"gradient", "numbers"})


EXIT_CODES = {"proven": 0, "not_proven": 1, "malformed": 2, "missing_data": 3}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--manifest", help="of the run: a sealed_ban or verdict needs it")
    parser.add_argument("--anchor", help="a link of the run, or a file or data folder with one: judged by the members of its block and "
                        "later")
    parser.add_argument("--handovers", action="append", help="a handover or a folder of them, which prove who came "
                        "after the genesis (default: handovers/ beside the files)")
    parser.add_argument("--state", help="for a gradient: the parameters of its step, or a folder of such files")
    parser.add_argument("--data", help="for a gradient: the run's data, as for `ostraka node`; the digits need none")
    parser.add_argument("--graph", help="for a gradient: the run's graph file, if it is not beside the manifest; constants lie beside it")
    options = parser.parse_args()
    if options.state and not options.manifest:
        parser.error("--state needs the run's manifest too: --manifest RUN.toml")
    try:
        return judge_files(options)
    except OSError as problem:
        print(f"{problem.filename}: {problem.strerror}", file=sys.stderr)
        return EXIT_CODES["missing_data"]
    except NoManifest as problem:
        print(f"{problem.where or options.manifest}: {problem}", file=sys.stderr)
        return EXIT_CODES["malformed"]
    except Malformed as problem:
        print(problem, file=sys.stderr)
        return EXIT_CODES["malformed"]


def with_kernels(run, text, options):
    """The run with what computes its gradients: without good data they are not judged, and all else is."""
    import gradient as kernels  # only here: NumPy may not be installed

    judge, trouble = None, None
    try:
        judge = kernels.Judge(tomllib.loads(text.decode()), run.run_id, options.state, options.data,
                              options.graph or (options.manifest + ".graph"))
    except OSError as problem:
        trouble = f"{problem.filename}: {problem.strerror}"
    except (*kernels.UNFIT, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as problem:
        trouble = f"its gradients cannot be computed here: {problem}"

    def honest_root(*claim):
        if trouble:
            raise MissingData(trouble)
        try:
            return judge.honest_root(*claim)
        except kernels.UNFIT as problem:
            raise MissingData(str(problem)) from None
        except OSError as problem:
            raise MissingData(f"{problem.filename}: {problem.strerror}") from None
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as problem:
            # A file of parameters or data that is none: only a traceback would share its exit code with "not proven".
            raise MissingData(f"what was given cannot be read: {type(problem).__name__}: {problem}") from None

    return run._replace(honest_root=honest_root)


def known_run(options):
    """The run and the members that the reader trusts, or None twice."""
    run = trusted = None
    if options.manifest:
        with open(options.manifest, "rb") as file:
            text = file.read()
        run = trusted = read_manifest(text)
        if options.state:
            run = with_kernels(run, text, options)
    if options.anchor:
        text, block = links.read(options.anchor)
        try:
            of_link = read_manifest(text)
        except NoManifest as problem:
            problem.where = "the link"
            raise
        if run and run.run_id != of_link.run_id:
            raise Malformed("the link is of another run than the manifest")
        run, trusted = run or of_link, of_link
        if block:
            trusted = view_of_link(of_link, block)
    return run, trusted


def judge_files(options):
    run, trusted = known_run(options)
    views = handovers.follow_all(trusted, handovers.read_all(options.handovers, options.files)) if run else []
    worst = 0
    for path in options.files:
        with open(path, "rb") as file:
            finding = verify(file.read(messages.MAX_FILE + 1), run, views)
        worst = max(worst, EXIT_CODES[finding.verdict])
        who = f" {finding.accused} in step {finding.step}:" if finding.accused else ""
        print(f"{path}: {finding.verdict}:{who} {finding.reason}")
    return worst


if __name__ == "__main__":
    sys.exit(main())

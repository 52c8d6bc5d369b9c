"""From the members of a run's genesis to those of later blocks (docs/evidence.md, 6)."""
import functools
import os
import sys

import messages
from canonical import Refused, decode
from frames import Malformed, NotProven, commit_slot, in_order, need, open_frame, proof_slot, signed
from hashing import hashed

FOLDER, SUFFIX, MOST_FILES = "handovers", ".handover", 16_384


def check_signers(frames, view):
    """One more of the view's members than can be at fault, and nobody else."""
    need(all(frame.sender in view.members for frame in frames), "not only members signed")
    need(len(frames) == view.faults + 1,
         f"{len(frames)} members signed; as {view.faults} can be at fault, it must be one more than these")


def check_building(frames, run_id, step, block):
    """Commits of the step after the block, by sender, whose parent is the block of these bytes."""
    builds = dict(commit_slot(proof_slot({"run_id": run_id}, step)), step=step + 1)
    need(step < 2**64 - 1, "no step follows the block")
    digest = hashed("block/1", block)
    need(all(frame.slot == builds and frame.entry == digest for frame in frames),
         "a frame is no commit that builds on the block")
    in_order(frames)


def judges_of(block):
    """Members, faults among them, and the first step that they judge."""
    return set(messages.ids_of(block["members"])), max(block["t_s"], block["t_a"]), 0 if block["genesis"] else block["step"] + 1


def view_after(run, block):
    members, faults, since = judges_of(block)
    return run._replace(members=members, faults=faults, since=since)


class Handover:
    """An opened file. Raises Malformed."""

    def __init__(self, data):
        try:
            if len(data) > messages.MAX_FILE:
                raise Refused("too long")
            handover = decode(messages.HANDOVER, data)
            if handover["version"] != 1:
                raise Refused("version: not supported")
            self.encoded, self.block = handover["block"], decode(messages.BLOCK, handover["block"])
            self.frames = [open_frame(frame) for frame in handover["frames"]]
        except Refused as problem:
            raise Malformed(f"handover: {problem}") from None
        self.members, self.faults, self.since = judges_of(self.block)

    @functools.cached_property
    def is_signed(self):
        """Verified at most once: anybody may add files to a folder."""
        return all(signed(frame) for frame in self.frames)


def follow(view, handover):
    """The view that a handover leads to. Raises NotProven: it does not lead on from this one."""
    block = handover.block
    need(not block["genesis"] and block["step"] >= view.since, "its block is not younger")
    check_signers(handover.frames, view)
    try:
        check_building(handover.frames, view.run_id, block["step"], handover.encoded)
    except Malformed as problem:
        raise NotProven(str(problem)) from None
    need(handover.is_signed, "a signature is not its sender's")
    return view._replace(members=handover.members, faults=handover.faults, since=handover.since)


def follow_all(genesis, handovers):
    """The genesis and every view that they lead to."""
    views = [genesis]
    for handover in sorted(handovers, key=lambda each: each.block["step"]):
        led_to = (handover.since, handover.faults, handover.members)
        if any((view.since, view.faults, view.members) == led_to for view in views):
            continue
        for view in reversed(views):
            try:
                views.append(follow(view, handover))
                break
            except NotProven:
                continue
    return views


def files_of(path):
    """The files of a folder that are named as handovers are, or the path itself. Raises OSError."""
    if not os.path.isdir(path):
        return {path}
    with os.scandir(path) as entries:
        return {entry.path for entry in entries if entry.name.endswith(SUFFIX) and entry.is_file()}


def read_all(given, evidence):
    """The handovers of the given files and folders, or of those beside evidence files. Raises OSError."""
    beside = {os.path.join(os.path.dirname(path), FOLDER) for path in evidence}
    paths = given or [path for path in beside if os.path.isdir(path)]
    files = sorted(set().union(*map(files_of, paths)))
    if len(files) > MOST_FILES:
        raise Malformed(f"more than {MOST_FILES} handovers: give a folder of this run alone")
    contents = {}
    for path in files:
        with open(path, "rb") as file:
            contents.setdefault(file.read(messages.MAX_FILE + 1), path)
    handovers = []
    for data in sorted(contents):
        try:
            handovers.append(Handover(data))
        except Malformed as problem:
            print(f"passed over: {contents[data]}: {problem}", file=sys.stderr)
    return handovers

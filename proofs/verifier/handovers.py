"""From the members of a run's genesis to those of later blocks (docs/evidence.md, 6)."""
import os

import messages
from canonical import Refused, decode
from frames import Malformed, NotProven, commit_slot, in_order, need, open_frame, proof_slot, signed
from hashing import hashed

FOLDER, SUFFIX = "handovers", ".handover"


def check_signers(frames, view):
    """One more of the view's members than can be at fault, and nobody else."""
    need(all(frame.sender in view.members for frame in frames), "not only members signed")
    need(len(frames) == view.faults + 1,
         f"{len(frames)} members signed; as {view.faults} can be at fault, it must be one more than these")


def check_building(frames, run_id, step, block):
    """Commits of the step after the block, by sender, whose parent is the block of these bytes."""
    builds = dict(commit_slot(proof_slot({"run_id": run_id}, step)), step=step + 1)
    digest = hashed("block/1", block)
    need(all(frame.slot == builds and frame.entry == digest for frame in frames),
         "a frame is no commit that builds on the block")
    in_order(frames)


def opened(data):
    """(block, its bytes, frames). Raises Malformed."""
    try:
        if len(data) > messages.MAX_FILE:
            raise Refused("too long")
        handover = decode(messages.HANDOVER, data)
        if handover["version"] != 1:
            raise Refused("version: not supported")
        block = decode(messages.BLOCK, handover["block"])
        return block, handover["block"], [open_frame(frame) for frame in handover["frames"]]
    except Refused as problem:
        raise Malformed(f"handover: {problem}") from None


def follow(view, block, encoded, frames):
    """The view that an opened handover leads to. Raises NotProven: it does not lead on from this one."""
    need(not block["genesis"] and block["step"] >= view.since, "its block is not younger")
    check_signers(frames, view)
    try:
        check_building(frames, view.run_id, block["step"], encoded)
    except Malformed as problem:
        raise NotProven(str(problem)) from None
    need(all(signed(frame) for frame in frames), "a signature is not its sender's")
    return view._replace(members=set(messages.ids_of(block["members"])), faults=max(block["t_s"], block["t_a"]),
                         since=block["step"] + 1)


def follow_all(genesis, files):
    """The genesis and every view that the handovers lead to. Raises Malformed."""
    views = [genesis]
    for block, encoded, frames in sorted(map(opened, files), key=lambda handover: handover[0]["step"]):
        members = set(messages.ids_of(block["members"]))
        if any(view.since == block["step"] + 1 and view.members == members for view in views):
            continue
        for view in reversed(views):
            try:
                views.append(follow(view, block, encoded, frames))
                break
            except NotProven:
                continue
    return views


def read_all(folder, evidence):
    """The bytes of the handovers in the folder, or of those beside evidence files. Raises OSError."""
    beside = {os.path.join(os.path.dirname(path), FOLDER) for path in evidence}
    folders = [folder] if folder else sorted(path for path in beside if os.path.isdir(path))
    files = []
    for path in folders:
        for name in sorted(os.listdir(path)):
            if name.endswith(SUFFIX):
                with open(os.path.join(path, name), "rb") as file:
                    files.append(file.read(messages.MAX_FILE + 1))
    return files

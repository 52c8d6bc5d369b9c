"""Signed frames, as evidence files and handovers hold them (docs/evidence.md, 2)."""
import collections

import nacl.exceptions
import nacl.signing

import messages
from canonical import Refused, decode
from hashing import hashed

Frame = collections.namedtuple("Frame", "signature digest slot entry sender body")


class Malformed(Exception):
    pass


class NotProven(Exception):
    pass


def type_of(slot):
    return messages.TYPES[slot["type"]]


def open_frame(frame):
    """signature (64) | envelope. Raises Refused."""
    if not 64 <= len(frame) <= messages.MAX_FRAME:
        raise Refused("frame: wrong length")
    signature, core = frame[:64], frame[64:]
    envelope = decode(messages.ENVELOPE, core)
    slot = envelope["slot"]
    service = type_of(slot) in messages.SERVICES
    longest = messages.MAX_FRAME if service or type_of(slot) == "proof" else messages.MAX_SMALL_BODY
    if len(envelope["body"]) > longest:
        raise Refused("frame: body too long")
    if service == any(signature):
        raise Refused("frame: services are not signed, and everything else is")
    return Frame(signature, hashed("envelope/1", core), slot, envelope["entry"], envelope["sender"],
                 envelope["body"])


def signed(frame):
    try:
        nacl.signing.VerifyKey(frame.sender).verify(frame.digest, frame.signature)
        return True
    except (nacl.exceptions.BadSignatureError, nacl.exceptions.ValueError):
        return False


def need(holds, reason):
    if not holds:
        raise NotProven(reason)


def commit_slot(slot):
    return dict(slot, phase=messages.PHASES.index("a"), type=messages.TYPES.index("commit"), draw=0, iteration=0)


def proof_slot(of_run, step):
    return dict(run_id=of_run["run_id"], incarnation=0, step=step, phase=messages.PHASES.index("c"),
                type=messages.TYPES.index("proof"), draw=0, iteration=0)


def in_order(frames):
    senders = [frame.sender for frame in frames]
    if any(a >= b for a, b in zip(senders, senders[1:])):
        raise Malformed("the frames must be in the order of their senders, one each")

"""Hashes by domain (docs/wire.md), and the root of a Merkle tree over them."""
import hashlib
import struct


def hashed(domain, *parts):
    state = hashlib.blake2b(digest_size=32, person=domain.encode())
    for part in parts:
        state.update(part)
    return state.digest()


def u64(number):
    return struct.pack("<Q", number)


def sized(data):
    return u64(len(data)) + data


def merkle_root(leaves):
    level = list(leaves)
    while len(level) > 1:
        pairs = [hashed("merkle.node/1", level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) - len(level) % 2:]
    return hashed("merkle.root/1", u64(len(leaves)), level[0] if level else bytes(32))

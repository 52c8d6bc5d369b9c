"""Connects to nodes and sends them junk; says how each connection ended.

A program of its own, so that its work can be given less of the processor than the nodes have:
    junk.py < {"ports": [...], "run_id": "hex", "keys": [folder, count], "connections": N,
               "per_second": R, "seed": S}
prints, when every connection is over, {"made": N, "kinds": {kind: n}, "longest_seconds": {kind: s},
"still_open": n, "told_not_a_member": n, "first_to_last_seconds": s}.
"""
import asyncio
import contextlib
import json
import os
import pathlib
import random
import re
import ssl
import struct
import sys
import time

# A connection that is open for longer than this counts as still open; the test closes it.
GIVE_UP_S = 20
HEADER = pathlib.Path(__file__).parents[2] / "node/wire/messages.h"
PROTOCOL_VERSION = int(re.search(r"kProtocolVersion = (\d+);", HEADER.read_text())[1])
NOT_A_MEMBER = b"is not a member of this run"


def hello_record(run_id):
    """The first record of a node of the right version and run (node/net/records/hello.h)."""
    return b"\x01ostraka\0" + struct.pack("<I", PROTOCOL_VERSION) + bytes.fromhex(run_id) + struct.pack(
        "<QQQ", 0, random.getrandbits(64), 0)


def frame(payload):
    """One masked binary WebSocket message; the mask is zero, which the standard allows."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xff" + struct.pack(">Q", size)
    return b"\x82" + length + bytes(4) + payload


UPGRADE = (b"GET /ostraka HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")


def client_hello():
    """The first bytes of an honest TLS 1.3 client."""
    context = ssl.create_default_context()
    outgoing = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="x")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


class Junk:
    def __init__(self, ports, run_id, keys, connections, per_second, seed):
        self.ports, self.run_id, self.connections = ports, run_id, connections
        self.per_second = per_second
        self.random = random.Random(seed)
        self.client_hello = client_hello()
        self.longest, self.kinds = {}, {}
        self.made = self.still_open = self.told = 0
        self.contexts = []
        for i in range(keys[1]):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            # Every second connection names the right run (docs/wire.md, "Channel").
            context.set_alpn_protocols(["ostraka", "ostraka/" + run_id[:32]][:1 + i % 2])
            context.load_cert_chain(os.path.join(keys[0], f"{i}.crt"),
                                    os.path.join(keys[0], f"{i}.key"))
            self.contexts.append(context)

    # --- what a connection sends until it is closed, without waiting for an answer ----------------

    async def random_bytes(self, writer):
        writer.write(self.random.randbytes(self.random.randint(1, 4000)))

    async def silent(self, writer):
        pass

    async def half_hello(self, writer):
        writer.write(self.client_hello[:self.random.randint(1, len(self.client_hello) - 1)])

    async def slow(self, writer):
        for byte in self.client_hello:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.25)

    async def oversized(self, writer):
        writer.write(b"\x16\x03\x01\xff\xff" + bytes(100_000))

    async def not_a_member(self, writer):
        writer.write(UPGRADE)
        writer.write(frame(hello_record(self.run_id)))

    async def silent_in_tls(self, writer):
        pass

    async def slow_in_websocket(self, writer):
        writer.write(UPGRADE)
        for byte in frame(hello_record(self.run_id)):
            writer.write(bytes([byte]))
            await asyncio.sleep(0.25)

    async def oversized_hello(self, writer):
        writer.write(UPGRADE)
        writer.write(frame(b"\x01" + bytes(1_000_000)))

    # In ten connections; the last two of ten are authenticated, by turns in four ways.
    PLAIN = ["random_bytes", "random_bytes", "random_bytes", "silent", "half_hello", "slow", "slow",
             "oversized"]
    AUTHENTICATED = ["not_a_member", "not_a_member", "silent_in_tls", "not_a_member",
                     "slow_in_websocket", "not_a_member", "oversized_hello", "not_a_member"]

    def kind_of(self, index):
        if index % 10 < len(self.PLAIN):
            return self.PLAIN[index % 10], None
        turn = index // 10 * 2 + index % 10 - len(self.PLAIN)
        return (self.AUTHENTICATED[turn % len(self.AUTHENTICATED)],
                self.contexts[turn % len(self.contexts)])

    # --- one connection --------------------------------------------------------------------------

    async def one(self, index):
        kind, context = self.kind_of(index)
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        begin = time.monotonic()
        try:
            await asyncio.wait_for(self.until_closed(index, kind, context), GIVE_UP_S)
        except asyncio.TimeoutError:
            self.still_open += 1
        self.longest[kind] = max(self.longest.get(kind, 0), time.monotonic() - begin)

    async def until_closed(self, index, kind, context):
        writer = None
        # The node may end a connection by a close, by a reset, or within the handshake.
        with contextlib.suppress(OSError):
            # The nodes' backlog may be full for a moment; the connection counts once it is made.
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", self.ports[index % len(self.ports)], ssl=context)
            doing = asyncio.ensure_future(getattr(self, kind)(writer))
            try:
                while data := await reader.read(1 << 16):
                    self.told += NOT_A_MEMBER in data
                    await self.answer_close(data, writer)
            finally:
                doing.cancel()
                with contextlib.suppress(asyncio.CancelledError, OSError):
                    await doing
        if writer is not None:
            writer.close()

    async def answer_close(self, data, writer):
        """Honest WebSocket clients answer a close; one of two of these does."""
        if data[:1] == b"\x88" and self.random.random() < 0.5:
            writer.write(b"\x88\x80" + bytes(4))

    async def run(self):
        begin = time.monotonic()
        tasks = []
        for index in range(self.connections):
            # At even intervals, even if the loop is late.
            await asyncio.sleep(max(0, begin + index / self.per_second - time.monotonic()))
            tasks.append(asyncio.ensure_future(self.one(index)))
            self.made += 1
        lasted = time.monotonic() - begin
        await asyncio.gather(*tasks)
        return {"made": self.made, "kinds": self.kinds, "longest_seconds": self.longest,
                "still_open": self.still_open, "told_not_a_member": self.told,
                "first_to_last_seconds": lasted}


def main():
    options = json.load(sys.stdin)
    print(json.dumps(asyncio.run(Junk(**options).run())))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A run over more data than anybody keeps: what members fetch, keep and fetch again (docs/measurements/streams.md).

usage: OSTRAKA=BINARY tests/bench/large_stream.py [--gigabytes 100] [--cache 2000] [--batch-rows 4096] [--steps 400] [--kill 150]

Four nodes train on a stream whose server makes chunk i from i when it is asked for: nothing of it is on a disk. The second node
asks a server that flips a bit in each chunk before it asks an honest one; the third is killed in step --kill and started again.
Printed: bytes of each node's cache and index, chunks fetched, and how many of these it had fetched before though fewer chunks than
its cache holds came in between. Exit code 1: there was one that was not under way at the kill, or a state differs.
"""
import argparse
import collections
import contextlib
import hashlib
import http.server
import pathlib
import re
import signal
import socketserver
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import harness  # noqa: E402

ROW, CHUNK_ROWS, FILE_CHUNKS, HELD_OUT = 1024, 256, 4096, 64
CHUNK = ROW * CHUNK_ROWS
CONNECTIONS = 4  # of a node to one server
GRAPH = f"""ostraka-graph 1
parameter words f32[256,8] normal 1e-01
parameter head.weight f32[256,8] normal 1e-01
input question i32[64,{ROW - 1}] 0 256
input targets i32[64] 0 256
%1 f32[64,{ROW - 1},8] = embedding words question
%2 f32[64,8] = mean %1 axis=1
%3 f32[64,256] = linear %2 head.weight
%4 f32[] = cross_entropy %3 targets
loss %4
"""


def chunk_of(number):
    seed = hashlib.blake2b(number.to_bytes(8, "little"), digest_size=64).digest()
    return seed * (CHUNK // len(seed))


def index_of(chunks):
    head = f"ostraka-stream 1 2 {chunks * CHUNK_ROWS} {HELD_OUT} {HELD_OUT} {CHUNK_ROWS} {FILE_CHUNKS}\n"
    columns = f"question u8[{ROW - 1}] 0 256\ntargets u8[] 0 256\n"
    leaves = bytearray()
    for number in range(chunks):
        leaves += hashlib.blake2b(chunk_of(number), digest_size=32, person=b"merkle.leaf/1").digest()
    return (head + columns).encode() + chunk_of(chunks)[: 2 * HELD_OUT * ROW] + bytes(leaves)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Knows in which order it was asked for chunks below each name."""

    daemon_threads = True

    def __init__(self, index):
        super().__init__(("127.0.0.1", 0), Handler)
        self.index, self.asked, self.lock = index, collections.defaultdict(list), threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server_address[1]}/{name}/"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        _, name, file = self.path.split("/")
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if file == "stream.index":
            size = len(self.server.index)
            begin, end = (int(wanted[1]), min(int(wanted[2]) + 1, size)) if wanted else (0, size)
            piece = self.server.index[begin:end]
        else:
            size = FILE_CHUNKS * CHUNK
            begin = int(wanted[1])
            number = int(file.split(".")[1]) * FILE_CHUNKS + begin // CHUNK
            if begin % CHUNK or int(wanted[2]) + 1 - begin != CHUNK:
                return self.send_error(416)
            with self.server.lock:
                self.server.asked[name].append(number)
            piece = chunk_of(number)
            if name == "liar":
                piece = bytes([piece[0] ^ 1]) + piece[1:]
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(piece)))
        if wanted:
            self.send_header("Content-Range", f"bytes {begin}-{begin + len(piece) - 1}/{size}")
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # a node is killed
            self.wfile.write(piece)

    def log_message(self, *_):
        pass


def fetched_again(asked, kept):
    """How many chunks were asked for again before `kept` others were."""
    last, again = {}, 0
    for at, number in enumerate(asked):
        again += number in last and at - last[number] < kept
        last[number] = at
    return again


def bytes_of(folder):
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=100)
    parser.add_argument("--cache", type=int, default=2000, help="of each node, in MiB")
    parser.add_argument("--batch-rows", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--kill", type=int, default=150)
    options = parser.parse_args()
    harness.DEADLINE_S = 3600
    chunks = int(options.gigabytes * 1e9 / CHUNK)
    began = time.monotonic()
    server = Server(index_of(chunks))
    print(f"{chunks} chunks, {chunks * CHUNK / 1e9:.1f} GB; an index of {len(server.index) / 1e6:.1f} MB, made in "
          f"{time.monotonic() - began:.0f} s", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        graph = folder / "graph"
        graph.write_text(GRAPH)
        private = "--allow-private-sources"
        run = harness.Run(folder / "run", count=4, steps=options.steps, model=f"graph:{graph}", options=[
            "--data", f"stream:{server.url('init')}", private, "--unnamed-sources", "--batch-size", options.batch_rows])

        def start(index):
            places = ("plain", "liar,behind", "killed", "fourth")[index].split(",")
            # What members lend each other the server does not see, and the caches hold it too.
            return run.start(index, "--data", "stream:" + ",".join(map(server.url, places)), private, "--lend", 0, "--data-cache",
                             f"{options.cache}M", "--data-cache-dir", folder / f"cache{index}")

        began = time.monotonic()
        nodes = [start(index) for index in range(4)]
        # A node whose events nobody reads stops.
        readers = [threading.Thread(target=nodes[index].finish) for index in (0, 1, 3)]
        for reader in readers:
            reader.start()
        nodes[2].wait_for_event(event="step", step=options.kill)
        nodes[2].signal(signal.SIGKILL)
        nodes[2].finish()
        nodes[2] = start(2)
        nodes[2].finish()
        for reader in readers:
            reader.join()
        ended = [node.process.returncode for node in nodes]
        seconds = time.monotonic() - began
        roots = {node.report()["state_root"] for node in nodes}
        print(f"{options.steps} steps of {options.batch_rows} rows in {seconds:.0f} s; the nodes end with {ended}, "
              f"{len(roots)} state")
        bad = len(roots) != 1 or any(ended)
        for index, name in enumerate(("plain", "behind", "killed", "fourth")):
            asked = server.asked[name]
            again = fetched_again(asked, options.cache * 2**20 // CHUNK)
            allowed = CONNECTIONS if name == "killed" else 0
            bad |= again > allowed
            print(f"{name}: {len(asked)} chunks fetched ({len(asked) * CHUNK / 1e9:.2f} GB), {len(set(asked))} of them different; {again} "
                  f"that it had; cache and index {bytes_of(folder / f'cache{index}') / 1e6:.0f} MB")
        named = "it is not asked again" in nodes[1].text["stderr"]
        print(f"liar: asked for {len(server.asked['liar'])} chunks, {'named' if named else 'NOT NAMED'}")
        run.close()
    return 1 if bad or not named else 0


if __name__ == "__main__":
    sys.exit(main())

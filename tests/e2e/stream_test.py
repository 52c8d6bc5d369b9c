"""Data in chunks: nodes fetch what their batches draw, from members, folders and servers, keep it, and name a server that lies."""
import collections
import contextlib
import hashlib
import http.server
import json
import random
import re
import signal
import socketserver
import struct
import threading
import unittest

import harness
from harness import TestCase, expect_ok, run

GRAPH = """ostraka-graph 1
parameter words f32[40,8] normal 1e-01
parameter head.weight f32[4,8] normal 1e-01
input question i32[4,5] 0 40
input targets i32[4] 0 4
%1 f32[4,5,8] = embedding words question
%2 f32[4,8] = sum %1 axis=1
%3 f32[4,4] = linear %2 head.weight
%4 f32[] = cross_entropy %3 targets
loss %4
"""
CHUNKS, CHUNK_ROWS, FILE_CHUNKS = 60, 16, 25


def leaf(content):
    return hashlib.blake2b(content, digest_size=32, person=b"merkle.leaf/1").digest()


def write_stream(folder):
    """The class of a row is that of its first word modulo 4, as are all its words."""
    draw = random.Random(5)

    def row():
        target = draw.randrange(4)
        return struct.pack("<6B", *(draw.randrange(10) * 4 + target for _ in range(5)), target)

    folder.mkdir()
    index = f"ostraka-stream 1 2 {CHUNKS * CHUNK_ROWS} 40 40 {CHUNK_ROWS} {FILE_CHUNKS}\nquestion u8[5] 0 40\ntargets u8[] 0 4\n".encode()
    index += b"".join(row() for _ in range(80))
    files = collections.defaultdict(bytes)
    for chunk in range(CHUNKS):
        content = b"".join(row() for _ in range(CHUNK_ROWS))
        files[f"stream.{chunk // FILE_CHUNKS:05}"] += content
        index += leaf(content)
    for name, content in {**files, "stream.index": index}.items():
        (folder / name).write_bytes(content)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Serves ranges of a folder's files below /NAME/; below /liar/ one bit of each range is wrong, below a NAME in `busy` it has no time for chunks. Knows what each NAME was asked for."""

    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder, self.asked, self.busy, self.lock = folder, collections.defaultdict(list), set(), threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server_address[1]}/{name}/"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        _, name, file = self.path.split("/")
        try:
            content = (self.server.folder / file).read_bytes()
        except OSError:
            self.send_error(404)
            return
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        begin, end = (int(wanted[1]), int(wanted[2]) + 1) if wanted else (0, len(content))
        with self.server.lock:
            self.server.asked[name].append((file, begin))
        if name in self.server.busy and file != "stream.index":
            self.send_error(503)
            return
        piece = content[begin:end]
        if name == "liar" and file != "stream.index":
            piece = bytes([piece[0] ^ 1]) + piece[1:]
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(piece)))
        if wanted:
            self.send_header("Content-Range", f"bytes {begin}-{begin + len(piece) - 1}/{len(content)}")
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # a node is killed
            self.wfile.write(piece)

    def log_message(self, *_):
        pass


class StreamTest(TestCase):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "data"
        write_stream(self.data)
        self.graph = self.folder / "questions.graph"
        self.graph.write_text(GRAPH)
        self.server = Server(self.data)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def start(self, made, index, places, *options):
        return self.running(made.start(index, "--data", f"stream:{places}", "--allow-private-sources", "--data-cache-dir",
                                       self.folder / f"cache{index}", *options))

    def chunks_asked(self, name):
        return [each for each in self.server.asked[name] if each[0] != "stream.index"]

    def test_nodes_fetch_keep_and_name_a_liar(self):
        made = self.make_run(count=4, steps=60, model=f"graph:{self.graph}", options=[
            "--data", f"stream:{self.data}", "--batch-size", 8, "--learning-rate", 0.5, "--validators", 1])
        alone = ["--lend", "0"]  # each asks its servers
        nodes = [self.start(made, 0, self.data, *alone),
                 self.start(made, 1, self.server.url("one"), *alone),
                 self.start(made, 2, self.server.url("liar") + "," + self.server.url("honest"), *alone),
                 self.start(made, 3, self.server.url("three"), *alone)]
        nodes[3].wait_for_event(event="step", step=20)
        before = set(self.chunks_asked("three"))
        nodes[3].signal(signal.SIGKILL)
        nodes[3].finish()
        nodes[3] = self.start(made, 3, self.server.url("three"), *alone)
        reports = []
        for node in nodes:
            self.assertEqual(node.finish(), 0, node.text["stderr"])
            reports.append(node.report())
        self.assertEqual(len({report["state_root"] for report in reports}), 1)
        self.assertGreater(reports[0]["metric"]["value"], 0.9)
        self.assertFalse([report["removals"] for report in reports if report.get("removals")])
        # Of the node that was killed what was under way by its four connections comes again.
        for name, again in (("one", 0), ("three", 4), ("honest", 0)):
            asked = self.chunks_asked(name)
            self.assertTrue(asked)
            self.assertLessEqual(len(asked) - len(set(asked)), again, f"{name} was asked twice for a chunk")
        self.assertTrue(before)
        self.assertLessEqual(len(self.chunks_asked("liar")), 4, "each of its connections once")
        self.assertIn("liar/: chunk", nodes[2].text["stderr"])
        self.assertIn("it is not asked again", nodes[2].text["stderr"])

    def test_members_lend_each_other_chunks(self):
        """One member has all chunks in a folder. The others get the index and their first chunks of a server."""
        made = self.make_run(count=4, steps=40, model=f"graph:{self.graph}", options=[
            "--data", f"stream:{self.data}", "--batch-size", 8, "--learning-rate", 0.5, "--validators", 1])
        nodes = [self.start(made, 0, self.data), *(self.start(made, i, self.server.url("first")) for i in range(1, 4))]
        nodes[1].wait_for_event(event="step", step=1)
        self.server.busy.add("first")
        had = len(self.chunks_asked("first"))
        for node in nodes:
            self.assertEqual(node.finish(), 0, node.text["stderr"])
            self.assertFalse(node.report().get("removals"))
        self.assertEqual(len({node.report()["state_root"] for node in nodes}), 1)
        lent = [node.report()["data_chunks"] for node in nodes]
        self.assertEqual(lent[0]["borrowed"], 0, "its folder has all")
        self.assertGreater(lent[0]["lent"], 0)
        for each in lent[1:]:
            self.assertGreater(each["borrowed"], 10)
        self.assertLess(len(self.chunks_asked("first")) - had, sum(each["borrowed"] for each in lent) / 2, "members are asked first")

    def test_other_data_and_places_are_refused_in_one_line(self):
        made = self.make_run(model=f"graph:{self.graph}", options=["--data", f"stream:{self.data}"])
        index = self.data / "stream.index"
        content = bytearray(index.read_bytes())
        node = ["node", made.manifest, "--key", made.key(0), "--data-dir", self.folder / "node", "--data-cache-dir", self.folder / "cache"]
        self.refused(2, [*node, "--data", f"stream:{self.server.url('a')}"], "--allow-private-sources")
        self.refused(2, [*node, "--data", "stream:https://user:secret@example.org/"], "password")
        self.refused(2, [*node, "--data-cache", "much"], "--data-cache", "64K")
        self.refused(2, [*node, "--lend", "much"], "--lend", "64K")
        self.refused(3, [*node, "--data", f"stream:{self.folder / 'none'}"], "cannot be read")
        content[-1] ^= 1
        index.write_bytes(content)
        self.refused(2, [*node, "--data", f"stream:{self.data}"], "give a place that has those of the other members")
        self.refused(2, ["data", "check", f"stream:{self.server.url('a')}"], "--allow-private-sources")
        self.refused(3, [*node, "--data-cache", "0", "--data", f"stream:{self.folder / 'none'}"], "cannot be read")
        shown = json.loads(expect_ok("data", "check", f"stream:{self.server.url('a')}", "--allow-private-sources", "--json"))
        self.assertEqual((shown["training"], shown["columns"]), (CHUNKS * CHUNK_ROWS, ["question u8[5] 0 40", "targets u8[] 0 4"]))
        index.write_bytes(b"garbage")
        self.refused(2, ["data", "check", f"stream:{self.data}"], "is no index of streamed data")

    def test_what_the_manifest_names_is_fetched_after_its_user_agrees(self):
        url = self.server.url("named")
        made = self.make_run(count=4, steps=20, model=f"graph:{self.graph}", options=[
            "--data", f"stream:{self.data},{url}", "--allow-private-sources", "--batch-size", 8, "--learning-rate", 0.5])
        self.assertEqual(json.loads(expect_ok("run", "show", made.manifest, "--json"))["sources"], [url])
        self.assertIn(url, expect_ok("run", "show", made.manifest))
        node = ["node", made.manifest, "--key", made.key(0), "--data-dir", self.folder / "node", "--data-cache-dir", self.folder / "cache"]
        self.server.asked.clear()  # run init, whose user named it, may have read a chunk
        self.refused(2, node, url, "--sources yes")
        self.refused(2, [*node, "--sources", "yes"], "loopback")
        self.refused(2, [*node, "--sources", "yes", "--allow-private-sources"], "loopback")
        self.refused(2, [*node, "--sources", "perhaps"], "yes or private")
        self.assertFalse(self.server.asked, "somebody was asked before the user agreed")
        agreed = ["--sources", "private", "--data-cache-dir"]
        nodes = [self.running(made.start(i, *agreed, self.folder / f"cache{i}")) for i in range(3)]
        nodes.append(self.start(made, 3, self.data))
        for one in nodes:
            self.assertEqual(one.finish(), 0, one.text["stderr"])
        self.assertEqual(len({one.report()["state_root"] for one in nodes}), 1)
        self.assertTrue(self.chunks_asked("named"))
        members = [word for i, key in enumerate(made.ids) for word in ("--member", f"{key}@127.0.0.1:{7000 + i}")]
        shown = json.loads(expect_ok("run", "init", "--out", self.folder / "unnamed.toml", *members, "--model", f"graph:{self.graph}", "--data",
                                     f"stream:{self.data},{url}", "--allow-private-sources", "--unnamed-sources", "--json"))
        self.assertNotIn("sources", shown)

    def test_a_swarm_learns_from_a_folder(self):
        ended = run("swarm", "--json", "--peers", 5, "--byzantine", 1, "--attack", "sign_flip", "--model", f"graph:{self.graph}", "--data",
                    f"stream:{self.data}", "--batch-size", 8, "--learning-rate", 0.5, "--steps", 60, "--out", self.folder / "out")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        result = json.loads(ended.stdout)
        self.assertTrue(result["state_roots_equal"])
        self.assertGreater(result["metric"]["value"], 0.9)

    def test_a_swarm_fetches_from_addresses(self):
        """Each node for itself, into a cache of its own."""
        options = ["swarm", "--json", "--peers", 4, "--byzantine", 0, "--model", f"graph:{self.graph}", "--data",
                   f"stream:{self.server.url('web')}", "--batch-size", 8, "--steps", 8, "--out", self.folder / "out"]
        refused = run(*options)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--allow-private-sources", refused.stderr.strip().split("\n")[-1])
        result = json.loads(expect_ok(*options, "--allow-private-sources", "--data-cache", "64K"))
        self.assertTrue(result["state_roots_equal"])
        for i in range(4):
            kept = [path for path in (self.folder / f"out/node{i}.data-cache").rglob("*") if path.is_file()]
            self.assertTrue(kept, i)
        self.assertGreater(len(self.chunks_asked("web")), 8)


if __name__ == "__main__":
    unittest.main(verbosity=2)
